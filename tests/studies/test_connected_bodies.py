"""The three ellipsoids of the paper: numbers of an independent code."""

import numpy as np
import pytest

import naiad as nd
from naiad.studies.progress import Progress
from naiad.studies.trees.connected_bodies import ConnectedBodies
from naiad.studies.trees.invariants import METHODS
from naiad.studies.trees.three_ellipsoids import OMEGA, XDOT, three_ellipsoids
from naiad.trees import TreeRule

ZERO_MOMENTUM = (0.0, -0.414167480890, -0.589974994791)


def dense(scheme):
    """The discrete Lagrangian of a scheme for the general integrator."""
    return TreeRule(METHODS[scheme].rule, METHODS[scheme].correction)


def results(**parameters):
    return ConnectedBodies(**parameters).run(Progress()).results


def test_the_papers_scheme_at_one_second():
    found = results(t1=1.0)
    np.testing.assert_allclose(found["x"], (-0.193309680615, -0.467002332589, -0.599864012225), atol=2e-12)
    np.testing.assert_allclose(found["Omega2"], (-1.469231903722, 0.156164656255, 0.239553337713), atol=2e-12)
    assert found["energy0"] == pytest.approx(9.203817003436, abs=1e-12)
    assert found["linear_momentum_error_max"] < 1e-14
    assert found["angular_momentum_error_max"] < 1e-12 * 53.5
    assert found["orthogonality_error_max"] < 1e-14
    for i in range(3):
        np.testing.assert_allclose(found[f"R{i}"].T @ found[f"R{i}"], np.eye(3), atol=1e-14)


def test_runge_kutta_loses_what_an_independent_code_loses():
    """SciPy's RK45 on a right side in NumPy alone, with the dense inertia and its derivatives by complex steps: it
    leaves the rotations by 0.03, and a right side that took them for rotations erred by 22.8 J here."""
    found = results(scheme="rk45", t1=10.0, tolerance=1e-3)
    assert found["energy_error_max"] == pytest.approx(0.270378266398, abs=1e-10)
    assert found["orthogonality_error_max"] == pytest.approx(0.033135988634, abs=1e-10)


def test_a_figure_is_drawn_without_the_other_method_where_that_fails(monkeypatch):
    def fails(*_, **__):
        raise nd.RunError("rk45 stopped at t = 0.1 s")

    monkeypatch.setattr("naiad.studies.trees.connected_bodies.adaptive_run", fails)
    figures = ConnectedBodies(t1=0.01).run(Progress()).figures
    for name in ("velocities", "invariants"):
        figure = figures[name]()
        assert figure.get_suptitle() == "without rk45: rk45 stopped at t = 0.1 s"
        assert len(figure.axes[0].lines) == (3 if name == "velocities" else 1)


@pytest.mark.long
def test_runge_kutta_at_one_second_comes_to_the_exact_motion():
    found = results(scheme="rk45", t1=1.0, tolerance=1e-12)
    np.testing.assert_allclose(found["x"], (-0.193141991261, -0.466734823173, -0.599769677380), atol=1e-10)
    np.testing.assert_allclose(found["Omega2"], (-1.474834718367, 0.156664066862, 0.239170793863), atol=1e-9)
    loose = results(scheme="rk45", t1=1.0, tolerance=1e-4)
    assert loose["orthogonality_error_max"] > 1e-6
    assert loose["energy_error_max"] > 1e-7


def test_exact_inertias_are_the_closed_form():
    bodies = three_ellipsoids(inertia="exact")
    expected = {
        (0, "M"): (1.0659263920, 2.1695637590, 1.6640962963),
        (0, "J"): (1.3480064529, 20.1500330188, 25.3275794634),
        (1, "M"): (0.2663724703, 0.6550634602, 0.3677432345),
        (1, "J"): (0.1961472329, 1.7889323040, 2.9210091946),
    }
    for (body, name), numbers in expected.items():
        matrix = getattr(bodies.tree, name)[body]
        np.testing.assert_allclose(np.diagonal(matrix), numbers, atol=6e-11)
        np.testing.assert_array_equal(matrix, np.diag(np.diagonal(matrix)))
        printed = getattr(three_ellipsoids().tree, name)[body]
        np.testing.assert_array_equal(np.round(matrix, 4), printed)


def momentum(joints, xdot):
    bodies = three_ellipsoids(joints)
    return np.asarray(bodies.state(R_Omega=OMEGA, x_v=xdot).mu[-3:])


def test_linear_momentum_of_both_signs_of_the_joints():
    """Zero to the printed digits with the joints outward, exactly with a finer velocity; not with the printed sign."""
    assert np.max(np.abs(momentum("outward", XDOT))) < 2e-4
    assert np.max(np.abs(momentum("outward", ZERO_MOMENTUM))) < 1e-11
    np.testing.assert_allclose(momentum("printed", XDOT), (0.0, -2.88, -2.83), atol=6e-3)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["lgvi", "trapezoid", "midpoint"])
def test_the_papers_run(scheme):
    """T = 100 at h = 0.001: the energy swings, by 4.43e-3 for (30), without drift; momenta and rotations are kept."""
    found = results(scheme=scheme)
    if scheme == "lgvi":
        assert found["energy_error_max"] == pytest.approx(4.43e-3, rel=2e-3)
    else:
        assert found["energy_error_max"] < 1e-5
    assert found["linear_momentum_error_max"] < 1e-12
    assert found["angular_momentum_error_max"] < 1e-12 * 53.5
    assert found["orthogonality_error_max"] < 1e-13


@pytest.mark.long
def test_rotations_stay_orthogonal_without_correction():
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    defect = {"defect": lambda state, t: bodies.group.error(state.g)}
    method = nd.Variational(nd.Cayley(), dense("lgvi"), renormalise=False)
    run = nd.simulate(bodies, state, t1=100.0, dt=0.001, method=method, monitors=defect)
    assert 1e-15 < run.monitors["defect"].largest < 1.3e-13


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["lgvi", "midpoint"])
def test_no_drift_over_a_million_steps(scheme):
    """A chain of two: over 1e6 steps the line through the energy is level. The motion is chaotic: by chance the line
    rises or falls by up to 0.06 of the swing (starts that differ by 1e-6, other roundings), and four times as many
    steps do not make it more."""
    tree = nd.Tree(
        (-1, 0), [(1.0, 1.4, 0.7)], [(1.0, 1.6, 1.3)], own=((0, 0, 0), (-1, 0, 0)), other=((0, 0, 0), (1, 0, 0))
    )
    bodies = nd.models.ConnectedBodies(tree)
    state = bodies.state(R_Omega=((0.3, 0.5, -0.2), (-0.4, 0.1, 0.6)), x_v=(0.1, -0.2, 0.1))
    method = nd.Variational(nd.Cayley(), dense(scheme))
    run = nd.simulate(bodies, state, t1=2e4, dt=0.02, method=method, monitors={"energy": bodies.energy})
    energy = run.monitors["energy"]
    swing = energy.max - energy.min
    assert 0 < swing < 0.2 * energy.mean
    assert abs(energy.slope) * 2e4 < 0.15 * swing


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["lgvi", "trapezoid", "midpoint"])
def test_the_step_in_sweeps_is_the_dense_one(scheme):
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    methods = (METHODS[scheme], nd.Variational(nd.Cayley(), dense(scheme)))
    ends = [nd.simulate(bodies, state, t1=1.0, dt=0.01, method=method).final for method in methods]
    for one, other in zip(ends[0].g, ends[1].g, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ends[0].mu, ends[1].mu, rtol=0, atol=1e-11)
