"""The lines of a function in LLVM IR, as they are written: values, blocks, and the types of lanes."""

import struct


class Lines:
    """Lines in the making. A wide value is a vector with a place for each lane; in one lane all are scalars."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.text: list[str] = []
        self.block = "entry"
        self.declared: set[str] = set()
        self.helpers: dict[str, str] = {}
        self._count = 0
        self._splats: dict[str, str] = {}  # of the block

    # -- lines

    def fresh(self) -> str:
        """A name that no value has."""
        self._count += 1
        return f"%v{self._count}"

    def emit(self, text: str) -> str:
        """The name of a new value."""
        name = self.fresh()
        self.text.append(f"  {name} = {text}")
        return name

    def say(self, text: str) -> None:
        """An instruction without a value."""
        self.text.append(f"  {text}")

    def label(self, word: str) -> str:
        """A name that no block has."""
        self._count += 1
        return f"{word}{self._count}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.text.append(f"{label}:")
        self.block = label
        self._splats.clear()

    def jump(self, label: str, mark: str = "") -> None:
        """End a block."""
        self.say(f"br label %{label}{mark}")

    def fork(self, condition: str, yes: str, no: str) -> None:
        """End a block, by a condition."""
        self.say(f"br i1 {condition}, label %{yes}, label %{no}")

    # -- lanes

    def type(self, scalar: str, wide: bool = True) -> str:
        """The type of a value."""
        return f"<{self.lanes} x {scalar}>" if wide and self.lanes > 1 else scalar

    def number(self, text: str, scalar: str, wide: bool = True) -> str:
        """A constant."""
        return f"<{', '.join([f'{scalar} {text}'] * self.lanes)}>" if wide and self.lanes > 1 else text

    def splat(self, scalar: str, name: str) -> str:
        """A scalar, in all lanes."""
        if self.lanes == 1:
            return name
        if name in self._splats:
            return self._splats[name]
        vector = self.type(scalar)
        one = self.emit(f"insertelement {vector} poison, {scalar} {name}, i64 0")
        wide = self.emit(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")
        self._splats[name] = wide
        return wide

    def any(self, mask: str) -> str:
        """Whether a truth value holds in some lane."""
        bits = self.emit(f"bitcast {self.type('i1')} {mask} to i{self.lanes}")
        return self.emit(f"icmp ne i{self.lanes} {bits}, 0")

    def all(self, mask: str) -> str:
        """Whether a truth value holds in every lane."""
        bits = self.emit(f"bitcast {self.type('i1')} {mask} to i{self.lanes}")
        return self.emit(f"icmp eq i{self.lanes} {bits}, -1")

    def gather(self, scalar: str, base: str, place: str, apart: int) -> str:
        """An element of every lane, which are so far apart in memory: in one line, for LLVM takes long for many."""
        vector, rows = self.type(scalar), self._rows(base, place, apart)
        return self._called(vector, "gather", scalar, (rows, f"{self.type('i1')} {self._every}", f"{vector} poison"))

    def scatter(self, scalar: str, stored: str, base: str, place: str, apart: int) -> None:
        """Store an element of every lane, as they are gathered."""
        vector, rows = self.type(scalar), self._rows(base, place, apart)
        self._called("void", "scatter", scalar, (f"{vector} {stored}", rows, f"{self.type('i1')} {self._every}"))

    @property
    def _every(self) -> str:
        return self.number("true", "i1")

    def _rows(self, base: str, place: str, apart: int) -> str:
        first = self.emit(f"getelementptr i64, ptr {base}, i64 {place}")
        places = ", ".join(f"i64 {lane * apart}" for lane in range(self.lanes))
        rows = self.emit(f"getelementptr i64, ptr {first}, {self.type('i64')} <{places}>")
        return f"{self.type('ptr')} align 8 {rows}"

    def _called(self, result: str, word: str, scalar: str, given: tuple[str, ...]) -> str:
        """A call of LLVM's function for elements in many places."""
        name = f"@llvm.masked.{word}.v{self.lanes}{scalar.replace('double', 'f64')}.v{self.lanes}p0"
        types = ", ".join(each[: each.index(">") + 1] for each in given)
        self.declared.add(f"declare {result} {name}({types})")
        call = f"call {result} {name}({', '.join(given)})"
        if result != "void":
            return self.emit(call)
        self.say(call)
        return ""

    def select(self, type: str, wide: bool, condition: str, yes: str, no: str) -> str:
        """One of two values, by a truth value."""
        return self.emit(f"select {self.type('i1', wide)} {condition}, {type} {yes}, {type} {no}")


def bits(value: float) -> str:
    """A double as LLVM reads it, to its last digit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
