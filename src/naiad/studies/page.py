"""The pieces of a report: one HTML page that needs nothing else, to be read, printed, or sent to a colleague."""

import html
import re
from collections.abc import Iterable
from importlib import resources
from urllib.parse import quote

from naiad.studies import provenance
from naiad.studies.figures import Image

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The page with these parts, but for empty ones."""
    style = resources.files("naiad.studies").joinpath("report.css").read_text(encoding="utf-8")
    return PAGE.format(title=f"{html.escape(title)} - naiad", style=style, body="\n".join(filter(None, parts)))


def header(kind: str, title: str, summary: str, settings: str = "") -> str:
    """What the page is of."""
    given = f'<p class="settings">{html.escape(settings)}</p>' if settings else ""
    return (
        f'<header><p class="kind">{html.escape(kind)}</p><h1>{html.escape(title)}</h1>'
        f'<p class="summary">{inline(summary)}</p>{given}</header>'
    )


def section(title: str, content: str) -> str:
    """A section, unless it is empty."""
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>" if content else ""


def tabulated(columns: tuple[str, ...], rows: Iterable[str]) -> str:
    """A table of rows that are HTML already, unless there are none."""
    body = "\n".join(rows)
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
        if body
        else ""
    )


def figure(picture: Image) -> str:
    """A figure with its title, and links to its files, which lie beside the page."""
    title = html.escape(picture.title)
    words = {"png": "PNG", "csv": "its points (CSV)"}
    links = "".join(f" · {link(file, words[file.rpartition('.')[2]])}" for file in picture.files)
    image = f'<img src="{picture.url}" width="{picture.width}" alt="{title}">'
    return f"<figure>{image}<figcaption>{title}{links}</figcaption></figure>"


def link(file: str, words: str) -> str:
    """A link to a file beside the page."""
    return f'<a href="{html.escape(quote(file))}">{html.escape(words)}</a>'


def footer(elapsed: float) -> str:
    """When, how long, on which machine and with which versions."""
    versions = ", ".join(f"{name} {number}" for name, number in provenance.versions().items())
    lines = (f"{provenance.now()}, {elapsed:.3g} s on {provenance.processor()}", versions)
    return "<footer>" + "".join(f"<p>{html.escape(line)}</p>" for line in lines) + "</footer>"


def paragraphs(text: str) -> str:
    """Text, of which an empty line begins a new paragraph."""
    return "\n".join(f"<p>{inline(block)}</p>" for block in re.split(r"\n\s*\n", text.strip()) if block)


def inline(text: str) -> str:
    """Escaped text, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
