"""Cuts long code into parts, so that the time to compile it grows no faster than its length.

A part becomes a function of its own. Values that one part makes and another uses lie in working memory, in the frame.
"""

from collections.abc import Iterator

from naiad.compiler.ir.program import Branch, Loop, Node, Part, Program, Region, children, regions

LONGEST = 8000  # operations in a row that are left together
PART = 4000
MANY = 64  # loops, the work on each of which takes longer the more there is around it
WITH_LOOPS = 2000  # operations of a part that has loops too
FEWEST = 100  # operations that are worth a function


def split(program: Program, *, loops: bool = False) -> Program:
    """The program, changed in place, with long rows of operations cut into parts; with `loops` all of it, and these
    too, if it has many."""
    if loops and sum(isinstance(node, Loop) for node, _ in _walk(program.region, None)) > MANY:
        _cut_all(program.region)
    for region in list(regions(program.region)):
        if len(region.items) > LONGEST:
            region.items = list(_cut(region))
    home: dict[int, Part | None] = {}
    for node, part in _walk(program.region, None):
        home.update((made.number, part) for made in _made(node))
    for node, part in _walk(program.region, None):
        _frame(program, home, part, _used(node))
    _frame(program, home, None, [node for _, node in program.results])
    return program


def given(part: Part) -> list[Node]:
    """The values that a part uses and does not make."""
    inside = [node for node, _ in _walk(part.body, None)]
    own = {made.number for node in inside for made in _made(node)}
    used = {value.number: value for node in inside for value in _used(node) if not value.constant}
    return [value for number, value in used.items() if number not in own]


def _cut(region: Region) -> Iterator[Node]:
    row: list[Node] = []
    for node in region.items:
        plain = not isinstance(node, Loop | Branch) and node.op not in ("store", "result", "input")
        if plain:
            row.append(node)
        if row and (len(row) == PART or not plain):
            yield _part(region, row)
            row = []
        if not plain:
            yield node
    if row:
        yield _part(region, row)


def _cut_all(region: Region) -> None:
    """A region in parts; what is too long for one is cut inside."""
    items, row, size = [], list[Node](), 0

    def end() -> None:
        nonlocal row, size
        items.extend([_part(region, row)] if size >= FEWEST else row)
        row, size = [], 0

    for node in region.items:
        more = _size(node)
        if node.op == "input":
            items.append(node)
        elif more > WITH_LOOPS:
            end()
            for inner in children(node):
                _cut_all(inner)
            items.append(node)
        else:
            if size + more > WITH_LOOPS:
                end()
            row.append(node)
            size += more
    end()
    region.items = items


def _size(node: Node) -> int:
    return 1 + sum(_size(inner) for region in children(node) for inner in region.items)


def _part(region: Region, row: list[Node]) -> Part:
    part = Part("part", (), "", region, -row[0].number)
    part.body = Region("part", region)
    part.body.owner = part
    part.body.items = row
    return part


def _walk(region: Region, part: Part | None) -> Iterator[tuple[Node, Part | None]]:
    """All nodes, each with the part that it is in."""
    for node in region.items:
        yield node, part
        for inner in children(node):
            yield from _walk(inner, node if isinstance(node, Part) else part)


def _made(node: Node) -> list[Node]:
    """The values that a node makes."""
    if isinstance(node, Loop):
        return [*node.params, *node.results]
    if isinstance(node, Branch):
        return node.results
    return [] if node.op in ("param", "result") else [node]


def _used(node: Node) -> list[Node]:
    if isinstance(node, Loop):
        return [*node.inits, *node.yields, node.predicate]
    if isinstance(node, Branch):
        return [*node.yields[0], *node.yields[1], node.predicate]
    return list(node.args)


def _frame(program: Program, home: dict[int, Part | None], owner: Part | None, used: list[Node]) -> None:
    for node in used:
        if node.constant or node.op == "input" or node.number in program.frame:
            continue
        if home[node.number] is not owner:
            program.frame[node.number] = program.work_size
            program.work_size += node.width
