"""Citations in brackets, in pages and docstrings, become links: a hook of mkdocs.

The key leads to the list of references. In the reference of the code what follows it, `eq. (4.6.4)`, leads to the page
that has this equation, if one of the guides does.
"""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

LIST, CODE = "references.html", "api/"
GUIDES = (
    "algorithm",
    "buoyant-vehicle",
    "connected-bodies",
    "swimming",
    "hydro",
    "methods",
    "own-system",
    "models",
    "papers",
)
"""Pages with equations, those that derive them first; the last has a row for each equation of the five documents."""
KEY = r"[a-z]+\d{4}|advected"
_CODE_OR_CITATION = re.compile(rf"<(pre|code)\b.*?</\1>|\[({KEY})((?:,[^\[\]<>]*)?)\]", re.DOTALL)
_ENTRY = re.compile(rf"<td><code>({KEY})</code></td>")
_NUMBERS = re.compile(r"\(([\d.]*?)(\d+)\)(?:\s*[-–]\s*\(([\d.]*?)(\d+)\))?")


class Home(NamedTuple):
    """The page and the anchor where an equation is."""

    url: str
    anchor: str


_homes: dict[tuple[str, str], Home] = {}


def on_files(files: Any, **_: Any) -> None:
    """Find the equations of the guides."""
    known = {file.src_uri: file for file in files}
    pages = {f"{name}.html": Path(known[f"{name}.md"].abs_src_path).read_text(encoding="utf-8") for name in GUIDES}
    _homes.update(homes(pages))


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """The page with its links, or, of the list itself, with their targets."""
    return with_targets(html) if page.url == LIST else linked(html, page.url, _homes)


def homes(pages: Mapping[str, str]) -> dict[tuple[str, str], Home]:
    """Where each cited equation or section is, by key and number: the first page that cites it. By address, the texts
    of the pages."""
    found: dict[tuple[str, str], Home] = {}
    for url, text in pages.items():
        for citation in _CODE_OR_CITATION.finditer(text):
            for mark in _marks(citation[3] or ""):
                found.setdefault((citation[2], mark), Home(url, _anchor(citation[2], mark)))
    return found


def linked(html: str, url: str, known: Mapping[tuple[str, str], Home] | None = None) -> str:
    """The content of the page at `url`, with a link for each citation outside code."""
    place = posixpath.dirname(url) or "."
    cited = set()

    def link(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        key, where = found[2], found[3]
        here = [home for mark in _marks(where) if (home := (known or {}).get((key, mark)))]
        anchors = [home.anchor for home in here if home.url == url and home.anchor not in cited]
        cited.update(anchors)
        marks = "".join(f'<span id="{anchor}"></span>' for anchor in anchors)
        if here and url.startswith(CODE):
            target = f"{posixpath.relpath(here[0].url, place)}#{here[0].anchor}"
            where = f', <a href="{target}">{where.lstrip(", ")}</a>'
        return f'{marks}[<a href="{posixpath.relpath(LIST, place)}#{key}">{key}</a>{where}]'

    return _CODE_OR_CITATION.sub(link, html)


def with_targets(html: str) -> str:
    """The list of references, with an anchor for each key."""
    return _ENTRY.sub(r'<td id="\1"><code>\1</code></td>', html)


def _marks(where: str) -> list[str]:
    """What a citation names: the numbers of equations, all of a range; or a section, as it is written."""
    words = " ".join(where.strip(", \n").replace("–", "-").split())
    marks = []
    for before, first, again, last in _NUMBERS.findall(words) if words.startswith("eq") else ():
        end = int(last) if last and again == before else int(first)
        marks += [f"({before}{number})" for number in range(int(first), end + 1)]
    return marks or ([words] if words else [])


def _anchor(key: str, mark: str) -> str:
    return f"{key}-{re.sub(r'[^0-9A-Za-z]+', '-', mark).strip('-')}"
