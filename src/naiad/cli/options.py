"""Arguments and options that several commands share."""

from typing import Annotated

import typer

StudyName = Annotated[str, typer.Argument(metavar="NAME", help="A study; `naiad list` lists them.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
