"""Runs that differ in anything: parameters of the system, steps, times, cadences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from tests.ensembles.comparison import same, same_run

RNG = np.random.default_rng(11)
COUNT = 7
BODIES = [nd.models.RigidBody(J=(1.1, J, 3.0)) for J in RNG.uniform(2.1, 2.9, COUNT)]
STATES = [body.state(Omega=(0.3, 1.0, 0.2)) for body in BODIES]


def kinetic(system, state, t):
    return system.energy(state, t)


@nd.double
def stacked_bodies(J):
    return jax.vmap(lambda J: nd.models.RigidBody(J=J))(J)


def test_systems_of_their_own_are_the_single_runs_bit_for_bit():
    """With outputs, monitors and sections that know the system of their run."""
    options = {
        "t1": 20.03, "dt": 0.05, "save_every": 9, "outputs": {"kinetic": kinetic}, "monitors": {"kinetic": kinetic},
        "sections": {"half": nd.Section(lambda system, state, t: state.mu[1] - 0.5 * system.J[1, 1], 0)},
    }  # fmt: skip
    many = nd.simulate_many(BODIES, STATES, **options)
    for body, state, one in zip(BODIES, STATES, many, strict=True):
        same_run(one, nd.simulate(body, state, **options))
        np.testing.assert_array_equal(one.system.J, body.J)
        assert len(one.crossings["half"]["time"])
    spread = many.record["kinetic"].std("time").max().item()
    assert spread < 1e-4 < many.record["kinetic"].std("run").min().item()


def test_stacked_systems_and_states_are_the_listed_ones():
    J = np.stack([np.asarray(body.J) for body in BODIES])
    stacked = stacked_bodies(J)
    states = jax.tree.map(lambda *leaves: np.stack(leaves), *STATES)
    a = nd.simulate_many(stacked, states, t1=5.0, dt=0.05)
    b = nd.simulate_many(BODIES, STATES, t1=5.0, dt=0.05)
    np.testing.assert_array_equal(a.mu, b.mu)
    np.testing.assert_array_equal(a.energy, b.energy)


def test_one_state_for_many_systems_and_one_system_for_many_states():
    many = nd.simulate_many(BODIES, STATES[0], t1=2.0, dt=0.05)
    assert len(many) == COUNT
    np.testing.assert_array_equal(many[3].mu, nd.simulate(BODIES[3], STATES[0], t1=2.0, dt=0.05).mu)
    assert len(nd.simulate_many(BODIES[0], STATES, t1=2.0, dt=0.05)) == COUNT
    assert len(nd.simulate_many(BODIES[:1], STATES[0], t1=2.0, dt=0.05)) == 1


def test_steps_times_and_cadences_of_their_own():
    """Also ends that are no whole number of steps away, for some runs and not for others."""
    dt = [0.05, 0.02, 0.05, 0.1, 0.04, 0.05, 0.03]
    t1 = [2.0, 3.0, 2.03, 4.0, 1.0, 2.0, 2.0]
    t0 = np.array([0.0, 1.0, 0.5, 0.0, 0.0, -1.0, 0.25])
    save = [1, 3, 7, 5, 2, 40, 100]
    options = {"outputs": {"kinetic": kinetic}, "sections": {"y": nd.Section(lambda state, t: state.g[1, 1] - 0.9, 0)}}
    many = nd.simulate_many(BODIES, STATES, t0=t0, t1=t1, dt=dt, save_every=save, output_every=[2] * COUNT, **options)
    for k, one in enumerate(many):
        alone = nd.simulate(
            BODIES[k], STATES[k], t0=t0[k], t1=t1[k], dt=dt[k], save_every=save[k], output_every=2, **options
        )
        same_run(one, alone)
    assert many.record["t"].dims == ("run", "time")
    lengths = [len(run.t) for run in many]
    assert many.record.sizes["time"] == max(lengths)
    np.testing.assert_array_equal(np.isfinite(many.record["t"]).sum("time"), lengths)
    np.testing.assert_array_equal(np.isfinite(many.energy).sum("time"), lengths)
    assert many.runs["t_end"].to_numpy() == pytest.approx(t1)


def test_noise_with_steps_of_their_own():
    disks = [nd.models.SlidingDisk(m, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7) for m in (1.0, 1.3)]
    method, seeds = nd.StochasticVariational(), [nd.Noise(3), nd.Noise(4)]
    times = {"t1": np.array([1.0, 2.005]), "dt": np.array([0.02, 0.01])}
    many = nd.simulate_many(disks, disks[0].state(), noise=seeds, method=method, **times)
    for k, one in enumerate(many):
        own = {name: value[k] for name, value in times.items()}
        same_run(one, nd.simulate(disks[k], disks[0].state(), noise=seeds[k], method=method, **own))


def test_blocks_make_no_difference(monkeypatch):
    options = {"t1": 3.0, "dt": 0.05, "sections": {"y": nd.Section(lambda state, t: state.g[1, 1] - 0.9, 0)}}
    whole = nd.simulate_many(BODIES, STATES, **options)
    monkeypatch.setattr(nd.ensembles.many, "LEAST_BLOCK", 3)
    monkeypatch.setattr(nd.ensembles.many, "BLOCK_BYTES", 1)
    cut = nd.simulate_many(BODIES, STATES, **options)
    assert whole.arrays.keys() == cut.arrays.keys()
    for known in ("arrays", "met"):
        for name, (dims, values) in getattr(whole, known).items():
            assert dims == getattr(cut, known)[name][0]
            np.testing.assert_array_equal(values, getattr(cut, known)[name][1], err_msg=name)


def test_an_interrupt_leaves_later_blocks_at_their_start(monkeypatch):
    monkeypatch.setattr(nd.ensembles.many, "LEAST_BLOCK", 4)
    monkeypatch.setattr(nd.ensembles.many, "BLOCK_BYTES", 1)

    def interrupt(fraction):
        raise KeyboardInterrupt

    many = nd.simulate_many(BODIES, STATES, t1=1e5, dt=0.05, save_every=1, progress=interrupt)
    assert many.outcomes == {nd.Outcome.INTERRUPTED: COUNT}
    assert many.runs["saved"].to_numpy().tolist() == [257] * 4 + [1] * 3
    np.testing.assert_array_equal(many[5].mu[0], STATES[5].mu)


class Spring(nd.LagrangianSystem):
    """With a Lagrangian that an array of stiffnesses would make one number all the same."""

    k: float
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * jnp.sum(self.k * q**2)


class Mass(nd.LagrangianSystem):
    m: float
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - 0.5 * q @ q


def test_a_class_of_ones_own():
    masses = RNG.uniform(1.0, 4.0, 5)
    systems = [Mass(m=m) for m in masses]
    many = nd.simulate_many(systems, systems[0].state(q=[1.0]), t1=3.0, dt=0.01)
    end = many.record["q"].isel(time=-1, component=0).to_numpy()
    assert end == pytest.approx(np.cos(3.0 / np.sqrt(masses)), abs=1e-4)
    together = jax.tree.unflatten(jax.tree.structure(systems[0]), [masses])
    np.testing.assert_array_equal(
        nd.simulate_many(together, many[0].system.state(q=[1.0]), t1=3.0, dt=0.01).mu, many.mu
    )


def bad(match, systems=BODIES, states=STATES, **options):
    with pytest.raises(InputError, match=match):
        nd.simulate_many(systems, states, **{"t1": 1.0, "dt": 0.1} | options)


def test_bad_input():
    vehicle = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
    bad("system 1 .KirchhoffBody. is of another structure than system 0 .RigidBody.", systems=[BODIES[0], vehicle])
    bad("a sequence, each of them a LagrangianSystem", systems=[BODIES[0], 3])
    bad("no systems were given", systems=[])
    bad("there are 7 of systems, 3 of states; give one for all runs, or one for each", states=STATES[:3])
    bad("7 of states, 2 of dt", dt=[0.1, 0.2])
    bad("run 2: dt = 0; expected a step above 0 s", dt=[0.1, 0.1, 0.0, 0.1, 0.1, 0.1, 0.1])
    bad("run 1: t1 = -1 lies before t0 = 0", t1=[1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    for name in ("saved", "Pi", "axis", "t", "a"):
        named = {name: lambda state, t: t}
        bad(f"outputs: '{name}' is the name of something", outputs=named, cases=nd.grid(a=np.arange(COUNT)))
    bad("7 of states, 4 of cases", cases=nd.grid(a=[1, 2, 3, 4]))
    bad("stacked states are none of RigidBody", states=nd.State(np.zeros((7, 3, 3)), np.zeros((7, 4))))
    bad("one real number", monitors={"x": lambda system, state, t: state.mu})
    J = np.stack([np.diag([1.0, 2.0, 3.0])] * 7)
    J[4, 0, 0] = np.nan
    bad(r"RigidBody\.J of run 4 is not finite", systems=stacked_bodies(J))
    J[4, 0, 0] = -1.0
    bad("not positive definite at the initial state", systems=stacked_bodies(J))


class Masses(nd.LagrangianSystem):
    """Whose Lagrangian sums over its arrays, so that it takes rows for particles."""

    m: np.ndarray
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return jnp.sum(0.5 * self.m * v**2 - 0.5 * q**2)


def test_a_system_that_could_be_one_or_many_is_told():
    system = Masses(m=np.array([1.5, 2.5, 3.5]))
    states = [system.state(q=[0.1 * k, 0.2, 0.3]) for k in range(3)]
    with pytest.warns(nd.RunWarning, match=r"a leading axis of 3, and there are 3 runs.*give a list of systems"):
        shared = nd.simulate_many(system, states, t1=1.0, dt=0.1)
    same(nd.simulate_many([system] * 3, states, t1=1.0, dt=0.1), shared)
    nd.simulate_many(system, states[:2], t1=1.0, dt=0.1)
    bodies = nd.double(jax.vmap(lambda J: nd.models.RigidBody(J=J)))(np.array([[1.0, 2.0, 2.5], [1.1, 2.1, 3.0]]))
    nd.simulate_many(bodies, [nd.models.RigidBody(J=(1.0, 2.0, 2.5)).state(Omega=(1.0, 0.0, 0.0))] * 2, t1=1.0, dt=0.1)
