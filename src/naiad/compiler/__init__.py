"""Machine code from a pure JAX function on small arrays."""

from naiad.compiler.backends import WasmModule
from naiad.compiler.compiled import Compiled, compile
from naiad.compiler.device import Device, chosen_device
from naiad.compiler.engine import Engine, check_engine, execute, execute_rows
from naiad.compiler.front.rules import Unsupported

__all__ = [
    "Compiled",
    "Device",
    "Engine",
    "Unsupported",
    "WasmModule",
    "check_engine",
    "chosen_device",
    "compile",
    "execute",
    "execute_rows",
]
