"""The studies of the thesis's systems: their numbers by other routes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.integrators import check_method
from naiad.numerics import double
from naiad.studies.bodies.heavy_top import HeavyTopStudy
from naiad.studies.bodies.interacting_bodies import InteractingBodies, total_momentum
from naiad.studies.bodies.rotor_spacecraft import RotorSpacecraft, section_points, section_starts
from naiad.studies.bodies.spherical_pendulum import SphericalPendulum
from naiad.studies.methods import method as integrator
from naiad.studies.planets.oblate_earth import OblateEarth
from naiad.studies.planets.outer_solar_system import (
    MASSES,
    POSITIONS,
    VELOCITIES,
    G,
    OuterSolarSystem,
    semi_major_axes,
)
from naiad.studies.planets.variable_steps import VariableSteps
from naiad.studies.progress import Progress
from tests.verification.problems import PROBLEMS


def rotor(t, y):
    Omega = (y[:3] - np.array([0, 0, y[4]])) / np.array([2.0, 1.5, 1.0])
    return np.concatenate([np.cross(y[:3], Omega), [y[4] / 0.4 - Omega[2], -1.2 * y[3]]])


def test_rotor_spacecraft_approaches_the_exact_motion():
    exact = solve_ivp(rotor, (0, 10), (0.6, 0.9, -0.7, 0.3, 0.2), "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    errors = {}
    for method, dt in (("cay", 0.01), ("compose4", 0.05)):
        results = RotorSpacecraft(method=method, dt=dt).run(Progress()).results
        errors[method] = np.max(np.abs(np.append(results["Pi"], [results["alpha"], results["p"]]) - exact))
        assert results["momentum_error_max"] < 1e-14
        assert results["casimir_error_max"] < 1e-14
        assert results["steps"] == round(10 / dt)
        if method == "cay":
            assert results["energy_error_max"] == pytest.approx(2.46e-5, rel=1e-2)
    assert 1e-5 < errors["cay"] < 2e-4
    assert errors["compose4"] < 1e-6


def test_rotor_section_has_one_energy_and_one_momentum_size():
    study = RotorSpacecraft()
    craft = study.craft()
    state = craft.state(alpha=[0.3], R_Pi=study.Pi0, alpha_p=[0.2])
    starts = section_starts(craft, state, 3)
    assert len(starts) == 3
    for start in starts:
        assert float(craft.energy(start)) == pytest.approx(float(craft.energy(state)), rel=1e-14)
        assert np.linalg.norm(start.mu[:3]) == pytest.approx(np.linalg.norm(study.Pi0), rel=1e-14)
    points = section_points(craft, starts[:1], "cay", t1=100.0, dt=0.2)[0]
    assert 30 <= len(points) <= 36  # the rotor's period is near 2 pi / sqrt(1.2 (1/0.4 + 1)) = 3.07 s
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), np.linalg.norm(study.Pi0), rtol=1e-13)


@pytest.mark.parametrize("name", ["flv", "sw-perp"])
def test_flv_and_sw_perp_take_the_rotor_along(name):
    """Second order, against the equations of motion off naiad, and what each keeps."""
    exact = solve_ivp(rotor, (0, 5), (0.6, 0.9, -0.7, 0.3, 0.2), "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    craft, state = RotorSpacecraft().start()
    errors = []
    for dt in (0.02, 0.01):
        run = nd.simulate(craft, state, t1=5.0, dt=dt, method=integrator(name), save_every=1, throw=True)
        errors.append(np.max(np.abs(np.concatenate([run.final.mu[:3], run.final.g.alpha, run.final.mu[3:]]) - exact)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 3e-4
    Pi, R, energy = run.states.mu[:, :3], run.g.R, run.energy.to_numpy()
    if name == "flv":  # the momenta half-way have one length, and those of nodes swing about it
        half = np.linalg.norm(Pi[1:] + Pi[:-1], axis=1)[1:]
        assert np.ptp(half) < 1e-13
        assert 1e-8 < np.ptp(np.linalg.norm(Pi, axis=1)) < 1e-4
        assert np.max(np.abs(energy / energy[0] - 1.0)) < 1e-4
    else:
        np.testing.assert_allclose(energy, energy[0], rtol=1e-14)
        np.testing.assert_allclose(np.einsum("tij,tj->ti", R, Pi), np.tile(Pi[0], (len(Pi), 1)), atol=1e-13)


def test_the_section_of_the_thesis_tells_the_methods_apart():
    """Points of an orbit on a torus lie on a curve: how far they are from their neighbours across it. FLV draws it as
    the variational method does; SW-perp, which keeps energy and momentum, wanders off it."""
    study = RotorSpacecraft()
    craft, state = study.start()
    starts = section_starts(craft, state, 10)[3:4]
    reach = {}
    for name in ("cay", "flv", "sw-perp"):
        points = section_points(craft, starts, name, t1=3000.0, dt=0.2)[0]
        height = np.abs(points[:, 2]) / np.linalg.norm(points, axis=1)
        early, late = (float(np.max(part)) for part in (height[:100], height[-100:]))
        reach[name] = late / early
    assert reach["cay"] == pytest.approx(1.0, abs=0.01)
    assert reach["flv"] == pytest.approx(1.0, abs=0.01)
    assert reach["sw-perp"] < 0.8


def test_flv_and_sw_perp_refuse_a_potential_of_the_group():
    top = PROBLEMS["heavy-top"].system
    for name in ("flv", "sw-perp"):
        with pytest.raises(nd.InputError, match="that and a potential of a shape space, with a constant inertia"):
            check_method(integrator(name), top)


def test_the_planets_are_where_they_should_be():
    """Axes in AU and periods in years, of the almanac; Pluto's heliocentric ellipse swings by a percent."""
    axes = semi_major_axes(POSITIONS, VELOCITIES)
    np.testing.assert_allclose(axes, (5.203, 9.54, 19.2, 30.1, 39.5), rtol=0.01)
    years = 2 * np.pi * np.sqrt(axes**3 / (G * (MASSES[0] + MASSES[1:]))) / 365.25
    np.testing.assert_allclose(years, (11.86, 29.46, 84.0, 164.8, 248.0), rtol=0.015)
    momenta = np.cross(POSITIONS[1:], VELOCITIES[1:])
    normal = momenta / np.linalg.norm(momenta, axis=1, keepdims=True)
    tilt = np.degrees(np.arccos(normal @ np.array([0.0, -np.sin(0.40909), np.cos(0.40909)])))  # from the ecliptic
    np.testing.assert_allclose(tilt, (1.30, 2.49, 0.77, 1.77, 17.14), atol=0.03)


def test_methods_for_long_runs_of_the_planets():
    names = ("splitting6", "splitting8", "wisdom-holman")
    findings = OuterSolarSystem(methods=names, dt=200.0, t1=20000.0).run(Progress())
    results, data = findings.results, findings.dataset()
    assert (data.time.attrs["units"], data.q.attrs["units"], data.v.attrs["units"]) == ("day", "AU", "AU/day")
    for name, error in zip(names, (2e-9, 6e-10, 3e-14), strict=True):
        assert 0.1 * error < results["energy_error_max"][name] < 1.5 * error
        assert results["angular_momentum_error_max"][name] < 1e-14
    first, *others = (results["positions"][name] for name in reversed(names))
    for other, distance in zip(others, (1e-6, 3e-6), strict=True):  # AU
        assert np.max(np.abs(other - first)) == pytest.approx(distance, rel=0.1)


@pytest.mark.long
def test_projection_keeps_its_invariants_and_loses_neptune():
    results = OuterSolarSystem().run(Progress()).results
    assert results["energy_error_max"]["energy-euler"] < 1e-13
    assert results["energy_error_max"]["energy-momentum-euler"] < 1e-13
    assert results["angular_momentum_error_max"]["energy-momentum-euler"] < 1e-12
    assert results["angular_momentum_error_max"]["energy-euler"] > 1e-3
    assert results["angular_momentum_error_max"]["euler"] < 1e-12
    neptune = {name: change[3] for name, change in results["axis_change_max"].items()}
    assert neptune["euler"] < 0.02
    assert min(neptune["energy-euler"], neptune["energy-momentum-euler"]) > 0.1


@pytest.mark.long
def test_interacting_bodies_exchange_what_is_conserved():
    study = InteractingBodies(N=3, t1=10.0)
    results = study.run(Progress()).results
    assert results["angular_momentum_error_max"] < 1e-13
    assert results["linear_momentum_error_max"] < 1e-13
    assert abs(results["energy_drift"]) < 0.1 * results["energy_error_max"] < 2e-3
    system = study.system()
    start = study.start(system)
    np.testing.assert_allclose(double(total_momentum)(system, start), system.noether(start), atol=1e-14)
    finer = InteractingBodies(N=3, t1=10.0, dt=0.005).run(Progress()).results
    assert results["energy_error_max"] / finer["energy_error_max"] == pytest.approx(4.0, abs=0.3)


def test_the_node_of_the_satellite_turns_as_in_the_textbook():
    results = OblateEarth().run(Progress()).results
    assert results["node_rate"] == pytest.approx(results["node_rate_textbook"], rel=0.01)
    assert results["node_rate_textbook"] == pytest.approx(-8.69e-7, rel=1e-3)
    assert results["axial_momentum_error_max"] < 1e-13
    assert results["energy_error_max"] < 1e-10


def test_implicit_euler_spirals_to_rest_where_the_variational_method_keeps_the_tori():
    results = SphericalPendulum(orbits=3, t1=300.0, dt_implicit=0.005).run(Progress()).results
    assert results["energy_error_max"] < 0.02
    assert abs(results["energy_drift"]) < 1e-3
    # small swings decay as exp(-h omega^2 t), energy relative
    assert results["implicit_energy_error_max"] == pytest.approx(1 - np.exp(-0.005 * 300.0), abs=0.05)
    assert max(results["spin_max"], results["implicit_spin_max"]) < 1e-14


@pytest.mark.parametrize("tilt", [0.6, 1e-3])
def test_initial_attitudes_have_all_digits(tilt):
    """Of a tilt in single precision eight would be left."""
    turned = Rotation.from_rotvec([0.0, tilt, 0.0]).as_matrix()
    np.testing.assert_allclose(HeavyTopStudy(tilt=tilt).start()[1].g, turned, rtol=0, atol=1e-15)
    straight, tilted = (OblateEarth(tilt=(0.0, each, 0.0)).start()[1].g.R for each in (0.0, tilt))
    np.testing.assert_allclose(straight.T @ tilted, turned, rtol=0, atol=1e-15)


def test_variable_steps_against_constant_ones():
    """A revolution and a half of a long ellipse: reversible steps come back, as many constant ones do not."""
    names = ("constant", "reversible", "energy")
    results = VariableSteps(e=0.9, methods=names, steps=400, periods=2).run(Progress()).results
    assert results["outcome"] == {"constant": "COMPLETED", "reversible": "COMPLETED", "energy": "NEWTON_FAILED"}
    assert results["steps"]["reversible"] == pytest.approx(800, rel=0.02)
    assert results["energy_error_max"]["reversible"] < 0.003
    assert results["energy_error_max"]["constant"] > 0.1
    assert results["position_error"]["reversible"] < 2e-3
    assert results["position_error"]["constant"] > 0.1
