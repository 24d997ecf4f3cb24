"""Many runs at once are the single runs, bit for bit."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError

VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))


def starts(count):
    momenta = np.array([2.0, -0.4, -0.9]) + 0.1 * np.random.default_rng(5).standard_normal((count, 3))
    return [VEHICLE.state(Pi=Pi, p=(4.4, -0.2, -1.1)) for Pi in momenta]


def energy(state, t):
    return VEHICLE.energy(state, t)


@pytest.mark.parametrize(
    ("method", "reconstruct"), [(nd.Variational(), True), (nd.Splitting(4, "top"), False), (nd.FastLieVerlet(), True)]
)
def test_each_is_its_single_run_bit_for_bit(method, reconstruct):
    """Saved nodes, outputs at a cadence of their own, crossings, monitors, outcome; with a shorter last step, and a
    number of runs that fills no lanes."""
    options = {
        "t1": 200.03, "dt": 0.1, "method": method, "reconstruct": reconstruct, "save_every": 7,
        "sections": {"p_z": nd.Section(lambda s, t: s.mu[5], 0, pairs=True)}, "monitors": {"energy": energy},
        "outputs": {"first": lambda s, t: s.mu[0] + t}, "output_every": 3,
    }  # fmt: skip
    together = nd.simulate_many(VEHICLE, starts(11), **options)
    assert len(together) == 11
    for state, one in zip(starts(11), together, strict=True):
        alone = nd.simulate(VEHICLE, state, **options)
        assert one.outcome is alone.outcome is nd.Outcome.COMPLETED
        assert len(alone.crossings["p_z"]["time"]) > 10
        for name in alone.record.variables:
            np.testing.assert_array_equal(one.record[name], alone.record[name], err_msg=str(name))
        assert one.attrs == alone.attrs


def test_a_step_that_ends_a_run_is_not_taken():
    """Some end at a section, at times of their own, and others at their last node: each stands where it does alone."""
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    states = [body.state(Omega=(0.7, 0.1 * k, 1.0)) for k in (0, 2, 4, 6)] + [body.state(Omega=(0.7, 0.0, 0.0))]
    end = nd.Section(lambda state, t: state.mu[0] - 0.2, direction=0, terminal=True)
    options = {"t1": 3.0, "dt": 0.05, "save_every": 7, "sections": {"end": end}, "monitors": {"energy": body.energy}}
    together = nd.simulate_many(body, states, **options)
    assert {run.outcome for run in together} == {nd.Outcome.EVENT, nd.Outcome.COMPLETED}
    for state, one in zip(states, together, strict=True):
        alone = nd.simulate(body, state, **options)
        for name in alone.record.variables:
            np.testing.assert_array_equal(one.record[name], alone.record[name], err_msg=str(name))
        assert one.attrs == alone.attrs


def test_each_has_its_own_noise():
    """From seeds and from rows, over more than a block of increments, with a section and a shorter last step."""
    disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7)
    states = [disk.state() for _ in range(5)]
    rows = np.random.default_rng(2).standard_normal((9001, 2)) * 0.1
    noises = [nd.Noise(4), nd.Noise(5), rows, nd.Noise(7), nd.Noise(8)]
    options = {
        "t1": 90.005, "dt": 0.01, "method": nd.StochasticVariational(), "save_every": 100,
        "sections": {"v": nd.Section(lambda s, t: s.mu[0])},
    }  # fmt: skip
    together = nd.simulate_many(disk, states, noise=noises, **options)
    for state, noise, one in zip(states, noises, together, strict=True):
        alone = nd.simulate(disk, state, noise=noise, **options)
        for name in alone.record.variables:
            np.testing.assert_array_equal(one.record[name], alone.record[name], err_msg=str(name))
        assert one.attrs == alone.attrs
    assert not np.array_equal(together[0].mu, together[1].mu)


def test_one_noise_gives_each_run_a_seed_of_its_own():
    disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7)
    options = {"t1": 1.0, "dt": 0.01, "method": nd.StochasticVariational(), "save_every": 10}
    many = nd.simulate_many(disk, [disk.state()] * 4, noise=nd.Noise(3), **options)
    few = nd.simulate_many(disk, [disk.state()] * 2, noise=nd.Noise(3), **options)
    np.testing.assert_array_equal(few.mu, many.mu[:2])
    ends = many.mu.to_numpy()[:, -1, 0]
    assert len(set(ends)) == 4
    seed = int(many[2].attrs["noise"]["seed"])
    np.testing.assert_array_equal(nd.simulate(disk, disk.state(), noise=nd.Noise(seed), **options).mu, many[2].mu)


class Escaping(nd.LagrangianSystem):
    """A particle that reaches infinity in a finite time if it starts beyond 1."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q[0] ** 2 + 0.25 * q[0] ** 4


def test_one_that_fails_does_not_stop_the_others():
    system = Escaping()
    states = [system.state(q=[q]) for q in (0.3, 1.5, 0.6)]
    with pytest.warns(nd.RunWarning, match=r"1 of 3 runs could not go on; the first is run 1, which stopped at t = "):
        runs = nd.simulate_many(system, states, t1=50.05, dt=0.1)
    assert [run.outcome.failed for run in runs] == [False, True, False]
    assert runs[1].attrs["t"] < 10.0 < runs[0].attrs["t"] == pytest.approx(50.05)
    np.testing.assert_array_equal(runs[2].mu, nd.simulate(system, states[2], t1=50.05, dt=0.1).mu)


def test_an_interrupt_keeps_what_there_is_and_why_others_had_ended():
    system = Escaping()

    def interrupt(fraction):
        raise KeyboardInterrupt

    with pytest.warns(nd.RunWarning, match="1 of 2 runs could not go on"):
        runs = nd.simulate_many(system, [system.state(q=[q]) for q in (0.3, 1.5)], t1=1e5, dt=0.1, progress=interrupt)
    assert runs[0].outcome is nd.Outcome.INTERRUPTED
    assert runs[0].attrs["t"] == pytest.approx(25.6)
    assert runs[1].outcome in (nd.Outcome.NEWTON_FAILED, nd.Outcome.NOT_FINITE)


def test_many_chunks_with_little_room():
    """More crossings than a chunk has room for: the trajectories then stand at different nodes."""
    section = nd.Section(lambda s, t: s.mu[5], 0)
    states = starts(3)
    runs = nd.simulate_many(VEHICLE, states, t1=2e4, dt=0.2, method=nd.Splitting(2), sections={"p": section})
    for state, run in zip(states, runs, strict=True):
        alone = nd.simulate(VEHICLE, state, t1=2e4, dt=0.2, method=nd.Splitting(2), sections={"p": section})
        assert len(run.crossings["p"]["time"]) > 4096
        np.testing.assert_array_equal(run.crossings["p"]["time"], alone.crossings["p"]["time"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "xla", "device": "gpu"}, "engine='xla' runs on the processor only"),
        ({"output_every": 2}, "output_every = 2 is for `outputs`, and none are given"),
        ({"output_every": [2, 3]}, r"output_every = \[2, 3\] is for `outputs`"),
        ({"t1": True}, "t1 = True; expected a finite number of seconds"),
    ],
)
def test_options_that_would_do_nothing_or_another_thing_are_refused(options, message):
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(InputError, match=message):
        nd.simulate_many(body, [body.state(Omega=(0.1, 0.2, 0.3))] * 2, **{"t1": 1.0, "dt": 0.1} | options)


def test_no_states():
    with pytest.raises(InputError, match="no states were given"):
        nd.simulate_many(VEHICLE, [], t1=1.0, dt=0.1)


def test_a_section_of_the_configuration_needs_the_configuration():
    section = nd.Section(lambda s, t: s.g.x[0])
    with pytest.raises(InputError, match="the section 'x' depends on the configuration"):
        nd.simulate(VEHICLE, starts(1)[0], t1=1.0, dt=0.1, sections={"x": section}, reconstruct=False)
