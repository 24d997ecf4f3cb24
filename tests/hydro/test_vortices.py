"""Fields of vortices: maps of outlines, energies and impulses by two routes, the flow."""

import jax
import numpy as np
import pytest

from naiad.compiler import compile
from naiad.errors import InputError
from naiad.hydro import ClosedCurve, Ellipse, EllipticCylinder, PlanarBodies, Vortices
from naiad.numerics import double
from tests.compiler.compare import assert_close, xla
from tests.hydro.wagner import excess_of_lift, wagner, wagner_by_theodorsen

GAMMA, CIRCULATION = [1.0, -0.4], 0.7
SHIFT, FIRST, SECOND = 0.3 - 0.2j, 0.2 + 0.1j, 0.08


def bean(t):
    """z = s + a0 + a1/s + a2/s^2 on the unit circle."""
    s = np.exp(1j * t)
    z = s + SHIFT + FIRST / s + SECOND / s**2
    return z.real, z.imag


@pytest.mark.parametrize("X", [[[2.0, 1.0], [-1.5, 1.4]], [[1.31, 0.01], [0.2, -0.65]]])
def test_an_ellipse_as_any_outline_has_the_energy_of_the_ellipse(X):
    """In closed form, and by the map that the boundary method finds: also a hundredth from the wall."""
    exact = Vortices(GAMMA, Ellipse(1.3, 0.6), circulation=CIRCULATION, density=2.0)
    found = Vortices(
        GAMMA, ClosedCurve(lambda t: (1.3 * np.cos(t), 0.6 * np.sin(t))), circulation=CIRCULATION, density=2.0
    )
    X = np.array(X)
    assert float(found.energy(X)) == pytest.approx(float(exact.energy(X)), abs=1e-12)
    assert np.max(np.abs(np.asarray(found.impulse(X)) - np.asarray(exact.impulse(X)))) < 1e-13
    assert np.max(np.abs(np.asarray(found.body.added) - np.asarray(exact.body.added))) < 1e-13


@double
def test_the_map_of_a_bean_is_the_series_that_it_was_made_of():
    bodied = Vortices([1.0], ClosedCurve(bean))
    assert bodied.body.radius == pytest.approx(1.0, abs=1e-14)
    assert bodied.body.shift == pytest.approx([SHIFT.real, SHIFT.imag], abs=1e-14)
    terms = np.array([[FIRST.real, FIRST.imag], [SECOND, 0.0]])
    assert np.max(np.abs(bodied.body.terms[:2] - terms)) < 1e-14
    assert np.max(np.abs(bodied.body.terms[2:]), initial=0.0) < 1e-13


@double
def test_velocities_by_the_energy_are_those_of_the_flow_without_the_own_part():
    """rho Gamma x' = dW/dy, against the flow of the others, images and circulation by Milne-Thomson and Routh."""
    a, b, rho = 1.3, 0.6, 2.0
    vortices = Vortices(GAMMA, Ellipse(a, b), circulation=CIRCULATION, density=rho)
    X = np.array([[2.0, 1.0], [-1.5, 1.4]])
    slope = np.asarray(jax.grad(vortices.energy)(X))
    got = (slope[:, 1] - 1j * slope[:, 0]) / (rho * np.array(GAMMA))
    R2, c, z = (0.5 * (a + b)) ** 2, 0.25 * (a * a - b * b), X @ [1.0, 1.0j]
    root = np.sqrt(z - 2.0 * np.sqrt(c)) * np.sqrt(z + 2.0 * np.sqrt(c))
    s = 0.5 * (z + root)
    expected = []
    for k in range(2):
        w = CIRCULATION / s[k]
        w += sum(g * (1.0 / s[k] - 1.0 / (s[k] - R2 / np.conj(s[j]))) for j, g in enumerate(GAMMA))
        w += GAMMA[1 - k] / (s[k] - s[1 - k])
        fp, fpp = 1.0 - c / s[k] ** 2, 2.0 * c / s[k] ** 3
        expected.append(np.conj(w / (2j * np.pi) / fp - GAMMA[k] / (4j * np.pi) * fpp / fp**2))
    assert np.max(np.abs(got - expected)) < 1e-14


def test_the_flow_goes_around_the_body_and_has_its_circulation():
    vortices = Vortices(GAMMA, EllipticCylinder(1.3, 0.6), circulation=CIRCULATION)
    pose, xi = np.array([0.4, 0.3, -0.2]), np.array([0.5, 0.3, -0.2])
    flow = vortices.flow([2.0, 1.0, -1.5, 1.4], pose, xi)
    z = Ellipse(1.3, 0.6).sample(128)
    turn = np.exp(1j * pose[0])
    points = turn * z.z * (1.0 + 1e-9) + complex(*pose[1:])
    u = flow.velocity(np.stack([points.real, points.imag], axis=1)) @ [1.0, 1.0j]
    rigid = turn * (complex(*xi[1:]) + 1j * xi[0] * z.z)
    through = np.real(np.conj(u - rigid) * (-1j * turn * z.dz))
    assert np.max(np.abs(through)) < 1e-7
    around = np.mean(np.real(np.conj(u) * turn * z.dz)) * 2.0 * np.pi
    assert around == pytest.approx(CIRCULATION, abs=1e-7)
    assert np.all(np.isnan(flow.velocity([0.3, -0.2])))


@double
def test_vortices_among_one_body_by_boundary_elements_are_those_of_its_map():
    X = np.array([[2.0, 1.0], [-1.5, 1.4]])
    exact = Vortices(GAMMA, Ellipse(1.3, 0.6), density=2.0).at_rest(X)
    found = PlanarBodies([Ellipse(1.3, 0.6)], 2.0, points=96).among_vortices(np.array(GAMMA), X)
    assert float(found.energy) == pytest.approx(float(exact.energy), abs=1e-12)
    assert np.max(np.abs(np.asarray(found.impulse) - np.asarray(exact.impulse))) < 1e-12


@pytest.mark.long
def test_vortices_among_bodies_are_compiled():
    """In real numbers, with their derivatives, as XLA has them."""
    bodies, X = (
        PlanarBodies([Ellipse(1.3, 0.6), Ellipse(1.0, 1.0)], 2.0, points=16),
        np.array([[2.0, 1.0], [-1.5, 1.4]]),
    )
    poses = np.array([[0.2, 0.0, 0.0], [0.3, 0.5, 4.0]])

    def function(X, poses):
        def energy(X, poses):
            found = bodies.among_vortices(np.array(GAMMA), X, poses)
            return found.energy + found.impulse @ np.arange(6.0) + found.inertia[0, 4]

        return jax.value_and_grad(energy)(X, poses)

    assert_close(compile(function, cache=False)(X, poses), xla(function, X, poses), 1e-12)


@pytest.mark.long
@double
def test_two_bodies_far_apart_each_have_their_own_impulse():
    X = np.array([[2.0, 1.0]])
    alone = Vortices([1.0], Ellipse(1.3, 0.6)).at_rest(X)
    poses = np.array([[0.0, 0.0, 0.0], [0.3, 400.0, 0.0]])
    both = PlanarBodies([Ellipse(1.3, 0.6), Ellipse(1.0, 1.0)], points=96).among_vortices([1.0], X, poses)
    assert np.max(np.abs(np.asarray(both.impulse[:3]) - np.asarray(alone.impulse))) < 1e-4
    assert float(both.energy) == pytest.approx(float(alone.energy), abs=1e-4)


def test_an_outline_that_is_too_slender_for_its_points_is_refused():
    with pytest.raises(InputError, match=r"less slender and less hollow|points are too few"):
        Vortices([1.0], ClosedCurve(lambda t: (np.cos(t), 0.02 * np.sin(t) + 0.3 * np.cos(t) ** 3)), points=64)


@pytest.mark.parametrize("s", [0.1, 1.0, 2.0, 4.0, 9.0])
def test_wagners_function_is_the_same_by_both_integrals(s):
    assert wagner(s) == pytest.approx(wagner_by_theodorsen(s), abs=1e-11)


def test_the_lift_of_a_plate_that_starts_at_once_tends_to_wagners_as_the_square_root_of_the_step():
    """Against Wagner's exact function; the errors are those of docs/vortices.md."""
    wake, errors = excess_of_lift(0.1, t1=9.2)
    assert errors == pytest.approx([0.0614, 0.0394, 0.0221, 0.0086], abs=5e-5)
    _, finer = excess_of_lift(0.05, t1=4.2)
    np.testing.assert_allclose(errors[:3] / finer[:3], np.sqrt(2.0), rtol=0.02)
    assert np.abs(wake.poses[-1] - [np.deg2rad(3.0), 9.2, 0.0]) == pytest.approx(0.0, abs=1e-12)
    assert np.all(wake.gamma < 0.0)  # the starting vortices turn against the circulation that carries the plate
