"""Signs and powers of two are exact: of values that differ by nothing else, one is computed."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from naiad.compiler.ir.operations import FLOAT
from naiad.compiler.ir.program import Branch, Loop, Node, Program, Region, children, regions
from naiad.compiler.passes.finish import fuse, uses_of

SIGNS = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "fma": (1.0, 1.0), "fms": (1.0, -1.0), "fnma": (-1.0, 1.0)}
"""Of the terms of a sum."""


class Scaled(NamedTuple):
    """A value: a power of two, with a sign, times a node."""

    factor: float
    node: Node

    def times(self, factor: float) -> "Scaled":
        """With another factor."""
        return Scaled(factor * self.factor, self.node)


class _Scope(NamedTuple):
    """What there is in a region: multiples of nodes, and products of two."""

    region: Region
    multiples: dict[tuple[int, float], Node]
    products: dict[tuple[int, int], Scaled]


def rescaled(program: Program) -> Program:
    """The program with fused products, changed in place: of 0.5 x and -0.5 x, and of x y and (0.5 x) y, one is
    computed, and of 0.5 (x y) + (0.5 x) y nothing but x y is left; the same to the last digit, but for numbers below
    2^-1022."""
    _Pass(program).run()
    return program


class _Pass:
    def __init__(self, program: Program):
        self.program = program
        every = [node for region in regions(program.region) for node in region.items]
        made = [n for loop in every if isinstance(loop, Loop) for n in (*loop.params, *loop.results)]
        made += [n for branch in every if isinstance(branch, Branch) for n in branch.results]
        self.numbers = itertools.count(1 + max((node.number for node in (*every, *made)), default=0))
        self.scaled: dict[int, Scaled] = {}
        self.scopes: list[_Scope] = []
        self.plain = {
            (id(region), *_pair(*node.args))
            for region in regions(program.region)
            for node in region.items
            if node.op == "mul"
        }

    def run(self) -> None:
        offsets, results = [offset for offset, _ in self.program.results], [node for _, node in self.program.results]
        self._region(self.program.region, lambda: self._settle(results))
        self.program.results = list(zip(offsets, results, strict=True))
        _drop_unused(self.program)
        uses = uses_of(self.program)
        for region in regions(self.program.region):
            for node in region.items:
                if node.op in ("add", "sub"):
                    fuse(node, uses)
        _drop_unused(self.program)

    def _region(self, region: Region, finish: Callable[[], None]) -> None:
        """A region, and what its owner takes from it."""
        self.scopes.append(_Scope(region, {}, {}))
        items, region.items = region.items, []
        self.region = region
        for node in items:
            self._node(node)
            self.region = region
        finish()

    def _node(self, node: Node) -> None:
        region = self.region
        if isinstance(node, Loop):
            node.inits = self._wholes(node.inits)
            depth = len(self.scopes)
            self._region(node.test, lambda: None)
            self._region(node.body, lambda: self._settle(node.yields))  # which sees what the test has computed
            del self.scopes[depth:]
        elif isinstance(node, Branch):
            for arm, yields in zip(node.arms, node.yields, strict=True):
                self._region(arm, lambda yields=yields: self._settle(yields))
                self.scopes.pop()
        elif node.op == "mul":
            self._product(node)
            return
        elif node.op == "neg":
            self.scaled[node.number] = self._of(node.args[0]).times(-1.0)
            return
        elif node.op in SIGNS:
            self._sum(node)
            return
        elif node.op == "abs":
            factor, base = self._of(node.args[0])
            node.args = (self._whole(Scaled(abs(factor), base)),)
        else:
            node.args = tuple(self._wholes(node.args))
        region.items.append(node)

    # -- values

    def _of(self, node: Node) -> Scaled:
        return self.scaled.get(node.number, Scaled(1.0, node))

    def _wholes(self, nodes: Iterable[Node]) -> list[Node]:
        return [self._whole(self._of(node)) for node in nodes]

    def _settle(self, nodes: list[Node]) -> None:
        nodes[:] = self._wholes(nodes)

    def _whole(self, value: Scaled) -> Node:
        """A node of the value, made here if there is none."""
        factor, node = value
        if factor == 1.0:
            return node
        known = self._known(value)
        if known is None:
            home = self._home(node)
            if factor < 0.0:
                known = self._made(home.region, "neg", self._whole(Scaled(-factor, node)))
            else:
                known = self._made(home.region, "mul", *self._multiplied(factor, node))
            home.multiples[node.number, factor] = known
        return known

    def _home(self, node: Node) -> _Scope:
        """Where a node is made, which is where its multiples are."""
        return next((scope for scope in self.scopes if scope.region is node.region), self.scopes[-1])

    def _multiplied(self, factor: float, node: Node) -> tuple[Node, Node]:
        """Two nodes whose product is the multiple of a node: of a product with a value from outside of the loop, that
        is multiplied there."""
        if node.op == "mul":
            for one, other in (node.args, node.args[::-1]):
                if not one.constant and _loop(one.region) is not _loop(node.region):
                    return self._whole(Scaled(factor, one)), other
        return self._constant(factor), node

    def _known(self, value: Scaled) -> Node | None:
        key = value.node.number, value.factor
        return next((scope.multiples[key] for scope in reversed(self.scopes) if key in scope.multiples), None)

    def _made(self, region: Region, op: str, *args: Node) -> Node:
        node = Node(op, args, FLOAT, region, next(self.numbers))
        region.items.append(node)
        return node

    def _constant(self, value: float) -> Node:
        return Node("const", (), FLOAT, self.program.region, next(self.numbers), value)

    # -- operations

    def _keep(self, node: Node, op: str, args: tuple[Node, ...], factor: float) -> None:
        """The node does an operation; what it stood for is the result times a factor."""
        node.op, node.args = op, args
        self.region.items.append(node)
        if factor != 1.0:
            self.scaled[node.number] = Scaled(factor, node)

    def _product(self, node: Node) -> None:
        a, b = node.args
        for one, other in ((a, b), (b, a)):
            if _is_power(one):
                value = self.scaled[node.number] = self._of(other).times(one.value)
                self._whole(Scaled(abs(value.factor), value.node))  # here, where it may be outside of a loop
                return
        known = self._known_product(a, b)
        if known is not None:
            self.scaled[node.number] = known
            return
        x, y = self._of(a), self._of(b)
        pair, factor = _pair(x.node, y.node), x.factor * y.factor
        if (id(self.region), *pair) in self.plain:
            self._keep(node, "mul", (x.node, y.node), factor)
        else:
            self._keep(node, "mul", self._factors(x, y), math.copysign(1.0, factor))
        self.scopes[-1].products[pair] = Scaled(self._of(node).factor / factor, node)

    def _known_product(self, a: Node, b: Node) -> Scaled | None:
        """A product that is a multiple of one that there is."""
        x, y = self._of(a), self._of(b)
        pair = _pair(x.node, y.node)
        known = next((scope.products[pair] for scope in reversed(self.scopes) if pair in scope.products), None)
        return None if known is None else known.times(x.factor * y.factor)

    def _factors(self, x: Scaled, y: Scaled) -> tuple[Node, Node]:
        """Two nodes with the product of two values, but for its sign."""
        factor = abs(x.factor * y.factor)
        for one, other in ((x, y), (y, x)):
            whole = one.node if factor == 1.0 else self._known(Scaled(factor, one.node))
            if whole is not None:
                return whole, other.node
        return self._whole(Scaled(abs(x.factor), x.node)), self._whole(Scaled(abs(y.factor), y.node))

    def _sum(self, node: Node) -> None:
        *factors, last = node.args
        sign, last_sign = SIGNS[node.op]
        second = self._of(last).times(last_sign)
        first = self._of(factors[0]) if len(factors) == 1 else self._multiple(*factors)
        if first is None:
            x, y = map(self._of, factors)
            sign *= math.copysign(1.0, x.factor * y.factor)
            self._write(node, "fma", self._factors(x, y), sign, second)
            return
        first = first.times(sign)
        both = first.factor + second.factor
        if first.node is second.node and _is_power_of_two(both):
            self.scaled[node.number] = Scaled(both, first.node)
            return
        for one, other in ((first, second), (second, first)):
            if abs(one.factor) != 1.0 and self._known(Scaled(abs(one.factor), one.node)) is None:
                scale = self._constant(abs(one.factor))
                self._write(node, "fma", (scale, one.node), math.copysign(1.0, one.factor), other)
                return
        whole = self._whole(Scaled(abs(first.factor), first.node))
        self._write(node, "add", (whole,), math.copysign(1.0, first.factor), second)

    def _multiple(self, a: Node, b: Node) -> Scaled | None:
        """The product of two as a multiple of a node that there is."""
        for one, other in ((a, b), (b, a)):
            if _is_power(one):
                return self._of(other).times(one.value)
        return self._known_product(a, b)

    def _write(self, node: Node, op: str, factors: tuple[Node, ...], sign: float, second: Scaled) -> None:
        """A sum of a term with a sign and a value."""
        other, equal = self._whole(Scaled(abs(second.factor), second.node)), sign == math.copysign(1.0, second.factor)
        if equal:
            self._keep(node, op, (*factors, other), sign)
        elif op == "add":
            self._keep(node, "sub", (*factors, other), sign)
        else:
            self._keep(node, "fms" if sign > 0.0 else "fnma", (*factors, other), 1.0)


def _loop(region: Region | None) -> Region | None:
    """The test or the body of the innermost loop around a region."""
    while region is not None and region.kind not in ("test", "body"):
        region = region.parent
    return region


def _pair(a: Node, b: Node) -> tuple[int, int]:
    return (a.number, b.number) if a.number < b.number else (b.number, a.number)


def _is_power(node: Node) -> bool:
    return node.constant and node.type == FLOAT and _is_power_of_two(node.value)


def _is_power_of_two(value: float) -> bool:
    return math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5


def _drop_unused(program: Program) -> None:
    _drop(program.region, uses_of(program))


def _drop(region: Region, uses: Counter[int]) -> None:
    kept = []
    for node in reversed(region.items):
        for inner in reversed(children(node)):
            _drop(inner, uses)
        if isinstance(node, Loop | Branch) or node.op in ("store", "param", "result") or uses[node.number]:
            kept.append(node)
        else:
            uses.subtract(a.number for a in node.args)
    region.items = kept[::-1]
