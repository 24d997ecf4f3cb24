"""Runs a pure function of the library: as machine code, or through XLA."""

import functools
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

import jax
import numpy as np

from naiad.compiler.backends import Resident
from naiad.compiler.compiled import Compiled, nodes
from naiad.compiler.device import Device
from naiad.compiler.fingerprint import Unknown, Version
from naiad.compiler.front.rules import Unsupported
from naiad.errors import InputError, RunWarning

Engine = Literal["auto", "compiled", "xla"]
"""How a function of the library runs: see `execute`."""

ENGINES = get_args(Engine)


def check_engine(engine: Any) -> Engine:
    """The engine, or an `InputError`."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise InputError(f"engine = {engine!r}; expected one of {', '.join(map(repr, ENGINES))}.")
    return cast("Engine", engine)


def execute(function: Callable[..., Any], *args: Any, parameters: Sequence[int], engine: Engine = "auto") -> Any:
    """function(*args), NumPy arrays; of the arguments whose numbers are `parameters`, elements that are exactly 0 or 1
    are part of the code.

    "compiled" makes machine code; "xla" goes through `jax.jit`; "auto" is "compiled" where that is possible, else "xla"
    with one warning.
    """
    if engine != "xla":
        try:
            return _compiled(function, tuple(parameters))(*args)
        except Unsupported as reason:
            if engine == "compiled":
                raise
            warn_of_xla(str(reason))
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, _jitted(function)(*_traced(args)))


def execute_rows(
    function: Callable[..., Any],
    first: Any,
    *rows: Any,
    shared: Sequence[int] = (),
    parameters: Sequence[int],
    engine: Engine = "auto",
    device: Device = "cpu",
    left: bool = False,
) -> Any:
    """function(first, *row) for every row of the other arguments, whose arrays have a leading axis, except those whose
    numbers are `shared`; `first` is argument 0. `parameters` and `engine` are those of `execute`, `device` that of
    `Compiled.batch`; XLA has the processor only. Results that may be `left` as they lie are `Resident`."""
    same = (0, *shared)
    if engine != "xla":
        try:
            made = _compiled(function, tuple(parameters))
            return (made.batch_left if left else made.batch)(first, *rows, shared=same, device=device)
        except Unsupported as reason:
            if engine == "compiled":
                raise
            warn_of_xla(str(reason))
    return rows_by_xla(function, first, *rows, same=same)


def rows_by_xla(function: Callable[..., Any], *args: Any, same: tuple[int, ...] = (0,)) -> Any:
    """The function of every row, of arguments of which some are the `same` for all, through XLA."""
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, _jitted_rows(function, same)(*_traced(args)))


def _traced(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers as arrays, which are arguments of the code rather than part of it; arrays on a GPU come from there."""
    kinds = bool | int | float | Resident
    return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, kinds) else leaf, args)


@functools.cache
def _compiled(function: Callable[..., Any], parameters: tuple[int, ...]) -> Compiled:
    return Compiled(function, parameters=parameters)


@functools.cache
def _jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    return _jit(function)


@functools.cache
def _jitted_rows(function: Callable[..., Any], shared: tuple[int, ...]) -> Callable[..., Any]:
    def all_rows(*args: Any) -> Any:
        own = [arg for number, arg in enumerate(args) if number not in shared]

        def one(*row: Any) -> Any:
            given = iter(row)
            return function(*(arg if number in shared else next(given) for number, arg in enumerate(args)))

        return jax.vmap(one)(*own)

    return _jit(all_rows)


def _jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.jit`, for arguments in which anything that is not an array is part of the code, as is what it names."""
    versions: dict[Any, Version] = {}

    @functools.partial(jax.jit, static_argnums=(0, 1, 2))
    def run(_: str | Unknown, tree: Any, others: tuple[Any, ...], arrays: list[Any]) -> Any:
        given = iter(arrays)
        leaves = [next(given) if other is None else other for other in others]
        return function(*jax.tree.unflatten(tree, leaves))

    def call(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        others = tuple(None if isinstance(leaf, np.ndarray | jax.Array) else leaf for leaf in leaves)
        if (tree, others) not in versions:
            versions[tree, others] = Version(function, nodes(tree), others)
        arrays = [leaf for leaf, other in zip(leaves, others, strict=True) if other is None]
        return run(versions[tree, others].current(), tree, others, arrays)

    return call


@functools.cache
def warn_of_xla(reason: str) -> None:
    """Say, once a process, why something is not compiled."""
    warnings.warn(f"{reason} It goes through XLA now, which is slower.", RunWarning, stacklevel=_depth())


def _depth() -> int:
    """How far up the stack the user's own code is."""
    package, depth, frame = os.path.dirname(os.path.dirname(__file__)), 0, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(package):
        depth, frame = depth + 1, frame.f_back
    return depth + 1
