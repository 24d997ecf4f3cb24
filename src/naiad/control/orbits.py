"""Periodic orbits: Newton's method for a state and a period, and families of them by energy."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.control.linear import displaced, increment, step_count, stepped
from naiad.errors import InputError, RunWarning
from naiad.integrators import AbstractMethod, Variational, check_method
from naiad.mechanics import LagrangianSystem, State, check_state
from naiad.mechanics.features import EVERY, refuse_features
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, number, positive

NEGLIGIBLE = 1e-7  # of the largest singular value: along the orbit, its family and symmetries nothing is asked
ITERATIONS = 30
HALVINGS = 12
AT_REST = 1e3  # tolerances: where a state moves by less in a period, it rests
FARTHEST = 0.2  # change of the period from an orbit to the next of its family, relatively: more may be another's


class PeriodicOrbit(NamedTuple):
    """A state that comes back after T: its energy, Floquet's multipliers (the eigenvalues of the derivative of the map
    over a period, largest first), and by how much it misses, the largest entry of (log g_0^-1 g_T, mu_T - mu_0)."""

    state: State
    T: float
    energy: float
    multipliers: np.ndarray
    miss: float


@checked
def periodic_orbit(
    system: LagrangianSystem,
    state: State,
    T: float,
    *,
    steps: int,
    energy: float | None = None,
    method: AbstractMethod | None = None,
    tolerance: float = 1e-9,
) -> PeriodicOrbit:
    """The periodic orbit near a state and a period, in `steps` steps of the method; the one with an `energy`, if that
    is given.

    Newton's method on (log g_0^-1 g_T, mu_T - mu_0) = 0 with the derivatives of the steps. Orbits come in families,
    and each state of one is as good as another: the correction is the smallest that does it.
    """
    steps, method = step_count(steps), Variational() if method is None else method
    T, tolerance = positive("T", T), positive("tolerance", tolerance)
    given = None if energy is None else number("energy", energy)
    _check(system, method)
    state = jax.tree.map(np.asarray, check_state(system, state, 0.0))
    found = _found(system, method, state, T, steps, given, tolerance)
    if found.miss <= tolerance:
        return found
    where = "" if given is None else f" with the energy {given:g} J"
    raise InputError(
        f"no periodic orbit was found{where} near T = {T:g} s: the best state misses by {found.miss:.1e}; begin nearer "
        "to one, take more steps, or a method of higher order."
    )


@checked
def orbit_family(
    system: LagrangianSystem,
    orbit: PeriodicOrbit,
    energies: Sequence[float],
    *,
    steps: int,
    method: AbstractMethod | None = None,
    tolerance: float = 1e-9,
) -> list[PeriodicOrbit]:
    """The family of an orbit: those with given energies, one after another, each begun from the one before, by way of
    others between where that is too far. Where the family ends, those before are given, with a warning."""
    steps, method = step_count(steps), Variational() if method is None else method
    goals, tolerance = floats("energies", energies), positive("tolerance", tolerance)
    if goals.ndim != 1 or not np.all(np.isfinite(goals)):
        raise InputError(f"energies has shape {goals.shape}; expected a list of finite numbers.")
    if not isinstance(orbit, PeriodicOrbit):
        raise InputError(f"orbit is a {type(orbit).__name__}; expected what periodic_orbit gives.")
    _check(system, method)
    family: list[PeriodicOrbit] = []
    last = orbit
    for goal in goals:
        found = _continued(system, method, last, float(goal), steps, tolerance)
        if found is None:
            warnings.warn(
                f"the family could not be followed from the energy {last.energy:g} J to {goal:g} J; {len(family)} of "
                f"{len(goals)} orbits were found.",
                RunWarning,
                stacklevel=4,
            )
            break
        family.append(found)
        last = found
    return family


def _check(system: LagrangianSystem, method: AbstractMethod) -> None:
    """Raise an `InputError` if a system or a method does not fit: where time matters, a period is no unknown."""
    remedy = "Its periods are those of what depends on time; take floquet for a state that comes back."
    refuse_features("a search for periodic orbits", EVERY - {"time", "noise"}, system, remedy)
    check_method(method, system)


def _continued(
    system: LagrangianSystem, method: AbstractMethod, orbit: PeriodicOrbit, goal: float, steps: int, tolerance: float
) -> PeriodicOrbit | None:
    """The orbit of another energy, by smaller changes of it where need be."""
    change = goal - orbit.energy
    least = 0.5**HALVINGS * abs(change)
    while orbit.energy != goal:
        last = abs(goal - orbit.energy) <= abs(change) * (1.0 + 1e-12)
        energy = goal if last else orbit.energy + change
        found = _found(system, method, orbit.state, orbit.T, steps, energy, tolerance)
        if found.miss <= tolerance and abs(found.T - orbit.T) <= FARTHEST * orbit.T:
            orbit, change = found._replace(energy=energy), 2.0 * change
        elif abs(change) <= least:
            return None
        else:
            change = 0.5 * change
    return orbit


def _found(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    T: float,
    steps: int,
    energy: float | None,
    tolerance: float,
) -> PeriodicOrbit:
    """The best of the iterations, before they come to a state of rest, which is no orbit."""
    best = None
    for _ in range(ITERATIONS):
        miss, slopes, own, gradient = execute(_missed, system, method, state, T, steps, parameters=())
        off = np.append(miss, 0.0 if energy is None else own - energy)
        if not (np.all(np.isfinite(slopes)) and np.all(np.isfinite(off))):
            break
        size, moved = float(np.max(np.abs(off))), T * float(np.max(np.abs(slopes[-1])))
        if best is not None and moved <= AT_REST * tolerance:
            break
        if best is None or size < best.miss:
            multipliers = np.linalg.eigvals(slopes[:-1].T + np.eye(len(miss)))
            order = np.argsort(-np.abs(multipliers))
            best = PeriodicOrbit(state, float(T), float(own), multipliers[order], size)
        elif best.miss <= tolerance:
            break
        matrix = slopes.T if energy is None else np.vstack([slopes.T, gradient])
        z = -np.linalg.pinv(matrix, rcond=NEGLIGIBLE) @ (miss if energy is None else off)
        state, T = execute(displaced, system, state, z[:-1], parameters=()), T + z[-1]
        if not T > 0.0:
            break
    if best is None:
        raise InputError(f"the motion over T = {T:g} s in {steps} steps cannot be computed; take more steps.")
    return best


def _missed(system: LagrangianSystem, method: AbstractMethod, state: State, T: Any, steps: Any) -> tuple[Any, ...]:
    """What a period misses, its derivatives in rows for x and T, the energy at the start, and its gradient."""
    size = 2 * system.group.dim

    def missed(z):
        begin, h = displaced(system, state, z[:size]), (T + z[size]) / steps
        end = jax.lax.fori_loop(0, steps, lambda k, at: stepped(system, method, at, k * h, h), begin)
        return increment(system, begin, end), system.energy(begin, 0.0)

    def along(index):
        direction = jnp.where(jnp.arange(size + 1) == index, 1.0, 0.0)
        return jax.jvp(missed, (jnp.zeros(size + 1),), (direction,))[1]

    miss, energy = missed(jnp.zeros(size + 1))
    slopes, gradient = jax.lax.map(along, jnp.arange(size + 1))
    return miss, slopes, energy, gradient
