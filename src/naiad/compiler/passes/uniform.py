"""Finds what is the same in all lanes: loop counters, indices into tables, and what is computed from them."""

import math
from collections.abc import Sequence

from naiad.compiler.ir.operations import INT
from naiad.compiler.ir.program import Branch, Loop, Node, Part, Program, Region


def uniform(program: Program, shared: Sequence[bool] = ()) -> set[int]:
    """The numbers of the nodes, constants aside, that are the same in all lanes, where of the inputs those are that are
    `shared`."""
    slots = (slot for slot, same in zip(program.inputs, shared, strict=False) if same)
    offsets = {offset for slot in slots for offset in range(slot.offset, slot.offset + math.prod(slot.shape))}
    same = {node.number for node in program.region.items if node.op == "input" and node.value in offsets}
    _add_region(same, program.region)
    return same


def _add_region(same: set[int], region: Region) -> None:
    for node in region.items:
        if isinstance(node, Loop):
            _add_loop(same, node)
        elif isinstance(node, Part):
            _add_region(same, node.body)
        elif isinstance(node, Branch):
            for arm in node.arms:
                _add_region(same, arm)
            if _is_in(same, node.predicate):
                both = zip(node.results, *node.yields, strict=True)
                same.update(r.number for r, yes, no in both if _is_in(same, yes) and _is_in(same, no))
        elif node.op == "load":
            if node.value.space == "table" and _is_in(same, node.args[0]):
                same.add(node.number)
        elif node.op not in ("input", "param", "result", "store") and all(_is_in(same, a) for a in node.args):
            same.add(node.number)


def _add_loop(same: set[int], loop: Loop) -> None:
    """What goes round is hoped to be the same as long as nothing in the loop says otherwise."""
    hoped = [i for i, init in enumerate(loop.inits) if init.type == INT and _is_in(same, init)]
    before = set(same)
    while True:
        same.update(loop.params[i].number for i in hoped)
        _add_region(same, loop.test)
        _add_region(same, loop.body)
        held = [i for i in hoped if _is_in(same, loop.yields[i])] if _is_in(same, loop.predicate) else []
        if held == hoped:
            same.update(loop.results[i].number for i in hoped)
            return
        same.intersection_update(before)
        hoped = held


def _is_in(same: set[int], node: Node) -> bool:
    return node.constant or node.number in same
