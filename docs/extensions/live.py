"""Live pages in the documentation: a hook of mkdocs.

A line `<!-- live: heavy-top -->` becomes a frame with the page `live/heavy-top.html`, if there is one among the files.
"""

import re
from typing import Any

_PLACE = re.compile(r"^<!-- live: ([\w-]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_: Any) -> str:
    """The page with its live pages."""
    known = {file.src_uri for file in files}
    return with_live_pages(markdown, page.file.src_uri, known)


def with_live_pages(text: str, uri: str, known: set[str]) -> str:
    """The text of the page at `uri`, with a frame for each live page that is known; the marks of others vanish."""
    up = "../" * uri.count("/")

    def frame(found: re.Match[str]) -> str:
        name = found[1]
        if f"live/{name}.html" not in known:
            return ""
        words = f"{name}: a system that is computed as you watch"
        return f'<iframe class="page" src="{up}live/{name}.html" title="{words}"></iframe>'

    return _PLACE.sub(frame, text)
