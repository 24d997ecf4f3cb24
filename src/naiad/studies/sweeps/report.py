"""The report of a sweep: one HTML page with what was swept, what was found in every row, and figures."""

import html
import shlex
from collections.abc import Iterable
from typing import Any

from naiad.studies.figures import Image
from naiad.studies.page import figure, footer, header, inline, page, paragraphs, section, tabulated
from naiad.studies.sweeps.sweep import Sweep
from naiad.studies.sweeps.table import ERROR, SECONDS, WARNING, Table
from naiad.studies.values import found, shown
from naiad.viz.titles import in_words

CSV = "table.csv"
SHOWN = 60
"""Rows; of a longer table the rest is in the file."""


def report(table: Table, pictures: Iterable[Image], elapsed: float) -> str:
    """The page for a sweep."""
    sweep, study = table.sweep, table.sweep.study
    parts = [
        header("naiad sweep", in_words(study.name), study.summary(), _settings(sweep)),
        section("What was swept", _swept(sweep) + _counts(table)),
        section("Figures", "\n".join(figure(picture) for picture in pictures)),
        section("Rows", _rows(table)),
        section("The same in all rows", _constants(table)),
        section("What to expect", paragraphs(study.description())),
        section("Parameters that stayed", _fixed(sweep)),
        section("Paper", paragraphs(study.paper)),
        section("Run it again", f"<pre>{html.escape(command(sweep))}</pre>"),
        footer(elapsed),
    ]
    return page(f"{in_words(study.name)}, swept", parts)


def _settings(sweep: Sweep) -> str:
    return ", ".join(
        f"{key} = {text} {sweep.study.parameters[key].options.unit}".rstrip() for key, text in sweep.texts.items()
    )


def command(sweep: Sweep) -> str:
    """The command line that repeats the sweep."""
    fixed = {key: (sweep.study.parameters[key], value) for key, value in sweep.fixed.items()}
    texts = {key: each.write(value) for key, (each, value) in fixed.items() if _changed(each, value)}
    given = (f"-p {shlex.quote(f'{key}={text}')}" for key, text in (*sweep.texts.items(), *texts.items()))
    return " ".join(["naiad sweep", sweep.study.name, *given])


def varying(table: Table) -> dict[str, list[Any]]:
    """The scalars that are not the same in all rows."""
    alone = len(table.rows) - table.failed < 2
    return {name: column for name, column in table.scalars.items() if alone or len(_different(column)) > 1}


def _different(column: list[Any]) -> set[str]:
    return {repr(value) for value in column if value is not None}


def _changed(parameter: Any, value: Any) -> bool:
    return parameter.write(value) != parameter.write(parameter.default)


def _swept(sweep: Sweep) -> str:
    rows = (
        f'<tr><th scope="row">{html.escape(key)}</th><td class="value">{html.escape(text)}</td>'
        f"<td>{len(sweep.swept[key])}</td><td>{html.escape(sweep.study.parameters[key].options.unit)}</td>"
        f"<td>{inline(sweep.study.parameters[key].options.help)}</td></tr>"
        for key, text in sweep.texts.items()
    )
    return tabulated(("Parameter", "Values", "Number", "Unit", "Meaning"), rows)


def _counts(table: Table) -> str:
    spent = sum(row.seconds for row in table.rows)
    failed = f"; {table.failed} failed, and say why in the column {ERROR}" if table.failed else ""
    return f'\n<p class="aside">{len(table.rows)} rows, which took {spent:.3g} s together{failed}.</p>'


def _rows(table: Table) -> str:
    results = varying(table)
    said = [
        name
        for name, there in (
            (WARNING, any(row.warnings for row in table.rows)),
            (ERROR, table.failed > 0),
        )
        if there
    ]
    heads = (*table.sweep.swept, *(_head(name, table) for name in results), f"{SECONDS} [s]", *said)
    lines = []
    for number, (combination, row) in enumerate(zip(table.sweep.combinations(), table.rows, strict=True)):
        if number == SHOWN:
            break
        cells = parameters(table.sweep, combination)
        cells += ["" if c[number] is None else found(name, c[number], {}) for name, c in results.items()]
        cells.append(f"{row.seconds:.3g}")
        cells += [{WARNING: "; ".join(row.warnings), ERROR: row.error}[name] for name in said]
        lines.append("<tr>" + "".join(_cell(cell) for cell in cells) + "</tr>")
    more = f"The first {SHOWN} of {len(table.rows)} rows; " if len(table.rows) > SHOWN else ""
    link = f'{more}all rows, with all digits, are in <a href="{CSV}">{CSV}</a>, and vectors as well in table.zarr.'
    return f'{tabulated(heads, lines)}\n<p class="aside">{link[0].upper()}{link[1:]}</p>'


def _cell(text: str) -> str:
    """A number stands on one line; a message takes those that it needs."""
    kind = "value" if " " in text else "value number"
    return f'<td class="{kind}">{html.escape(text)}</td>'


def parameters(sweep: Sweep, combination: dict[str, Any]) -> list[str]:
    """The swept parameters of a row, with some digits."""
    written = sweep.written(combination)
    return [shown(v) if isinstance(v, float) else written[key] for key, v in combination.items()]


def _head(name: str, table: Table) -> str:
    return f"{name} [{table.units[name]}]" if name in table.units else name


def _constants(table: Table) -> str:
    rest = {name: column for name, column in table.scalars.items() if name not in varying(table)}
    values = {name: next((value for value in column if value is not None), None) for name, column in rest.items()}
    rows = (
        f'<tr><th scope="row">{html.escape(name)}</th><td class="value">{html.escape(found(name, value, {}))}</td>'
        f"<td>{html.escape(table.units.get(name, ''))}</td></tr>"
        for name, value in values.items()
    )
    return tabulated(("Result", "Value", "Unit"), rows)


def _fixed(sweep: Sweep) -> str:
    rows = (
        f'<tr{" class=changed" if _changed(each, sweep.fixed[key]) else ""}><th scope="row">{html.escape(key)}</th>'
        f'<td class="value">{html.escape(each.write(sweep.fixed[key]))}</td>'
        f"<td>{html.escape(each.options.unit)}</td><td>{inline(each.options.help)}</td></tr>"
        for key, each in sweep.study.parameters.items()
        if key in sweep.fixed
    )
    return tabulated(("Parameter", "Value", "Unit", "Meaning"), rows)
