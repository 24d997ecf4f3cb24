"""The report of a run: one HTML page that needs nothing else, to be read, printed, or sent to a colleague."""

import html
import shlex
from collections.abc import Collection, Iterable

from naiad.studies.figures import Image, small_image
from naiad.studies.page import figure, footer, header, inline, link, page, paragraphs, section, tabulated
from naiad.studies.study import Findings, Study, Table
from naiad.studies.values import found
from naiad.viz.titles import in_words

BESIDE = {
    "live.html": "the system itself, to play with",
    "motion.html": "the motion",
    "result.zarr": "all data (Zarr, for `xarray.open_zarr`)",
    "summary.json": "the results with all digits",
    "study.toml": "the parameters",
}
"""Files that a result may have beside its report, in the order in which they are named there."""


def report(
    study: Study, findings: Findings, pictures: Iterable[Image], elapsed: float, *, files: Collection[str] = ()
) -> str:
    """The page for one run of a study, which opens with its first figure; `files` are those that lie beside it."""
    first, *others = [figure(picture) for picture in pictures] or [""]
    parts = [
        header("naiad study", in_words(study.name), study.summary(), study.settings()),
        first,
        _beside(files),
        section("Results", _results(findings)),
        section("How to read it", paragraphs(findings.notes)),
        section("Tables", "\n".join(_named_table(name, make()) for name, make in findings.tables.items())),
        section("Figures", "\n".join(others)),
        section("What to expect", paragraphs(study.description())),
        section("Parameters", _parameters(study)),
        section("Paper", paragraphs(study.paper)),
        section("Run it again", f"<pre>{html.escape(command(study))}</pre>"),
        footer(elapsed),
    ]
    return page(in_words(study.name), parts)


def _beside(files: Collection[str]) -> str:
    links = [f"{link(file, file)}, {inline(words)}" for file, words in BESIDE.items() if file in files]
    return f'<p class="beside">Beside this page: {"; ".join(links)}.</p>' if links else ""


def card(findings: Findings) -> str:
    """What a notebook shows of findings: the results, and the first figure; plain text if that fails."""
    try:
        first = [small_image(name, make) for name, make in list(findings.figures.items())[:1]]
        return "".join([_results(findings), *map(figure, first)])
    except Exception:  # a figure may need a run that fails
        return f"<pre>{html.escape(repr(dict(findings.results)))}</pre>"


def command(study: Study) -> str:
    """The command line that runs the study with the same parameters."""
    given = (f"-p {shlex.quote(f'{key}={text}')}" for key, text in study.changed().items())
    return " ".join(["naiad run", study.name, *given])


def _results(findings: Findings) -> str:
    rows = (
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f'<td class="value">{html.escape(found(name, value, findings.units))}</td>'
        f'<td class="unit">{html.escape(findings.units.get(name, ""))}</td></tr>'
        for name, value in findings.results.items()
    )
    return tabulated(("Result", "Value", "Unit"), rows)


def _parameters(study: Study) -> str:
    changed = study.changed()
    rows = (
        f'<tr{" class=changed" if key in changed else ""}><th scope="row">{html.escape(key)}</th>'
        f'<td class="value">{html.escape(each.write(getattr(study, key)))}</td>'
        f'<td class="unit">{html.escape(each.options.unit)}</td>'
        f"<td>{inline(each.options.help)}</td></tr>"
        for key, each in study.parameters.items()
    )
    table = tabulated(("Parameter", "Value", "Unit", "Meaning"), rows)
    return f'{table}\n<p class="aside">Values in bold differ from the defaults.</p>' if table and changed else table


def _named_table(name: str, table: Table) -> str:
    rows = ("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    return f"<h3>{html.escape(in_words(name))}</h3>\n{tabulated(table.heads, rows)}"
