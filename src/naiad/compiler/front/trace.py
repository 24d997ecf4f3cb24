"""From a jaxpr to a scalar program: evaluates it over arrays of nodes, keeping its loops and branches."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core

from naiad.compiler.front.arrays import UNROLLED, Arrays, Lazy, Value, element_type, kind
from naiad.compiler.ir.builder import Builder
from naiad.compiler.ir.operations import BOOL
from naiad.compiler.ir.program import Buffer, Node, Program, Slot
from naiad.errors import InputError

UNROLLED_OPERATIONS = 600  # a scan of known length that comes to so little is written out
LONGEST = 250_000  # operations; LLVM would take minutes, and an hour for some millions


class Unsupported(InputError):  # noqa: N818 - it is what the function is
    """A function does something that cannot be compiled."""


class Refusal(Exception):  # noqa: N818 - a rule's word to the tracer
    """What a rule cannot do; the tracer adds where it is asked for."""


class Rule(NamedTuple):
    """What a JAX primitive does, `apply(tracer, eqn, *inputs)` -> output or a list of them; the parameters of the
    equation that it reads, and those on which no number depends."""

    apply: Callable[..., Any]
    reads: frozenset[str]
    ignores: frozenset[str]

    def parameters(self, eqn: Any) -> dict[str, Any]:
        """The parameters that the rule reads. One that was never thought of, in this version of JAX or another, might
        mean anything: unless it is None, which asks for nothing, it is refused."""
        for name, value in eqn.params.items():
            if name not in self.reads and name not in self.ignores and value is not None:
                raise Refusal(f"{eqn.primitive.name} with {name}={' '.join(str(value).split())[:60]}")
        return {name: value for name, value in eqn.params.items() if name in self.reads}


RULES: dict[str, Rule] = {}

# Parameters that change no number, whatever primitive has them.
HARMLESS = frozenset(
    {
        *("sharding", "out_sharding"),  # there is one device
        "accuracy",  # functions have all their digits, and products are in double precision
        "precision",
        *("dtype", "new_dtype", "index_dtype", "weak_type"),  # the variable of the result has its type
        *("indices_are_sorted", "unique_indices"),  # promises, of which no use is made
    }
)


def rule(*names: str, reads: str = "", ignores: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of one or more JAX primitives, with all the parameters that they may have."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        made = Rule(function, frozenset(reads.split()), HARMLESS.union(ignores.split()))
        RULES.update(dict.fromkeys(names, made))
        return function

    return register


def trace(closed: core.ClosedJaxpr, known: Sequence[np.ndarray | None] | None = None) -> Program:
    """The scalar program of a jaxpr; `known` marks the elements of its arguments that are 0 or 1 (others with -1)."""
    tracer = Tracer(_stacks(closed.jaxpr))
    b, arrays = tracer.builder, tracer.arrays
    inputs, in_size = _slots(closed.in_avals)
    args: list[Value] = []
    for slot, marks in zip(inputs, known or [None] * len(inputs), strict=True):
        type = _kind(np.dtype(slot.dtype), "an argument")
        if arrays.is_large(slot.shape):
            args.append(arrays.whole(Buffer("in", slot.offset, math.prod(slot.shape), type, region=b.root), slot.shape))
        else:
            nodes = np.empty(slot.shape, object)
            for position, index in enumerate(np.ndindex(slot.shape)):
                mark = -1 if marks is None else marks[index]
                nodes[index] = b.const(mark, type) if mark >= 0 else b.input(slot.offset + position, type)
            args.append(nodes)
    with np.errstate(all="ignore"):
        values = tracer.evaluate(closed.jaxpr, closed.consts, args)
    outputs, out_size = _slots(closed.out_avals)
    results: list[tuple[int, Node]] = []
    for slot, value in zip(outputs, values, strict=True):
        if isinstance(value, Lazy):
            size, type = math.prod(slot.shape), _kind(np.dtype(slot.dtype), "a result")
            arrays.fill(Buffer("out", slot.offset, size, type, region=b.root), value)
        else:
            results += [(slot.offset + i, node) for i, node in enumerate(value.reshape(-1))]
    return Program(b.root, inputs, outputs, results, b.tables, in_size, out_size, b.work_size)


class Tracer:
    """Evaluates jaxprs over small arrays of nodes and large lazy ones."""

    def __init__(self, stacks: frozenset[int]):
        self.builder = Builder()
        self.arrays = Arrays(self.builder, stacks)
        self._equations: list[Any] = []  # the one at work, inside those that contain it

    def evaluate(self, jaxpr: core.Jaxpr, consts: Sequence[Any], args: Sequence[Value]) -> list[Value]:
        """The outputs of a jaxpr."""
        last_use, uses = _uses(jaxpr)
        bound: dict[Any, Value] = {}

        def bind(variable: Any, value: Value, here: int) -> None:
            if last_use.get(variable, -1) > here:
                bound[variable] = value
                if isinstance(value, Lazy):
                    value.holders += 1

        def read(atom: Any) -> Value:
            if isinstance(atom, core.Literal):
                return self._lifted(atom.val, atom)
            return bound[atom]

        def release(atoms: Sequence[Any], here: int) -> None:
            for atom in dict.fromkeys(a for a in atoms if not isinstance(a, core.Literal)):
                if last_use[atom] == here:
                    value = bound.pop(atom)
                    if isinstance(value, Lazy):
                        value.holders -= 1

        for variable, const in zip(jaxpr.constvars, consts, strict=True):
            value = const if isinstance(const, Lazy) else self._lifted(const, variable)
            bind(variable, value, -1)
        for variable, value in zip(jaxpr.invars, args, strict=True):
            bind(variable, value, -1)
        for here, eqn in enumerate(jaxpr.eqns):
            inputs = [read(atom) for atom in eqn.invars]
            release(eqn.invars, here)
            self._equations.append(eqn)
            outputs = self._apply(eqn, inputs)
            self._equations.pop()
            for variable, value in zip(eqn.outvars, outputs, strict=True):
                if isinstance(value, Lazy) and not value.view and uses.get(variable, 0) > 1:
                    value = self.arrays.copied(value)
                bind(variable, value, here)
        outputs = [read(atom) for atom in jaxpr.outvars]
        release(jaxpr.outvars, len(jaxpr.eqns))
        return outputs

    def _lifted(self, const: Any, variable: Any) -> Value:
        dtype = variable.aval.dtype
        array = np.zeros(np.shape(const), bool) if dtype == jax.dtypes.float0 else np.asarray(const)
        return self.arrays.lift(array, _kind(dtype, "a constant"))

    def _apply(self, eqn: Any, inputs: list[Value]) -> list[Value]:
        name = eqn.primitive.name
        try:
            if name not in RULES:
                raise Refusal(name)
            if self.builder.nodes > LONGEST:
                raise Refusal(f"A program of more than {LONGEST:,} operations")
            for variable in eqn.outvars:
                if not kind(variable.aval.dtype):
                    raise Refusal(f"{name} of {variable.aval.dtype} (numbers are float64, int64, int32 or bool)")
            rule = RULES[name]
            outputs = rule.apply(self, eqn.replace(params=rule.parameters(eqn)), *inputs)
        except Refusal as what:
            raise Unsupported(
                f"{what} cannot be compiled{self._where()}; write it otherwise, or leave it to XLA (jax.jit, "
                "engine='xla')."
            ) from None
        if not eqn.primitive.multiple_results:
            outputs = [outputs]
        if name in _SUMMING and eqn.outvars[0].aval.dtype.name == "int32":
            outputs = [self._wrapped(value) for value in outputs]
        return [
            value if isinstance(value, Lazy) else np.asarray(value, object).reshape(variable.aval.shape)
            for value, variable in zip(outputs, eqn.outvars, strict=True)
        ]

    def _wrapped(self, value: Value) -> Value:
        """Sums of 32-bit integers, which were computed in 64 bits."""

        def wrap(node: Node) -> Node:
            return self.builder.op("wrap32", node)

        if isinstance(value, Lazy):
            return self.arrays.copied(self.arrays.lazy(value.shape, value.type, lambda i: wrap(value.at(i)), value))
        return np.frompyfunc(wrap, 1, 1)(value)

    def _where(self) -> str:
        """The line of the user's function that the equation at work comes from."""
        from jax._src import source_info_util

        places = (source_info_util.summarize(eqn.source_info) for eqn in reversed(self._equations))
        return next((f" ({place})" for place in places if place), "")

    def settled(self, values: Sequence[Value]) -> list[Value]:
        """Large arrays computed once, before a loop reads them many times."""
        return [self.arrays.copied(v) if isinstance(v, Lazy) and not v.view else v for v in values]


# -- control flow


@rule(
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "remat",
    "remat2",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
    reads="jaxpr call_jaxpr fun_jaxpr",
    ignores="""name inline keep_unused donated_invars in_shardings out_shardings in_layouts out_layouts ctx_mesh
        resource_env compiler_options_kvs prevent_cse differentiated policy num_consts symbolic_zeros jvp_jaxpr_fun
        jvp_jaxpr_thunk fwd_jaxpr_thunk bwd out_trees""",
)
def _call(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    inner = next(eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in eqn.params)
    if isinstance(inner, core.ClosedJaxpr):
        return tracer.evaluate(inner.jaxpr, inner.consts, inputs)
    return tracer.evaluate(inner, (), inputs)


@rule("custom_linear_solve", "linear_solve", reads="const_lengths jaxprs")
def _linear_solve(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    lengths, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    before = lengths.matvec + lengths.vecmat
    consts, right = inputs[before : before + lengths.solve], inputs[sum(lengths) :]
    return tracer.evaluate(solve.jaxpr, solve.consts, [*consts, *right])


class _Carry:
    """What goes round a loop: the elements of small arrays as parameters, large arrays in buffers that change."""

    def __init__(self, tracer: Tracer, values: Sequence[Value], indexed: Sequence[bool]):
        self.tracer = tracer
        self._buffers: set[Buffer] = set()
        self.values = [self._prepared(v, large) for v, large in zip(values, indexed, strict=True)]
        self.scalars = [node for v in self.values if not isinstance(v, Lazy) for node in v.reshape(-1)]

    def _prepared(self, value: Value, indexed: bool) -> Value:
        arrays = self.tracer.arrays
        if not isinstance(value, Lazy) and not indexed:
            return value
        if isinstance(value, Lazy) and _changeable(value) and value.buffer not in self._buffers:
            arrays.before_change(value.buffer)
            buffer = value.buffer
        else:
            buffer = self.tracer.builder.buffer(max(1, math.prod(value.shape)), element_type(value))
            arrays.fill(buffer, value)
            buffer.mutable = True
        buffer.version += 1
        self._buffers.add(buffer)
        return arrays.whole(buffer, value.shape)

    def arrays_of(self, nodes: Sequence[Node]) -> list[Value]:
        """The arrays whose scalars are `nodes`."""
        result, position = [], 0
        for value in self.values:
            if isinstance(value, Lazy):
                result.append(self.tracer.arrays.whole(value.buffer, value.shape))
            else:
                array = np.empty(value.shape, object)
                array.reshape(-1)[:] = nodes[position : position + value.size]
                position += value.size
                result.append(array)
        return result

    def yields(self, values: Sequence[Value]) -> list[Node]:
        """The scalars of the next round; large arrays are written into their buffers."""
        arrays, nodes, writes = self.tracer.arrays, [], []
        for old, new in zip(self.values, values, strict=True):
            if not isinstance(old, Lazy):
                nodes += list(arrays.small(new).reshape(-1))
            elif not (isinstance(new, Lazy) and new.buffer is old.buffer):
                careful = isinstance(new, Lazy) and not new.reads.isdisjoint(self._buffers)
                writes.append((old.buffer, arrays.copied(new) if careful else new))
        for buffer, value in writes:
            arrays.before_change(buffer)
            arrays.fill(buffer, value)
        return nodes

    def finished(self) -> None:
        """The loop is over: what was read of the buffers before holds no more."""
        for value in self.values:
            if isinstance(value, Lazy):
                value.buffer.version += 1


@rule("while", reads="cond_jaxpr body_jaxpr cond_nconsts body_nconsts")
def _while(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    b, params = tracer.builder, eqn.params
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    m, n = params["cond_nconsts"], params["body_nconsts"]
    unchanged = [a is c for a, c in zip(body.jaxpr.invars[n:], body.jaxpr.outvars, strict=True)]
    settled = tracer.settled(inputs)
    test_consts, body_consts, inits = settled[:m], settled[m : m + n], settled[m + n :]
    kept = [init for init, same in zip(inits, unchanged, strict=True) if same]
    indexed = _indexed(body.jaxpr)
    moving = [(init, is_in) for init, same, is_in in zip(inits, unchanged, indexed[n:], strict=True) if not same]

    def merge(changing: Sequence[Value]) -> list[Value]:
        changing_left, kept_left = iter(changing), iter(kept)
        return [next(kept_left if same else changing_left) for same in unchanged]

    with _held([*test_consts, *body_consts, *kept]):
        carry = _Carry(tracer, [init for init, _ in moving], [_worth_memory(*pair) for pair in moving])
        body_consts = _placed(tracer, body_consts, indexed[:n])
        loop = b.begin_loop(carry.scalars)
        values = merge(carry.arrays_of(loop.params))
        with _held(values):
            predicate = tracer.evaluate(test.jaxpr, test.consts, [*test_consts, *values])[0]
        if predicate.shape:
            (predicate,) = tracer.settled([predicate])
        b.begin_body(loop, _any(tracer, predicate))
        values = merge(carry.arrays_of(loop.params))
        with _held(values if predicate.shape else []):
            outputs = tracer.evaluate(body.jaxpr, body.consts, [*body_consts, *values])
            if predicate.shape:
                outputs = [_where_on(tracer, predicate, new, old) for new, old in zip(outputs, values, strict=True)]
            yields = carry.yields([value for value, same in zip(outputs, unchanged, strict=True) if not same])
        results = b.end_loop(loop, yields)
        carry.finished()
    return merge(carry.arrays_of(results))


def _any(tracer: Tracer, predicate: Value) -> Node:
    """Whether a loop goes on: a batch of loops goes on while any of them does."""
    b, arrays = tracer.builder, tracer.arrays
    if not isinstance(predicate, Lazy):
        return functools.reduce(lambda a, c: b.op("or", a, c), predicate.reshape(-1), b.const(False, BOOL))

    def body(i: Node, found: list[Node]) -> list[Node]:
        return [b.op("or", found[0], predicate.at(arrays.unflat(i, predicate.shape)))]

    return b.count(math.prod(predicate.shape), [b.const(False, BOOL)], body)[0]


def _where_on(tracer: Tracer, predicate: Value, new: Value, old: Value) -> Value:
    """The new values of those loops of a batch that go on, the old ones of the others."""
    b, at, axes = tracer.builder, tracer.arrays.at, len(predicate.shape)

    def element(index: Sequence[Node]) -> Node:
        return b.select(at(predicate, index[:axes]), at(new, index), at(old, index))

    chosen = tracer.arrays.lazy(old.shape, element_type(old), element, predicate, new, old)
    return chosen if isinstance(old, Lazy) else tracer.arrays.small(chosen)


@rule("scan", reads="jaxpr length num_consts num_carry reverse", ignores="unroll linear _split_transpose")
def _scan(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    b, arrays, params = tracer.builder, tracer.arrays, eqn.params
    body, length, m, n = params["jaxpr"], params["length"], params["num_consts"], params["num_carry"]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    slices = [variable.aval.shape for variable in body.jaxpr.invars[m + n :]]
    stacked = [variable.aval for variable in eqn.outvars[n:]]
    small = not any(isinstance(value, Lazy) for value in inputs) and not any(arrays.is_large(a.shape) for a in stacked)
    if small and (length <= 1 or length * _operations(body.jaxpr) <= UNROLLED_OPERATIONS):
        return _written_out(tracer, body, list(inputs[:m]), list(inputs[m : m + n]), inputs[m + n :], order, stacked)
    settled = tracer.settled(inputs)
    consts, inits, xs = settled[:m], settled[m : m + n], settled[m + n :]
    indexed = _indexed(body.jaxpr)
    with _held([*consts, *xs]):
        consts = _placed(tracer, consts, indexed[:m])
        rows = [x if isinstance(x, Lazy) else arrays.in_memory(x) for x in xs]
        carry = _Carry(tracer, inits, [_worth_memory(v, i) for v, i in zip(inits, indexed[m:], strict=False)])
        buffers = [b.buffer(max(1, math.prod(aval.shape)), _kind(aval.dtype, "a result")) for aval in stacked]

        def step(i: Node, nodes: list[Node]) -> list[Node]:
            position = b.op("isub", b.integer(length - 1), i) if params["reverse"] else i
            elements = [_row(arrays, row, position, shape) for row, shape in zip(rows, slices, strict=True)]
            outputs = tracer.evaluate(body.jaxpr, body.consts, [*consts, *carry.arrays_of(nodes), *elements])
            for buffer, value in zip(buffers, outputs[n:], strict=True):
                arrays.fill(buffer, value, b.op("imul", position, b.integer(math.prod(value.shape))))
            return carry.yields(outputs[:n])

        results = b.count(length, carry.scalars, step)
        carry.finished()
    ys = [arrays.whole(buffer, aval.shape) for buffer, aval in zip(buffers, stacked, strict=True)]
    return [
        *carry.arrays_of(results),
        *(y if length > UNROLLED or arrays.is_large(y.shape) else arrays.small(y) for y in ys),
    ]


def _written_out(tracer, body, consts, carry, xs, order, stacked) -> list[Value]:
    collected: list[list[Value]] = [[] for _ in stacked]
    for i in order:
        outputs = tracer.evaluate(body.jaxpr, body.consts, [*consts, *carry, *(x[i, ...] for x in map(np.asarray, xs))])
        carry = outputs[: len(carry)]
        for rows, row in zip(collected, outputs[len(carry) :], strict=True):
            rows.append(row)
    if order.step < 0:
        collected = [rows[::-1] for rows in collected]
    return [
        *carry,
        *(
            np.stack(rows) if rows else np.empty(aval.shape, object)
            for rows, aval in zip(collected, stacked, strict=True)
        ),
    ]


def _row(arrays: Arrays, rows: Lazy, position: Node, shape: tuple[int, ...]) -> Value:
    row = arrays.lazy(shape, rows.type, lambda index: rows.at((position, *index)), rows, view=True)
    return row if arrays.is_large(shape) else arrays.small(row)


@rule("cond", reads="branches", ignores="branches_platforms linear")
def _cond(tracer: Tracer, eqn: Any, index: Value, *inputs: Value) -> list[Value]:
    branches = eqn.params["branches"]
    chosen = index.item()
    if chosen.constant:
        branch = branches[int(min(max(chosen.value, 0), len(branches) - 1))]
        return tracer.evaluate(branch.jaxpr, branch.consts, inputs)
    settled = tracer.settled(inputs)
    for value in settled:
        for buffer in value.reads if isinstance(value, Lazy) else ():
            if not value.holders:
                tracer.arrays.before_change(buffer)
    return _choose(tracer, eqn, chosen, branches, settled)


def _choose(tracer: Tracer, eqn: Any, chosen: Node, branches: Sequence[Any], inputs: list[Value]) -> list[Value]:
    """The first branch where `chosen` is 0 (or less), else one of the others."""
    b, arrays = tracer.builder, tracer.arrays
    if len(branches) == 1:
        return tracer.evaluate(branches[0].jaxpr, branches[0].consts, inputs)
    first = b.op("not", chosen) if chosen.type == "b" else b.op("lt", chosen, b.integer(1))
    branch = b.begin_branch(first)
    b.begin_arm(branch, 0)
    yes = tracer.evaluate(branches[0].jaxpr, branches[0].consts, inputs)
    b.begin_arm(branch, 1)
    later = chosen if chosen.type == "b" else b.op("iadd", chosen, b.integer(-1))
    no = _choose(tracer, eqn, later, branches[1:], inputs)
    outputs: list[Value] = []
    yields: tuple[list[Node], list[Node]] = ([], [])
    places = []
    for one, other, variable in zip(yes, no, eqn.outvars, strict=True):
        if not isinstance(one, Lazy) and not isinstance(other, Lazy):
            yields[0].extend(one.reshape(-1))
            yields[1].extend(other.reshape(-1))
            outputs.append(one)
            places.append(None)
        elif (
            isinstance(one, Lazy) and isinstance(other, Lazy) and one.buffer is not None and one.buffer is other.buffer
        ):
            outputs.append(one)
            places.append(one.buffer)
        else:
            b.region = branch.region
            buffer = b.buffer(max(1, math.prod(variable.aval.shape)), _kind(variable.aval.dtype, "a result"))
            for arm, value in enumerate((one, other)):
                b.begin_arm(branch, arm)
                arrays.fill(buffer, value)
            buffer.mutable = True
            outputs.append(one)
            places.append(buffer)
    results = iter(b.end_branch(branch, yields))
    final = []
    for value, place in zip(outputs, places, strict=True):
        if place is not None:
            place.version += 1
            final.append(arrays.whole(place, value.shape))
        else:
            array = np.empty(value.shape, object)
            array.reshape(-1)[:] = [next(results) for _ in range(value.size)]
            final.append(array)
    return final


# -- what is known of a jaxpr before it is evaluated


def _changeable(value: Lazy) -> bool:
    """Whether the buffer of an array may be changed, since nobody else reads it."""
    return value.buffer is not None and value.buffer.mutable and not value.holders


class _held:  # noqa: N801 - a context manager
    """While it lasts, these arrays are wanted by somebody else too, so that nobody changes them in place."""

    def __init__(self, values: Sequence[Value]):
        self._values = [value for value in values if isinstance(value, Lazy)]

    def __enter__(self):
        for value in self._values:
            value.holders += 1

    def __exit__(self, *_):
        for value in self._values:
            value.holders -= 1


def _uses(jaxpr: core.Jaxpr) -> tuple[dict[Any, int], dict[Any, int]]:
    """Where each variable is used last, and how often it is used."""
    last: dict[Any, int] = {}
    count: dict[Any, int] = {}
    for here, atoms in enumerate([*(eqn.invars for eqn in jaxpr.eqns), jaxpr.outvars]):
        for atom in atoms:
            if not isinstance(atom, core.Literal):
                last[atom] = here
                count[atom] = count.get(atom, 0) + 1
    return last, count


_SUMMING = {"reduce_sum", "reduce_prod", "cumsum", "cumprod", "dot_general"} | {
    f"scatter{mark}{kind}" for mark in "-_" for kind in ("add", "sub", "mul")
}
_INDEXING = {"dynamic_slice", "dynamic_update_slice", "gather", "scatter", "scatter-add", "scatter_add"}


def _indexed(jaxpr: core.Jaxpr) -> list[bool]:
    """Which arguments of a loop's body are read or written at an index that is not known."""
    marked = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in _INDEXING:
            if not all(isinstance(atom, core.Literal) for atom in eqn.invars[1:]):
                marked.add(eqn.invars[0])
        elif eqn.primitive.name in ("jit", "pjit", "closed_call"):
            inner = eqn.params["jaxpr"].jaxpr
            marked |= {
                atom
                for atom, is_in in zip(eqn.invars, _indexed(inner), strict=True)
                if is_in and not isinstance(atom, core.Literal)
            }
    return [variable in marked for variable in jaxpr.invars]


def _worth_memory(value: Value, indexed: bool) -> bool:
    return indexed and not isinstance(value, Lazy) and value.size > 16


def _placed(tracer: Tracer, values: Sequence[Value], indexed: Sequence[bool]) -> list[Value]:
    """Small arrays that a loop reads at an unknown index, in memory."""
    return [
        tracer.arrays.in_memory(value) if _worth_memory(value, is_in) else value
        for value, is_in in zip(values, indexed, strict=True)
    ]


@functools.lru_cache(maxsize=4096)
def _operations(jaxpr: core.Jaxpr) -> int:
    """About how many scalar operations a jaxpr makes."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = _inside(eqn)
        total += sum(map(_operations, inner))
        if eqn.primitive.name == "while":
            total += UNROLLED_OPERATIONS
        if not inner:
            avals: list[Any] = [v.aval for v in eqn.outvars]
            total += sum(math.prod(aval.shape) for aval in avals)
    return total


def _stacks(jaxpr: core.Jaxpr) -> frozenset[int]:
    """The lengths of the scans that stay loops, and those of what is left of their rows without the first or last."""
    found: set[int] = set()
    for eqn in jaxpr.eqns:
        for inner in _inside(eqn):
            found |= _stacks(inner)
            length = eqn.params.get("length", 0)
            if eqn.primitive.name == "scan" and length * _operations(inner) > UNROLLED_OPERATIONS:
                found |= {length, length - 1}
    return frozenset(found)


def _inside(eqn: Any) -> list[core.Jaxpr]:
    """The jaxprs of an equation."""
    leaves = jax.tree.leaves(list(eqn.params.values()), is_leaf=_is_jaxpr)
    return [getattr(leaf, "jaxpr", leaf) for leaf in leaves if _is_jaxpr(leaf)]


def _is_jaxpr(x: Any) -> bool:
    return isinstance(x, core.Jaxpr | core.ClosedJaxpr)


def _kind(dtype: Any, what: str) -> str:
    type = kind(dtype)
    if not type:
        raise Unsupported(f"{what} is {dtype}; programs have float64, int64, int32 and bool only.")
    return type


def _slots(avals: Sequence[Any]) -> tuple[list[Slot], int]:
    slots, offset = [], 0
    for aval in avals:
        slots.append(Slot(tuple(aval.shape), np.dtype(aval.dtype).name, offset))
        offset += math.prod(aval.shape)
    return slots, offset
