"""A body that bends smoothly: its kinematics, its inertia by other routes, its hinged limit, and how it swims."""

import functools
import math

import jax
import numpy as np
import pytest

from naiad.errors import InputError
from naiad.groups import SE2
from naiad.groups.se2 import PlanarPose
from naiad.hydro import ClosedCurve, Ellipse, EllipticCylinder, PlanarBodies
from naiad.hydro.fourier import derivative, refined
from naiad.locomotion import (
    Bend,
    FourierGait,
    Links,
    Swimmer,
    bending_swimmer,
    cloth_joints,
    connection,
    curvature_wave,
    gait_torques,
    reconstruct,
)

EGG = ClosedCurve(lambda t: (4.0 * math.cos(t), math.sin(t) * (1.0 + 0.4 * math.cos(t))))
MODES = curvature_wave(9.0, lambda s: 1.0 - 0.08 * s)
SHAPE = np.array([0.12, -0.09])
POINTS = 128
DEPTH = 0.08
"""Of the sources inside, in the parameter of the outline."""


@functools.cache
def egg(density=0.0, fluid=1.3):
    return bending_swimmer(EGG, MODES, fluid=fluid, density=density, points=POINTS)


def in_complex(points):
    return points[..., 0] + 1j * points[..., 1]


def circle(amplitude):
    return FourierGait.of([0.0, 0.0], [[amplitude, 0.0]], [[0.0, -amplitude]])


def test_bending_keeps_area_and_length_and_slopes_are_those_of_places():
    bend = egg().bend
    with jax.enable_x64(True):
        (X, slopes), shares = bend.inside(SHAPE)
        by_jax = jax.jacfwd(lambda q: bend.inside(q)[0].X)(SHAPE)
        midline = np.asarray(bend.midline(SHAPE).X)
    np.testing.assert_allclose(slopes, by_jax, rtol=0, atol=1e-12)
    z = in_complex(egg().outlines(SHAPE))
    dz = derivative(z)
    t = 2.0 * np.pi / POINTS
    assert 0.5 * t * np.sum(np.imag(np.conj(z) * dz)) == pytest.approx(4.0 * np.pi, rel=1e-12)
    assert bend.area == pytest.approx(4.0 * np.pi, rel=1e-12)
    centre = t * np.sum(z * np.imag(np.conj(z) * dz)) / 3.0 / bend.area  # of the bent outline, by Green's theorem
    np.testing.assert_allclose(in_complex(egg().centres(SHAPE)), centre, atol=1e-12)
    moment = 0.25 * t * np.sum(np.abs(z) ** 2 * np.imag(np.conj(z) * dz))
    assert np.sum(np.asarray(shares) * np.abs(np.asarray(X)) ** 2) == pytest.approx(moment, rel=1e-12)
    top = midline[: POINTS // 2 + 1]
    np.testing.assert_allclose(
        np.abs(derivative(midline)), np.abs(4.0 * np.sin(t * np.arange(POINTS))), atol=1e-9
    )  # ds/dt
    assert abs(top[0] - top[-1]) < 7.9  # and it is bent


def test_the_straight_ellipse_has_kirchhoffs_inertia_and_a_bent_body_that_of_planar_bodies():
    fish = bending_swimmer(Ellipse(3.0, 0.8), MODES, fluid=1.3, density=0.7, points=96)
    cylinder = EllipticCylinder(3.0, 0.8)
    dry = 0.7 * 2.4 * np.pi * np.diag([0.25 * (9.0 + 0.64), 1.0, 1.0])
    expected = 1.3 * PlanarBodies([cylinder]).added_inertia() + dry
    np.testing.assert_allclose(fish.inertias([0.0, 0.0])[0, :3, :3], expected, rtol=0, atol=1e-11)
    assert expected[1, 1] == pytest.approx(1.3 * np.pi * 0.64 + 0.7 * 2.4 * np.pi)
    z = in_complex(egg().outlines(SHAPE))
    terms = np.fft.fft(z) / POINTS
    m = np.fft.fftfreq(POINTS, 1.0 / POINTS)

    def bent(t):
        at = np.sum(terms * np.exp(1j * m * t))
        return at.real, at.imag

    rigid = PlanarBodies([ClosedCurve(bent)], 1.3, points=POINTS).added_inertia()
    np.testing.assert_allclose(egg().inertias(SHAPE)[0, :3, :3], rigid, rtol=0, atol=1e-10)


def sources_inside(fish, q, c):
    """Strengths and places of sources inside that make the outline move as it does, by least squares: another method
    than integrals on the outline. And phi, velocities and normals there."""
    z = in_complex(fish.outlines(q))
    with jax.enable_x64(True):
        slopes = np.asarray(fish.bend.outline(q).slopes)
    V = refined(np.column_stack([1j * z, np.ones_like(z), 1j * np.ones_like(z), slopes]) @ c, 4 * POINTS)
    m = np.fft.fftfreq(POINTS, 1.0 / POINTS)
    places = refined(np.fft.ifft(np.fft.fft(z) * np.exp(-DEPTH * m)), 2 * POINTS)  # z at t + i DEPTH
    z = refined(z, 4 * POINTS)
    normal = -1j * derivative(z) * 2.0 * np.pi / len(z)  # times the length
    matrix = np.real(normal[:, None] / (2.0 * np.pi * (z[:, None] - places)))
    flux = np.real(np.conj(V) * normal)
    strengths = np.linalg.lstsq(matrix, flux, rcond=1e-14)[0]
    assert np.max(np.abs(matrix @ strengths - flux)) < 1e-6 * np.max(np.abs(flux))
    phi = np.log(np.abs(z[:, None] - places)) @ strengths / (2.0 * np.pi)
    return strengths, places, phi, z, V, normal


def test_the_fluids_inertia_is_that_of_sources_inside():
    fish, rng = egg(), np.random.default_rng(2)
    K = fish.inertias(SHAPE)[0]
    for c in rng.normal(size=(4, 5)):
        strengths, places, phi, z, V, normal = sources_inside(fish, SHAPE, c)
        energy = -0.5 * 1.3 * np.sum(phi * np.real(np.conj(V) * normal))
        assert energy == pytest.approx(0.5 * c @ K @ c, rel=1e-6)
        turning = -1.3 * np.sum(phi * np.real(np.conj(1j * z) * normal))
        assert turning == pytest.approx(K[0] @ c, abs=1e-5 * float(np.linalg.norm(K[0])))
        # far away the flow is a dipole, sum of strength times place: the impulse is that less the displaced water's
        step = 1e-5
        centres = in_complex(fish.centres(np.array([SHAPE + step * c[3:], SHAPE - step * c[3:]])))
        middle = in_complex(fish.centres(SHAPE))
        moved = 1j * c[0] * middle + c[1] + 1j * c[2] + (centres[0] - centres[1]) / (2.0 * step)
        impulse = 1.3 * (np.sum(strengths * places) - fish.bend.area * moved)
        np.testing.assert_allclose([impulse.real, impulse.imag], K[1:3] @ c, atol=1e-5 * float(np.linalg.norm(K[2])))


def test_the_total_momentum_is_zero_along_the_motion():
    """The far field's impulse, with velocities from the path, and the mass centre's, by differences along it."""
    fish, gait, t, h = egg(0.9), circle(0.15), 0.7, 1e-3
    motion = reconstruct(fish, gait, [0.0, t - h, t, t + h], steps=16)
    c = np.concatenate([motion.xi[2], motion.rates[2]])
    strengths, places, *_ = sources_inside(fish, motion.theta[2], c)
    turn = np.exp(1j * motion.g.beta)
    centres = in_complex(motion.g.x) + turn * in_complex(fish.centres(motion.theta))
    speed = (centres[3] - centres[1]) / (2.0 * h)
    wet = 1.3 * (turn[2] * np.sum(strengths * places) - fish.bend.area * speed)
    dry = 0.9 * fish.bend.area * speed
    assert abs(dry) > 0.01
    assert abs(wet + dry) < 2e-5 * abs(dry)


def test_concentrated_curvature_is_a_hinge():
    """Without a fluid to speak of: three pieces of a thin ellipse, hinged where the curvature is."""
    a, b, joint = 3.0, 0.02, 1.1
    x, w = np.polynomial.legendre.leggauss(400)

    def piece(low, high):
        s, share = 0.5 * (low + high) + 0.5 * (high - low) * x, 0.5 * (high - low) * w
        height = b * np.sqrt(1.0 - (s / a) ** 2)
        m, first, second = (float(np.sum(share * 2.0 * height * s**k)) for k in range(3))
        J = second + float(np.sum(share * 2.0 * height**3 / 3.0))
        return np.array([[J, 0.0, first], [0.0, m, 0.0], [first, 0.0, m]])

    links = Links(
        rest=PlanarPose._make([np.zeros(3), np.zeros((3, 2))]),
        screws=np.array([[1.0, 0.0, -joint], [1.0, 0.0, joint], [1.0, 0.0, 0.0]]),
        frame=SE2(),
        parents=(2, 2, -1),
    )
    hinged = Swimmer(links, np.stack([piece(joint, a), piece(-a, -joint), piece(-joint, joint)]))
    theta, errors = np.array([0.7, -0.5]), []
    for width in (0.2, 0.1):
        cloth = bending_swimmer(
            Ellipse(a, b), cloth_joints((joint, -joint), width), fluid=1e-9, density=1.0, points=256
        )
        with jax.enable_x64(True):
            V, shares = cloth.bend.inside(theta)
            X = np.asarray(V.X)
            V = np.column_stack([1j * X, np.ones_like(X), 1j * np.ones_like(X), np.asarray(V.slopes)])
        K = np.real(np.conj(V).T @ (np.asarray(shares)[:, None] * V))
        exact = hinged.inertias(theta)[0]
        errors.append((K - exact) / np.max(np.abs(exact)))
    assert np.max(np.abs(errors[1])) < 0.01
    assert np.max(np.abs(2.0 * errors[1] - errors[0])) < 1.5e-3  # of first order in the width: a corner that is cut


def test_a_wave_drives_the_body_against_itself_and_back_when_reversed():
    fish, gait = egg(0.9), circle(0.15)
    times = [0.0, 2.0 * np.pi]
    ahead = reconstruct(fish, gait, times, steps=16).g
    back = reconstruct(fish, FourierGait.of([0.0, 0.0], [[0.15, 0.0]], [[0.0, 0.15]]), times, steps=16).g
    assert ahead.x[-1, 0] > 0.05  # the wave runs to the tail
    assert abs(ahead.beta[-1]) < 1e-10  # half a period later the fish is its mirror image
    product = np.exp(1j * ahead.beta[-1]) * in_complex(back.x[-1]) + in_complex(ahead.x[-1])
    assert abs(product) < 1e-9
    small = [np.hypot(*reconstruct(fish, circle(size), times, steps=8).g.x[-1]) for size in (0.01, 0.02)]
    assert small[1] / small[0] == pytest.approx(4.0, rel=0.01)


@pytest.mark.long
def test_work_is_the_change_of_the_energy_and_slopes_are_differences():
    fish, gait = egg(0.9), circle(0.15)
    found = gait_torques(fish, gait, [0.0, 1.0, 2.0], nodes=6)
    change = found.kinetic_energy - found.kinetic_energy[0]
    assert np.max(np.abs(change)) > 0.01 * found.kinetic_energy[0]
    np.testing.assert_allclose(found.work, change, atol=1e-9 * found.kinetic_energy[0])
    K, slopes = fish.inertias_with_slopes(SHAPE)
    step = np.array([0.0, 1e-4])
    difference = (fish.inertias(SHAPE + step)[0] - fish.inertias(SHAPE - step)[0]) / 2e-4
    np.testing.assert_allclose(slopes[0, 1], difference, atol=1e-6 * np.max(np.abs(K)))
    assert connection(fish, SHAPE).shape == (3, 2)


def test_bad_bodies_are_refused():
    with pytest.raises(InputError, match="sections meet"):
        egg().inertias([0.8, 0.0])
    with pytest.raises(InputError, match="flux is lost"):  # head through tail
        bending_swimmer(Ellipse(4.0, 0.2), [lambda s: 1.0], points=128).inertias([0.85])
    with pytest.raises(InputError, match="changes too fast"):
        bending_swimmer(Ellipse(4.0, 0.2), cloth_joints((1.0,), 0.01), points=64)
    with pytest.raises(InputError, match="about x = 0"):
        Bend.of(ClosedCurve(lambda t: (5.0 + math.cos(t), math.sin(t))), MODES, 32)
    with pytest.raises(InputError, match="no numbers"):
        bending_swimmer(EGG, [lambda s: math.nan])
    with pytest.raises(InputError, match="points = 17"):
        bending_swimmer(EGG, MODES, points=17)
