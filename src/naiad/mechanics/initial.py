"""Initial states: assembled from named components, and checked before anything runs."""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.mechanics.components import identity, join_rows, split_rows
from naiad.mechanics.state import Scalar, State
from naiad.numerics import check_double, check_rotations
from naiad.numerics.arguments import checked

if TYPE_CHECKING:
    from naiad.mechanics.system import LagrangianSystem

GROUP_TOLERANCE = 1e-8
CONSTRAINT_TOLERANCE = 1e-8


def initial_state(system: "LagrangianSystem", g: Any, xi: Any, mu: Any, t: Scalar, components: dict[str, Any]) -> State:
    """A checked state from a configuration and a velocity or a momentum, whole or by the names of components."""
    group = system.group
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
        node_momentum = _covector(group, mu, momentum, names.momentum, "mu")
    else:
        twist = _covector(group, xi, velocity, names.velocity, "xi")
        node_momentum = execute(_legendre, system, configuration, twist, t, parameters=(0,))
    return check_state(system, State(configuration, node_momentum), t)


@checked
def fitting_state(group: AbstractGroup, state: State) -> State:
    """The state as NumPy arrays, if they have the shapes of the group's; else an `InputError`."""
    if state.g is None or state.mu is None:
        raise InputError("The state lacks g or mu; make it with system.state(...).")
    return State(_configuration(group, state.g, {}), _covector(group, state.mu, {}, group.names.momentum, "mu"))


@checked
def check_state(system: "LagrangianSystem", state: State, t: Scalar) -> State:
    """The state as NumPy arrays, if a motion can start there; else an `InputError` that says what is wrong."""
    check_double("The initial state", jax.tree.leaves(state))
    state = fitting_state(system.group, state)
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state)):
        raise InputError("The initial state holds NaN or infinite values; give finite numbers.")
    found = execute(_examination, system, state, t, parameters=(0,))
    error = float(found.group_error)
    if error > GROUP_TOLERANCE:
        raise InputError(
            f"The initial configuration is off the group by {error:.3g} (Frobenius norm of R^T R - I); expected at "
            f"most {GROUP_TOLERANCE:g}. Orthonormalise it first, or build it with group.exp."
        )
    for R in system.group.rotations(state.g):
        check_rotations("The initial attitude", R)
    if found.inertia is not None and not (lowest := _lowest(found.inertia)) > 0:
        raise InputError(
            f"The inertia d2 ell/d xi2 is not positive definite at the initial state (smallest eigenvalue "
            f"{lowest:.3g}); check the inertia and masses: every velocity must carry kinetic energy."
        )
    if max(found.constraint, found.constraint_rate) > CONSTRAINT_TOLERANCE:
        raise InputError(
            f"The initial state violates the constraint (value {found.constraint:.3g}, rate "
            f"{found.constraint_rate:.3g}; expected both below {CONSTRAINT_TOLERANCE:g}); start on the constraint, "
            "with a velocity along it."
        )
    return state


class _Examination(NamedTuple):
    """How far a state is off the group and off the constraint, and the inertia there where it must be looked at."""

    group_error: Any
    inertia: Any
    constraint: Any
    constraint_rate: Any


def _examination(system: "LagrangianSystem", state: State, t: Scalar) -> _Examination:
    g, mu = state
    inertia = None
    if not system.definite:
        inertia = jax.hessian(system.lagrangian, argnums=1)(g, jnp.zeros(system.group.dim), t)
    value = rate = jnp.zeros(())
    if system.constraint is not None:
        value = jnp.max(jnp.abs(system.constraint(g, t)))
        rate = jnp.max(jnp.abs(system.constraint_rate(g, system.velocity(g, mu, t), t)))
    return _Examination(system.group.error(g), inertia, value, rate)


def _lowest(inertia: np.ndarray) -> float:
    """The smallest eigenvalue."""
    return float(np.linalg.eigvalsh(0.5 * (inertia + inertia.T))[0]) if np.all(np.isfinite(inertia)) else float("nan")


def _legendre(system: "LagrangianSystem", g: Any, xi: Any, t: Scalar) -> Any:
    return system.legendre(g, xi, t)


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, dict) and not value)


def _configuration(group: AbstractGroup, g: Any, components: dict[str, Any]) -> Any:
    leaves, treedef = jax.tree.flatten(identity(group))
    if g is None:
        chosen = [components.get(name, leaf) for name, leaf in zip(group.names.element, leaves, strict=True)]
    else:
        whole = isinstance(g, tuple | list) and len(g) == len(leaves)
        chosen = list(g) if whole else jax.tree.leaves(g)
        if len(chosen) != len(leaves):
            raise InputError(
                f"state(): g has {len(chosen)} arrays; expected {len(leaves)}: {', '.join(group.names.element)}."
            )
    arrays = [
        _array(name, value, leaf.shape) for name, value, leaf in zip(group.names.element, chosen, leaves, strict=True)
    ]
    return jax.tree.unflatten(treedef, arrays)


def _covector(group: AbstractGroup, whole: Any, parts: dict[str, Any], names: tuple[str, ...], symbol: str) -> Any:
    if whole is not None:
        return _array(symbol, whole, (group.dim,))
    zeros = split_rows(group, np.zeros(group.dim))
    return join_rows(
        group, [_array(name, parts.get(name, zero), zero.shape) for name, zero in zip(names, zeros, strict=True)]
    )


def _array(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    check_double(name, value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {value!r} is not an array of numbers; expected shape {shape}.") from None
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; expected {shape}.")
    return array
