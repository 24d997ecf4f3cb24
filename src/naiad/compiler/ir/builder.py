"""Builds a program node by node, and simplifies on the way.

Equal expressions are one node, constants fold, zeros and ones vanish, negations move outwards. A node is placed in the
outermost loop in which its arguments are known, so that what does not change in a loop is computed before it.
"""

import contextlib
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from naiad.compiler.ir.operations import BOOL, COMMUTATIVE, COSTLY, DTYPES, FLOAT, INT, OPERATIONS
from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Region

SPECULATED = 12  # cheap operations in the arms of a branch that are worth less than a jump
PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul")},
    **{f"i{name}": getattr(operator, name) for name in ("add", "sub", "mul")},
}
"""Operations of constants that do not depend on how NumPy does them."""

_SUM, _PRODUCT = {FLOAT: "add", INT: "iadd", BOOL: "or"}, {FLOAT: "mul", INT: "imul", BOOL: "and"}
ONCE = {"div", "sqrt"}  # done once, before all loops, where nothing that they depend on changes, even for a rare branch


class Builder:
    """A program in the making; `region` is where new nodes go."""

    def __init__(self):
        self.root = self.region = Region("top", None)
        self.tables: list[Buffer] = []
        self.work_size = 0
        self.nodes = 0
        self._constants: dict[Any, Node] = {}

    # -- values

    def const(self, value: Any, type: str) -> Node:
        """A known value."""
        if value.__class__ is not float or type != FLOAT:
            value = _wrapped(int(value)) if type == INT else DTYPES[type](value).item()
        key = (type, value, math.copysign(1.0, value)) if type == FLOAT else (type, value)
        if value != value:
            key = (type, "nan")
        if key not in self._constants:
            self._constants[key] = Node("const", (), type, self.root, self._number(), value)
        return self._constants[key]

    def real(self, value: float) -> Node:
        """A known float."""
        return self.const(value, FLOAT)

    def integer(self, value: int) -> Node:
        """A known integer."""
        return self.const(value, INT)

    def input(self, offset: int, type: str) -> Node:
        """The element of the arguments at an offset."""
        return self._shared(self.root, self.root, ("input", offset), "input", (), type, offset)

    def op(self, name: str, *args: Node) -> Node:
        """An operation, folded if its arguments are known."""
        for a in args:
            if a.op != "const":
                break
        else:
            return self._folded(name, args)
        simpler = SIMPLER.get(name)
        if simpler is not None:
            found = simpler(self, *args)
            if found is not None:
                return found
        return self._raw(name, *args)

    def _folded(self, name: str, args: tuple[Node, ...]) -> Node:
        operation = OPERATIONS[name]
        if name in PLAIN:  # Python's own are the same, and sooner
            return self.const(PLAIN[name](*(a.value for a in args)), operation.type)
        with np.errstate(all="ignore"):
            value = operation.evaluate(*(DTYPES[a.type](a.value) for a in args))
        return self.const(np.asarray(value).item(), operation.type)

    def select(self, condition: Node, yes: Node, no: Node) -> Node:
        """`yes` where the condition holds, else `no`."""
        if condition.constant:
            return yes if condition.value else no
        if yes is no:
            return yes
        if condition.op == "not":
            return self.select(condition.args[0], no, yes)
        if yes.type == BOOL and yes.constant:
            return self.op("or", condition, no) if yes.value else self.op("and", self.op("not", condition), no)
        if no.type == BOOL and no.constant:
            return self.op("or", self.op("not", condition), yes) if no.value else self.op("and", condition, yes)
        return self._place("select", (condition, yes, no), yes.type)

    def add(self, a: Node, b: Node) -> Node:
        """a + b; of truth values, whether either holds."""
        return self.op(_SUM[a.type], a, b)

    def mul(self, a: Node, b: Node) -> Node:
        """a b; of truth values, whether both hold."""
        return self.op(_PRODUCT[a.type], a, b)

    # -- packs

    def pack(self, scalars: Sequence[Node]) -> Node:
        """Scalars of one type side by side; one that is the same in all lanes stays a scalar."""
        first = scalars[0]
        if all(each is first for each in scalars):
            return first
        node = self._place("pack", tuple(scalars), first.type)
        node.width = len(scalars)
        return node

    def lane(self, value: Node, lane: int) -> Node:
        """The scalar in a lane."""
        if value.width == 1:
            return value
        if value.op == "pack":
            return value.args[lane]
        node = self._place("lane", (value,), value.type, lane)
        node.width = 1
        return node

    # -- memory

    def buffer(self, size: int, type: str) -> Buffer:
        """Working memory."""
        made = Buffer("work", self.work_size, size, type, region=self.region)
        self.work_size += size
        return made

    def table(self, values: np.ndarray, type: str) -> Buffer:
        """Constants in memory."""
        flat = np.ascontiguousarray(values, DTYPES[type]).reshape(-1)
        for known in self.tables:
            if known.type == type and known.values.tobytes() == flat.tobytes():
                return known
        self.tables.append(Buffer("table", len(self.tables), flat.size, type, flat, region=self.root))
        return self.tables[-1]

    def load(self, buffer: Buffer, index: Node) -> Node:
        """An element of a buffer."""
        if buffer.values is not None and index.constant:
            return self.const(buffer.values[index.value], buffer.type)
        key = ("load", id(buffer), buffer.version, index.number)
        if buffer.mutable:
            return self._shared(self.region, self.region, key, "load", (index,), buffer.type, buffer)
        deepest = max(index.region, buffer.region, key=lambda region: region.depth)
        return self._shared(self._home(deepest), deepest, key, "load", (index,), buffer.type, buffer)

    def store(self, buffer: Buffer, index: Node, value: Node) -> None:
        """Write an element of a buffer."""
        buffer.version += 1
        self.region.items.append(Node("store", (index, value), value.type, self.region, self._number(), buffer))

    # -- control

    def begin_loop(self, inits: Sequence[Node]) -> Loop:
        """A loop whose test comes next."""
        loop = Loop("loop", (), "", self.region, self._number())
        loop.inits = list(inits)
        loop.test = Region("test", self.region)
        loop.body = Region("body", loop.test)
        loop.test.owner = loop.body.owner = loop
        loop.params = [
            Node("param", (), init.type, loop.test, self._number(), (loop, i)) for i, init in enumerate(inits)
        ]
        self.region = loop.test
        return loop

    def begin_body(self, loop: Loop, predicate: Node) -> None:
        """The test of the loop is done; its body comes next."""
        loop.predicate = predicate
        self.region = loop.body

    def end_loop(self, loop: Loop, yields: Sequence[Node]) -> list[Node]:
        """The values after the loop."""
        self.region = loop.region
        loop.yields = list(yields)
        loop.region.items.append(loop)
        loop.results = self._results(loop, [param.type for param in loop.params])
        return loop.results

    def count(
        self, length: int, inits: Sequence[Node], body: Callable[[Node, list[Node]], Sequence[Node]]
    ) -> list[Node]:
        """The values after body(i, values) has run for i = 0 .. length - 1."""
        loop = self.begin_loop([self.integer(0), *inits])
        i, *values = loop.params
        self.begin_body(loop, self.op("lt", i, self.integer(length)))
        yields = body(i, values)
        return self.end_loop(loop, [self.op("iadd", i, self.integer(1)), *yields])[1:]

    @contextlib.contextmanager
    def outside(self, args: Sequence[Node]) -> Iterator[Region]:
        """Meanwhile what is built goes to the outermost region in which these nodes are known."""
        here = self.region
        self.region = self._home(max((a.region for a in args), key=lambda region: region.depth))
        try:
            yield self.region
        finally:
            self.region = here

    def begin_branch(self, predicate: Node) -> Branch:
        """A branch whose arms come next."""
        branch = Branch("branch", (), "", self.region, self._number())
        branch.predicate = predicate
        branch.arms = (Region("arm", self.region), Region("arm", self.region))
        for arm in branch.arms:
            arm.owner = branch
        return branch

    def begin_arm(self, branch: Branch, arm: int) -> None:
        """What comes next is done where the predicate holds (arm 0) or does not (arm 1)."""
        self.region = branch.arms[arm]

    def end_branch(self, branch: Branch, yields: tuple[list[Node], list[Node]]) -> list[Node]:
        """The values after the branch; one with little in its arms becomes selects."""
        self.region = branch.region
        branch.yields = yields
        items = [node for arm in branch.arms for node in arm.items]
        if len(items) <= SPECULATED and not any(_stays(node) for node in items):
            for node in items:
                node.region = branch.region
                branch.region.items.append(node)
            for arm in branch.arms:
                branch.region.shared.update(arm.shared)
            return [self.select(branch.predicate, yes, no) for yes, no in zip(*yields, strict=True)]
        branch.region.items.append(branch)
        branch.results = self._results(branch, [node.type for node in yields[0]])
        return branch.results

    # -- simplification: see SIMPLER

    def _add(self, a: Node, b: Node) -> Node | None:
        if _is(a, 0.0):
            return b
        if _is(b, 0.0):
            return a
        if a is b:
            return self.mul(self.real(2.0), a)
        if b.op == "neg":
            return self.op("neg", self.add(a.args[0], b.args[0])) if a.op == "neg" else self.op("sub", a, b.args[0])
        return self.op("sub", b, a.args[0]) if a.op == "neg" else None

    def _sub(self, a: Node, b: Node) -> Node | None:
        if _is(b, 0.0):
            return a
        if _is(a, 0.0):
            return self.op("neg", b)
        if b.op == "neg":
            return self.add(a, b.args[0])
        if a.op == "neg":
            return self.op("neg", self.add(a.args[0], b))
        turned = self._find("sub", (b, a)) if a is not b else None
        return self.op("neg", turned) if turned is not None else None

    def _neg(self, a: Node) -> Node | None:
        if a.op == "neg":
            return a.args[0]
        if a.op == "mul" and a.args[0].constant:
            return self._raw("mul", self.real(-a.args[0].value), a.args[1])
        return None

    def _mul(self, a: Node, b: Node) -> Node | None:
        if b.constant:
            a, b = b, a
        if a.constant:
            if a.value in (0.0, 1.0, -1.0):
                return a if a.value == 0.0 else b if a.value == 1.0 else self.op("neg", b)
            if b.op == "neg":
                return self.op("mul", self.real(-a.value), b.args[0])
            if b.op == "mul" and b.args[0].constant and _gather(a.value, b.args[0].value):
                return self.op("mul", self.real(a.value * b.args[0].value), b.args[1])
            return self._raw("mul", a, b)
        if a.op == "neg":
            return self.op("neg", self.mul(a.args[0], b))
        return self.op("neg", self.mul(a, b.args[0])) if b.op == "neg" else None

    def _div(self, a: Node, b: Node) -> Node | None:
        if _is(a, 0.0):
            return a
        if b.constant and _invertible(b.value):
            return self.mul(a, self.real(1.0 / b.value))
        if a.op == "neg":
            return self.op("neg", self.op("div", a.args[0], b))
        return self.op("neg", self.op("div", a, b.args[0])) if b.op == "neg" else None

    def _abs(self, a: Node) -> Node | None:
        return self.op("abs", a.args[0]) if a.op == "neg" else a if a.op == "abs" else None

    def _cos(self, a: Node) -> Node | None:
        return self.op("cos", a.args[0]) if a.op == "neg" else None

    def _of_equals(self, a: Node, b: Node) -> Node | None:
        return a if a is b else None

    def _pow(self, a: Node, b: Node) -> Node | None:
        if not b.constant or not math.isfinite(b.value):
            return None
        if b.value == 0.5:
            root = self.op("abs", self.op("sqrt", a))  # the power of -0 is 0, and that of -inf is inf
            return self.select(self.op("eq", a, self.real(-math.inf)), self.real(math.inf), root)
        return self.power(a, int(b.value)) if b.value == int(b.value) and abs(b.value) <= 16 else None

    def power(self, a: Node, exponent: int) -> Node:
        """a to an integer power, by squaring."""
        if exponent < 0:
            return self.op("div", self.real(1.0), self.power(a, -exponent))
        result, square = None, a
        while exponent:
            if exponent & 1:
                result = square if result is None else self.mul(result, square)
            exponent >>= 1
            if exponent:
                square = self.mul(square, square)
        return self.const(1, a.type) if result is None else result

    def _iadd(self, a: Node, b: Node) -> Node | None:
        if a.constant:
            a, b = b, a
        if not b.constant:
            return None
        if b.value == 0:
            return a
        if a.op == "iadd" and a.args[1].constant:
            return self.op("iadd", a.args[0], self.integer(a.args[1].value + b.value))
        return self._place("iadd", (a, b), INT)

    def _isub(self, a: Node, b: Node) -> Node | None:
        if a is b:
            return self.integer(0)
        return self.op("iadd", a, self.integer(-b.value)) if b.constant and b.value != -(2**63) else None

    def _imul(self, a: Node, b: Node) -> Node | None:
        if a.constant:
            a, b = b, a
        if b.constant and b.value in (0, 1):
            return b if b.value == 0 else a
        return None

    def _not(self, a: Node) -> Node | None:
        return a.args[0] if a.op == "not" else None

    def _eq(self, a: Node, b: Node) -> Node | None:
        return self.const(True, BOOL) if a is b and a.type != FLOAT else None

    def _ne(self, a: Node, b: Node) -> Node | None:
        return self.const(False, BOOL) if a is b and a.type != FLOAT else None

    def _lt(self, a: Node, b: Node) -> Node | None:
        return self.const(False, BOOL) if a is b else None

    # -- places

    def _raw(self, name: str, *args: Node) -> Node:
        if name in COMMUTATIVE and not args[0].constant and (args[1].constant or args[0].number > args[1].number):
            args = (args[1], args[0])
        if name in ("and", "or") and args[0].constant:
            keeps = args[0].value == (name == "and")
            return args[1] if keeps else args[0]
        return self._place(name, args, OPERATIONS[name].type)

    def _place(self, name: str, args: tuple[Node, ...], type: str, value: Any = None) -> Node:
        deepest = args[0].region
        for a in args[1:]:
            if a.region.depth > deepest.depth:
                deepest = a.region
        key = (name, value, *[a.number for a in args])
        once = name in ONCE and deepest is self.root and self.region.in_loop
        return self._shared(self.root if once else self._home(deepest), deepest, key, name, args, type, value)

    def _find(self, name: str, args: tuple[Node, ...]) -> Node | None:
        deepest = max((a.region for a in args), key=lambda region: region.depth)
        return self._lookup(self._home(deepest), deepest, (name, None, *(a.number for a in args)))

    def _home(self, deepest: Region) -> Region:
        """The outermost region in which a node may be computed, given the deepest region of its arguments: out of
        loops in which it does not change, but never out of the arm of a branch (see `ONCE`)."""
        home = self.region
        while home is not deepest:
            if home.kind == "arm" or (home.kind == "body" and home.parent is deepest):
                break
            assert home.parent is not None
            home = home.parent
        return home

    def _lookup(self, home: Region, deepest: Region, key: Any) -> Node | None:
        region: Region | None = home
        while region is not None:
            if key in region.shared:
                return region.shared[key]
            region = None if region is deepest else region.parent
        return None

    def _shared(
        self, home: Region, deepest: Region, key: Any, name: str, args: tuple[Node, ...], type: str, value: Any = None
    ) -> Node:
        node = self._lookup(home, deepest, key)
        if node is None:
            node = home.shared[key] = Node(name, args, type, home, self._number(), value)
            home.items.append(node)
        return node

    def _results(self, owner: Loop | Branch, types: list[str]) -> list[Node]:
        results = [Node("result", (), type, owner.region, self._number(), (owner, i)) for i, type in enumerate(types)]
        owner.region.items.extend(results)
        return results

    def _number(self) -> int:
        self.nodes += 1
        return self.nodes


SIMPLER: dict[str, Callable[..., Node | None]] = {
    "add": Builder._add,
    "sub": Builder._sub,
    "neg": Builder._neg,
    "mul": Builder._mul,
    "div": Builder._div,
    "abs": Builder._abs,
    "cos": Builder._cos,
    "max": Builder._of_equals,
    "min": Builder._of_equals,
    "pow": Builder._pow,
    "iadd": Builder._iadd,
    "isub": Builder._isub,
    "imul": Builder._imul,
    "imax": Builder._of_equals,
    "imin": Builder._of_equals,
    "and": Builder._of_equals,
    "or": Builder._of_equals,
    "not": Builder._not,
    "eq": Builder._eq,
    "ne": Builder._ne,
    "lt": Builder._lt,
}
"""What may make an operation simpler: of its arguments, a node that means the same, or None."""


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _is(node: Node, value: float) -> bool:
    return node.constant and node.value == value


def _invertible(value: float) -> bool:
    return 2.0**-1000 < abs(value) < 2.0**1000


def _gather(a: float, b: float) -> bool:
    """Whether a (b x) may be (a b) x: not where the one overflows or vanishes, and the other is far from it."""
    return all(2.0**-64 < abs(value) < 2.0**64 for value in (a, b, a * b))


def _stays(node: Node) -> bool:
    """Whether a node may not run where its result is not wanted, or costs more than a jump."""
    return node.op in COSTLY or node.op in ("load", "store", "loop", "branch", "result")
