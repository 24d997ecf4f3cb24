"""The order of operations in a row, for engines that keep it: what is far from the end comes first, so that a processor
has other work while it waits, but with no more values in hand than it has registers."""

import heapq
from collections import Counter, deque

from naiad.compiler.ir.operations import COSTLY
from naiad.compiler.ir.program import Node

REGISTERS = 14  # of the 16 that x86 has; ARM has 32, and takes no longer
RECENT = 32  # operations that were ready last, of which one is taken when there are no registers left
AT_ONCE = 2  # operations that begin in a cycle
CYCLES = {"add": 2, "sub": 2, "mul": 3, "div": 12, "sqrt": 14}  # from the arguments to the result; others 2, or 20


def ordered(nodes: list[Node]) -> list[Node]:
    """Nodes that come in an order in which they can be computed, in a better one."""
    row = _Row(nodes)
    return [row.next() for _ in nodes]


class _Row:
    """Operations that are to be begun, cycle by cycle."""

    def __init__(self, nodes: list[Node]):
        self.own = {node.number: node for node in nodes}
        self.readers: dict[int, list[int]] = {number: [] for number in self.own}
        self.arguments = {node.number: {a.number for a in node.args} & self.own.keys() for node in nodes}
        for number, arguments in self.arguments.items():
            for argument in arguments:
                self.readers[argument].append(number)
        self.reads = Counter({number: len(readers) for number, readers in self.readers.items()})
        self.waits = {number: len(arguments) for number, arguments in self.arguments.items()}
        self.height: dict[int, int] = {}  # cycles to the end
        for node in reversed(nodes):
            after = max((self.height[reader] for reader in self.readers[node.number]), default=0)
            self.height[node.number] = after + _cycles(node)
        self.ready = [(-self.height[number], number) for number, waits in self.waits.items() if not waits]
        heapq.heapify(self.ready)
        self.recent: deque[int] = deque(maxlen=RECENT)
        self.later: list[tuple[int, int]] = []  # when others may begin
        self.begun: set[int] = set()
        self.time = self.at_once = self.live = 0

    def next(self) -> Node:
        """The operation that is begun next."""
        self._tick()
        number = self._chosen()
        self.begun.add(number)
        self.at_once += 1
        self.live += 1 - self._ended(number)
        self.reads.subtract(self.arguments[number])
        for reader in self.readers[number]:
            self.waits[reader] -= 1
            if not self.waits[reader]:
                heapq.heappush(self.later, (self.time + _cycles(self.own[number]), reader))
        return self.own[number]

    def _tick(self) -> None:
        """Go on to a cycle in which there is something to begin."""
        while self.ready and self.ready[0][1] in self.begun:
            heapq.heappop(self.ready)
        if not self.ready:
            self.time, self.at_once = max(self.time + 1, self.later[0][0]), 0
        elif self.at_once == AT_ONCE:
            self.time, self.at_once = self.time + 1, 0
        while self.later and self.later[0][0] <= self.time:
            _, number = heapq.heappop(self.later)
            heapq.heappush(self.ready, (-self.height[number], number))
            self.recent.append(number)

    def _chosen(self) -> int:
        """The one that is furthest from the end; without registers, of the recent ones that which frees most."""
        first = self.ready[0][1]
        if self.live < REGISTERS:
            return first
        recent = [number for number in self.recent if number not in self.begun]
        return max([first, *recent], key=lambda number: (self._ended(number), self.height[number]))

    def _ended(self, number: int) -> int:
        """How many values nobody reads after this operation."""
        return sum(self.reads[argument] == 1 for argument in self.arguments[number])


def _cycles(node: Node) -> int:
    return CYCLES.get(node.op, 20 if node.op in COSTLY else 2)
