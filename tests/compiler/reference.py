"""What a jaxpr means, equation by equation, in NumPy: which keeps subnormal numbers, as IEEE has it and XLA does not,
and needs no compiling. `test_fuzz` holds it against XLA."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

from naiad.compiler.front.jaxprs import scan_counts


def evaluate(jaxpr: core.Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The outputs of a jaxpr."""
    bound: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, core.Literal) else bound[atom]

    for eqn in jaxpr.eqns:
        inputs = [read(atom) for atom in eqn.invars]
        name = eqn.primitive.name
        if name in CONTROL:
            outputs = CONTROL[name](eqn.params, *inputs)
        else:
            outputs = BY_NUMPY[name](eqn.params, *map(np.asarray, inputs))
            outputs = outputs if eqn.primitive.multiple_results else [outputs]
        for variable, value in zip(eqn.outvars, outputs, strict=True):
            bound[variable] = np.asarray(value)
            assert bound[variable].shape == variable.aval.shape, (name, bound[variable].shape, variable.aval)
            assert bound[variable].dtype == variable.aval.dtype, (name, bound[variable].dtype, variable.aval)
    return [read(atom) for atom in jaxpr.outvars]


def _closed(inner: Any, args: Sequence[Any]) -> list[Any]:
    return evaluate(inner.jaxpr, inner.consts, args)


def _call(params: dict[str, Any], *inputs: Any) -> list[Any]:
    return _closed(params["jaxpr"] if "jaxpr" in params else params["call_jaxpr"], inputs)


def _while(params: dict[str, Any], *inputs: Any) -> list[Any]:
    m, n = params["cond_nconsts"], params["body_nconsts"]
    test, body, carry = inputs[:m], inputs[m : m + n], list(inputs[m + n :])

    def going() -> Any:
        return np.asarray(_closed(params["cond_jaxpr"], [*test, *carry])[0])

    while np.any(on := going()):
        new = _closed(params["body_jaxpr"], [*body, *carry])
        carry = [np.where(_spread(on, n), n, c) for n, c in zip(new, carry, strict=True)] if on.shape else new
    return carry


def _spread(on: np.ndarray, like: Any) -> np.ndarray:
    return on.reshape(on.shape + (1,) * (np.ndim(like) - on.ndim))


def _scan(params: dict[str, Any], *inputs: Any) -> list[Any]:
    (m, n), length = scan_counts(params), params["length"]
    consts, carry, xs = inputs[:m], list(inputs[m : m + n]), inputs[m + n :]
    stacks = [np.zeros((length, *v.aval.shape), v.aval.dtype) for v in params["jaxpr"].jaxpr.outvars[n:]]
    for i in reversed(range(length)) if params["reverse"] else range(length):
        outputs = _closed(params["jaxpr"], [*consts, *carry, *(np.asarray(x)[i] for x in xs)])
        carry = outputs[:n]
        for stack, row in zip(stacks, outputs[n:], strict=True):
            stack[i] = row
    return [*carry, *stacks]


def _cond(params: dict[str, Any], which: Any, *inputs: Any) -> list[Any]:
    return _closed(params["branches"][int(np.clip(which, 0, len(params["branches"]) - 1))], inputs)


CONTROL: dict[str, Callable[..., list[Any]]] = {
    "while": _while,
    "scan": _scan,
    "cond": _cond,
    **dict.fromkeys(("jit", "pjit", "custom_jvp_call", "custom_vjp_call", "closed_call"), _call),
}


def _converted(params: dict[str, Any], x: np.ndarray) -> Any:
    """From floats to integers towards zero, the nearest one for what is too large; 0 for what is not a number."""
    dtype = np.dtype(params["new_dtype"])
    if x.dtype.kind != "f" or dtype.kind != "i":
        return x.astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = [
        0 if v != v else max(low, min(high, int(v))) if abs(v) < np.inf else low if v < 0 else high for v in x.flat
    ]
    return np.array(whole, dtype).reshape(x.shape)


def _dot(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Any:
    (x_sum, y_sum), (x_batch, y_batch) = params["dimension_numbers"]
    names = iter("abcdefghijklmnop")
    batch, summed = [next(names) for _ in x_batch], [next(names) for _ in x_sum]
    texts = []
    for array, over, along in ((x, x_batch, x_sum), (y, y_batch, y_sum)):
        known = dict(zip([*over, *along], [*batch, *summed], strict=True))
        texts.append([known[k] if k in known else next(names) for k in range(array.ndim)])
    free = [name for text in texts for name in text if name not in batch and name not in summed]
    return np.einsum(f"{''.join(texts[0])},{''.join(texts[1])}->{''.join([*batch, *free])}", x, y)


def _padded(params: dict[str, Any], x: np.ndarray, filling: np.ndarray) -> Any:
    config = params["padding_config"]
    sizes = [low + high + n + max(n - 1, 0) * gap for n, (low, high, gap) in zip(x.shape, config, strict=True)]
    result = np.full(sizes, filling)
    for index in np.ndindex(x.shape):
        place = tuple(low + i * (gap + 1) for i, (low, _, gap) in zip(index, config, strict=True))
        if all(0 <= i < n for i, n in zip(place, sizes, strict=True)):
            result[place] = x[index]
    return result


def _window(shape: Sequence[int], starts: Sequence[Any], sizes: Sequence[int]) -> tuple[slice, ...]:
    first = [min(max(int(s), 0), n - w) for s, n, w in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(s, s + w) for s, w in zip(first, sizes, strict=True))


def _updated(params: dict[str, Any], x: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> Any:
    result = x.copy()
    result[_window(x.shape, starts, update.shape)] = update
    return result


def _places(indices: np.ndarray, dims: Sequence[int], batch: Sequence[int], batching: Any, rank: int) -> list[int]:
    """Where in an operand the window of one batch index begins."""
    start = [0] * rank
    for dim, position in zip(dims, indices[tuple(batch)], strict=True):
        start[dim] = int(position)
    for dim, index_dim in zip(*batching, strict=True):
        start[dim] = batch[index_dim]
    return start


def _gathered(params: dict[str, Any], x: np.ndarray, indices: np.ndarray) -> Any:
    """[https://openxla.org/xla/operation_semantics#gather]"""
    numbers, sizes, mode = params["dimension_numbers"], params["slice_sizes"], params["mode"].name
    batching = (numbers.operand_batching_dims, numbers.start_indices_batching_dims)
    window = [k for k in range(x.ndim) if k not in numbers.collapsed_slice_dims and k not in batching[0]]
    rank = indices.ndim - 1 + len(window)
    outer = [k for k in range(rank) if k not in numbers.offset_dims]
    shape = np.zeros(rank, int)
    shape[outer], shape[list(numbers.offset_dims)] = indices.shape[:-1], [sizes[k] for k in window]
    result = np.zeros(shape, x.dtype)
    filling = params["fill_value"]
    if filling is None:
        filling = {"f": np.nan, "b": True}.get(x.dtype.kind) or np.iinfo(x.dtype).min
    for index in np.ndindex(*shape):
        start = _places(indices, numbers.start_index_map, [index[k] for k in outer], batching, x.ndim)
        safe = [min(max(s, 0), n - w) for s, n, w in zip(start, x.shape, sizes, strict=True)]
        place = list(safe)
        for k, dim in zip(numbers.offset_dims, window, strict=True):
            place[dim] += index[k]
        result[index] = filling if mode == "FILL_OR_DROP" and safe != start else x[tuple(place)]
    return result


def _scattered(combine: Callable[[Any, Any], Any] | None) -> Callable[..., Any]:
    def scatter(params: dict[str, Any], x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> Any:
        """[https://openxla.org/xla/operation_semantics#scatter]"""
        numbers, result = params["dimension_numbers"], x.copy()
        batching = (numbers.operand_batching_dims, numbers.scatter_indices_batching_dims)
        window = [k for k in range(x.ndim) if k not in numbers.inserted_window_dims and k not in batching[0]]
        outer = [k for k in range(updates.ndim) if k not in numbers.update_window_dims]
        sizes = np.ones(x.ndim, int)
        sizes[window] = [updates.shape[k] for k in numbers.update_window_dims]
        function = params["update_jaxpr"] if combine is None else None
        for index in np.ndindex(updates.shape):
            start = _places(indices, numbers.scatter_dims_to_operand_dims, [index[k] for k in outer], batching, x.ndim)
            safe = [min(max(s, 0), n - w) for s, n, w in zip(start, x.shape, sizes, strict=True)]
            if params["mode"].name != "CLIP" and safe != start:
                continue
            place = list(safe)
            for k, dim in zip(numbers.update_window_dims, window, strict=True):
                place[dim] += index[k]
            old, new = result[tuple(place)], updates[index]
            if function is not None:
                new = evaluate(function, params["update_consts"], [np.asarray(old), np.asarray(new)])[0]
            result[tuple(place)] = new if combine is None else combine(old, new)
        return result

    return scatter


def _chosen(params: dict[str, Any], which: np.ndarray, *cases: np.ndarray) -> Any:
    return np.choose(np.broadcast_to(which, cases[0].shape).astype(int), cases) if cases[0].size else cases[0]


def _power(params: dict[str, Any], x: np.ndarray) -> Any:
    return np.multiply.reduce([x] * params["y"], dtype=x.dtype) if params["y"] > 0 else x ** float(params["y"])


def _sigmoid(params: dict[str, Any], x: np.ndarray) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def _rounded(params: dict[str, Any], x: np.ndarray) -> Any:
    whole = np.trunc(x)
    return (
        np.round(x) if int(params["rounding_method"]) else np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)
    )


def _quotient(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Any:
    """Of integers towards zero; by zero it is -1."""
    if x.dtype.kind == "f":
        return np.divide(x, y)
    exact = [-1 if not d else abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1) for n, d in _pairs(x, y)]
    return _wrapped(exact, x + y)


def _remainder(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Any:
    """Of integers with the sign of the first; by zero it is the first."""
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return _wrapped([n if not d else abs(n) % abs(d) * (1 if n >= 0 else -1) for n, d in _pairs(x, y)], x + y)


def _shifted_left(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Any:
    return _wrapped([n << d if 0 <= d < 8 * x.itemsize else 0 for n, d in _pairs(x, y)], x + y)


def _shifted_right(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Any:
    bits = 8 * x.itemsize
    return _wrapped([n >> (d if 0 <= d < bits else bits - 1) for n, d in _pairs(x, y)], x + y)


def _pairs(x: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, int]]:
    return zip(*(a.reshape(-1).tolist() for a in np.broadcast_arrays(x, y)), strict=True)


def _wrapped(values: list[int], like: np.ndarray) -> np.ndarray:
    mask = 2 ** (8 * like.itemsize)
    return np.array([v % mask for v in values], np.uint64).astype(like.dtype).reshape(like.shape)


def _broadcast(params: dict[str, Any], x: np.ndarray) -> Any:
    expanded = np.ones(len(params["shape"]), int)
    expanded[list(params["broadcast_dimensions"])] = x.shape
    return np.broadcast_to(x.reshape(expanded), params["shape"])


def _reshaped(params: dict[str, Any], x: np.ndarray) -> Any:
    return (x if params["dimensions"] is None else x.transpose(params["dimensions"])).reshape(params["new_sizes"])


def _sliced(params: dict[str, Any], x: np.ndarray) -> Any:
    strides = params["strides"] or [1] * x.ndim
    return x[tuple(map(slice, params["start_indices"], params["limit_indices"], strides))]


def _iota(params: dict[str, Any]) -> Any:
    places = [-1 if k == params["dimension"] else 1 for k in range(len(params["shape"]))]
    counts = np.arange(params["shape"][params["dimension"]], dtype=params["dtype"]).reshape(places)
    return np.broadcast_to(counts, params["shape"])


def _along(function: Any, **start: Any) -> Callable[..., Any]:
    def run(params: dict[str, Any], x: np.ndarray) -> Any:
        first = {"initial": _extreme(x, start["lowest"])} if start else {}
        return np.asarray(function.reduce(x, axis=params["axes"], dtype=x.dtype, **first))

    return run


def _extreme(x: np.ndarray, lowest: bool) -> Any:
    if x.dtype.kind == "f":
        return -np.inf if lowest else np.inf
    return (np.iinfo(x.dtype).min if lowest else np.iinfo(x.dtype).max) if x.dtype.kind == "i" else not lowest


def _running(function: Any) -> Callable[..., Any]:
    def run(params: dict[str, Any], x: np.ndarray) -> Any:
        x = np.flip(x, params["axis"]) if params["reverse"] else x
        x = function.accumulate(x, axis=params["axis"], dtype=x.dtype)
        return np.flip(x, params["axis"]) if params["reverse"] else x

    return run


ELEMENTWISE = {
    "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.abs,
    "max": np.maximum, "min": np.minimum, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "sqrt": np.sqrt,
    "square": np.square, "is_finite": np.isfinite, "exp": np.exp, "expm1": np.expm1, "log": np.log, "sin": np.sin,
    "cos": np.cos, "tanh": np.tanh, "atan": np.arctan, "atan2": np.arctan2, "cbrt": np.cbrt,
    "pow": lambda x, y: np.where((x == -np.inf) & (y == 0.5), np.inf, np.power(x, y)),  # NumPy takes a square root
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not,
    "rsqrt": lambda x: 1.0 / np.sqrt(x), "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "stop_gradient": np.array, "copy": np.array,
}  # fmt: skip
BY_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: lambda params, *args, function=function: function(*args) for name, function in ELEMENTWISE.items()},
    "div": _quotient,
    "rem": _remainder,
    "shift_left": _shifted_left,
    "shift_right_arithmetic": _shifted_right,
    "integer_pow": _power,
    "logistic": _sigmoid,
    "round": _rounded,
    "select_n": _chosen,
    "convert_element_type": _converted,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshaped,
    "transpose": lambda params, x: x.transpose(params["permutation"]),
    "squeeze": lambda params, x: np.squeeze(x, params["dimensions"]),
    "rev": lambda params, x: np.flip(x, params["dimensions"]),
    "slice": _sliced,
    "concatenate": lambda params, *xs: np.concatenate(xs, params["dimension"]),
    "stack": lambda params, *xs: np.stack(xs, params["axis"]),
    "unstack": lambda params, x: list(np.moveaxis(x, params["axis"], 0)),
    "split": lambda params, x: np.split(x, np.cumsum(params["sizes"])[:-1], params["axis"]),
    "tile": lambda params, x: np.tile(x, params["reps"]),
    "iota": _iota,
    "platform_index": lambda params: np.int32(
        [names is None or "cpu" in names for names in params["platforms"]].index(True)
    ),
    "pad": _padded,
    "dot_general": _dot,
    "argmax": lambda params, x: np.argmax(x, params["axes"][0]).astype(params["index_dtype"]),
    "argmin": lambda params, x: np.argmin(x, params["axes"][0]).astype(params["index_dtype"]),
    "dynamic_slice": lambda params, x, *starts: x[_window(x.shape, starts, params["slice_sizes"])],
    "dynamic_update_slice": _updated,
    "gather": _gathered,
    "scatter": _scattered(None),
    "scatter-add": _scattered(np.add),
    "scatter-sub": _scattered(np.subtract),
    "scatter-mul": _scattered(np.multiply),
    "scatter-min": _scattered(np.minimum),
    "scatter-max": _scattered(np.maximum),
    "reduce_sum": _along(np.add),
    "reduce_prod": _along(np.multiply),
    "reduce_and": _along(np.bitwise_and),
    "reduce_or": _along(np.bitwise_or),
    "reduce_xor": _along(np.bitwise_xor),
    "reduce_max": _along(np.maximum, lowest=True),
    "reduce_min": _along(np.minimum, lowest=False),
    "cumsum": _running(np.add),
    "cumprod": _running(np.multiply),
    "cummax": _running(np.maximum),
    "cummin": _running(np.minimum),
}


def reference(closed: core.ClosedJaxpr, args: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a jaxpr, in double precision."""
    with jax.enable_x64(True), np.errstate(all="ignore"):
        return [np.asarray(x) for x in evaluate(closed.jaxpr, closed.consts, args)]
