"""Finds what is the same in all lanes: loop counters, indices into tables, and what is computed from them."""

import math
from collections.abc import Sequence

from naiad.compiler.ir.operations import INT
from naiad.compiler.ir.program import Node, Program
from naiad.compiler.passes.spreading import Spreading


def uniform(program: Program, shared: Sequence[bool] = ()) -> set[int]:
    """The numbers of the nodes, constants aside, that are the same in all lanes, where of the inputs those are that are
    `shared`."""
    slots = (slot for slot, same in zip(program.inputs, shared, strict=False) if same)
    offsets = {offset for slot in slots for offset in range(slot.offset, slot.offset + math.prod(slot.shape))}
    inputs = {node.number for node in program.region.items if node.op == "input" and node.value in offsets}
    same = _Uniform(inputs, offsets)
    same.add(program.region)
    return same.found


class _Uniform(Spreading):
    goes_round = INT

    def __init__(self, found: set[int], offsets: set[int]):
        super().__init__(found)
        self.offsets = offsets

    def constant(self, node: Node) -> bool:
        return True

    def computed(self, node: Node) -> bool:
        if node.op == "load":
            buffer = node.value
            once = buffer.space == "table" or (buffer.space == "in" and buffer.offset in self.offsets)
            return once and self.has(node.args[0])
        return node.op not in ("input", "param", "result", "store") and all(map(self.has, node.args))

    def chosen(self, predicate: Node) -> bool:
        return self.has(predicate)
