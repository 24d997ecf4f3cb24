"""Where the arguments lie in memory: what all rows share once, in front, then the rows' own, element by element."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from naiad.compiler.ir.program import Slot


class Inputs(NamedTuple):
    """The first element of each argument, among those that are shared or among a row's own, and the number of each."""

    offsets: list[int]
    shared: int
    own: int


def arranged(slots: Sequence[Slot], shared: Sequence[bool]) -> Inputs:
    """Arguments one after the other, those that are `shared` apart; if nothing is said of them, none is."""
    sizes, offsets = [0, 0], []
    for slot, same in zip(slots, shared or [False] * len(slots), strict=True):
        offsets.append(sizes[same])
        sizes[same] += math.prod(slot.shape)
    own, together = sizes
    return Inputs(offsets, together, own)
