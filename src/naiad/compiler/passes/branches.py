"""Makes branches of selections that have a condition in common, for code that runs one trajectory.

A branch that goes the same way every time costs nothing, and nothing waits for its condition; a selection waits for
the condition and for both values. What only one of the arms needs is computed there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from naiad.compiler.ir.program import Branch, Loop, Node, Program, Region, children, regions

FEWEST = 4  # selections that are worth a jump


def branches(program: Program) -> Program:
    """The program, changed in place; what was cut into parts stays as it is."""
    uses = Counter(node.number for _, node in program.results)
    for region in regions(program.region):
        for node in region.items:
            uses.update(value.number for value in read(node))
    for region in [each for each in regions(program.region) if each.kind != "part"]:
        groups = _groups(region)
        if groups:
            region.items = list(_Rebuilt(region, groups).items())
        sunk = _sink(region, uses)
        region.items = [node for node in region.items if node.number not in sunk]
    return program


def read(node: Node) -> Iterator[Node]:
    """The values that a statement or an operation reads itself."""
    yield from node.args
    if isinstance(node, Loop):
        yield from (*node.inits, *node.yields, node.predicate)
    elif isinstance(node, Branch):
        yield from (*node.yields[0], *node.yields[1], node.predicate)


def _groups(region: Region) -> dict[int, list[Node]]:
    """Selections with one condition of which none needs another, by the number of each: those that as many others
    come before."""
    levels: dict[int, int] = {}
    found: dict[tuple[int, int, int], list[Node]] = defaultdict(list)
    stretch = 0
    for node in region.items:
        level = max((levels.get(value.number, 0) for value in node.args), default=0)
        if node.op == "select":
            found[stretch, node.args[0].number, level].append(node)
            level += 1
        levels[node.number] = level
        stretch += children(node) != () or node.op == "store"
    return {node.number: group for group in found.values() if len(group) >= FEWEST for node in group}


class _Rebuilt:
    """The items of a region in another order: a group is where the first of it was."""

    def __init__(self, region: Region, groups: dict[int, list[Node]]):
        self.region, self.groups = region, groups
        self.own = {node.number for node in region.items}
        self.done: set[int] = set()

    def items(self) -> Iterator[Node]:
        for node in self.region.items:
            yield from self._placed(node)

    def _placed(self, wanted: Node) -> Iterator[Node]:
        """A node, after what it needs."""
        work = [(wanted, False)]
        while work:
            node, ready = work.pop()
            if node.number in self.done or node.number not in self.own:
                continue
            group = self.groups.get(node.number)
            if not ready:
                work.append((node, True))
                needed = [value for member in group or (node,) for value in read(member)]
                work += [(value, False) for value in reversed(needed)]
            elif group is None:
                self.done.add(node.number)
                yield node
            else:
                self.done.update(member.number for member in group)
                yield from self._branch(group)

    def _branch(self, group: list[Node]) -> Iterator[Node]:
        """A branch, whose results the selections become."""
        made = Branch("branch", (), "", self.region, -group[0].number)
        made.predicate, made.results = group[0].args[0], group
        made.arms = (Region("arm", self.region), Region("arm", self.region))
        made.yields = ([node.args[1] for node in group], [node.args[2] for node in group])
        for arm in made.arms:
            arm.owner = made
        yield made
        for place, node in enumerate(group):
            node.op, node.args, node.value = "result", (), (made, place)
            yield node


def _sink(region: Region, uses: Counter[int]) -> set[int]:
    """What only one arm of a branch reads is computed there; the numbers of what has gone."""
    gone: set[int] = set()
    for at, branch in enumerate(region.items):
        for arm, yields in zip(branch.arms, branch.yields, strict=True) if isinstance(branch, Branch) else ():
            inside = Counter(value.number for node in arm.items for value in read(node))
            inside.update(value.number for value in yields)
            sunk: list[Node] = []
            for node in reversed(region.items[:at]):
                if inside[node.number] and inside[node.number] == uses[node.number] and _movable(node):
                    inside.update(value.number for value in node.args)
                    sunk.append(node)
                    node.region = arm
            arm.items[:0] = reversed(sunk)
            gone.update(node.number for node in sunk)
    return gone


def _movable(node: Node) -> bool:
    return node.op not in ("load", "store", "input", "param", "result") and not children(node)
