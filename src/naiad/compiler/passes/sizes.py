"""Finds the floats that never have a sign bit, even as not-a-number: absolute values, and the largest of them."""

from naiad.compiler.ir.operations import FLOAT
from naiad.compiler.ir.program import Node, Program
from naiad.compiler.passes.spreading import Spreading


class Sizes(Spreading):
    """Those of a program, constants among them."""

    goes_round = FLOAT

    def __init__(self, program: Program):
        super().__init__(set())
        self.add(program.region)

    def constant(self, node: Node) -> bool:
        return node.type == FLOAT and node.value >= 0.0 and str(node.value)[0] != "-"

    def computed(self, node: Node) -> bool:
        if node.op in ("max", "min"):
            return all(map(self.has, node.args))
        return node.op == "abs" or (node.op == "select" and node.type == FLOAT and all(map(self.has, node.args[1:])))

    def chosen(self, predicate: Node) -> bool:
        return True
