"""The report of a run: one HTML page that needs nothing else, to be read, printed, or sent to a colleague."""

import html
import re
import shlex
from collections.abc import Iterable
from importlib import resources

from naiad.studies import provenance
from naiad.studies.figures import Image, in_words
from naiad.studies.study import Findings, Study, Table
from naiad.studies.values import found

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


def report(study: Study, findings: Findings, pictures: Iterable[Image], elapsed: float) -> str:
    """The page for one run of a study."""
    parts = [
        f'<header><p class="kind">naiad study</p><h1>{html.escape(study.name)}</h1>'
        f'<p class="summary">{_inline(study.summary())}</p></header>',
        _section("Results", _results(findings)),
        _section("How to read it", _paragraphs(findings.notes)),
        _section("Tables", "\n".join(_named_table(name, make()) for name, make in findings.tables.items())),
        _section("Figures", "\n".join(_figure(picture) for picture in pictures)),
        _section("What to expect", _paragraphs(study.description())),
        _section("Parameters", _parameters(study)),
        _section("Paper", _paragraphs(study.paper)),
        _section("Run it again", f"<pre>{html.escape(command(study))}</pre>"),
        _footer(elapsed),
    ]
    style = resources.files("naiad.studies").joinpath("report.css").read_text(encoding="utf-8")
    return PAGE.format(title=f"{html.escape(study.name)} - naiad", style=style, body="\n".join(filter(None, parts)))


def command(study: Study) -> str:
    """The command line that runs the study with the same parameters."""
    given = (f"-p {shlex.quote(f'{key}={text}')}" for key, text in study.changed().items())
    return " ".join(["naiad run", study.name, *given])


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{title}</h2>\n{content}\n</section>" if content else ""


def _results(findings: Findings) -> str:
    rows = (
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f'<td class="value">{html.escape(found(name, value, findings.units))}</td>'
        f"<td>{html.escape(findings.units.get(name, ''))}</td></tr>"
        for name, value in findings.results.items()
    )
    table = _table(("Result", "Value", "Unit"), rows)
    return f'{table}\n<p class="aside">All digits are in summary.json.</p>' if table else ""


def _parameters(study: Study) -> str:
    changed = study.changed()
    rows = (
        f'<tr{" class=changed" if key in changed else ""}><th scope="row">{html.escape(key)}</th>'
        f'<td class="value">{html.escape(each.write(getattr(study, key)))}</td>'
        f"<td>{html.escape(each.options.unit)}</td><td>{_inline(each.options.help)}</td></tr>"
        for key, each in study.parameters.items()
    )
    table = _table(("Parameter", "Value", "Unit", "Meaning"), rows)
    return f'{table}\n<p class="aside">Values in bold differ from the defaults.</p>' if table and changed else table


def _named_table(name: str, table: Table) -> str:
    rows = ("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    return f"<h3>{html.escape(in_words(name))}</h3>\n{_table(table.heads, rows)}"


def _table(columns: tuple[str, ...], rows: Iterable[str]) -> str:
    body = "\n".join(rows)
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
        if body
        else ""
    )


def _figure(picture: Image) -> str:
    title = html.escape(picture.title)
    return f'<figure><img src="{picture.url}" alt="{title}"><figcaption>{title}</figcaption></figure>'


def _footer(elapsed: float) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in provenance.versions().items())
    lines = (f"{provenance.now()}, {elapsed:.3g} s on {provenance.processor()}", versions)
    return "<footer>" + "".join(f"<p>{html.escape(line)}</p>" for line in lines) + "</footer>"


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{_inline(block)}</p>" for block in re.split(r"\n\s*\n", text.strip()) if block)


def _inline(text: str) -> str:
    """Escaped text, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
