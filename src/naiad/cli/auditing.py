"""`naiad audit FILE:NAME`: measure a system of one's own, and what a method makes of it."""

import functools
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from naiad.cli.console import out, say_json, table
from naiad.cli.errors import FAILED
from naiad.cli.options import Json
from naiad.errors import InputError, NaiadError

if TYPE_CHECKING:
    from naiad.diagnostics import Audit

VERDICTS = {True: ("good", "green"), False: ("BAD", "bold red"), None: ("-", "dim")}


Place = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A Python file, and in it a function without arguments that gives (system, state) or (system, state, "
        "method); or such a tuple.",
    ),
]
Step = Annotated[float | None, typer.Option("--dt", help="The step in s; chosen from the motion if not given.")]
Steps = Annotated[int, typer.Option("--steps", help="The steps of the run over which invariants are watched.")]


Order = Annotated[bool, typer.Option("--order/--no-order", help="Whether to measure the order of the method.")]
Symplectic = Annotated[
    bool, typer.Option("--symplectic/--no-symplectic", help="Whether to measure the symplectic form, which costs most.")
]


def audit_system(
    place: Place,
    dt: Step = None,
    steps: Steps = 1000,
    order: Order = True,
    symplectic: Symplectic = True,
    as_json: Json = False,
) -> None:
    """Measure a system of your own: derivatives, symmetries, order, symplecticity, energy, momenta, Newton."""
    from naiad.diagnostics import audit
    from naiad.studies.values import to_json

    found = audit(*_given(place), dt=dt, steps=steps, order=order, symplectic=symplectic)
    if as_json:
        rows = [finding._asdict() | {"verdict": finding.verdict} for finding in found.findings]
        say_json(to_json({"title": found.title, "passed": found.passed, "findings": rows}))
    else:
        _print(found)
    if not found.passed:
        raise typer.Exit(FAILED)


def _print(found: "Audit") -> None:
    console, rows = out(), table("", "expected", "found", "", "")
    for finding in found.findings:
        word, style = VERDICTS[finding.good]
        rows.add_row(finding.name, finding.expected, finding.found, Text(word, style=style), Text(finding.remark))
    console.print(Text(found.title, style="bold cyan"))
    console.print(rows)


def _given(place: str) -> tuple[Any, ...]:
    """(system, state) or (system, state, method) from FILE:NAME."""
    file, _, name = place.rpartition(":")
    if not file:
        raise InputError(f"{place!r} names no function; expected FILE:NAME, such as top.py:example.")
    if not Path(file).is_file():
        raise InputError(f"There is no file {file!r}; expected a Python file, as in top.py:example.")
    module = _imported(Path(file).resolve())
    if not hasattr(module, name):
        raise InputError(f"{file} has no {name!r}; expected a function that gives (system, state).")
    value = getattr(module, name)
    if callable(value) and not isinstance(value, tuple):
        value = _called(f"{file}:{name}", value)
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        raise InputError(f"{place} gives {value!r:.80}; expected (system, state) or (system, state, method).")
    return value


def _imported(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file} is no Python file; expected one that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    sys.modules[file.stem] = module
    _called(str(file), functools.partial(spec.loader.exec_module, module))
    return module


def _called(place: str, function: Any) -> Any:
    """What a user's code gives; its own errors in one line."""
    try:
        return function()
    except NaiadError:
        raise
    except Exception as error:
        raise InputError(f"{place} raised {type(error).__name__}: {error}; --debug shows where.") from error
