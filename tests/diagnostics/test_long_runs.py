"""What watches, times and averages whole runs."""

import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import (
    Energy,
    RelativeChange,
    SpaceMomentum,
    adaptive_run,
    equilibrium,
    march,
    reference,
    relative_drift,
    timed_run,
    watched_run,
)

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(R=nd.SO3().random(np.random.default_rng(1)), Pi=(0.7, 0.8, -1.5))


def test_a_watched_run_knows_the_largest_changes():
    invariants = {"energy": Energy(BODY), "momentum": SpaceMomentum(BODY)}
    options = {"t0": 3.0, "t1": 13.0, "dt": 0.05, "method": nd.Variational()}
    run, errors = watched_run(
        BODY, START, invariants=invariants, observables={"E": BODY.energy}, save_every=1000, **options
    )
    dense = nd.simulate(BODY, START, save_every=1, **options)
    assert errors["energy_error_max"] == pytest.approx(nd.diagnostics.energy_error(dense).max(), rel=1e-9)
    assert 1e-17 < errors["momentum_error_max"] < 1e-14
    assert 1e-17 < errors["orthogonality_error_max"] < 1e-14
    energy = dense.energy.to_numpy()
    rise = 10.0 * np.polyfit(dense.t, energy, 1)[0] / energy[0]
    assert relative_drift(run.monitors["E"], 10.0, float(energy[0])) == pytest.approx(rise, rel=1e-6)


def test_a_change_is_relative_to_the_time_it_began_at():
    change = RelativeChange.since(lambda state, t: 2.0 * t, START, 3.0)
    assert float(change(START, 4.5)) == pytest.approx(0.5)
    assert float(RelativeChange.since(lambda state, t: t, START)(START, 4.5)) == pytest.approx(4.5)


def test_a_timed_run_is_the_run():
    short = timed_run(BODY, nd.Variational(), START, dt=0.01, steps=1000, rounds=1)
    marched = march(BODY, nd.Variational(), START, dt=0.01, steps=1000)
    np.testing.assert_allclose(short.state.mu, marched.mu, rtol=0, atol=1e-14)
    assert short.converged
    assert 0.0 < short.seconds < 0.1
    with pytest.raises(nd.InputError, match="steps = 0, rounds = 3; expected at least one of each"):
        timed_run(BODY, nd.Variational(), START, dt=0.01, steps=0)


def test_an_adaptive_run_goes_through_every_accepted_step():
    told: list[float] = []
    times, states = adaptive_run(BODY, START, t1=2.0, tolerance=1e-8, progress=told.append)
    assert times[0] == 0.0
    assert times[-1] == 2.0
    assert np.all(np.diff(times) > 0.0)
    np.testing.assert_allclose(told, times[1:] / 2.0)
    exact = reference(BODY, START, t1=2.0)
    error = np.max(np.abs(states.mu[-1] - exact.mu))
    assert 1e-12 < error < 1e-6
    with pytest.raises(nd.InputError, match="tolerance = 0; expected finite numbers above 0"):
        adaptive_run(BODY, START, t1=2.0, tolerance=0.0)


def test_averages_of_a_free_disk_are_those_of_its_bath():
    """Without a potential and from rest m v^2/kT comes to 1/(1 + m r^2/J)."""
    disk = nd.models.SlidingDisk(1.0, 0.5, 1.0, c=1.0, alpha=1.0, potential="none")
    told: list[float] = []
    found = equilibrium(
        disk,
        disk.state(),
        {"v": lambda state, t: state.mu[0] ** 2 / (disk.m * disk.kT)},
        t1=2000.0,
        dt=0.2,
        noise=nd.Noise(3),
        warm_up=20.0,
        method=nd.StochasticVariational(rule=nd.Midpoint(), lagged=False),
        batches=20,
        progress=told.append,
    )
    assert found.steps == 10_000
    assert len(found.pieces) == 20
    assert found.ends[0] == pytest.approx(120.0)
    assert told == sorted(told)
    assert told[-1] == 1.0
    error = found.standard_error("v")
    assert 1e-3 < error < 0.05
    assert found.mean("v") == pytest.approx(1 / 3, abs=4 * error)
    with pytest.raises(nd.InputError, match=r"is too short for averages; give at least 40 steps"):
        equilibrium(disk, disk.state(), {}, t1=1.0, dt=0.2, noise=nd.Noise(3), batches=20)
