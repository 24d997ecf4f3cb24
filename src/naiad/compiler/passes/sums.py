"""Where only that is asked of a sum whether it is finite, it need not be formed."""

from naiad.compiler.ir.program import Node, Program, regions
from naiad.compiler.passes.finish import uses_of


def unsummed(program: Program) -> Program:
    """The program, changed in place: `finite` of a sum that nobody else uses becomes `all_finite` of its terms."""
    uses = uses_of(program)
    for region in regions(program.region):
        gone: set[int] = set()
        for node in region.items:
            if node.op == "finite":
                terms = _terms(node.args[0], uses, gone)
                if len(terms) > 1:
                    node.op, node.args = "all_finite", tuple(terms)
        region.items = [node for node in region.items if node.number not in gone]
    return program


def _terms(node: Node, uses: dict[int, int], gone: set[int]) -> list[Node]:
    """The terms of a sum, whose own sums are gone."""
    terms, work = [], [node]
    while work:
        one = work.pop()
        if one.op == "add" and uses[one.number] == 1 and one.region is node.region:
            gone.add(one.number)
            work += one.args
        else:
            terms.append(one)
    return terms
