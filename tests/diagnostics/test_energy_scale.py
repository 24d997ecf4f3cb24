"""Energy errors of runs whose energy begins at round-off."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.diagnostics import Energy, energy_error, watched_run
from naiad.viz.conservation import energy_error as drawn_error


class Spring(nd.LagrangianSystem):
    """A mass on a spring; `level` shifts its potential energy."""

    m: float
    k: float
    level: float
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - 0.5 * self.k * q @ q + self.level


def started(level):
    spring = Spring(2.0, 3.0, level)
    return spring, spring.state(q=[0.3], v=[0.1])


BALANCED = 0.5 * 2.0 * 0.1**2 + 0.5 * 3.0 * 0.3**2  # with this level the energy is about zero


@pytest.mark.parametrize("off", [0.0, 1e-17, -1e-15])
def test_an_energy_that_begins_at_round_off_is_compared_with_its_parts(off):
    spring, state = started(BALANCED + off)
    run = nd.simulate(spring, state, t1=20.0, dt=0.1, save_every=1)
    assert abs(float(run.energy[0])) < 5e-15
    motion = solve_ivp(lambda t, y: (y[1], -1.5 * y[0]), (0, 20), (0.3, 0.1), rtol=1e-10, dense_output=True)
    q, v = motion.sol(np.linspace(0, 20, 2001))
    scale = np.max(v**2) + np.ptp(1.5 * q**2)
    assert run.energy.attrs["scale"] == pytest.approx(scale, rel=5e-3)
    change = np.abs(run.energy.to_numpy() - float(run.energy[0]))
    np.testing.assert_allclose(energy_error(run), change / run.energy.attrs["scale"], rtol=1e-14)
    assert 1e-4 < energy_error(run).max() < 1e-2
    found = watched_run(spring, state, invariants={"energy": Energy(spring)}, t1=20.0, dt=0.1, save_every=1)[1]
    assert found["energy_error_max"] == pytest.approx(energy_error(run).max(), rel=1e-12)
    values, label = drawn_error(run.dataset)
    assert "of the largest kinetic\nenergy + range of potential" in label
    assert np.max(np.abs(values)) == pytest.approx(energy_error(run).max(), rel=1e-12)
    figure = run.plot("energy_error")
    top = max(np.max(line.get_ydata()) for line in figure.axes[0].lines)
    plt.close(figure)
    assert top < 1e-2


@pytest.mark.parametrize("level", [0.0, BALANCED + 1e-9, -1e3])
def test_every_other_energy_error_stays_to_the_digit(level):
    spring, state = started(level)
    run = nd.simulate(spring, state, t1=20.0, dt=0.1, save_every=1)
    energy = run.energy.to_numpy()
    assert "scale" not in run.energy.attrs
    np.testing.assert_array_equal(energy_error(run), np.abs(energy - energy[0]) / abs(energy[0]))
    watched, found = watched_run(spring, state, invariants={"energy": Energy(spring)}, t1=20.0, dt=0.1, save_every=1)
    assert found["energy_error_max"] == watched.monitors["energy"].largest
    assert "|E_0|" in drawn_error(run.dataset)[1]


def test_a_state_at_rest_has_no_error_and_no_scale():
    spring = Spring(2.0, 3.0, 0.0)
    run = nd.simulate(spring, spring.state(), t1=1.0, dt=0.1)
    assert "scale" not in run.energy.attrs
    assert energy_error(run).max() == 0.0
