"""`naiad show NAME`: what a study is, and the parameters it takes."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from naiad import studies
from naiad.cli.console import out, say_json, table
from naiad.cli.options import Json, StudyName
from naiad.studies.groups import GROUPS, group_of

if TYPE_CHECKING:
    from naiad.studies.parameters import Parameter
    from naiad.studies.study import Study


def show_study(name: StudyName, as_json: Json = False) -> None:
    """Show a study: its parameters, its paper, what to expect."""
    from naiad.studies.values import to_json

    study = studies.find(name)
    if as_json:
        say_json(to_json(_described(study)))
        return
    console = out()
    console.print(Text(study.name, style="bold cyan"))
    console.print(Text(study.summary()))
    for text in (study.description(), study.paper and f"Paper: {study.paper}"):
        if text:
            console.print()
            console.print(Text(text))
    if study.parameters:
        console.print()
        console.print(_parameters(study))
    console.print()
    console.print(Text("Run it: ", style="dim").append(_example(study), style="not dim"), soft_wrap=True)


def _parameters(study: "type[Study]") -> Table:
    """Group by group, each in the order of its declaration."""
    rows = table("parameter", "default", "unit", "meaning")
    for group in GROUPS:
        own = [each for each in study.parameters.values() if group_of(each.name) == group]
        if own:
            rows.add_row(Text(group, style="bold default"), "", "", "")
        for each in own:
            rows.add_row(f"  {each.name}", Text(each.write(each.default)), Text(each.options.unit), _meaning(each))
    return rows


def _meaning(parameter: "Parameter") -> Text:
    text = Text(parameter.options.help)
    if not any(parameter.options.choices.values()):
        return text.append(f"\n{parameter.expected}", style="dim")
    width = max(map(len, parameter.options.choices))
    for choice, what in parameter.options.choices.items():
        text.append(f"\n  {choice.ljust(width)}", style="cyan").append(f"  {what}", style="dim")
    return text


def _example(study: "type[Study]") -> str:
    """A command that sets the first number, or else the first parameter, to its default."""
    from naiad.studies.kinds import Real

    given = [each for each in study.parameters.values() if each.default is not None]
    given.sort(key=lambda each: not isinstance(each.kind, Real))
    return " ".join(["naiad run", study.name, *(f"-p {each.name}={each.write(each.default)}" for each in given[:1])])


def _described(study: "type[Study]") -> dict:
    return {
        "study": study.name,
        "summary": study.summary(),
        "description": study.description(),
        "paper": study.paper,
        "parameters": [
            {
                "name": each.name,
                "group": group_of(each.name),
                "default": each.default,
                "unit": each.options.unit,
                "help": each.options.help,
                "expected": each.expected,
                "choices": dict(each.options.choices),
                "optional": each.optional,
            }
            for each in study.parameters.values()
        ],
    }
