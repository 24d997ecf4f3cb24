"""The study of the buoyant vehicle: the numbers of the paper's runs, and the cause of the energy's growth."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.buoyant_vehicle import BuoyantVehicle, MidwayEnergy


def results(**parameters):
    return BuoyantVehicle(**parameters).run(Progress()).results


def test_the_papers_run():
    found = results()
    assert found["steps"] == 50_000
    assert found["energy"] == pytest.approx(58.772042883838, abs=1e-12)
    assert found["kelvin_noether"] == pytest.approx(1.997164197871, abs=1e-12)
    assert found["energy_error_max"] == pytest.approx(4.280397e-4, rel=1e-6)
    assert found["kelvin_noether_error_max"] < 2.5e-11
    assert found["orthogonality_error_max"] < 1e-13


def test_values_are_at_the_end_and_velocities_those_of_the_step():
    found = results(t1=10.0)
    np.testing.assert_allclose(found["q"], (0.972667562099, 0.999879638189, 8.668060293614), rtol=0, atol=6e-13)
    later = results(t1=10.01)
    np.testing.assert_allclose(found["v"], (later["q"] - found["q"]) / 0.01, rtol=0, atol=1e-11)
    step = found["R"].T @ later["R"]
    cayley = 2.0 * np.array([step[2, 1] - step[1, 2], step[0, 2] - step[2, 0], step[1, 0] - step[0, 1]])
    np.testing.assert_allclose(found["omega"], cayley / (1.0 + np.trace(step)) / 0.01, rtol=0, atol=1e-11)


def test_the_two_energies_of_the_papers_scheme_have_names_of_their_own():
    def labels(scheme):
        figure = BuoyantVehicle(scheme=scheme, t1=0.2).run(Progress()).figures["overview"]()
        return [ax.get_ylabel() for ax in figure.axes if "energy" in ax.get_ylabel()]

    assert labels("paper") == ["error of the energy\nof node momenta\n$(E-E_0)/|E_0|$, not $E_k$"]
    assert labels("symmetric") == ["energy error\n$(E-E_0)/|E_0|$"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("energy-growth", [3]),
        pytest.param("energy", [2, 2], marks=pytest.mark.long),
        pytest.param("kelvin-noether", [2, 2], marks=pytest.mark.long),
    ],
)
def test_figures_with_runs_of_their_own_are_drawn(name, lines):
    figure = BuoyantVehicle(t1=0.2).run(Progress()).figures[name]()
    assert [len(ax.lines) for ax in figure.axes] == lines


def test_the_symmetric_scheme_is_of_second_order_and_its_energy_error_far_smaller():
    exact = np.array([0.9726537439726, 0.9998587394444, 8.6677158014495])
    coarse, fine = (np.abs(results(scheme="symmetric", t1=10.0, dt=dt)["q"] - exact).max() for dt in (0.02, 0.01))
    assert coarse / fine == pytest.approx(4.0, abs=0.1)
    assert fine < 5e-7
    found = results(scheme="symmetric")
    assert found["energy_error_max"] == pytest.approx(2.16e-7, rel=0.01)
    assert found["kelvin_noether_error_max"] < 2.5e-11


def test_the_energy_grows_because_its_potential_is_half_a_step_early():
    """E_k - E_0 follows (h/2) W (v_z(t) - v_z(0)); with U at (q_k + q_{k+1})/2 the slope falls by about 1700."""
    study = BuoyantVehicle()
    plan = study.plan("cay", "paper")
    midway = MidwayEnergy(plan.vehicle, plan.method, study.dt)
    run = nd.simulate(
        plan.vehicle,
        plan.state,
        t1=study.t1,
        dt=study.dt,
        method=plan.method,
        monitors={
            "E": plan.energy,
            "midway": midway,
            "predicted": lambda s, t: 0.5 * study.dt * plan.vehicle.surplus * plan.velocity(s, t)[5],
        },
        progress=False,
    )
    slope = {name: monitor.slope for name, monitor in run.monitors.items()}
    assert slope["E"] == pytest.approx(slope["predicted"], rel=1e-3)
    assert slope["E"] / slope["midway"] == pytest.approx(1664, rel=0.01)


def test_other_vehicles_and_bad_values():
    heavy = results(
        buoyancy=1200.0, added_mass="0,0,0", t1=5.0, omega0="0,0,0", r="0,0,0", v0="0,0,0", scheme="symmetric"
    )
    fall = 0.5 * (123.8 * 9.81 - 1200.0) / 123.8 * 5.0**2
    np.testing.assert_allclose(heavy["q"], (0.0, 0.0, 1.0 + fall), rtol=1e-13)
    full = results(J="5,0.1,0;0.1,6,0;0,0,7", added_mass="65,1,0;1,70,0;0,0,75", t1=1.0, scheme="symmetric", map="exp")
    assert full["energy_error_max"] < 1e-7
    for wrong in ({"m": -1}, {"J": "1,2,-3"}, {"added_mass": "1,2,-3"}, {"buoyancy": -1}, {"r": "1,2"}, {"map": "log"}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))}=.*expected"):
            BuoyantVehicle(**wrong)
