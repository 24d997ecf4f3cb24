"""Kepler's orbits against their closed forms; planets: what the splitting keeps, its errors, and what it refuses."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import convergence
from naiad.integrators.kepler import kepler_flow
from naiad.integrators.wisdom_holman import Planets
from naiad.numerics.series import stumpff_of_any_sign
from naiad.studies.planets.outer_solar_system import MASSES, POSITIONS, VELOCITIES, G
from tests.verification.problems import PROBLEMS

K = 1.7
TURN = np.asarray(nd.SO3().exp(np.array([0.4, -0.7, 1.1])))


def ellipse(e: float, E: float, a: float = 1.3) -> tuple[np.ndarray, np.ndarray, float]:
    """Position, velocity and time since the pericentre on an ellipse, from the eccentric anomaly: nothing is solved."""
    n, b = np.sqrt(K / a**3), np.sqrt(1 - e * e)
    rate = n / (1 - e * np.cos(E))
    x = a * np.array([np.cos(E) - e, b * np.sin(E), 0.0])
    return x, a * rate * np.array([-np.sin(E), b * np.cos(E), 0.0]), (E - e * np.sin(E)) / n


def hyperbola(e: float, H: float, a: float = 1.3) -> tuple[np.ndarray, np.ndarray, float]:
    """The same on a hyperbola."""
    n, b = np.sqrt(K / a**3), np.sqrt(e * e - 1)
    rate = n / (e * np.cosh(H) - 1)
    x = a * np.array([e - np.cosh(H), b * np.sinh(H), 0.0])
    return x, a * rate * np.array([-np.sinh(H), b * np.cosh(H), 0.0]), (e * np.sinh(H) - H) / n


def parabola(_: float, D: float, q: float = 0.8) -> tuple[np.ndarray, np.ndarray, float]:
    """The same on a parabola, by Barker's equation."""
    rate = np.sqrt(K / (2 * q**3)) / (1 + D * D)
    x = q * np.array([1 - D * D, 2 * D, 0.0])
    return x, 2 * q * rate * np.array([-D, 1.0, 0.0]), (D + D**3 / 3) / np.sqrt(K / (2 * q**3))


ARCS = [
    (ellipse, 0.0, 0.3, 0.4),
    (ellipse, 0.05, 1.0, 1.5),
    (ellipse, 0.05, 1.5, 1.0),
    (ellipse, 0.6, -1.0, 2.5),
    (ellipse, 0.97, -3.0, 0.1),
    (ellipse, 0.97, 0.0, 3.1),
    (ellipse, 0.97, 3.1, -2.0),
    (ellipse, 0.3, 0.5, 20.0),
    (parabola, 1.0, -0.7, 0.1),
    (parabola, 1.0, 30.0, -20.0),
    (hyperbola, 1.01, -3.0, 3.5),
    (hyperbola, 1.5, 0.0, 6.0),
    (hyperbola, 4.0, 2.0, -12.0),
]


@pytest.fixture(scope="module")
def flow():
    return nd.compile(lambda x, v, dt: kepler_flow(x, v, 1.0 / jnp.linalg.norm(x, axis=1), jnp.full(len(x), K), dt))


@pytest.mark.parametrize(("conic", "e", "first", "last"), ARCS)
def test_orbits_are_those_of_the_closed_forms(flow, conic, e, first, last):
    """Forwards and backwards, within a small part of an orbit and over several, past the pericentre and far out."""
    (x, v, t), (x_end, v_end, t_end) = (conic(e, at) for at in (first, last))
    (moved, turned, nearness), found = flow((x @ TURN.T)[None], (v @ TURN.T)[None], t_end - t)
    assert found
    r, r_end = np.linalg.norm(x), np.linalg.norm(x_end)
    nearest = min(r, r_end) if first * last > 0 else np.linalg.norm(conic(e, 0.0)[0])
    tolerance = 3e-15 * (1 + max(r, r_end) / nearest)  # a start that is rounded passes the sun elsewhere
    tolerance += 1e-15 * abs(t_end - t) * np.linalg.norm([*v, *v_end]) / min(r, r_end)
    np.testing.assert_allclose(moved[0], x_end @ TURN.T, rtol=0, atol=tolerance * max(r, r_end))
    np.testing.assert_allclose(turned[0], v_end @ TURN.T, rtol=0, atol=tolerance * np.linalg.norm([*v, *v_end]))
    np.testing.assert_allclose(nearness[0] * r_end, 1.0, rtol=0, atol=tolerance)


def test_orbits_side_by_side_do_not_disturb_each_other(flow):
    """A slow planet beside a hyperbola that takes a search, and one that does not move at all."""
    starts = [ellipse(0.05, 1.0, 30.0), hyperbola(4.0, -12.0), (np.ones(3), np.zeros(3), 0.0)]
    x, v = (np.array([start[i] for start in starts]) for i in (0, 1))
    (together, *_), _ = flow(x, v, 7.0)
    for i in range(3):
        np.testing.assert_allclose(together[i], flow(x[i : i + 1], v[i : i + 1], 7.0)[0][0][0], rtol=1e-14)
    (still, *_), found = flow(x, v, 0.0)
    assert found
    np.testing.assert_array_equal(still, x)


@pytest.mark.parametrize("u", [-900.0, -30.0, -1.01, -0.99, -1e-9, 0.0, 1e-9, 0.5, 0.99, 1.01, 5.0, 36.0, 400.0])
def test_stumpff_functions_of_both_signs(u):
    with jax.enable_x64(True):
        values, slopes = jax.jvp(stumpff_of_any_sign, (jnp.array(u),), (jnp.ones(()),))
    with mpmath.workdps(60):
        exact = [mpmath.nsum(lambda j, k=k: (-mpmath.mpf(u)) ** int(j) / mpmath.factorial(2 * j + k), [0, 120])
                 for k in range(6)]  # fmt: skip
        for k in range(4):
            assert abs(float(values[k]) - exact[k]) < 3e-15 * (1 + u**2 / 30) * max(
                abs(exact[k]), 1 / mpmath.factorial(k + 2)
            )
            slope = (k * exact[k + 2] - exact[k + 1]) / 2
            assert abs(float(slopes[k]) - slope) < 1e-14 * (1 + u**2 / 30) * max(
                abs(slope), 1 / mpmath.factorial(k + 4)
            )


OUTER = nd.models.PointMasses(MASSES, G)
CENTRED = OUTER.state(
    q=POSITIONS - MASSES @ POSITIONS / MASSES.sum(), v=VELOCITIES - MASSES @ VELOCITIES / MASSES.sum()
)


def test_coordinates_of_jacobi_and_back():
    with jax.enable_x64(True):
        planets = Planets.of(OUTER, CENTRED, 0.0)
        at = planets.orbits(CENTRED)
        np.testing.assert_allclose(planets.m, MASSES, rtol=1e-15)
        for body in range(1, 6):
            inner = MASSES[:body] @ CENTRED.g[:body] / MASSES[:body].sum()
            np.testing.assert_allclose(at.x[body], CENTRED.g[body] - inner, rtol=0, atol=1e-14)
        np.testing.assert_allclose(at.x[0], 0.0, atol=1e-14)
        np.testing.assert_allclose(planets.absolute(at.x), CENTRED.g, rtol=0, atol=1e-14)
        np.testing.assert_allclose(planets.absolute(at.v).reshape(-1) * np.repeat(MASSES, 3), CENTRED.mu, atol=1e-17)


def test_two_bodies_move_exactly_at_any_step():
    """There is nothing to kick: a planet and a sun that drift go around once in five steps."""
    pair = nd.models.PointMasses((1.0, 0.3), G=K / 1.3)
    x, v, _ = ellipse(0.4, 0.7)
    drift = np.array([0.2, -0.1, 0.3])
    state = pair.state(q=(-0.3 / 1.3 * x, x / 1.3), v=(drift - 0.3 / 1.3 * v, drift + v / 1.3))
    period = 2 * np.pi * np.sqrt(1.3**3 / K)
    for orders in ((2, 2), (8, 2), (10, 6, 4)):
        end = nd.simulate(pair, state, t1=period, dt=period / 5, method=nd.WisdomHolman(orders)).final
        np.testing.assert_allclose(end.g - drift * period, state.g, rtol=0, atol=3e-14)
        np.testing.assert_allclose(end.mu, state.mu, rtol=0, atol=3e-14)


@pytest.mark.parametrize(
    ("orders", "steps", "error", "power"),
    [
        ((2, 2), (100.0, 50.0), 9.8e-7, 2),
        ((8, 2), (1000.0, 800.0), 4.9e-7, 8),
        ((10, 6, 4), (800.0, 600.0), 1.1e-9, 10),
    ],
)
def test_outer_planets(orders, steps, error, power):
    """The energy over 5,000 years, the power of the step by which it falls (the first order in the masses, 1e-3, is all
    that shows at these), and momenta to round-off. A step of 750 days is in resonance, with ten times the error."""
    runs = [
        nd.simulate(OUTER, CENTRED, t1=1.8e6, dt=h, method=nd.WisdomHolman(orders), save_every=max(1, round(2000 / h)))
        for h in steps
    ]
    coarse, fine = (float(nd.diagnostics.energy_error(run).max()) for run in runs)
    assert coarse == pytest.approx(error, rel=0.15)
    assert np.log(coarse / fine) / np.log(steps[0] / steps[1]) == pytest.approx(power, rel=0.12)
    q, p = runs[0].states.g, np.reshape(runs[0].states.mu, (-1, 6, 3))
    angular = np.sum(np.cross(q, p), axis=1)
    assert np.max(np.abs(angular - angular[0])) < 2e-13 * np.linalg.norm(angular[0])
    assert np.max(np.abs(np.sum(p, axis=1))) < 1e-18


def test_coordinates_do_not_add_their_rounding_up():
    """20,000 steps that leave nothing but round-off in the energy."""
    run = nd.simulate(OUTER, CENTRED, t1=3e6, dt=150.0, method=nd.WisdomHolman(), save_every=200)
    assert nd.diagnostics.energy_error(run).max() < 4e-13


class Flattened(nd.models.PointMasses):
    """A sun that is not quite round, and a wind that changes with time."""

    def lagrangian(self, g, xi, t):
        gap = g[1:] - g[0]
        r = jnp.sqrt(jnp.sum(gap**2, axis=1))
        return super().lagrangian(g, xi, t) + jnp.sum(0.002 * (1 - 3 * (gap[:, 2] / r) ** 2) / r**3)

    def force(self, g, xi, t):
        return jnp.zeros(9).at[6].set(0.01 * jnp.sin(2.0 * t))


def test_whatever_else_acts_is_in_the_kicks():
    system = Flattened((1.0, 0.1, 0.05))
    state = system.state(q=PROBLEMS["planets"].state.g, mu=PROBLEMS["planets"].state.mu)
    measured = convergence(system, nd.WisdomHolman((2, 2)), state, t1=2.0, steps=(20, 40))
    assert measured.order == pytest.approx(2, abs=0.1)
    measured = convergence(system, nd.WisdomHolman((10, 6, 4)), state, t1=2.0, steps=(12, 16))
    assert measured.order == pytest.approx(4, abs=0.5)


class Pairs(nd.LagrangianSystem):
    """Bodies in space without a G."""

    m: Any
    group = nd.Power(nd.Rn(3), 3)

    def lagrangian(self, g, xi, t):
        return 0.5 * jnp.sum(self.m * xi**2) - 0.5 * jnp.sum(g**2)


class Uneven(Pairs):
    """Masses that are not the same in all directions."""

    G = 1.0


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (PROBLEMS["henon-heiles"].system, "needs two or more point masses .* Anharmonic was given. Use Nystrom"),
        (Pairs(np.ones(9)), "constant of gravity G, as PointMasses has; Pairs was given"),
        (Uneven(np.arange(1.0, 10.0)), "needs a mass for each body; the inertia of Uneven"),
        (nd.models.PointMasses((1.0, 2.0, 0.1)), "heaviest body first.* masses 1, 2, 0.1. Reorder them"),
    ],
)
def test_what_does_not_fit_is_refused(system, said):
    with pytest.raises(nd.InputError, match=said):
        nd.WisdomHolman().check(system)


def test_orders_that_are_not_there_and_compositions_are_refused():
    with pytest.raises(nd.InputError, match=r"orders = \(4, 2\); expected one of \(2, 2\), \(8, 2\), \(10, 6, 4\)"):
        nd.WisdomHolman((4, 2))
    for method in (nd.WisdomHolman(), nd.Nystrom(2)):  # a step begins with what the one before it found
        for outer in (nd.Composition, nd.Symmetrised, nd.Adjoint, nd.Projected):
            with pytest.raises(nd.InputError, match=rf"{outer.__name__}.* method"):
                outer(method)
