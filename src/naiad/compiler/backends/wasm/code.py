"""The instructions of a function, as they are written, and its locals, which are used again when their value is not."""

from collections.abc import Mapping

from naiad.compiler.backends.wasm.binary import (
    F64,
    I32,
    I64,
    INSTRUCTIONS,
    VOID,
    Function,
    Signature,
    float64,
    signed,
    unsigned,
)
from naiad.compiler.ir.operations import BOOL, FLOAT, INT

TYPES = {FLOAT: F64, INT: I64, BOOL: I32}
_ALIGNED = unsigned(3)  # to eight bytes


class Code:
    """A function in the making; `functions` are the numbers of those that it may call, by name."""

    def __init__(self, functions: Mapping[str, int], arguments: tuple[bytes, ...] = ()):
        self.body = bytearray()
        self.functions = functions
        self._arguments = arguments
        self._locals: list[bytes] = []
        self._free: dict[bytes, list[int]] = {type: [] for type in TYPES.values()}

    def emit(self, *names: str) -> None:
        """Instructions that take nothing but what lies on the stack."""
        for name in names:
            self.body += INSTRUCTIONS[name]

    def open(self, name: str) -> None:
        """Begin a `block`, a `loop` or an `if`."""
        self.body += INSTRUCTIONS[name] + VOID

    def jump(self, name: str, depth: int) -> None:
        """To the block that is so many further out: `br` or `br_if`."""
        self.body += INSTRUCTIONS[name] + unsigned(depth)

    def constant(self, type: str, value: float) -> None:
        """A known value."""
        if type == FLOAT:
            self.body += INSTRUCTIONS["f64.const"] + float64(value)
        else:
            self.body += INSTRUCTIONS["i64.const" if type == INT else "i32.const"] + signed(int(value))

    def call(self, name: str) -> None:
        """Call a function by its name."""
        self.body += INSTRUCTIONS["call"] + unsigned(self.functions[name])

    # -- locals

    def local(self, type: bytes) -> int:
        """One that holds nothing that is needed."""
        if self._free[type]:
            return self._free[type].pop()
        self._locals.append(type)
        return len(self._arguments) + len(self._locals) - 1

    def release(self, local: int) -> None:
        """What it holds is not needed any more."""
        self._free[self._locals[local - len(self._arguments)]].append(local)

    def get(self, local: int) -> None:
        """Push its value."""
        self.body += INSTRUCTIONS["local.get"] + unsigned(local)

    def set(self, local: int) -> None:
        """Pop its value."""
        self.body += INSTRUCTIONS["local.set"] + unsigned(local)

    def tee(self, local: int) -> None:
        """Set it, and leave the value on the stack."""
        self.body += INSTRUCTIONS["local.tee"] + unsigned(local)

    # -- memory: floats and 64-bit integers, truth values as such

    def load(self, type: str, place: int) -> None:
        """What lies so many bytes after the address on the stack."""
        self.body += INSTRUCTIONS["f64.load" if type == FLOAT else "i64.load"] + _ALIGNED + unsigned(place)
        if type == BOOL:
            self.constant(INT, 0)
            self.emit("i64.ne")

    def store(self, type: str, place: int) -> None:
        """Pop a value, and an address, so many bytes after which it goes."""
        if type == BOOL:
            self.emit("i64.extend_i32_u")
        self.body += INSTRUCTIONS["f64.store" if type == FLOAT else "i64.store"] + _ALIGNED + unsigned(place)

    def function(self, results: tuple[bytes, ...] = ()) -> Function:
        """What was written."""
        return Function(Signature(self._arguments, results), self._locals, bytes(self.body))
