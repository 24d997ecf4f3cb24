"""Initial states from what a user gives: whole, or by the names of components."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.errors import InputError
from naiad.groups import S3, SO3, AbstractGroup
from naiad.mechanics.components import join_rows, neutral, split_rows
from naiad.mechanics.state import State
from naiad.numerics.arguments import checked, shown
from naiad.numerics.checks import floats, is_known


class Given(NamedTuple):
    """What a user says of an initial state: g, and xi or mu."""

    g: Any
    xi: Any
    mu: Any


def assembled(group: AbstractGroup, g: Any, xi: Any, mu: Any, components: dict[str, Any]) -> Given:
    """A configuration and a velocity or a momentum, given whole or by the names of components."""
    names = group.names
    known = (*names.element, *names.velocity, *names.momentum)
    unknown = [name for name in components if name not in known]
    if unknown:
        raise InputError(
            f"state(): unknown component {unknown[0]!r}; this system has {', '.join(known)} (or g, xi, mu as a whole)."
        )
    element = {k: v for k, v in components.items() if k in names.element}
    velocity = {k: v for k, v in components.items() if k in names.velocity}
    momentum = {k: v for k, v in components.items() if k in names.momentum}
    given = [
        name
        for name, value in (("xi", xi), ("mu", mu), ("velocities", velocity), ("momenta", momentum))
        if _is_given(value)
    ]
    if len(given) > 1:
        raise InputError(
            f"state(): both {' and '.join(given)} were given; give the velocity or the momentum, in one form."
        )
    if g is not None and element:
        raise InputError(f"state(): both g and {', '.join(element)} were given; give one of them.")

    configuration = _configuration(group, g, element)
    if mu is not None or momentum:
        return Given(configuration, None, _covector(group, mu, momentum, names.momentum, "mu"))
    return Given(configuration, _covector(group, xi, velocity, names.velocity, "xi"), None)


@checked
def fitting_state(group: AbstractGroup, state: State) -> State:
    """The state as NumPy arrays, if they have the shapes of the group's; else an `InputError`."""
    return fitted_state(group, state)


def fitted_state(group: AbstractGroup, state: State) -> State:
    """The same of a state that is one."""
    if state.g is None or state.mu is None:
        raise InputError("The state lacks g or mu; make it with system.state(...).")
    if _fits(state, *form(group)):
        return state
    return State(_configuration(group, state.g, {}), _covector(group, state.mu, {}, group.names.momentum, "mu"))


def _fits(state: State, structure: Any, shapes: list[tuple[int, ...]]) -> bool:
    """Whether it is what `system.state` gives, as most states are."""
    leaves, own = jax.tree_util.tree_flatten(state)
    if own != structure:
        return False
    arrays = zip(leaves, shapes, strict=True)
    return all([type(x) is np.ndarray and x.dtype == np.float64 and x.shape == shape for x, shape in arrays])


@functools.lru_cache
def form(group: AbstractGroup) -> tuple[Any, list[tuple[int, ...]]]:
    """The structure of states, and the shapes of their arrays."""
    leaves, structure = neutral(group)
    whole = State(jax.tree.unflatten(structure, leaves), jnp.zeros(group.dim))
    return jax.tree.structure(whole), [*map(np.shape, leaves), (group.dim,)]


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, dict) and not value)


def _configuration(group: AbstractGroup, g: Any, components: dict[str, Any]) -> Any:
    leaves, treedef = neutral(group)
    if g is None:
        named = zip(group.names.element, leaves, strict=True)
        chosen = [components[name] if name in components else leaf.copy() for name, leaf in named]
    else:
        whole = isinstance(g, tuple | list) and len(g) == len(leaves)
        chosen = list(g) if whole else jax.tree.leaves(g)
        if len(chosen) != len(leaves):
            raise InputError(
                f"state(): g has {len(chosen)} arrays; expected {len(leaves)}: {', '.join(group.names.element)}."
            )
    arrays = [
        _array(name, _as_matrix(name, value, leaf.shape), leaf.shape)
        for name, value, leaf in zip(group.names.element, chosen, leaves, strict=True)
    ]
    return jax.tree.unflatten(treedef, arrays)


def _as_matrix(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """What was given, or the matrices of rotations that were given as unit quaternions (w, x, y, z) or as rotation
    vectors (axis times angle)."""
    rows = floats(name, value) if shape[-2:] == (3, 3) else np.zeros(0)
    if rows.shape not in ((*shape[:-2], 4), (*shape[:-2], 3)):
        return value
    if rows.shape[-1] == 4 and is_known(rows) and np.max(np.abs(np.sum(rows**2, axis=-1) - 1.0)) > 2e-9:
        raise InputError(f"{name} = {shown(value)} is no unit quaternion (w, x, y, z); divide it by its norm.")
    turn = SO3().exp if rows.shape[-1] == 3 else _rotation
    with jax.enable_x64(True):
        matrices = jax.vmap(turn)(jnp.reshape(jnp.asarray(rows), (-1, rows.shape[-1]))).reshape(shape)
    return np.asarray(matrices) if is_known(matrices) else matrices


def _rotation(q: Any) -> Any:
    return jax.vmap(S3().act, in_axes=(None, 0), out_axes=1)(q, jnp.eye(3))


def _covector(group: AbstractGroup, whole: Any, parts: dict[str, Any], names: tuple[str, ...], symbol: str) -> Any:
    if whole is not None:
        return _array(symbol, whole, (group.dim,))
    zeros = split_rows(group, np.zeros(group.dim))
    return join_rows(
        group, [_array(name, parts.get(name, zero), zero.shape) for name, zero in zip(names, zeros, strict=True)]
    )


def _array(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    array = floats(name, value)
    if array.shape != shape:
        if not array.size:
            raise InputError(f"{name} = {value!r} is not an array of numbers; expected shape {shape}.")
        raise InputError(f"{name} has shape {array.shape}; expected {shape}.")
    return array
