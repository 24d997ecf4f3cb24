"""The nearest configuration and velocity that satisfy a constraint."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.mechanics.calculus import left_jacobian
from naiad.mechanics.initial import Given
from naiad.mechanics.state import Scalar
from naiad.numerics.checks import is_known

TOLERANCE = 1e-8  # of the constraint and its rate, as for every initial state
RANK = 1e-11  # singular values below this part of the largest count as zero
ROUNDS, HALVINGS = 100, 30
FLAT = 1e-6  # the slope along the constraint, as a part of the distance, at which a minimum is accepted


def nearest_on_constraint(system: Any, given: Given, t: Scalar) -> Given:
    """Return the nearest configuration and velocity that satisfy the constraint, in the metric of the inertia.

    M = d2 ell/d xi2 is taken at the given configuration and velocity. The configuration g exp(eta) has the least
    eta.M eta of all nearby that satisfy the constraint (a local minimum). The velocity there is xi + delta with the
    least delta.M delta, M at the new configuration. A momentum stands for its velocity at the new configuration.
    """
    if system.constraint is None:
        raise InputError(
            f"state: onto_constraint=True, but {type(system).__name__} has no constraint; leave onto_constraint out."
        )
    if not all(map(is_known, jax.tree.leaves((system, given, t)))):
        raise InputError(
            "state: onto_constraint=True needs numbers, and here JAX traces the system or the state; find the state "
            "before, outside of the traced function."
        )
    leaves = jax.tree.leaves((given, t))
    if not all(np.all(np.isfinite(leaf)) for leaf in leaves):
        raise InputError("The state holds NaN or infinite values; give finite numbers.")
    xi = given.xi
    if xi is None:
        xi = execute(_velocity, system, given.g, given.mu, t, parameters=(0,))
    g = _nearest_configuration(system, given.g, xi, t)
    if given.xi is None:
        xi = execute(_velocity, system, g, given.mu, t, parameters=(0,))
    return Given(g, _nearest_velocity(system, g, xi, t), None)


_Look = Callable[[np.ndarray], "_Point"]


class _Point(NamedTuple):
    """A place y of the search, in coordinates in which the inertia is the identity; the constraint and its Jacobian
    there, and an orthonormal basis of the directions that leave the constraint alone."""

    y: np.ndarray
    value: np.ndarray
    jacobian: np.ndarray
    along: np.ndarray

    @property
    def off(self) -> float:
        """The largest component of the constraint; infinite where it is no number."""
        return float(np.max(np.abs(self.value), initial=0.0)) if np.all(np.isfinite(self.value)) else np.inf

    @property
    def slope(self) -> np.ndarray:
        """The derivative of y.y/2 along the constraint."""
        return self.along.T @ self.y


def _nearest_configuration(system: Any, g: Any, xi: np.ndarray, t: Scalar) -> Any:
    """Minimise y.y/2 on the constraint: Newton's method in the tangent space, each step brought back to the constraint
    by shortest Gauss-Newton steps."""
    unit = _unit_increments(execute(_inertia, system, g, xi, t, parameters=(0,)))

    def look(y: np.ndarray) -> _Point:
        value, jacobian = execute(_constraint, system, g, unit @ y, t, parameters=(0,))
        jacobian = jacobian @ unit
        return _Point(y, value, jacobian, _null_space(jacobian))

    def curved(here: _Point) -> np.ndarray:
        """The second derivative of y.y/2 along the constraint."""
        multipliers = np.linalg.pinv(here.jacobian.T, RANK) @ -here.y
        bend = unit.T @ execute(_curvature, system, g, unit @ here.y, multipliers, t, parameters=(0,)) @ unit
        return np.eye(here.along.shape[1]) + here.along.T @ bend @ here.along

    start = look(np.zeros(len(unit)))
    here = _restored(look, start)
    if not here.off <= TOLERANCE:
        rank = len(unit) - here.along.shape[1]
        singular = f"; its Jacobian has rank {rank} of {len(here.value)} there" if rank < len(here.value) else ""
        raise InputError(
            f"state: onto_constraint=True found no configuration that satisfies the constraint: from {start.off:.3g} "
            f"it came to {here.off:.3g} (largest component){singular}. Give a configuration nearer to the constraint."
        )
    here = _flattened(look, here, curved)
    if np.linalg.norm(here.slope) > FLAT * np.linalg.norm(here.y):
        raise InputError(
            "state: onto_constraint=True came to the constraint, but found no nearest configuration on it; give a "
            "configuration nearer to the constraint."
        )
    return execute(_moved, system, g, unit @ here.y, parameters=(0,)) if np.any(here.y) else g


def _flattened(look: _Look, here: _Point, curved: Callable[[_Point], np.ndarray]) -> _Point:
    """The point on the constraint at which y.y/2 has its minimum, by Newton's method from a point on it."""
    for _ in range(ROUNDS if np.any(here.slope) else 0):
        curvature, axes = np.linalg.eigh(curved(here))
        step = here.along @ axes @ ((axes.T @ -here.slope) / np.maximum(np.abs(curvature), 1e-3))
        lower = _lower(look, here, step)
        if lower is None:
            break
        here = lower
    return here


def _restored(look: _Look, here: _Point) -> _Point:
    """The point to which shortest Gauss-Newton steps lead, halved where the constraint does not fall; it falls to
    round-off."""
    for _ in range(ROUNDS):
        step = -np.linalg.pinv(here.jacobian, RANK) @ here.value if np.isfinite(here.off) else np.zeros_like(here.y)
        size = np.linalg.norm(here.value)
        halvings = HALVINGS if size and np.any(step) else 0
        trials = ((2.0**-k, look(here.y + step / 2**k)) for k in range(halvings))
        better = next((each for part, each in trials if np.linalg.norm(each.value) < (1 - 0.1 * part) * size), None)
        if better is None:
            break
        here = better
    return here


def _lower(look: _Look, here: _Point, step: np.ndarray) -> _Point | None:
    """A point on the constraint, along a step, that is nearer, or, where rounding hides that, flatter."""
    height = here.y @ here.y
    for k in range(HALVINGS):
        there = _restored(look, look(here.y + step / 2**k))
        if there.off > TOLERANCE:
            continue
        change = there.y @ there.y - height
        flatter = np.linalg.norm(there.slope) < 0.5 * np.linalg.norm(here.slope)
        if change < 1e-4 * (here.y @ step) / 2**k or (flatter and change <= 1e-14 * height):
            return there
    return None


def _nearest_velocity(system: Any, g: Any, xi: np.ndarray, t: Scalar) -> np.ndarray:
    """xi less its part across the constraint, shortest in the metric of the inertia."""
    unit = _unit_increments(execute(_inertia, system, g, xi, t, parameters=(0,)))
    jacobian, rate = execute(_rate, system, g, xi, t, parameters=(0,))
    if not np.any(rate):
        return xi
    found = xi - unit @ (np.linalg.pinv(jacobian @ unit, RANK) @ rate)
    left = float(np.max(np.abs(jacobian @ (found - xi) + rate)))
    if not left <= TOLERANCE:
        raise InputError(
            f"state: onto_constraint=True found no velocity along the constraint: its rate stays at {left:.3g}, since "
            "its components ask for different motions there (it depends on time, or its Jacobian is singular)."
        )
    return found


def _unit_increments(inertia: np.ndarray) -> np.ndarray:
    """The matrix B with B.T M B = 1, as columns the increments of length 1 in the metric of the inertia M."""
    try:
        return np.linalg.inv(np.linalg.cholesky(0.5 * (inertia + inertia.T))).T
    except np.linalg.LinAlgError:
        raise InputError(
            "state: onto_constraint=True measures distances by the inertia d2 ell/d xi2, which is not positive "
            "definite at the given state; check the inertia and masses."
        ) from None


def _null_space(jacobian: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(jacobian)):
        return np.zeros((jacobian.shape[1], 0))
    _, sizes, rows = np.linalg.svd(jacobian)
    return rows[int(np.sum(sizes > RANK * np.max(sizes, initial=0.0))) :].T


def _moved(system: Any, g: Any, eta: Any) -> Any:
    return system.group.compose(g, system.group.exp(eta))


def _constraint(system: Any, g: Any, eta: Any, t: Scalar) -> tuple[Any, Any]:
    def value(eta: Any) -> Any:
        return jnp.atleast_1d(system.constraint(_moved(system, g, eta), t))

    return value(eta), jax.jacfwd(value)(eta)


def _curvature(system: Any, g: Any, eta: Any, multipliers: Any, t: Scalar) -> Any:
    """The second derivative of multipliers . constraint by eta."""
    return jax.hessian(lambda eta: multipliers @ jnp.atleast_1d(system.constraint(_moved(system, g, eta), t)))(eta)


def _inertia(system: Any, g: Any, xi: Any, t: Scalar) -> Any:
    return jax.hessian(system.lagrangian, argnums=1)(g, xi, t)


def _velocity(system: Any, g: Any, mu: Any, t: Scalar) -> Any:
    return system.velocity(g, mu, t)


def _rate(system: Any, g: Any, xi: Any, t: Scalar) -> tuple[Any, Any]:
    jacobian = left_jacobian(system.group, lambda x: jnp.atleast_1d(system.constraint(x, t)), g)
    return jacobian, system.constraint_rate(g, xi, t)
