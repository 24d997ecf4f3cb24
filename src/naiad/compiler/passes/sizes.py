"""Finds the floats that never have a sign bit, even as not-a-number: absolute values, and the largest of them."""

from naiad.compiler.ir.operations import FLOAT
from naiad.compiler.ir.program import Branch, Loop, Node, Part, Program, Region


def sizes(program: Program) -> set[int]:
    """The numbers of these nodes, constants among them."""
    found: set[int] = set()
    _add_region(found, program.region)
    return found


def _add_region(found: set[int], region: Region) -> None:
    for node in region.items:
        if isinstance(node, Loop):
            _add_loop(found, node)
        elif isinstance(node, Part):
            _add_region(found, node.body)
        elif isinstance(node, Branch):
            for arm in node.arms:
                _add_region(found, arm)
            both = zip(node.results, *node.yields, strict=True)
            found.update(r.number for r, yes, no in both if is_size(found, yes) and is_size(found, no))
        elif node.op == "abs" or (
            (node.op in ("max", "min") and all(is_size(found, a) for a in node.args))
            or (node.op == "select" and node.type == FLOAT and all(is_size(found, a) for a in node.args[1:]))
        ):
            found.add(node.number)


def _add_loop(found: set[int], loop: Loop) -> None:
    """What goes round is hoped to be one as long as nothing in the loop says otherwise."""
    hoped = [i for i, init in enumerate(loop.inits) if init.type == FLOAT and is_size(found, init)]
    before = set(found)
    while True:
        found.update(loop.params[i].number for i in hoped)
        _add_region(found, loop.test)
        _add_region(found, loop.body)
        held = [i for i in hoped if is_size(found, loop.yields[i])]
        if held == hoped:
            found.update(loop.results[i].number for i in hoped)
            return
        found.intersection_update(before)
        hoped = held


def is_size(found: set[int], node: Node) -> bool:
    """Whether a node is one of those found, or a constant of their kind."""
    if node.constant:
        return node.type == FLOAT and node.value >= 0.0 and str(node.value)[0] != "-"
    return node.number in found
