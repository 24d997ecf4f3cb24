"""Cuts long straight-line code into parts, so that the time to compile it grows no faster than its length.

A part becomes a function of its own. Values that one part makes and another uses lie in working memory, in the frame.
"""

from collections.abc import Iterator

from naiad.compiler.ir.program import Branch, Loop, Node, Part, Program, Region, regions

LONGEST = 8000  # operations in a row that are left together
PART = 4000


def split(program: Program) -> Program:
    """The program, changed in place, with long rows of operations cut into parts."""
    for region in list(regions(program.region)):
        if len(region.items) > LONGEST:
            region.items = list(_cut(region))
    home: dict[int, Part | None] = {}
    for region in regions(program.region):
        owner = region.owner if isinstance(region.owner, Part) else None
        for node in region.items:
            home[node.number] = owner
            for param in node.params if isinstance(node, Loop) else ():
                home[param.number] = None
    for region in regions(program.region):
        owner = region.owner if isinstance(region.owner, Part) else None
        for node in region.items:
            _frame(program, home, owner, _used(node))
    _frame(program, home, None, [node for _, node in program.results])
    return program


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


def _part(region: Region, row: list[Node]) -> Part:
    part = Part("part", (), "", region, -row[0].number)
    part.body = Region("part", region)
    part.body.owner = part
    part.body.items = row
    return part


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
            program.work_size += 1
