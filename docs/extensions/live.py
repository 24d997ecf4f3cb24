"""Live pages in the documentation: a hook of mkdocs.

A line `<!-- live: heavy-top -->` becomes a frame with the live page of that study, made when the site is built.
"""

import re
from typing import Any

_PLACE = re.compile(r"^<!-- live: ([\w-]+) -->$", re.MULTILINE)


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """The live pages that pages ask for, among the files."""
    from mkdocs.structure.files import File

    from naiad import studies
    from naiad.studies.live import study_page

    asked = {name for file in files.documentation_pages() for name in _PLACE.findall(file.content_string)}
    for name in sorted(asked):
        files.append(File.generated(config, f"live/{name}.html", content=study_page(studies.find(name)())))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with its live pages."""
    return with_live_pages(markdown, page.file.src_uri)


def with_live_pages(text: str, uri: str) -> str:
    """The text of the page at `uri`, with frames in place of the marks."""
    up = "../" * uri.count("/")

    def frame(found: re.Match[str]) -> str:
        words = f"{found[1]}: a system that is computed as you watch"
        return f'<iframe class="page" src="{up}live/{found[1]}.html" title="{words}"></iframe>'

    return _PLACE.sub(frame, text)
