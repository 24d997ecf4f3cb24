"""Primitives that read and write at an index that is known when the code runs."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import UNROLLED, Lazy, Value, kind
from naiad.compiler.front.rules import Refusal, rule
from naiad.compiler.front.shapes import shrunk, view
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Node


def _clamped(b: Any, start: Node, size: int, window: int) -> Node:
    return b.op("imin", b.op("imax", start, b.integer(0)), b.integer(size - window))


@rule("dynamic_slice", reads="slice_sizes")
def _dynamic_slice(tracer: Tracer, eqn: Any, x: Value, *starts: Value) -> Value:
    b, sizes = tracer.builder, eqn.params["slice_sizes"]
    first = [_clamped(b, s.item(), n, w) for s, n, w in zip(starts, x.shape, sizes, strict=True)]

    def source(index):
        return [b.add(i, s) for i, s in zip(index, first, strict=True)]

    return shrunk(tracer, eqn, view(tracer, eqn, x, source)) if math.prod(sizes) else np.empty(sizes, object)


@rule("dynamic_update_slice")
def _dynamic_update_slice(tracer: Tracer, eqn: Any, x: Value, update: Value, *starts: Value) -> Value:
    b, arrays = tracer.builder, tracer.arrays
    first = [_clamped(b, s.item(), n, w) for s, n, w in zip(starts, x.shape, update.shape, strict=True)]
    if isinstance(x, Lazy):
        buffer = _changeable(tracer, x)
        update = _apart(tracer, update, buffer)
        arrays.each(
            update.shape,
            lambda index: b.store(
                buffer,
                arrays.flat([b.add(i, s) for i, s in zip(index, first, strict=True)], x.shape),
                arrays.at(update, index),
            ),
        )
        return arrays.whole(buffer, x.shape)
    result = np.empty(x.shape, object)
    for index in np.ndindex(x.shape):
        shifted = [b.op("isub", b.integer(i), s) for i, s in zip(index, first, strict=True)]
        inside = b.const(True, BOOL)
        for i, w in zip(shifted, update.shape, strict=True):
            inside = b.op("and", inside, b.op("and", b.op("le", b.integer(0), i), b.op("lt", i, b.integer(w))))
        if inside.constant and not inside.value:
            result[index] = x[index]
        else:
            bounded = [_clamped(b, i, w, 1) for i, w in zip(shifted, update.shape, strict=True)]
            result[index] = b.select(inside, arrays.at(update, bounded), x[index])
    return result


def _changeable(tracer: Tracer, x: Value) -> Any:
    """A buffer with the elements of x that may be changed: its own if nobody else will read it."""
    if isinstance(x, Lazy) and x.changeable:
        tracer.arrays.before_change(x.buffer)
        return x.buffer
    buffer = tracer.arrays.copied(x).buffer
    buffer.mutable = True
    return buffer


def _apart(tracer: Tracer, value: Value, buffer: Any) -> Value:
    """An array that a loop may read at any index, and that does not change while the buffer does."""
    if not isinstance(value, Lazy):
        return tracer.arrays.in_memory(value) if value.size > UNROLLED else value
    if not value.view or buffer in value.reads:
        return tracer.arrays.copied(value)
    return value


@rule("gather", reads="dimension_numbers slice_sizes mode fill_value")
def _gather(tracer: Tracer, eqn: Any, x: Value, indices: Value) -> Value:
    b, arrays, params = tracer.builder, tracer.arrays, eqn.params
    numbers, sizes, shape = params["dimension_numbers"], params["slice_sizes"], eqn.outvars[0].aval.shape
    offset_dims, collapsed = numbers.offset_dims, numbers.collapsed_slice_dims
    batching, start_batching = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    batch_dims = [d for d in range(len(shape)) if d not in offset_dims]
    window_dims = [d for d in range(len(x.shape)) if d not in collapsed and d not in batching]
    fills = _mode(params["mode"]) == "FILL_OR_DROP"
    filling = b.const(_fill_value(params["fill_value"], eqn), kind(eqn.outvars[0].aval.dtype)) if fills else None

    def element(index: Sequence[Node]) -> Node:
        batch = [index[d] for d in batch_dims]
        start: list[Node] = [b.integer(0)] * len(x.shape)
        inside = b.const(True, BOOL)
        for k, dim in enumerate(numbers.start_index_map):
            position = arrays.at(indices, [*batch, b.integer(k)])
            limit = x.shape[dim] - sizes[dim]
            if fills:
                fits = b.op("and", b.op("le", b.integer(0), position), b.op("le", position, b.integer(limit)))
                inside = b.op("and", inside, fits)
            start[dim] = _clamped(b, position, x.shape[dim], sizes[dim])
        for operand_dim, index_dim in zip(batching, start_batching, strict=True):
            start[operand_dim] = batch[index_dim]
        for output_dim, dim in zip(offset_dims, window_dims, strict=True):
            start[dim] = b.add(start[dim], index[output_dim])
        found = arrays.at(x, start)
        return b.select(inside, found, filling) if filling is not None else found

    if tracer.arrays.is_large(shape):
        return arrays.lazy(shape, kind(eqn.outvars[0].aval.dtype), element, x, indices, view=True)
    result = np.empty(shape, object)
    for index in np.ndindex(shape):
        result[index] = element([b.integer(i) for i in index])
    return result


def _mode(mode: Any) -> str:
    """What becomes of an index out of range: `CLIP`, `FILL_OR_DROP`; or, where a user has promised that there is none,
    what XLA does (a gather clips, a scatter drops)."""
    name = getattr(mode, "name", str(mode))
    if name not in ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"):
        raise Refusal(f"an index with mode={name}")
    return name


def _fill_value(value: Any, eqn: Any) -> Any:
    dtype = eqn.outvars[0].aval.dtype
    if value is not None:
        return value
    return np.nan if kind(dtype) == FLOAT else np.iinfo(dtype).min if kind(dtype) == INT else True


def _scatter_rule(*names: str, combined: Callable[[Any, Node, Node], Node]) -> None:
    """Register a scatter by what becomes of an old element and an update, unless the equation says it itself."""

    @rule(*names, reads="dimension_numbers mode update_jaxpr update_consts")
    def scatter(tracer: Tracer, eqn: Any, x: Value, indices: Value, updates: Value) -> Value:
        b, arrays, numbers = tracer.builder, tracer.arrays, eqn.params["dimension_numbers"]
        window_dims = numbers.update_window_dims
        batching, index_batching = numbers.operand_batching_dims, numbers.scatter_indices_batching_dims
        scatter_dims = [d for d in range(len(updates.shape)) if d not in window_dims]
        operand_window = [d for d in range(len(x.shape)) if d not in numbers.inserted_window_dims and d not in batching]
        clips = _mode(eqn.params["mode"]) == "CLIP"
        function = eqn.params["update_jaxpr"] if eqn.primitive.name == "scatter" else None
        places = indices
        extents = {dim: updates.shape[w] for dim, w in zip(operand_window, window_dims, strict=True)}

        def combine(old: Node, new: Node) -> Node:
            if function is None:
                return combined(b, old, new)
            given = [np.array(node, object) for node in (old, new)]
            return tracer.evaluate(function, eqn.params["update_consts"], given)[0].item()

        def target(index: Sequence[Node]) -> tuple[list[Node], Node]:
            batch = [index[d] for d in scatter_dims]
            place: list[Node] = [b.integer(0)] * len(x.shape)
            inside = b.const(True, BOOL)
            for k, dim in enumerate(numbers.scatter_dims_to_operand_dims):
                position = arrays.at(places, [*batch, b.integer(k)])
                bounded = _clamped(b, position, x.shape[dim], extents.get(dim, 1))
                if not clips:
                    inside = b.op("and", inside, b.op("eq", bounded, position))
                place[dim] = bounded
            for operand_dim, index_dim in zip(batching, index_batching, strict=True):
                place[operand_dim] = batch[index_dim]
            for dim, w in zip(operand_window, window_dims, strict=True):
                place[dim] = b.add(place[dim], index[w])
            return place, inside

        def unknown() -> bool:
            first, inside = target([b.integer(0)] * len(updates.shape))
            return not all(node.constant for node in (*first, inside))

        if isinstance(x, Lazy) or (isinstance(updates, Lazy) and math.prod(updates.shape) and unknown()):
            buffer = _changeable(tracer, x)
            updates, places = _apart(tracer, updates, buffer), _apart(tracer, indices, buffer)

            def write(index: Sequence[Node]) -> None:
                place, inside = target(index)
                position = arrays.flat(place, x.shape)
                old = b.load(buffer, position)
                b.store(buffer, position, b.select(inside, combine(old, arrays.at(updates, index)), old))

            arrays.each(updates.shape, write)
            written = arrays.whole(buffer, x.shape)
            return written if isinstance(x, Lazy) else arrays.small(written)
        result = x.copy()
        for index in np.ndindex(updates.shape):
            place, inside = target([b.integer(i) for i in index])
            update = arrays.at(updates, [b.integer(i) for i in index])
            for spot in _spots(place, x.shape):
                here = inside
                for i, node in zip(spot, place, strict=True):
                    here = b.op("and", here, b.op("eq", node, b.integer(i)))
                result[spot] = b.select(here, combine(result[spot], update), result[spot])
        return result


def _spots(place: Sequence[Node], shape: Sequence[int]) -> Any:
    """The elements that a place which is known in part may mean."""
    return itertools.product(*([p.value] if p.constant else range(n) for p, n in zip(place, shape, strict=True)))


_scatter_rule("scatter", combined=lambda b, old, new: new)
_scatter_rule("scatter-add", "scatter_add", combined=lambda b, old, new: b.add(old, new))
_scatter_rule("scatter-mul", "scatter_mul", combined=lambda b, old, new: b.mul(old, new))
for _name, _floats in {"sub": "sub", "min": "min", "max": "max"}.items():
    _scatter_rule(
        f"scatter-{_name}",
        f"scatter_{_name}",
        combined=lambda b, old, new, op=_floats: b.op(op if old.type == FLOAT else f"i{op}", old, new),
    )
