"""Primitives that move elements to other places, or make arrays of them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import Lazy, Value, element_type, kind
from naiad.compiler.front.rules import Refusal, rule
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Node


def view(tracer: Tracer, eqn: Any, x: Value, source: Callable[[tuple[Node, ...]], Sequence[Node]]) -> Lazy:
    """A large array whose element at an index is that of x at source(index)."""
    aval = eqn.outvars[0].aval
    return tracer.arrays.lazy(
        aval.shape, kind(aval.dtype), lambda index: tracer.arrays.at(x, source(index)), x, view=True
    )


def goes_lazy(tracer: Tracer, eqn: Any, *inputs: Value) -> bool:
    """Whether the result of an equation is a large array, or computed from one."""
    return tracer.arrays.is_large(eqn.outvars[0].aval.shape) or any(isinstance(x, Lazy) for x in inputs)


def shrunk(tracer: Tracer, eqn: Any, value: Lazy) -> Value:
    """A view that has become small is read at once."""
    return value if tracer.arrays.is_large(eqn.outvars[0].aval.shape) else tracer.arrays.small(value)


@rule("broadcast_in_dim", reads="shape broadcast_dimensions")
def _broadcast(tracer: Tracer, eqn: Any, x: Value) -> Value:
    shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    if not goes_lazy(tracer, eqn, x):
        expanded = [1] * len(shape)
        for axis, dim in enumerate(dims):
            expanded[dim] = x.shape[axis]
        return np.broadcast_to(x.reshape(expanded), shape)
    zero = tracer.builder.integer(0)
    (x,) = tracer.settled([x])
    return view(tracer, eqn, x, lambda index: [zero if x.shape[k] == 1 else index[dim] for k, dim in enumerate(dims)])


@rule("reshape", reads="new_sizes dimensions")
def _reshape(tracer: Tracer, eqn: Any, x: Value) -> Value:
    shape, order = eqn.params["new_sizes"], eqn.params["dimensions"]
    if order is not None:
        x = _permuted(tracer, x, order)
    if not goes_lazy(tracer, eqn, x):
        return x.reshape(shape)
    arrays = tracer.arrays
    if isinstance(x, Lazy) and x.by_columns:
        x = arrays.copied(x)
    if isinstance(x, Lazy) and x.buffer is not None:
        return shrunk(tracer, eqn, arrays.whole(x.buffer, shape))
    if len(x.shape) == 1:
        return shrunk(tracer, eqn, view(tracer, eqn, x, lambda index: [arrays.flat(index, shape)]))
    axes = _kept_axes(x.shape, shape)
    if axes is not None:  # only axes of length 1 come or go
        zero = tracer.builder.integer(0)
        return shrunk(tracer, eqn, view(tracer, eqn, x, lambda index: [zero if k is None else index[k] for k in axes]))

    def at(index: tuple[Node, ...]) -> Node:
        return arrays.at(x, arrays.unflat(arrays.flat(index, shape), x.shape))

    made = arrays.lazy(shape, element_type(x), at, x)  # no view: an element takes divisions
    made.shaped = x.shaped if isinstance(x, Lazy) else made
    return shrunk(tracer, eqn, made)


def _kept_axes(old: Sequence[int], new: Sequence[int]) -> list[int | None] | None:
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        return None
    positions = iter(k for k, n in enumerate(new) if n != 1)
    return [None if n == 1 else next(positions) for n in old]


@rule("squeeze", reads="dimensions")
def _squeeze(tracer: Tracer, eqn: Any, x: Value) -> Value:
    gone = {d % len(x.shape) for d in eqn.params["dimensions"]}
    if not isinstance(x, Lazy):
        return np.squeeze(x, axis=tuple(gone))
    zero = tracer.builder.integer(0)

    def source(index):
        left = iter(index)
        return [zero if axis in gone else next(left) for axis in range(len(x.shape))]

    return shrunk(tracer, eqn, view(tracer, eqn, x, source))


@rule("transpose", reads="permutation")
def _transpose(tracer: Tracer, eqn: Any, x: Value) -> Value:
    return _permuted(tracer, x, eqn.params["permutation"])


def _permuted(tracer: Tracer, x: Value, order: Sequence[int]) -> Value:
    if not isinstance(x, Lazy):
        return np.transpose(x, order)
    places = np.argsort(order)
    shape = [x.shape[k] for k in order]
    return tracer.arrays.lazy(shape, x.type, lambda index: x.at(tuple(index[k] for k in places)), x, view=True)


@rule("rev", reads="dimensions")
def _rev(tracer: Tracer, eqn: Any, x: Value) -> Value:
    dims = eqn.params["dimensions"]
    if not isinstance(x, Lazy):
        return np.flip(x, dims)
    b = tracer.builder
    return view(
        tracer,
        eqn,
        x,
        lambda index: [b.op("isub", b.integer(x.shape[k] - 1), i) if k in dims else i for k, i in enumerate(index)],
    )


@rule("slice", reads="start_indices limit_indices strides")
def _slice(tracer: Tracer, eqn: Any, x: Value) -> Value:
    starts, limits = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or [1] * len(starts)
    if not isinstance(x, Lazy):
        return x[tuple(slice(*s) for s in zip(starts, limits, strides, strict=True))]
    b = tracer.builder

    def source(index):
        return [b.add(b.integer(s), b.mul(i, b.integer(d))) for i, s, d in zip(index, starts, strides, strict=True)]

    return shrunk(tracer, eqn, view(tracer, eqn, x, source))


@rule("split", reads="sizes axis")
def _split(tracer: Tracer, eqn: Any, x: Value) -> list[Value]:
    axis, sizes = eqn.params["axis"], eqn.params["sizes"]
    bounds = np.cumsum(sizes)[:-1]
    if not isinstance(x, Lazy):
        return list(np.split(x, bounds, axis=axis))
    b, parts = tracer.builder, []
    for start, variable in zip((0, *bounds), eqn.outvars, strict=True):

        def at(index, start=int(start)):
            return x.at(tuple(b.add(i, b.integer(start)) if k == axis else i for k, i in enumerate(index)))

        part = tracer.arrays.lazy(variable.aval.shape, x.type, at, x, view=True)
        parts.append(part if tracer.arrays.is_large(part.shape) else tracer.arrays.small(part))
    return parts


@rule("concatenate", reads="dimension")
def _concatenate(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
    axis = eqn.params["dimension"]
    if not goes_lazy(tracer, eqn, *inputs):
        return np.concatenate(inputs, axis=axis)
    b, arrays = tracer.builder, tracer.arrays
    buffer = b.buffer(math.prod(eqn.outvars[0].aval.shape), kind(eqn.outvars[0].aval.dtype))
    shape, start = eqn.outvars[0].aval.shape, 0
    for x in inputs:

        def write(index, x=x, start=start):
            moved = [b.add(i, b.integer(start)) if k == axis else i for k, i in enumerate(index)]
            b.store(buffer, arrays.flat(moved, shape), arrays.at(x, index))

        if axis == 0:
            arrays.fill(buffer, x, b.integer(start * math.prod(shape[1:])))
        else:
            arrays.each(x.shape, write)
        start += x.shape[axis]
    return arrays.whole(buffer, shape)


@rule("stack", reads="axis")
def _stack(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
    axis = eqn.params.get("axis", eqn.params.get("dimension", 0))
    if not goes_lazy(tracer, eqn, *inputs):
        return np.stack(inputs, axis=axis)
    b, arrays = tracer.builder, tracer.arrays
    shape = eqn.outvars[0].aval.shape
    buffer = b.buffer(math.prod(shape), kind(eqn.outvars[0].aval.dtype))
    for position, x in enumerate(inputs):

        def write(index, x=x, position=position):
            b.store(
                buffer, arrays.flat((*index[:axis], b.integer(position), *index[axis:]), shape), arrays.at(x, index)
            )

        arrays.each(x.shape, write)
    return arrays.whole(buffer, shape)


@rule("empty", "empty2", ignores="shape memory_space")
def _empty(tracer: Tracer, eqn: Any) -> Value:
    """Anything: what the memory holds of a large array, whose elements cost nothing then, and zeros of a small one."""
    aval = eqn.outvars[0].aval
    if not tracer.arrays.is_large(aval.shape):
        return np.full(aval.shape, tracer.builder.const(0, kind(aval.dtype)), object)
    buffer = tracer.builder.buffer(math.prod(aval.shape), kind(aval.dtype))
    buffer.mutable = True
    return tracer.arrays.whole(buffer, aval.shape)


@rule("platform_index", reads="platforms")
def _platform_index(tracer: Tracer, eqn: Any) -> Value:
    """Which of several variants is for the platform of the code: its own, or the one for all others."""
    platforms = eqn.params["platforms"]
    fitting = [i for i, names in enumerate(platforms) if names is None or tracer.platform in names]
    if not fitting:
        raise Refusal(f"a function that has no variant for {tracer.platform}")
    return tracer.arrays.lift(np.asarray(fitting[0]), INT)


@rule("tile", reads="reps")
def _tile(tracer: Tracer, eqn: Any, x: Value) -> Value:
    if not goes_lazy(tracer, eqn, x):
        return np.tile(x, eqn.params["reps"])
    b = tracer.builder
    (x,) = tracer.settled([x])
    return view(
        tracer, eqn, x, lambda index: [b.op("irem", i, b.integer(n)) for i, n in zip(index, x.shape, strict=True)]
    )


@rule("unstack", reads="axis")
def _unstack(tracer: Tracer, eqn: Any, x: Value) -> list[Value]:
    axis, b = eqn.params["axis"], tracer.builder
    if not isinstance(x, Lazy):
        return list(np.moveaxis(x, axis, 0))
    parts = []
    for position, variable in enumerate(eqn.outvars):

        def at(index, position=position):
            return x.at((*index[:axis], b.integer(position), *index[axis:]))

        part = tracer.arrays.lazy(variable.aval.shape, x.type, at, x, view=True)
        parts.append(part if tracer.arrays.is_large(part.shape) else tracer.arrays.small(part))
    return parts


@rule("pad", reads="padding_config")
def _pad(tracer: Tracer, eqn: Any, x: Value, filling: Value) -> Value:
    config, shape = eqn.params["padding_config"], eqn.outvars[0].aval.shape
    b, at = tracer.builder, tracer.arrays.at
    if goes_lazy(tracer, eqn, x):

        def element(index):
            inside, source = b.const(True, BOOL), []
            for i, (low, _, gap), n in zip(index, config, x.shape, strict=True):
                shifted = b.add(i, b.integer(-low))
                position = b.op("idiv", shifted, b.integer(gap + 1)) if gap else shifted
                fits = b.op("and", b.op("le", b.integer(0), shifted), b.op("lt", position, b.integer(n)))
                if gap:
                    fits = b.op("and", fits, b.op("eq", b.op("irem", shifted, b.integer(gap + 1)), b.integer(0)))
                inside = b.op("and", inside, fits)
                source.append(b.op("imin", b.op("imax", position, b.integer(0)), b.integer(max(n - 1, 0))))
            return b.select(inside, at(x, source), filling.item()) if math.prod(x.shape) else filling.item()

        return tracer.arrays.lazy(shape, kind(eqn.outvars[0].aval.dtype), element, x)
    padded = np.full(shape, filling.item(), object)
    for index in np.ndindex(x.shape):
        target = tuple(low + i * (gap + 1) for i, (low, _, gap) in zip(index, config, strict=True))
        if all(0 <= t < n for t, n in zip(target, shape, strict=True)):
            padded[target] = x[index]
    return padded


@rule("iota", reads="dimension", ignores="shape")
def _iota(tracer: Tracer, eqn: Any) -> Value:
    aval, dimension = eqn.outvars[0].aval, eqn.params["dimension"]
    b, type = tracer.builder, kind(eqn.outvars[0].aval.dtype)
    if tracer.arrays.is_large(aval.shape):

        def at(index):
            return b.op("to_float", index[dimension]) if type == FLOAT else index[dimension]

        return tracer.arrays.lazy(aval.shape, type, at, view=True)
    counts = np.arange(aval.shape[dimension]).reshape([-1 if k == dimension else 1 for k in range(len(aval.shape))])
    return tracer.arrays.lift(np.broadcast_to(counts, aval.shape), type)
