"""When in a step each method looks at the clock: forces and masses of time alone, for which a step is a known sum."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.numerics.composition import SUZUKI_4
from tests.compiler.reference import reference

T, H = 0.7, 0.3
R3 = np.sqrt(3.0) / 6


class Pushed(nd.LagrangianSystem):
    """A particle under a potential -t^3 q and a force cos(2 t): its momentum is their integral."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + t**3 * q[0]

    def force(self, q, v, t):
        return jnp.reshape(jnp.cos(2.0 * t), (1,))


class Growing(nd.LagrangianSystem):
    """A free particle of mass 1 + t^2, which keeps its momentum."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * (1.0 + t**2) * v @ v


class Clock(NamedTuple):
    """The change of momentum of a step under a push F(t), and the way of a mass m(t) of momentum 1."""

    impulse: Callable[..., float]
    way: Callable[..., float]


def at(c: Sequence[float], b: Sequence[float], *, mean_mass: bool = False) -> Clock:
    """Weights b at the times t + c h: of the velocities, or of the masses."""

    def mean(f, t, h):
        return sum(w * f(t + x * h) for x, w in zip(c, b, strict=True))

    return Clock(
        lambda F, t, h: h * mean(F, t, h),
        lambda m, t, h: h / mean(m, t, h) if mean_mass else h * mean(lambda s: 1.0 / m(s), t, h),
    )


def in_turn(*parts: tuple[float, Clock]) -> Clock:
    """Steps of fractions of h, one after the other."""

    def total(kind):
        def run(f, t, h):
            value, start = 0.0, 0.0
            for fraction, clock in parts:
                value += getattr(clock, kind)(f, t + start * h, fraction * h)
                start += fraction
            return value

        return run

    return Clock(total("impulse"), total("way"))


LEFT, RIGHT = at([0], [1], mean_mass=True), at([1], [1], mean_mass=True)
TRAPEZOID, MIDPOINT = at([0, 1], [0.5, 0.5], mean_mass=True), at([0.5], [1], mean_mass=True)
KUTTA = at([0, 0.5, 0.5, 1], [1 / 6, 1 / 3, 1 / 3, 1 / 6])


def variational(rule):
    return nd.Variational(quadrature=rule)


CLOCKS = {
    "left": (variational(nd.Left()), LEFT),
    "right": (variational(nd.Right()), RIGHT),
    "trapezoid": (variational(nd.Trapezoid()), TRAPEZOID),
    "midpoint": (variational(nd.Midpoint()), MIDPOINT),
    "adjoint of left": (nd.Adjoint(variational(nd.Left())), RIGHT),
    "adjoint of right": (nd.Adjoint(variational(nd.Right())), LEFT),
    "symmetrised": (nd.Symmetrised(variational(nd.Left())), in_turn((0.5, LEFT), (0.5, RIGHT))),
    "composition": (nd.Composition(variational(nd.Trapezoid())), in_turn(*((w, TRAPEZOID) for w in SUZUKI_4))),
    "gauss2": (nd.VPRK("gauss2"), at([0.5 - R3, 0.5 + R3], [0.5, 0.5])),
    "rk4": (nd.RK4(), KUTTA),
    "rkmk4": (nd.RKMK(), KUTTA),
    "euler": (nd.RKMK("euler"), at([0], [1])),
    "adjoint of euler": (nd.Adjoint(nd.RKMK("euler")), at([1], [1])),
    "symmetrised euler": (nd.Symmetrised(nd.RKMK("euler")), in_turn((0.5, at([0], [1])), (0.5, at([1], [1])))),
    "implicit euler": (nd.ImplicitEuler(), at([1], [1])),
    "stochastic": (nd.StochasticVariational(), LEFT),
    "stochastic trapezoid": (nd.StochasticVariational(quadrature=nd.Trapezoid()), TRAPEZOID),
}


def step(system, method, q, mu):
    """The state after a step from time T."""
    with jax.enable_x64(True):
        start = nd.State(np.array([q]), np.array([mu]))
        closed = jax.make_jaxpr(
            lambda state: method.state(system, method.step(system, method.init(system, state, T, H), T, H))
        )(start)
        return nd.State(*(leaf[0] for leaf in reference(closed, [start.g, start.mu])))


@pytest.mark.parametrize("name", CLOCKS)
def test_forces_and_masses_are_taken_at_their_times(name):
    method, clock = CLOCKS[name]
    pushed = step(Pushed(), method, 0.2, 1.0)
    assert pushed.mu - 1.0 == pytest.approx(clock.impulse(lambda t: t**3 + np.cos(2.0 * t), T, H), rel=1e-13)
    grown = step(Growing(), method, 0.2, 1.0)
    assert grown.mu == pytest.approx(1.0, rel=1e-14)
    assert grown.g - 0.2 == pytest.approx(clock.way(lambda t: 1.0 + t**2, T, H), rel=1e-13)


def test_a_projection_looks_at_the_end_of_the_step():
    """Onto q - t^2 and mu - t^3 from the values that they have at T; and onto the energy of a mass that grows."""
    invariants = (lambda state, t: state.g[0] - t**2, lambda state, t: state.mu[0] - t**3)
    end = step(Growing(), nd.Projected(nd.RK4(), invariants), 0.2, 1.0)
    assert end.g - 0.2 == pytest.approx((T + H) ** 2 - T**2, rel=1e-12)
    assert end.mu - 1.0 == pytest.approx((T + H) ** 3 - T**3, rel=1e-12)
    end = step(Growing(), nd.Projected(nd.RK4()), 0.2, 1.0)
    assert end.mu**2 / (1.0 + (T + H) ** 2) == pytest.approx(1.0 / (1.0 + T**2), rel=1e-13)
