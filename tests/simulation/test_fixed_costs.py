"""What a call takes that has run before: counted in calls of functions, which are the same on every machine."""

import cProfile
import gc
import tracemalloc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.simulation import drive

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
STATE = BODY.state(Omega=(0.7, 0.4, -0.5))
VEHICLE = nd.models.KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
SINE = nd.compile(lambda x: 2.0 * jnp.sin(x))


def run(body: nd.models.RigidBody, state: nd.State) -> nd.Trajectory:
    return nd.simulate(body, state, t1=1.0, dt=0.01)


def calls_of(work) -> int:
    """The functions that a call makes use of, Python's and C's, when it has run twice before; not the finalisers of
    what others have left."""
    work(0), work(1)
    profile = cProfile.Profile()
    gc.collect()
    gc.disable()
    profile.enable()
    work(2)
    profile.disable()
    gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize(
    ("work", "most"),
    [
        (lambda k: run(BODY, BODY.state(Omega=(0.7, 0.4, 0.1 * k))), 700),
        (lambda k: run(BODY, STATE), 490),
        (lambda k: run(nd.models.RigidBody((1.0, 2.0, 2.5 + 0.1 * k)), STATE), 690),
        (lambda k: VEHICLE.state(Omega=(0.2, 0.1, 0.1 * k), v=(1.0, 0.0, 0.0)), 270),
        (lambda k: nd.propagate(BODY, STATE, dt=0.01 + 0.001 * k, steps=100), 450),
        (lambda k: SINE(np.full(3, 0.1 * k)), 48),
    ],
    ids=["state and simulate", "simulate", "other parameters", "state", "propagate", "compile"],
)
def test_a_call_that_has_run_before_does_little_again(work, most):
    assert calls_of(work) < most


def test_a_run_that_is_kept_does_not_hold_the_buffers_of_its_last_chunk():
    run(BODY, STATE)
    tracemalloc.start()
    kept = [run(BODY, STATE) for _ in range(10)]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(kept) < 50_000


def test_more_states_cost_little_more():
    few, many = (
        calls_of(lambda k, count=count: nd.simulate_many(BODY, [STATE] * count, t1=1.0, dt=0.01)) for count in (2, 12)
    )
    assert (many - few) / 10 < 40


def test_what_was_kept_of_a_call_notices_arrays_that_change_in_place():
    J = np.diag((1.0, 2.0, 3.0))
    body = nd.models.RigidBody(J)
    first = run(body, STATE).final.g
    np.asarray(body.J)[1, 1] = 2.5
    expected = run(nd.models.RigidBody((1.0, 2.5, 3.0)), STATE).final.g
    np.testing.assert_array_equal(run(body, STATE).final.g, expected)
    assert np.abs(first - expected).max() > 1e-3
    before, after = (nd.propagate(body, STATE, dt=0.01, steps=10).g for _ in range(2))
    np.testing.assert_array_equal(before, after)
    np.asarray(body.J)[1, 1] = -2.5
    with pytest.raises(nd.InputError, match="not positive definite at the initial state"):
        run(body, STATE)
    with pytest.raises(nd.InputError, match="not positive definite at the initial state"):
        nd.simulate_many(body, [STATE, STATE], t1=1.0, dt=0.01)


def test_one_bad_state_of_many_is_refused():
    bad = nd.State(STATE.g * 1.1, STATE.mu)
    with pytest.raises(nd.InputError, match=r"off the group by 0\.36"):
        nd.simulate_many(BODY, [STATE, bad, STATE], t1=1.0, dt=0.01)


class Held(nd.LagrangianSystem):
    """A particle on a spring whose law is a function that the system holds."""

    law: object
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - self.law(q)


def test_functions_in_a_system_are_propagated_anew():
    stiffness = np.array([1.0])
    system = Held(lambda q: 0.5 * jnp.asarray(stiffness)[0] * q @ q)
    state = system.state(q=[1.0])
    ends = []
    for value in (1.0, 9.0):
        stiffness[0] = value
        ends.append(float(nd.propagate(system, state, dt=0.01, steps=50).g[0]))
    np.testing.assert_allclose(ends, np.cos([0.5, 1.5]), atol=1e-4)


def test_gradients_pass_what_is_traced_once():
    def end(omega):
        state = nd.State(jnp.eye(3), jnp.asarray(BODY.J) @ jnp.array([0.7, 0.4, 1.0]) * omega)
        return nd.propagate(BODY, state, dt=0.01, steps=20).g[0, 1]

    with jax.enable_x64(True):
        slope, near = jax.grad(end)(1.0), (end(1.0 + 1e-5) - end(1.0 - 1e-5)) / 2e-5
    assert slope == pytest.approx(float(near), rel=1e-8)


def test_how_long_a_step_takes_is_known_from_the_run_before(monkeypatch):
    """By the kind of run: the system, the method and the size; a slow chunk makes the next one smaller."""
    told = []
    monkeypatch.setattr(drive, "BUDGETS", {})
    monkeypatch.setattr(drive, "next_budget", lambda budget, taken, seconds: told.append(taken) or 1000)

    def chunks(system, steps=500, **options):
        told.clear()
        state = system.state(**({"q": np.ones(len(system.m))} if isinstance(system, Springs) else {"Omega": (1, 2, 3)}))
        nd.simulate(system, state, t1=0.01 * steps, dt=0.01, progress=False, **options)
        return list(told)

    first = [drive.FIRST_STEPS, 500 - drive.FIRST_STEPS]
    assert chunks(BODY) == first
    assert chunks(BODY) == chunks(nd.models.RigidBody((3.0, 2.0, 1.5))) == [500]
    assert chunks(BODY, method=nd.Variational(nd.Exponential())) == chunks(BODY, engine="xla") == first
    assert chunks(Springs(np.ones(2))) == first
    assert chunks(Springs(np.ones(5))) == first
    monkeypatch.setattr(drive, "next_budget", lambda budget, taken, seconds: told.append(taken) or 100)
    assert chunks(BODY, 1500) == [1000, 500]  # short chunks: there may be as many
    monkeypatch.setattr(drive, "CHUNK_SECONDS", 0.0)
    assert chunks(BODY, 1500) == [1000, *[100] * 5]
    for number in range(drive.KINDS + 10):
        drive.budget_of(number)
    assert len(drive.BUDGETS) <= drive.KINDS


class Springs(nd.LagrangianSystem):
    """Particles on springs."""

    m: np.ndarray

    @property
    def group(self):
        return nd.Rn(len(self.m))

    def lagrangian(self, q, v, t):
        return 0.5 * self.m @ (v * v) - 0.5 * q @ q


STIFFNESS = 1.0


class Global(nd.LagrangianSystem):
    """A particle on a spring whose stiffness is a global number."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * STIFFNESS * q @ q


@pytest.mark.parametrize("way", ["simulate", "xla", "many", "propagate"])
def test_a_global_that_a_lagrangian_names_is_noticed(way, monkeypatch):
    """In one process, by the motion and by the energy."""
    system = Global()
    state = system.state(q=[1.0])
    for stiffness in (1.0, 9.0, 1.0, 4.0):
        monkeypatch.setitem(globals(), "STIFFNESS", stiffness)
        if way == "propagate":
            q = nd.propagate(system, state, dt=0.01, steps=50).g
        elif way == "many":
            q = nd.simulate_many(system, [state, state], t1=0.5, dt=0.01)[1].final.g
        else:
            run = nd.simulate(system, state, t1=0.5, dt=0.01, engine="xla" if way == "xla" else "auto")
            q = run.final.g
            np.testing.assert_allclose(run.energy, 0.5 * stiffness, rtol=1e-3)
        assert float(q[0]) == pytest.approx(np.cos(0.5 * np.sqrt(stiffness)), abs=1e-4)
