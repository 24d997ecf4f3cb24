"""The commands, put together."""

from typing import Annotated

import typer

from naiad.cli import auditing, info, listing, living, meshing, resuming, running, showing, sweeping, swimming, viewing
from naiad.cli.console import out
from naiad.cli.errors import Commands
from naiad.studies.provenance import version

app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(listing.list_studies)
app.command("show")(showing.show_study)
app.command("run")(running.run_study)
app.command("sweep")(sweeping.sweep_study)
app.command("resume")(resuming.resume_folder)
app.command("audit")(auditing.audit_system)
app.command("mesh")(meshing.show_mesh)
app.command("swim")(swimming.swim)
app.command("view")(viewing.view_motion)
app.command("live")(living.live_study)
app.command("info")(info.show_info)


@app.callback(invoke_without_command=True)
def naiad(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; it may stand anywhere.")
    ] = False,
) -> None:
    """Structure-preserving simulation on Lie groups: run the studies, see what they find.

    Start with `naiad list`, then `naiad run NAME`.
    """
    if show_version:
        out().print(f"naiad {version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
