"""A string that does not stretch on a reel that turns: what it keeps, its order, its limits and its refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute
from naiad.models import Bending, HangingBody, Inextensible, LineDrag, Reel, StringPendulum
from naiad.strings import StringVariational
from tests.strings.strings import BODY
from tests.strings.test_accuracy import T1, reference

U, D = 2.09, 0.5  # the moment on the drum and its radius
SYMMETRIC = nd.Midpoint()


def pendulum(elements=3, stiffness=None, **options):
    about = {"length": 100.0, "mass_per_length": 0.025, "body": BODY, "reel": Reel(moment=U, radius=D)}
    return StringPendulum(
        stiffness=Inextensible() if stiffness is None else stiffness, elements=elements, **about | options
    )


def bent(system, seed=0, s=90.0, s_v=0.3):
    """A state with the lengths right, bent and moving in all ways: d_a' is across d_a but for what the reel takes."""
    rng, N = np.random.default_rng(seed), system.elements
    d = np.array((0.6, 0.0, 0.8)) + 0.2 * rng.normal(size=(N, 3))
    d *= (100.0 - s) / N / np.linalg.norm(d, axis=1)[:, None]
    rate = np.cross(0.3 * rng.normal(size=(N, 3)), d) - s_v / (100.0 - s) * d
    more = {"R_Omega": rng.normal(size=3)} if system.turning else {}
    return system.state(q=np.cumsum(d, axis=0), q_v=np.cumsum(rate, axis=0), s=[s], s_v=[s_v], **more)


def run(system, start, t1, dt, rule=SYMMETRIC, **options):
    return nd.simulate(system, start, t1=t1, dt=dt, method=StringVariational(rule), **{"save_every": 1} | options)


def rates(system, state, t):
    return system.equations(state, t)


def carnot(system, state):
    return system.carnot_force(state.g, 0.3)


def change_of_energy(system, state, t):
    """d E/dt along the motion, and what `power` says."""
    xi, mu, _ = system.equations(state, t)
    moving = nd.State(system.group.tangent(state.g, xi), mu), jnp.ones(())
    return jax.jvp(system.energy, (state, jnp.asarray(t, float)), moving)[1], system.power(state, t)


def test_lengths_and_momentum_stay_and_energy_is_the_work_of_the_moment():
    system = pendulum(5)
    outputs = {
        "links": lambda state, t: system.links(state.g, t),
        "rates": lambda state, t: system.constraint_rate(state.g, system.velocity(state.g, state.mu, t), t),
    }
    balance = []
    for h in (0.004, 0.002):
        found = run(system, bent(system), 1.0, h, outputs=outputs)
        for name in outputs:
            assert np.max(np.abs(found.record[name].to_numpy())) < 1e-12
        assert np.ptp(found.momentum.to_numpy()) < 1e-13
        s, E = np.asarray(found.states.g.s)[:, 0], found.energy.to_numpy()
        assert abs(s[-1] - s[0]) > 0.2
        balance.append(np.max(np.abs(E - E[0] - U / D * (s - s[0]))))
    assert balance[1] < 1e-4
    np.testing.assert_allclose(balance[0] / balance[1], 4.0, rtol=0.1)


def test_a_straight_string_is_wound_in_as_a_whole():
    """(mu L + M + kappa) s'' = u/d without gravity: a motion of second degree, which the step takes exactly."""
    system = pendulum(body=HangingBody(0.4), reel=Reel(moment=0.5, radius=0.2, inertia=0.7), gravity=(0, 0, 0))
    start, t1 = system.straight((0.6, 0.0, 0.8), s=90.0, s_v=[-0.3]), 0.5
    found = run(system, start, t1, 0.01, save_every=10**9).final.g
    s = 90.0 - 0.3 * t1 + 0.5 * (0.5 / 0.2) / (0.025 * 100.0 + 0.4 + 0.7) * t1**2
    np.testing.assert_allclose(found.s, [s], atol=1e-12)
    np.testing.assert_allclose(found.q[:, 2], 0.8 * (100.0 - s) * np.arange(1, 4) / 3, atol=1e-12)


def test_the_papers_kinetic_energy_is_exact_for_it():
    """They differ off the lengths alone, where only the multipliers see them; Carnot's term is nothing."""
    state = bent(pendulum())
    paper, exact = (execute(rates, pendulum(kinetic=kind), state, 0.0, parameters=(0,)) for kind in ("paper", "exact"))
    np.testing.assert_allclose(paper.mu, exact.mu, atol=1e-12)
    assert np.max(np.abs(paper.multipliers - exact.multipliers)) > 1e-4
    assert execute(carnot, pendulum(), state, parameters=(0,)) == 0.0


def test_the_elastic_string_tends_to_it():
    """The motion of a string of Hooke's law is off by 1/EA."""
    off, found = [], {}
    for EA in (None, 4e3, 1.6e4):
        system = pendulum(2, EA)
        start = system.straight((0.6, 0.0, 0.8), s=90.0, tip_velocity=(0.0, 0.5, 0.0))
        found[EA] = run(system, start, 0.5, 5e-4).states.g
    for EA in (4e3, 1.6e4):
        off.append([np.sqrt(np.mean((a - b) ** 2)) for a, b in zip(found[EA][:2], found[None][:2], strict=True)])
    assert np.max(off[1]) < 2e-3
    np.testing.assert_allclose(np.divide(*off), 4.0, rtol=0.1)


@pytest.mark.long
def test_the_engines_agree():
    system = pendulum()
    ends = [
        run(system, bent(system), 0.05, 0.005, save_every=10**9, engine=engine).final for engine in ("compiled", "xla")
    ]
    for compiled, xla in zip(*map(jax.tree.leaves, ends), strict=True):
        np.testing.assert_allclose(compiled, xla, atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("rule", "order"), [(nd.Midpoint(), 2), (nd.Left(), 1)])
def test_orders_and_balance(rule, order):
    """Against Runge-Kutta of high order, with loads, bending and a moment that depends on the motion."""
    system = pendulum(
        reel=Reel(moment=lambda g, speed, t: 1.0 + 0.3 * speed + 0.1 * g.q[0, 0]),
        bending=Bending(0.5, clamp=(0.2, 0.0, 1.0)),
        loads=LineDrag(1.2, 0.03, normal=1.1, tangential=0.05),
    )
    start = bent(system)
    end, gained, work = reference(system, start)
    np.testing.assert_allclose(gained, work, atol=1e-11)
    assert abs(work) > 0.05
    assert StringVariational(rule).order(system) == order
    off = []
    for dt in (0.004, 0.002):
        final = run(system, start, T1, dt, rule, save_every=10**9).final
        off.append(max(np.max(np.abs(a - b)) for a, b in zip(final.g, end.g, strict=True)))
    np.testing.assert_allclose(np.log2(off[0] / off[1]), order, atol=0.05)


@pytest.mark.long
def test_the_step_is_bound_by_the_waves_across():
    """h < 2/omega of the fastest mode between the reel and a heavy mass: omega^2 = 12 T/(mu l^2), less for N = 10."""
    N, each, mu, M = 10, 0.2, 0.02, 5.0
    system = pendulum(N, length=1.0 + N * each, mass_per_length=mu, body=HangingBody(M), reel=Reel(inertia=1e9))
    v = 1e-6 * np.random.default_rng(0).normal(size=(N, 3)) * (1.0, 1.0, 0.0)
    start = system.state(q=each * np.arange(1, N + 1)[:, None] * (0.0, 0.0, 1.0), q_v=v, s=[1.0], s_v=[0.0])
    angle = np.pi * (N - 1) / N
    stiffness, mass = 2.0 * (1.0 - np.cos(angle)), (2.0 + np.cos(angle)) / 3.0
    bound = 2.0 * each * np.sqrt(mu * mass / (stiffness * 9.81 * M))
    np.testing.assert_allclose(bound, each * np.sqrt(mu / (3.0 * 9.81 * M)), rtol=0.05)
    found = run(system, start, 1000 * 0.98 * bound, 0.98 * bound, save_every=10**9)
    assert np.max(np.abs(found.final.g.q[:, :2])) < 1e-6
    with pytest.warns(RuntimeWarning, match="a step could not be solved"):
        run(system, start, 1000 * 1.02 * bound, 1.02 * bound, save_every=10**9)


DRIVEN = {"reel": Reel(locked=True, radius=D), "wound": lambda t: 90.0 + 0.5 * jnp.sin(2.0 * t)}


def test_power_is_the_rate_of_energy_of_what_is_driven():
    """The multipliers work where the lengths or the guide way move by themselves."""
    system = pendulum(2, guide=lambda t: jnp.stack([jnp.sin(t), 0.3 * t, 0.0 * t]), **DRIVEN)
    state = system.straight((0.6, 0.0, 0.8), tip_velocity=(0.4, 0.5, -0.3), R_Omega=(0.3, -0.2, 0.5))
    gained, power = execute(change_of_energy, system, state, 0.0, parameters=(0,))
    assert abs(power) > 0.1
    np.testing.assert_allclose(gained, power, rtol=1e-10)


def test_the_moment_of_a_driven_reel_drives_a_free_one():
    """Under the moment that keeps s to its course, s'' of a reel that turns is that of the course."""
    system = pendulum(2, **DRIVEN)
    state = system.straight((0.6, 0.0, 0.8), tip_velocity=(0.4, 0.5, -0.3), R_Omega=(0.3, -0.2, 0.5))

    def moment(system, state, t):
        return system.reel_moment(state, t)

    u = float(execute(moment, system, state, 0.0, parameters=(0,)))
    free = pendulum(2, reel=Reel(moment=u, radius=D))
    same = free.straight((0.6, 0.0, 0.8), s=90.0, s_v=[1.0], tip_velocity=(0.4, 0.5, -0.3), R_Omega=(0.3, -0.2, 0.5))

    def acceleration(system, state):
        xi, mu, _ = system.equations(state)
        moving = system.group.tangent(state.g, xi), mu
        return jax.jvp(lambda g, mu: system.velocity(g, mu), tuple(state), moving)[1][3 * system.elements]

    np.testing.assert_allclose(execute(acceleration, free, same, parameters=(0,)), 0.0, atol=1e-11)
    pushed = pendulum(2, reel=Reel(moment=u + 1.0, radius=D))
    assert abs(execute(acceleration, pushed, same, parameters=(0,))) > 0.1


@pytest.mark.parametrize(
    "wrong", [{"strain": 0.01}, {"tip_velocity": (0.0, 0.0, 0.1)}, {"s_v": [0.3], "tip_velocity": (0.1, 0.0, 0.0)}]
)
def test_a_state_off_the_lengths_is_refused(wrong):
    with pytest.raises(nd.InputError, match="violates the constraint"):
        pendulum().straight((0.6, 0.0, 0.8), s=90.0, **wrong)
