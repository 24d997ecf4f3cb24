"""Kicks and drifts of a kinetic energy and a potential: explicit splittings of Runge-Kutta-Nystrom type."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.integrators.method import AbstractMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State, left_gradient
from naiad.mechanics.features import OF_KICKS
from naiad.numerics import static
from naiad.numerics.splittings import NYSTROM, coefficients_of, schedule

Vector = Float[Array, " n"]

SIZES = ((1.0, 1.0, 0.3), (1e-6, 1e3, 1e4), (1e6, 1e-3, -7.0), (0.1, 1e6, 1e8))
"""Of configuration, velocity and time where the form of a Lagrangian is examined: it may show at one of them only."""
TOLERANCE = 1e-12


class KickCarry(NamedTuple):
    """The state, what kicks there, which the last step found and the next begins with, and how the last step went."""

    state: State
    pull: Any
    info: StepInfo


class Nystrom(AbstractMethod):
    """ell = xi . M xi / 2 - V(g, t) with a constant M, by kicks and drifts in turn, of order 2, 4, 6 or 8:

        mu -> mu + b_i h (F - dV)(g, t),    g -> g exp(a_i h M^-1 mu),    t -> t + a_i h.

    Nothing is solved: a stage costs one gradient of V, and the last kick of a step shares it with the first of the
    next. Both flows are exact where mu stays on its own when g drifts, ad*_xi M xi = 0: on vector spaces, on the
    circle, and for bodies with equal moments of inertia. So the method is symplectic, symmetric, and keeps momenta.
    Forces may depend on g and t. Of order 2 it is `Variational` with `Trapezoid` on a vector space, without a solver.

    `coefficients` of one's own are a palindrome as in `naiad.numerics.splittings`, the kick being the first part.
    """

    target: int = static()
    coefficients: tuple[float, ...] = static()

    honours = OF_KICKS

    def __init__(self, order: int = 4, coefficients: Sequence[float] | None = None):
        self.target = order
        self.coefficients = coefficients_of("Nystrom", order, coefficients, NYSTROM)

    def check(self, system: LagrangianSystem) -> None:
        check_separable("Nystrom", system)

    def order(self, system: LagrangianSystem) -> int:
        return self.target

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> KickCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        return KickCarry(state, kick(system, state.g, t), StepInfo.explicit())

    def step(self, system: LagrangianSystem, carry: KickCarry, t: Scalar, h: Scalar, inputs: Any = None) -> KickCarry:
        state, pull, _ = carry
        group, flows = system.group, schedule(2, self.coefficients)
        kicks, drifts = (jnp.array([a for part, a in flows if part == number]) for number in (0, 1))
        velocity = _velocity(system, state.g, t)

        def stage(at, each):
            g, mu, _ = at
            drift, elapsed, strength = each
            g = group.advance(g, group.expm1(drift * h * velocity(mu)))
            pull = kick(system, g, t + elapsed * h)
            return (g, mu + strength * h * pull, pull), None

        start = (state.g, state.mu + kicks[0] * h * pull, pull)
        (g, mu, pull), _ = jax.lax.scan(stage, start, (drifts, jnp.cumsum(drifts), kicks[1:]))
        return KickCarry(State(g, mu), pull, StepInfo.explicit())


def check_separable(method: str, system: LagrangianSystem) -> None:
    """Raise an `InputError` unless kicks and drifts are the flows of the two parts of the energy."""
    name = type(system).__name__
    found, speeds, rounding = check_constant_inertia(method, system)
    if not all(
        np.all(np.abs(each.turning) <= small * speed)
        for each, small, speed in zip(found, rounding, speeds, strict=True)
    ):
        raise InputError(
            f"{method} needs a momentum that stays when the body drifts freely, as on vector spaces and for equal "
            f"moments of inertia; that of {name} turns. Use Variational."
        )
    if not all(np.array_equal(each.moving_force, each.force, equal_nan=True) for each in found):
        raise InputError(
            f"{method} takes forces that depend on g and t alone; that of {name} depends on the velocity. Use "
            "Variational."
        )


def check_constant_inertia(
    method: str, system: LagrangianSystem
) -> tuple[list["_Examination"], list[float], list[float]]:
    """Raise an `InputError` unless ell = xi . M xi / 2 - V(g, t); what was found where it was examined, the speeds
    there, and the rounding of momenta."""
    n = system.group.dim
    place, velocity = np.random.default_rng(0).standard_normal((2, n))
    found = [execute(_examination, system, x * place, v * velocity, t, parameters=(0,)) for x, v, t in SIZES]
    M = found[0].inertia
    speeds = [v * np.max(np.abs(velocity)) for _, v, _ in SIZES]
    rounding = [TOLERANCE * n * np.max(np.abs(M)) * speed for speed in speeds]
    if not all(
        np.all(np.abs(each.momentum - v * (M @ velocity)) <= small)
        for (_, v, _), each, small in zip(SIZES, found, rounding, strict=True)
    ):
        raise InputError(
            f"{method} needs a Lagrangian xi . M xi / 2 - V(g, t) with a constant M; that of {type(system).__name__} "
            "is of another form. Use Variational."
        )
    return found, speeds, rounding


def _velocity(system: LagrangianSystem, g: Any, t: Scalar) -> Callable[[Vector], Vector]:
    """M^-1, the system's own if it has one."""
    if type(system).velocity is LagrangianSystem.velocity:
        return system.structure.inverse(lambda xi: system.legendre(g, xi, t), system.group.dim)
    return lambda mu: system.velocity(g, mu, t)


def kick(system: LagrangianSystem, g: Any, t: Scalar) -> Vector:
    """-dV, and the force."""
    rest = jnp.zeros(system.group.dim)
    pull = left_gradient(system.group, lambda x: system.lagrangian(x, rest, t), g)
    return pull if system.total_force is None else pull + system.total_force(g, rest, t)


class _Examination(NamedTuple):
    """The inertia, the momentum, ad*_xi mu, -dV, and the force with and without a velocity."""

    inertia: Any
    momentum: Any
    turning: Any
    pull: Any
    moving_force: Any
    force: Any


def _examination(system: LagrangianSystem, x: Any, xi: Any, t: Any) -> _Examination:
    g, rest = system.group.exp(x), jnp.zeros_like(xi)
    mu = system.legendre(g, xi, t)
    force = rest if system.total_force is None else system.total_force(g, rest, t)
    moving = rest if system.total_force is None else system.total_force(g, xi, t)
    inertia = jax.jacfwd(lambda v: system.legendre(g, v, t))(rest)
    pull = left_gradient(system.group, lambda x: system.lagrangian(x, rest, t), g)
    return _Examination(inertia, mu, system.group.ad_dual(xi, mu), pull, moving, force)
