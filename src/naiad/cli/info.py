"""`naiad info`: versions, machine and back ends, for a report of a fault."""

import platform
from collections.abc import Iterator

from rich.text import Text

from naiad.cli.console import out, table


def show_info() -> None:
    """Show versions, the CPU, and the back ends found."""
    from naiad.studies import provenance

    rows = table("", "")
    for name, number in provenance.versions().items():
        rows.add_row(name, number)
    rows.add_row("system", Text(platform.platform()))
    rows.add_row("CPU", Text(provenance.processor()))
    for name, value in (*_machine_code(), *_gpus(), *_devices()):
        rows.add_row(name, Text(value))
    rows.show_header = False
    out().print(rows)


def _machine_code() -> Iterator[tuple[str, str]]:
    """What naiad's own compiler makes code for, and where it keeps it."""
    import llvmlite.binding as llvm

    from naiad.compiler.backends.llvm.machine import processor

    cpu = processor()
    version = ".".join(map(str, llvm.llvm_version_info))
    yield "back end", f"LLVM {version}: machine code for {cpu.name}, {cpu.triple}"
    yield "lanes", f"{cpu.width} doubles a vector register"
    yield "fused multiply-add", "yes" if cpu.fma else "no"
    yield "cache", _cache()


def _gpus() -> Iterator[tuple[str, str]]:
    """What ensembles can run on besides the processor, or why there is nothing."""
    from naiad.compiler.backends.cuda.driver import devices
    from naiad.errors import DeviceError

    try:
        for device in devices():
            yield "GPU", f"{device.name}, {device.architecture}, {device.memory / 2**30:.0f} GiB"
    except DeviceError as reason:
        yield "GPU", str(reason)


def _cache() -> str:
    from naiad.compiler.cache import default_cache

    cache = default_cache()
    if cache is None:
        return "off"
    entries = len(list(cache.folder.glob("*.bin")))
    return f"{cache.folder}: {entries} entr{'y' if entries == 1 else 'ies'}, {cache.size() / 2**20:.1f} MiB"


def _devices() -> Iterator[tuple[str, str]]:
    import jax

    for device in jax.devices():
        yield "back end", f"XLA on {device.platform}: {device.device_kind}"
