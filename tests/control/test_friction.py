"""Friction, noise, time and limits at the doors of control and of the diagnostics: taken as they are, or refused."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import naiad as nd
from naiad.diagnostics import convergence, symplecticity_defect
from naiad.errors import InputError

C = 0.7
SHORT = np.sqrt(0.5)  # the way of a motion of one second that costs 3 without friction


class Cart(nd.LagrangianSystem):
    """A unit mass on a line, with friction."""

    group = nd.Rn(1)
    dissipation = np.array([[C]])

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v


class Oscillator(Cart):
    """The same on a unit spring."""

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q


class Noisy(Oscillator):
    temperature = 0.1


class Driven(nd.LagrangianSystem):
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q + jnp.cos(t) * q[0]


def least_cost(way, T):
    """By the Gramian of v' = u - C v, q' = v, from rest to rest."""

    def entry(i, j):
        def rate(s):
            reached = (1.0 - np.exp(-C * s)) / C, np.exp(-C * s)
            return reached[i] * reached[j]

        return quad(rate, 0.0, T, epsabs=1e-13)[0]

    gramian = np.array([[entry(i, j) for j in range(2)] for i in range(2)])
    return 0.5 * way**2 * np.linalg.inv(gramian)[0, 0]


@pytest.mark.parametrize(("order", "off"), [(2, 3e-4), (4, 1e-7), (6, 2e-8)])
def test_friction_costs_what_it_takes_and_a_controller_plans_with_it(order, off):
    cart = Cart()
    exact = least_cost(SHORT, 1.0)
    assert exact == pytest.approx(3.1469, abs=5e-5)  # 3 without friction
    plan = nd.control.solve(cart, cart.state(), cart.state(q=[SHORT]), 1.0, 64, order=order)
    assert plan.cost == pytest.approx(exact, rel=off)
    (same,) = nd.control.solve_many(cart, [cart.state()], [cart.state(q=[SHORT])], 1.0, 64, order=order)
    assert same.cost == plan.cost
    steer = nd.control.MPC(cart, cart.state(q=[SHORT]), 1.0, 64, order=order)
    _, cost, _ = steer.planned(cart.state())
    assert cost == plan.cost


def test_a_damped_oscillator_has_no_periodic_orbit():
    with pytest.raises(InputError, match=r"no periodic orbit was found near T = 6.28319 s: the best state misses by"):
        nd.control.periodic_orbit(Oscillator(), Oscillator().state(q=[1.0]), 2.0 * np.pi, steps=40)


def test_the_symplectic_form_decays_with_friction():
    """By exp(-C t): friction shrinks areas of the plane (q, p) at the rate C."""
    found = symplecticity_defect(Oscillator(), nd.VPRK("gauss2"), Oscillator().state(q=[1.0]), dt=0.1, steps=5)
    assert found == pytest.approx(1.0 - np.exp(-0.5 * C), rel=1e-4)


def test_the_order_of_a_method_is_seen_with_friction():
    start = Oscillator().state(q=[1.0])
    assert convergence(Oscillator(), nd.Variational(), start, t1=1.0, steps=(20, 40)).order == pytest.approx(2, abs=0.1)


def doors(system, state):
    """Every door of control and of the diagnostics that takes a system, by name."""
    orbit = nd.control.PeriodicOrbit(state, 6.0, 0.5, np.ones(2), 0.0)
    return {
        "solve": lambda: nd.control.solve(system, state, state, 1.0, 4),
        "solve_many": lambda: nd.control.solve_many(system, [state], [state], 1.0, 4),
        "MPC": lambda: nd.control.MPC(system, state, 1.0, 4),
        "periodic_orbit": lambda: nd.control.periodic_orbit(system, state, 6.0, steps=10),
        "orbit_family": lambda: nd.control.orbit_family(system, orbit, [0.6], steps=10),
        "symplecticity_defect": lambda: symplecticity_defect(system, nd.Variational(), state, dt=0.1),
        "convergence": lambda: convergence(system, nd.Variational(), state, t1=1.0, steps=(2, 4)),
    }


@pytest.mark.parametrize("door", doors(Noisy(), Noisy().state()))
def test_noise_is_refused_by_name(door):
    with pytest.raises(InputError, match="Noisy has noise"):
        doors(Noisy(), Noisy().state())[door]()


@pytest.mark.parametrize("door", ["periodic_orbit", "orbit_family"])
def test_orbits_of_what_depends_on_time_are_refused(door):
    with pytest.raises(InputError, match="Driven has a dependence on time"):
        doors(Driven(), Driven().state())[door]()


class Walled(nd.LagrangianSystem):
    """A point in the plane beside a round post, whose potential pulls it nowhere."""

    group = nd.Rn(2)
    limit_words = "The point is within the post."

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def limit(self, q, t, h):
        return q @ q - 0.25


def test_a_plan_through_what_a_system_cannot_pass_is_not_solved():
    walled = Walled()
    start, goal, beside = (walled.state(q=q) for q in ((-1.0, 0.1), (1.0, 0.1), (-1.0, 2.0)))
    plan = nd.control.solve(walled, start, goal, 2.0, 20, order=2)
    assert plan.status == "beyond the limit"
    assert not plan.solved
    first = int(np.argmax(np.sum(plan.states.g**2, axis=1) < 0.25))
    assert f"node {first} of 20" in plan.message
    assert "The point is within the post." in plan.message
    many = nd.control.solve_many(walled, [start, start], [goal, beside], 2.0, 20, order=2)
    assert [each.status for each in many] == ["beyond the limit", "solved"]
    around = nd.control.solve(walled, start, goal, 2.0, 20, order=2, starts=6, path=outside)
    assert around.solved
    steer = nd.control.MPC(walled, goal, 2.0, 20)
    steer.planned(start)
    assert steer.missed == np.inf
    steer.planned(walled.state(q=(1.0, 1.0)))
    assert steer.missed < 1e-4
    with pytest.raises(InputError, match=r"goal: No motion can start there. The point is within the post."):
        nd.control.solve(walled, start, nd.State(np.zeros(2), np.zeros(2)), 2.0, 20, order=2)


def outside(q, v, u, t):
    return jnp.stack([0.3 - q @ q])
