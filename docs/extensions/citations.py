"""Citations in brackets, in pages and docstrings, become links to the list of references: a hook of mkdocs."""

import posixpath
import re
from typing import Any

LIST = "references.html"
KEY = r"[a-z]+\d{4}|advected"
_CODE_OR_CITATION = re.compile(rf"<(pre|code)\b.*?</\1>|\[({KEY})((?:,[^\[\]<>]*)?)\]", re.DOTALL)
_ENTRY = re.compile(rf"<td><code>({KEY})</code></td>")


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """The page with its links, or, of the list itself, with their targets."""
    return with_targets(html) if page.url == LIST else linked(html, page.url)


def linked(html: str, url: str) -> str:
    """The content of the page at `url`, with a link for each citation outside code."""
    place = posixpath.relpath(LIST, posixpath.dirname(url) or ".")

    def link(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        return f'[<a href="{place}#{found[2]}">{found[2]}</a>{found[3]}]'

    return _CODE_OR_CITATION.sub(link, html)


def with_targets(html: str) -> str:
    """The list of references, with an anchor for each key."""
    return _ENTRY.sub(r'<td id="\1"><code>\1</code></td>', html)
