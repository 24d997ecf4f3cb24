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
    return nd.Variational(rule=rule)


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
    "collocation": (nd.Collocation(2), at([0.5 - R3, 0.5 + R3], [0.5, 0.5])),
    "rk4": (nd.RK4(), KUTTA),
    "rkmk4": (nd.RKMK(), KUTTA),
    "euler": (nd.RKMK("euler"), at([0], [1])),
    "adjoint of euler": (nd.Adjoint(nd.RKMK("euler")), at([1], [1])),
    "symmetrised euler": (nd.Symmetrised(nd.RKMK("euler")), in_turn((0.5, at([0], [1])), (0.5, at([1], [1])))),
    "implicit euler": (nd.ImplicitEuler(), at([1], [1])),
    "stochastic": (nd.StochasticVariational(), LEFT),
    "stochastic trapezoid": (nd.StochasticVariational(rule=nd.Trapezoid()), TRAPEZOID),
}


def step(system, method, q=0.2, mu=1.0):
    """The state after a step from time T."""
    with jax.enable_x64(True):
        start = nd.State(jnp.array([q]), jnp.array([mu]))
        closed = jax.make_jaxpr(
            lambda state: method.state(system, method.step(system, method.init(system, state, T, H), T, H))
        )(start)
    return [float(leaf[0]) for leaf in reference(closed, [np.array([q]), np.array([mu])])]


def push(t):
    return t**3 + np.cos(2.0 * t)


def mass(t):
    return 1.0 + t**2


@pytest.mark.parametrize("name", CLOCKS)
def test_forces_and_masses_are_taken_at_their_times(name):
    method, clock = CLOCKS[name]
    _, mu = step(Pushed(), method)
    assert mu - 1.0 == pytest.approx(clock.impulse(push, T, H), rel=1e-13)
    q, mu = step(Growing(), method)
    assert mu == pytest.approx(1.0, rel=1e-14)
    assert q - 0.2 == pytest.approx(clock.way(mass, T, H), rel=1e-13)


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("left", H * push(T)),
        ("right", 0.0),
        ("trapezoid", 0.5 * H * push(T)),
        ("midpoint", 0.5 * H * push(T + 0.5 * H)),
        ("adjoint of left", 0.0),
        ("adjoint of right", H * push(T)),
    ],
)
def test_what_is_pushed_before_a_step_moves_in_it(name, before):
    q, _ = step(Pushed(), CLOCKS[name][0])
    assert q - 0.2 == pytest.approx(H * (1.0 + before), rel=1e-13)


def test_a_projection_looks_at_the_end_of_the_step():
    """Onto invariants of time from their values at T, and onto the energy of a mass that grows."""
    invariants = (lambda state, t: state.g[0] - t**2, lambda state, t: state.mu[0] - t**3)
    q, mu = step(Growing(), nd.Projected(nd.RK4(), invariants))
    assert q - 0.2 == pytest.approx((T + H) ** 2 - T**2, rel=1e-12)
    assert mu - 1.0 == pytest.approx((T + H) ** 3 - T**3, rel=1e-12)
    _, mu = step(Growing(), nd.Projected(nd.RK4()))
    assert mu**2 / mass(T + H) == pytest.approx(1.0 / mass(T), rel=1e-13)


def test_a_projection_goes_along_the_gradient():
    """Onto q + mu = q + m v, in the direction (1, m) of (q, v) with the mass at the end of the step."""
    q, mu = step(Growing(), nd.Projected(nd.RK4(), (lambda state, t: state.g[0] + state.mu[0],)))
    free_q, free_mu = step(Growing(), nd.RK4())
    m = mass(T + H)
    length = (1.2 - free_q - free_mu) / (1.0 + m**2)
    assert q == pytest.approx(free_q + length, rel=1e-13)
    assert mu == pytest.approx(free_mu + m**2 * length, rel=1e-13)
