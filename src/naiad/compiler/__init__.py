"""Machine code from a pure JAX function on small arrays."""

from naiad.compiler.backends import WasmModule
from naiad.compiler.compiled import Compiled, compile
from naiad.compiler.device import Device, chosen_device
from naiad.compiler.engine import Engine, check_engine, execute, execute_rows
from naiad.compiler.front.rules import Unsupported
from naiad.compiler.tables import Current, Fields, OverTables, Table, default_lanes, form_of, numbers_of

__all__ = [
    "Compiled",
    "Current",
    "Device",
    "Engine",
    "Fields",
    "OverTables",
    "Table",
    "Unsupported",
    "WasmModule",
    "check_engine",
    "chosen_device",
    "compile",
    "default_lanes",
    "execute",
    "execute_rows",
    "form_of",
    "numbers_of",
]
