"""Which entries of a Jacobian can differ from zero, found by looking through the function, and an order that brings
them near the diagonal."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend import core
from jaxtyping import Array, Float, Int

Function = Callable[[Float[Array, " n"]], Float[Array, " n"]]
Pattern = Any
"""A `Bool[np.ndarray, "*shape n"]`: for each element of an array, the unknowns that it may depend on."""

Value = Callable[[], Any]
"""What an array is, asked for where it is an index; None if it is not known."""

ELEMENTWISE = frozenset(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type copy cos cosh
    div eq exp exp2 expm1 floor ge gt integer_pow is_finite le log log1p logistic lt max min mul ne neg not or pow
    reduce_precision rem round rsqrt select_n sign sin sinh sqrt square stop_gradient sub tan tanh xor""".split()  # noqa: SIM905
)
CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call", "custom_vjp_call")
PLACED = ("gather", "scatter", "scatter-add", "scatter_add", "dynamic_slice", "dynamic_update_slice")


def dependencies(function: Function, n: int) -> Pattern:
    """Which of the n unknowns each value of a function may depend on. What is not understood counts as dependent."""
    closed = jax.make_jaxpr(function)(jnp.zeros(n))
    return _through(closed.jaxpr, closed.consts, [np.eye(n, dtype=bool)], [lambda: None], n)[0]


def operations(function: Function, n: int) -> int:
    """About how many numbers a function of n unknowns computes."""
    return _operations(jax.make_jaxpr(function)(jnp.zeros(n)).jaxpr)


def _operations(jaxpr: Any) -> int:
    return sum(
        sum(map(_operations, inner)) if (inner := _inside(eqn)) else sum(v.aval.size for v in eqn.outvars)
        for eqn in jaxpr.eqns
    )


def _inside(eqn: Any) -> list[Any]:
    leaves = jax.tree.leaves(list(eqn.params.values()), is_leaf=lambda x: isinstance(x, core.Jaxpr | core.ClosedJaxpr))
    return [getattr(leaf, "jaxpr", leaf) for leaf in leaves if isinstance(leaf, core.Jaxpr | core.ClosedJaxpr)]


def narrow_order(pattern: Pattern) -> tuple[Int[np.ndarray, " n"], int]:
    """An order of the unknowns, and how far from the diagonal the entries of the reordered matrix are: the order given,
    or that of Cuthill and McKee if it is narrower [golub2013, section 11.1.5]."""
    n = len(pattern)
    linked = np.logical_or(pattern, pattern.T)
    places = [np.flatnonzero(row) for row in linked]
    degree = linked.sum(axis=1)
    order: list[int] = []
    waiting = np.ones(n, dtype=bool)
    while len(order) < n:
        order.append(int(min(np.flatnonzero(waiting), key=lambda i: degree[i])))
        waiting[order[-1]] = False
        done = len(order) - 1
        while done < len(order):
            nearby = [int(i) for i in places[order[done]] if waiting[i]]
            waiting[nearby] = False
            order += sorted(nearby, key=lambda i: degree[i])
            done += 1
    found = np.array(order[::-1])
    candidates = [(order, _width(linked[np.ix_(order, order)])) for order in (np.arange(n), found)]
    return min(candidates, key=lambda candidate: candidate[1])


def _width(linked: Pattern) -> int:
    rows, columns = np.nonzero(linked)
    return int(np.max(np.abs(rows - columns), initial=0))


def _through(
    jaxpr: core.Jaxpr, consts: Sequence[Any], arguments: Sequence[Pattern | None], values: Sequence[Value], n: int
) -> list[Pattern]:
    """The patterns of the outputs of a jaxpr; None stands for an argument that depends on no unknown."""
    patterns: dict[Any, Pattern] = dict(zip(jaxpr.invars, arguments, strict=True))
    known: dict[Any, Value] = dict(zip(jaxpr.invars, values, strict=True))
    known |= {
        variable: functools.partial(_concrete, const) for variable, const in zip(jaxpr.constvars, consts, strict=True)
    }

    def value(atom: Any) -> Any:
        """What an array is, if that follows from constants; else None."""
        return atom.val if isinstance(atom, core.Literal) else known[atom]() if atom in known else None

    def computed(eqn: Any) -> Any:
        inputs = [value(atom) for atom in eqn.invars]
        return None if any(each is None for each in inputs) else eqn.primitive.bind(*inputs, **eqn.params)

    for eqn in jaxpr.eqns:
        inputs = [None if isinstance(atom, core.Literal) else patterns.get(atom) for atom in eqn.invars]
        if any(each is not None for each in inputs):
            patterns |= dict(zip(eqn.outvars, _step(eqn, inputs, value, n), strict=True))
        elif not eqn.primitive.multiple_results:
            known[eqn.outvars[0]] = functools.partial(computed, eqn)
    outputs: list[Any] = jaxpr.outvars
    found = [None if isinstance(atom, core.Literal) else patterns.get(atom) for atom in outputs]
    return [_full(each, atom.aval.shape, n) for each, atom in zip(found, outputs, strict=True)]


def _concrete(const: Any) -> Any:
    return None if isinstance(const, Tracer) else const


def _step(eqn: Any, inputs: list[Pattern | None], value: Callable[[Any], Any], n: int) -> list[Pattern]:
    """The patterns of what an equation gives."""
    name, shapes = eqn.primitive.name, [variable.aval.shape for variable in eqn.outvars]
    if name in CALLS:
        inner = next(eqn.params[key] for key in ("jaxpr", "call_jaxpr") if key in eqn.params)
        values = [functools.partial(value, atom) for atom in eqn.invars]
        return _through(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), inputs, values, n)
    if name in ELEMENTWISE:
        return [_any([np.broadcast_to(each, (*shapes[0], n)) for each in inputs if each is not None])]
    given = [_full(each, atom.aval.shape, n) for each, atom in zip(inputs, eqn.invars, strict=True)]
    if name in MOVED:
        return MOVED[name](eqn.params, shapes, *given)
    if name in PLACED:
        found = _placed(eqn, given, value)
        if found is not None:
            return [found]
    everything = _any([each.reshape(-1, n).any(axis=0) for each in given])
    return [np.broadcast_to(everything, (*shape, n)) for shape in shapes]


def _full(pattern: Pattern | None, shape: tuple[int, ...], n: int) -> Pattern:
    return np.zeros((*shape, n), dtype=bool) if pattern is None else pattern


def _any(patterns: list[Pattern]) -> Pattern:
    return functools.reduce(np.logical_or, patterns)


def _placed(eqn: Any, given: list[Pattern], value: Callable[[Any], Any]) -> Pattern | None:
    """What is moved to or from places that are known, by doing it with zeros and ones, unknown by unknown."""
    name = eqn.primitive.name
    moved = (0, 2) if name.startswith("scatter") else (0, 1) if name == "dynamic_update_slice" else (0,)
    with jax.ensure_compile_time_eval():
        others = [None if k in moved else value(atom) for k, atom in enumerate(eqn.invars)]
        if any(other is None for k, other in enumerate(others) if k not in moved):
            return None

        def act(columns: list[Any]) -> Any:
            left = iter(columns)
            arguments = [next(left) if k in moved else other for k, other in enumerate(others)]
            return eqn.primitive.bind(*arguments, **eqn.params)

        columns = [jnp.asarray(given[k], eqn.invars[k].aval.dtype) for k in moved]
        return np.asarray(jax.vmap(act, in_axes=-1, out_axes=-1)(columns)) > 0


def _broadcast(params: Any, shapes: Any, x: Pattern, *_: Any) -> list[Pattern]:
    shape, places = params["shape"], params["broadcast_dimensions"]
    kept = [x.shape[places.index(k)] if k in places else 1 for k in range(len(shape))]
    return [np.broadcast_to(x.reshape(*kept, x.shape[-1]), (*shape, x.shape[-1]))]


def _reshaped(params: Any, shapes: Any, x: Pattern, *_: Any) -> list[Pattern]:
    if params.get("dimensions") is not None and "new_sizes" in params:
        x = np.transpose(x, (*params["dimensions"], x.ndim - 1))
    return [x.reshape(*shapes[0], x.shape[-1])]


def _sliced(params: Any, shapes: Any, x: Pattern) -> list[Pattern]:
    starts, ends, strides = (params[key] for key in ("start_indices", "limit_indices", "strides"))
    return [x[tuple(map(slice, starts, ends, strides or (1,) * len(starts)))]]


def _padded(params: Any, shapes: Any, x: Pattern, filling: Pattern) -> list[Pattern]:
    places = [
        low + np.arange(n) * (gap + 1) for n, (low, _, gap) in zip(x.shape[:-1], params["padding_config"], strict=True)
    ]
    inside = [(place >= 0) & (place < size) for place, size in zip(places, shapes[0], strict=True)]
    every = np.arange(x.shape[-1])
    padded = np.array(np.broadcast_to(filling, (*shapes[0], x.shape[-1])))
    padded[np.ix_(*(p[i] for p, i in zip(places, inside, strict=True)), every)] = x[
        np.ix_(*map(np.flatnonzero, inside), every)
    ]
    return [padded]


def _split(params: Any, shapes: Any, x: Pattern) -> list[Pattern]:
    return np.split(x, np.cumsum(params["sizes"])[:-1], axis=params["axis"])


def _running(params: Any, shapes: Any, x: Pattern) -> list[Pattern]:
    axis = params["axis"]
    turned = (lambda x: np.flip(x, axis)) if params["reverse"] else (lambda x: x)
    return [turned(np.logical_or.accumulate(turned(x), axis=axis))]


def _product(params: Any, shapes: Any, x: Pattern, y: Pattern) -> list[Pattern]:
    (x_sum, y_sum), (x_batch, y_batch) = params["dimension_numbers"]

    def rows(z: Pattern, summed: Any, batch: Any, before: int, after: int) -> Pattern:
        free = [k for k in range(z.ndim - 1) if k not in summed and k not in batch]
        z = np.transpose(z, (*batch, *free, *summed, z.ndim - 1))
        z = z.any(axis=tuple(range(len(batch) + len(free), z.ndim - 1)))
        shape = z.shape
        return z.reshape(*shape[: len(batch)], *(1,) * before, *shape[len(batch) : -1], *(1,) * after, shape[-1])

    x_free, y_free = (z.ndim - 1 - len(s) - len(t) for z, s, t in ((x, x_sum, x_batch), (y, y_sum, y_batch)))
    return [rows(x, x_sum, x_batch, 0, y_free) | rows(y, y_sum, y_batch, x_free, 0)]


MOVED: dict[str, Callable[..., list[Pattern]]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "transpose": lambda params, shapes, x: [np.transpose(x, (*params["permutation"], x.ndim - 1))],
    "rev": lambda params, shapes, x: [np.flip(x, params["dimensions"])],
    "concatenate": lambda params, shapes, *xs: [np.concatenate(xs, axis=params["dimension"])],
    "stack": lambda params, shapes, *xs: [np.stack(xs, axis=params["axis"])],
    "unstack": lambda params, shapes, x: list(np.moveaxis(x, params["axis"], 0)),
    "tile": lambda params, shapes, x: [np.tile(x, (*params["reps"], 1))],
    "slice": _sliced,
    "pad": _padded,
    "split": _split,
    "dot_general": _product,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin"), _running),
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"),
        lambda params, shapes, x: [x.any(axis=tuple(params["axes"]))],
    ),
}
