"""Properties of nodes that follow from those of their arguments, through branches and around loops."""

import abc
from typing import ClassVar

from naiad.compiler.ir.program import Branch, Loop, Node, Part, Region


class Spreading(abc.ABC):
    """Finds the nodes with a property, by their numbers; constants are judged where they stand."""

    goes_round: ClassVar[str]
    """The type of what may have the property around a loop."""

    def __init__(self, found: set[int]):
        self.found = found

    def has(self, node: Node) -> bool:
        """Whether a node has the property."""
        return self.constant(node) if node.constant else node.number in self.found

    @abc.abstractmethod
    def constant(self, node: Node) -> bool:
        """Whether a constant has the property."""

    @abc.abstractmethod
    def computed(self, node: Node) -> bool:
        """Whether an operation gives it, those before it being known."""

    @abc.abstractmethod
    def chosen(self, predicate: Node) -> bool:
        """Whether what is chosen by this predicate, or goes round as long as it holds, may have it at all."""

    def add(self, region: Region) -> None:
        """Find those of a region."""
        for node in region.items:
            if isinstance(node, Loop):
                self._add_loop(node)
            elif isinstance(node, Part):
                self.add(node.body)
            elif isinstance(node, Branch):
                self._add_branch(node)
            elif self.computed(node):
                self.found.add(node.number)

    def _add_branch(self, branch: Branch) -> None:
        for arm in branch.arms:
            self.add(arm)
        if self.chosen(branch.predicate):
            both = zip(branch.results, *branch.yields, strict=True)
            self.found.update(result.number for result, yes, no in both if self.has(yes) and self.has(no))

    def _add_loop(self, loop: Loop) -> None:
        """What goes round is hoped to have it as long as nothing in the loop says otherwise."""
        hoped = [i for i, init in enumerate(loop.inits) if init.type == self.goes_round and self.has(init)]
        before = set(self.found)
        while True:
            self.found.update(loop.params[i].number for i in hoped)
            self.add(loop.test)
            self.add(loop.body)
            held = [i for i in hoped if self.has(loop.yields[i])] if self.chosen(loop.predicate) else []
            if held == hoped:
                self.found.update(loop.results[i].number for i in hoped)
                return
            self.found.intersection_update(before)
            hoped = held
