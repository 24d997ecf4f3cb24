"""The lines of a function in LLVM IR, as they are written: values, blocks, and the types of lanes."""

import contextlib
import struct
from collections.abc import Iterator


class Lines:
    """Lines in the making. A wide value is a vector with a place for each lane; in one lane all are scalars."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.text: list[str] = []
        self.room: list[str] = []  # on the stack
        self.block = "entry"
        self.declared: set[str] = set()
        self.helpers: dict[str, str] = {}
        self._count = 0
        self._splats: dict[tuple[str, int], str] = {}  # of the block

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

    def put(self, type: str, value: str) -> str:
        """A place on the stack for a value, which is read from there and not, as LLVM would have it, from registers."""
        place = self.fresh()
        self.room.append(f"  {place} = alloca {type}, align 64")
        self.say(f"store {type} {value}, ptr {place}, align 64")
        self.say(f'call void asm sideeffect "", "r,~{{memory}}"(ptr {place})')
        return place

    def whole(self) -> list[str]:
        """All lines of the function."""
        return self.room + self.text

    def fork(self, condition: str, yes: str, no: str) -> None:
        """End a block, by a condition."""
        self.say(f"br i1 {condition}, label %{yes}, label %{no}")

    # -- lanes

    @contextlib.contextmanager
    def of(self, lanes: int) -> Iterator[None]:
        """Meanwhile wide values have so many lanes."""
        usual, self.lanes = self.lanes, lanes
        yield
        self.lanes = usual

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
        key = (name, self.lanes)
        if key in self._splats:
            return self._splats[key]
        vector = self.type(scalar)
        one = self.emit(f"insertelement {vector} poison, {scalar} {name}, i64 0")
        wide = self.emit(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")
        self._splats[key] = wide
        return wide

    def bits(self, mask: str) -> str:
        """A truth value of all lanes as a number with a bit for each."""
        return self.emit(f"bitcast {self.type('i1')} {mask} to i{self.lanes}")

    def any(self, mask: str) -> str:
        """Whether a truth value holds in some lane."""
        return self.emit(f"icmp ne i{self.lanes} {self.bits(mask)}, 0")

    def holds(self, bits: str, lane: int) -> str:
        """Whether a truth value with these bits holds in a lane."""
        own = self.emit(f"and i{self.lanes} {bits}, {1 << lane}")
        return self.emit(f"icmp ne i{self.lanes} {own}, 0")

    def all(self, mask: str) -> str:
        """Whether a truth value holds in every lane."""
        return self.emit(f"icmp eq i{self.lanes} {self.bits(mask)}, -1")

    def select(self, type: str, wide: bool, condition: str, yes: str, no: str) -> str:
        """One of two values, by a truth value."""
        return self.emit(f"select {self.type('i1', wide)} {condition}, {type} {yes}, {type} {no}")


def bits(value: float) -> str:
    """A double as LLVM reads it, to its last digit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
