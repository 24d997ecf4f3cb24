"""`naiad info`: versions, machine and back ends, for a report of a fault."""

import platform

from rich.text import Text

from naiad.cli.console import out, table


def show_info() -> None:
    """Show versions, the CPU, and the back ends found."""
    import jax

    from naiad.studies import provenance

    rows = table("", "")
    for name, number in provenance.versions().items():
        rows.add_row(name, number)
    rows.add_row("system", Text(platform.platform()))
    rows.add_row("CPU", Text(provenance.processor()))
    for device in jax.devices():
        rows.add_row("back end", Text(f"XLA on {device.platform}: {device.device_kind}"))
    rows.show_header = False
    out().print(rows)
