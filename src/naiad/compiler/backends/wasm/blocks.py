"""What must be known of a program before it is written: where each value lives, how often it is read there, and what a
statement needs of the code around it.

A block is code that runs from its first line to its last: the whole program, an arm, a part, or a loop, whose test and
body are one. A value may be computed anywhere in its block, between its arguments and its first use.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Part, Program, Region, children

Place = tuple[str, int]


def place(buffer: Buffer) -> Place:
    """By which a buffer is told from others."""
    return buffer.space, buffer.offset


class Blocks:
    """The blocks of a program, which are named by their first regions."""

    def __init__(self, program: Program):
        self.home: dict[int, Region] = {}  # the block of each value
        self.uses: Counter[int] = Counter()  # how often each is read in its own function
        self.needed: dict[Node, dict[Node, None]] = defaultdict(dict)  # values around a statement that it reads within
        self.stored: dict[Node, set[Place]] = defaultdict(set)  # buffers that it writes
        self._region(program.region)
        for _, node in program.results:
            self._use(node, program.region)

    def within(self, value: Node, region: Region) -> bool:
        """Whether a value is computed in the block of a region."""
        return self.home[value.number] is block(region)

    def _region(self, region: Region) -> None:
        here = block(region)
        for node in region.items:
            self.home[node.number] = here
            for argument in node.args:
                self._use(argument, region)
            if node.op == "store":
                for statement, _ in _around(here):
                    self.stored[statement].add(place(node.value))
            if isinstance(node, Loop):
                for value in node.inits:
                    self._use(value, region)
                for param in node.params:
                    self.home[param.number] = node.test
            elif isinstance(node, Branch):
                self._use(node.predicate, region)
            for inner in children(node):
                self._region(inner)
            if isinstance(node, Loop):
                for value in (node.predicate, *node.yields):
                    self._use(value, node.test)
            elif isinstance(node, Branch):
                for arm, yields in zip(node.arms, node.yields, strict=True):
                    for value in yields:
                        self._use(value, arm)

    def _use(self, value: Node, region: Region) -> None:
        if value.constant:
            return
        here, home = block(region), self.home[value.number]
        crossed = False
        for statement, outside in _around(here) if here is not home else ():
            crossed |= isinstance(statement, Part)
            if outside is home:
                self.needed[statement][value] = None
                break
        else:
            crossed |= here is not home  # made in a part, and read outside
        if not crossed:
            self.uses[value.number] += 1


def block(region: Region) -> Region:
    """The block of a region: the body of a loop goes on where its test ends."""
    return region.parent if region.kind == "body" and region.parent is not None else region


def _around(here: Region) -> Iterator[tuple[Node, Region]]:
    """The statements around a block, and the blocks in which they are, from within."""
    while here.owner is not None and here.parent is not None:
        outside = block(here.parent)
        yield here.owner, outside
        here = outside
