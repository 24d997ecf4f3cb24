"""The order of operations in a row, for engines that keep it: what is long before the end first, so that a processor has
other work while it waits, but with no more values in hand than it has registers."""

import heapq
from collections import Counter

from naiad.compiler.ir.operations import COSTLY, FLOAT
from naiad.compiler.ir.program import Node

REGISTERS = 24
AT_ONCE = 2  # operations that begin in a cycle
CYCLES = {"add": 2, "sub": 2, "mul": 3, "div": 12, "sqrt": 14}  # from the arguments to the result; others 2, or 20


def ordered(nodes: list[Node]) -> list[Node]:
    """Nodes that come in an order in which they can be computed, in a better one."""
    own = {node.number: node for node in nodes}
    readers: dict[int, list[Node]] = {number: [] for number in own}
    waits: dict[int, int] = {}
    reads: Counter[int] = Counter()  # how often each value is still read here
    for node in nodes:
        distinct = {argument.number: argument for argument in node.args if not argument.constant}
        reads.update(distinct.keys())
        waits[node.number] = sum(number in own for number in distinct)
        for number in distinct:
            if number in own:
                readers[number].append(node)
    height: dict[int, int] = {}
    for node in reversed(nodes):
        height[node.number] = _cycles(node) + max((height[r.number] for r in readers[node.number]), default=0)
    ready = [(-height[node.number], node.number) for node in nodes if not waits[node.number]]
    heapq.heapify(ready)
    later: list[tuple[int, int, int]] = []  # when they may begin
    result, time, begun, live = [], 0, 0, 0
    while ready or later:
        while later and later[0][0] <= time:
            _, high, number = heapq.heappop(later)
            heapq.heappush(ready, (high, number))
        if not ready or begun == AT_ONCE:
            time, begun = max(time + 1, later[0][0] if not ready else 0), 0
            continue
        number = _chosen(ready, own, reads, live >= REGISTERS)
        node = own[number]
        begun += 1
        result.append(node)
        live += 1 - _ended(node, own, reads)
        for argument in {argument.number for argument in node.args if not argument.constant}:
            reads[argument] -= 1
        for reader in readers[number]:
            waits[reader.number] -= 1
            if not waits[reader.number]:
                heapq.heappush(later, (time + _cycles(node), -height[reader.number], reader.number))
    return result


def _cycles(node: Node) -> int:
    return CYCLES.get(node.op, 20 if node.op in COSTLY else 2)


def _ended(node: Node, own: dict[int, Node], reads: Counter[int]) -> int:
    """How many values that were computed here nobody reads after this one."""
    return sum(number in own and reads[number] == 1 for number in {a.number for a in node.args})


def _chosen(ready: list[tuple[int, int]], own: dict[int, Node], reads: Counter[int], full: bool) -> int:
    """The one that is furthest from the end; if the registers are full, of the first the one that frees most."""
    if not full:
        return heapq.heappop(ready)[1]
    best = max(ready, key=lambda each: (_ended(own[each[1]], own, reads), -each[0]))
    ready.remove(best)
    heapq.heapify(ready)
    return best[1]
