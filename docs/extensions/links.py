"""Every link of the built site is followed, to its file and its anchor: a hook of mkdocs, which warns of those that
lead nowhere (and `make docs` takes a warning for a failure), and of what would be loaded from another host."""

import html.parser
import logging
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

log = logging.getLogger("mkdocs.hooks.links")
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
NOT_PAGES = ("drawn/", "live/")
"""Folders of pages that stand for themselves."""


class Page(html.parser.HTMLParser):
    """The links of a page, with what it loads, and its anchors."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down what a tag links to, and what it is called."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADED.get(tag) in given and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given[LOADED[tag]])


def on_post_build(config: Any, **_: Any) -> None:
    """Warn of every link that leads nowhere."""
    for fault in faults(Path(config.site_dir)):
        log.warning(fault)


def faults(site: Path) -> list[str]:
    """What is wrong with the links of a site, a line each."""
    site = site.resolve()
    files = [path for path in sorted(site.rglob("*.html")) if not str(path.relative_to(site)).startswith(NOT_PAGES)]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        here = path.relative_to(site)
        found += [f"{here} loads {each} from another host" for each in page.loaded if urlsplit(each).netloc]
        for link in dict.fromkeys([*page.links, *page.loaded]):
            fault = _fault(link, path, pages, site)
            found += [f"{here}: {fault}"] if fault else []
    return found


def _fault(link: str, path: Path, pages: dict[Path, Page], site: Path) -> str:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    place = unquote(parts.path)
    if path.name == "404.html":  # which only a server shows, and which may stand for a page in any folder
        place = str(site / place.lstrip("/"))
    target = (path.parent / place).resolve() if place else path
    if target.is_dir():
        return f"{link} is a folder, which a browser does not open from a file"
    if not target.is_file():
        return f"{link} leads nowhere"
    wanted = unquote(parts.fragment)
    if wanted and target in pages and wanted not in pages[target].anchors and wanted != "__skip":
        return f"{link} names a place that is not there"
    return ""
