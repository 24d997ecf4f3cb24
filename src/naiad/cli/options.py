"""Arguments and options that several commands share, and what a shell completes them with."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from naiad import studies
from naiad.errors import InputError

if TYPE_CHECKING:
    from naiad.studies.study import Study


def study_names(incomplete: str) -> list[tuple[str, str]]:
    """The studies whose names begin so, with what they are."""
    return [(name, studies.summary(name)) for name in studies.STUDIES if name.startswith(incomplete)]


def assignments(incomplete: str) -> list[tuple[str, str]]:
    """The parameters of the study on this line whose names begin so, as `name=`.

    The line is where shells hand it over: an option that waits for its value leaves the arguments before it unread.
    """
    words = " ".join(os.environ.get(name, "") for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")).split()
    found = [studies.find(word).parameters for word in words if word in studies.STUDIES]
    known = found[0].values() if found else ()
    return [(f"{each.name}=", each.options.help) for each in known if each.name.startswith(incomplete)]


StudyName = Annotated[
    str, typer.Argument(metavar="NAME", help="A study; `naiad list` lists them.", autocompletion=study_names)
]


def ask_for_gpu(study: "Study | type[Study]") -> None:
    """Ensembles of this process, and of those that it starts, go to GPUs; a study without one is refused."""
    if not study.ensemble:
        raise InputError(f"--gpu has no effect on {study.name}, which runs no ensemble; leave it out")
    os.environ["NAIAD_DEVICE"] = "gpu"


Gpu = Annotated[bool, typer.Option("--gpu", help="Ensembles of a study run on the GPUs of this machine.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
