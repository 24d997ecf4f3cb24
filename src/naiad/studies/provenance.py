"""Where a result comes from: versions, machine, date."""

import importlib.metadata
import os
import platform
import subprocess
from datetime import datetime
from pathlib import Path

PACKAGES = ("jax", "jaxlib", "llvmlite", "numpy", "scipy", "xarray", "zarr", "matplotlib")


def version(package: str = "naiad") -> str:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def versions() -> dict[str, str]:
    """naiad, Python and the libraries under naiad."""
    return {"naiad": version(), "Python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The name of the CPU, and its cores."""
    return f"{_processor_name()}, {cores()} core{'' if cores() == 1 else 's'}"


def now() -> str:
    """The local date and time with its offset, to the second."""
    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")


def _processor_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (names or _listed() or [platform.processor() or platform.machine()])[0]


def _listed() -> list[str]:
    """What `lscpu` calls the processor: on ARM /proc/cpuinfo has numbers only."""
    try:
        said = subprocess.run(
            ["lscpu"], capture_output=True, text=True, check=True, timeout=5, env=dict(os.environ, LC_ALL="C")
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.partition(":")[2].strip() for line in said.stdout.splitlines() if line.startswith("Model name:")]
