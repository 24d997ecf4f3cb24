"""What goes round a loop lane by lane goes round as a pack."""

import itertools
from collections.abc import Iterator, Sequence

from naiad.compiler.ir.operations import FLOAT
from naiad.compiler.ir.program import Branch, Loop, Node, Program, Region, children, regions


def packed(program: Program) -> Program:
    """The program, changed in place: the lanes of a pack that go round a loop are one value, and a pack of all lanes of
    a pack is that one."""
    every = [node for region in regions(program.region) for node in region.items]
    if any(node.op == "lane" for node in every):
        made = [n for loop in every if isinstance(loop, Loop) for n in (*loop.params, *loop.results)]
        made += [node for _, node in program.results]  # some of which may be constants, younger than all else
        numbers = itertools.count(1 + max(node.number for node in (*every, *made)))
        _gather(program.region, numbers)
        same = dict[int, Node]()
        _unpack(program.region, same)
        program.results = [(offset, same.get(node.number, node)) for offset, node in program.results]
    return program


def spread(program: Program) -> set[int]:
    """The numbers of the packs of which half the lanes or more go into all lanes of other packs. They are best taken
    from memory, which x86 does on the way into an operation; between registers it takes the port of the sums."""
    lanes: dict[int, set[int]] = {}
    packs = dict[int, Node]()
    for region in regions(program.region):
        for node in region.items:
            for a in node.args if node.width > 1 and node.op != "pack" else ():
                if a.op == "lane" and a.type == FLOAT:
                    packs[a.args[0].number] = a.args[0]
                    lanes.setdefault(a.args[0].number, set()).add(a.value)
    return {number for number, taken in lanes.items() if 2 * len(taken) >= packs[number].width}


def _gather(region: Region, numbers: Iterator[int]) -> None:
    """In all loops of a region, the inner ones first, one value where all lanes of a pack go round."""
    items = []
    for node in region.items:
        for inner in children(node):
            _gather(inner, numbers)
        if not isinstance(node, Loop):
            items.append(node)
            continue
        after = []
        for pack, places in _going_round(node):
            inits = tuple(node.inits[i] for i in places)
            items.append(_wide(Node("pack", inits, pack.type, region, next(numbers)), pack))
            after.append(_joined(node, pack, items[-1], places, numbers))
        items += [node, *after]
        if after:
            _renumbered(node)
    region.items = items


def _going_round(loop: Loop) -> list[tuple[Node, list[int]]]:
    """The packs that are made anew in each round, and which of what goes round are their lanes."""
    found: dict[int, tuple[Node, dict[int, int]]] = {}
    for i, node in enumerate(loop.yields):
        if node.op == "lane":
            found.setdefault(node.args[0].number, (node.args[0], {}))[1].setdefault(node.value, i)
    return [(pack, [at[k] for k in range(pack.width)]) for pack, at in found.values() if len(at) == pack.width]


def _joined(loop: Loop, pack: Node, init: Node, places: Sequence[int], numbers: Iterator[int]) -> Node:
    """Let a pack go round where its lanes did, which are read from it; its value after the loop."""
    param = _wide(Node("param", (), pack.type, loop.test, next(numbers)), pack)
    result = _wide(Node("result", (), pack.type, loop.region, next(numbers)), pack)
    lanes = list[Node]()
    for lane, i in enumerate(places):
        for old, new in ((loop.params[i], param), (loop.results[i], result)):
            old.op, old.args, old.value = "lane", (new,), lane
        lanes.append(loop.params[i])
    loop.test.items[:0] = lanes
    loop.params.append(param)
    loop.inits.append(init)
    loop.yields.append(pack)
    loop.results.append(result)
    return result


def _renumbered(loop: Loop) -> None:
    """Drop what no longer goes round by itself."""
    stays = [i for i, param in enumerate(loop.params) if param.op == "param"]
    for name in ("params", "inits", "yields", "results"):
        values = getattr(loop, name)
        setattr(loop, name, [values[i] for i in stays])
    for values in (loop.params, loop.results):
        for i, node in enumerate(values):
            node.value = (loop, i)


def _wide(node: Node, like: Node) -> Node:
    node.width = like.width
    return node


def _unpack(region: Region, same: dict[int, Node]) -> None:
    """Let packs of all lanes of one be that one."""

    def now(nodes: Sequence[Node]) -> list[Node]:
        return [same.get(node.number, node) for node in nodes]

    items = []
    for node in region.items:
        node.args = tuple(now(node.args))
        if isinstance(node, Loop):
            node.inits = now(node.inits)
        for inner in children(node):
            _unpack(inner, same)
        if isinstance(node, Loop):
            node.predicate, *node.yields = now([node.predicate, *node.yields])
        elif isinstance(node, Branch):
            yes, no = node.yields
            node.predicate, node.yields = now([node.predicate])[0], (now(yes), now(no))
        whole = _whole(node.args) if node.op == "pack" else None
        if whole is None:
            items.append(node)
        else:
            same[node.number] = whole
    region.items = items


def _whole(lanes: Sequence[Node]) -> Node | None:
    """The pack of which these are all lanes, in their order."""
    one = lanes[0].args[0] if lanes[0].op == "lane" else None
    if one is None or one.width != len(lanes):
        return None
    return one if all(n.op == "lane" and n.args[0] is one and n.value == k for k, n in enumerate(lanes)) else None
