"""Swimmers that the fluid couples: far apart, beside mirrors and obstacles, and what they keep."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import hydro
from naiad.errors import InputError
from naiad.groups.se3 import Pose
from naiad.locomotion import FourierGait, School, reconstruct, spatial_swimmer

GAIT = FourierGait.of([0.0, 0.0], [[-0.6, 0.0]], [[0.0, 0.6]])
MIRROR = np.array([-1.0, -1.0, 1.0, 1.0, 1.0, -1.0])
"""What a mirror across z does to (Omega, v)."""


def fish(density=1.0, degree=3):
    arm = np.array([1.2, 0.0, 0.0])
    own, other = np.stack([-arm, arm, 0.0 * arm]), np.stack([arm, -arm, 0.0 * arm])
    links = [hydro.Ellipsoid((1.0, 0.25, 0.5))] * 3
    parts = {"own": own, "other": other, "axis": (0.0, 0.0, 1.0), "density": density}
    return spatial_swimmer(links, (2, 2, -1), coupled=True, degree=degree, **parts)


NEUTRAL, LIGHT = fish(), fish(0.5)


def velocities(school, *places, t=0.3):
    """Those of the bases, not turned, of fish without momentum."""
    g = Pose(np.tile(np.eye(3), (len(places), 1, 1)), np.array(places, float))
    with jax.enable_x64(True):
        return np.asarray(school.velocity(g, np.zeros(6 * len(places)), t)).reshape(-1, 6)


def alone(swimmer, t=0.3):
    return reconstruct(swimmer, GAIT, np.array([t, t + 0.1]), steps=1).xi[0]


@pytest.mark.parametrize(("swimmer", "power"), [(NEUTRAL, 4), (LIGHT, 3)])
def test_far_apart_fish_swim_alone(swimmer, power):
    """One alone moves as `reconstruct` has it. What a neighbour adds falls with the fourth power of its distance where
    fish are neutral: without momentum their flow has no dipole, M_fluid + rho sum V_i v_i = 0. Else with the third."""
    by_itself = alone(swimmer)
    np.testing.assert_allclose(velocities(School([swimmer], GAIT), (0.0, 0.0, 0.0))[0], by_itself, atol=1e-13)
    pair = School([swimmer] * 2, GAIT)
    far, farther = (
        np.linalg.norm(velocities(pair, (0.0, 0.0, 0.0), (0.0, 0.3 * d, d))[0] - by_itself) for d in (100.0, 200.0)
    )
    assert 1e-12 < farther < 1e-8
    assert np.log2(far / farther) == pytest.approx(power, abs=0.06)


def test_mirrored_fish_move_as_mirror_images():
    one, other = velocities(School([NEUTRAL] * 2, GAIT), (0.0, 0.0, 0.7), (0.0, 0.0, -0.7))
    np.testing.assert_allclose(other, MIRROR * one, atol=1e-13)
    assert np.abs(one[[0, 1, 5]]).max() > 1e-4  # towards each other
    three = velocities(School([NEUTRAL] * 3, GAIT), (0.0, 0.0, 1.4), (0.0, 0.0, 0.0), (0.0, 0.0, -1.4))
    np.testing.assert_allclose(three[2], MIRROR * three[0], atol=1e-13)
    np.testing.assert_allclose(three[1], MIRROR * three[1], atol=1e-13)


def test_velocities_are_those_of_the_legendre_transform():
    """By the energy of one motion, conjugate gradients, against the inertia of all, factorised; obstacles too."""
    school = School([NEUTRAL, LIGHT], GAIT, obstacles=[hydro.Sphere(0.5).placed(x=(0.5, 0.0, 1.2))], degree=3)
    g = Pose(np.tile(np.eye(3), (2, 1, 1)), np.array([(0.0, 0.0, 0.0), (0.0, 0.0, -1.4)]))
    mu = np.linspace(-0.2, 0.3, 12)
    with jax.enable_x64(True):
        xi = school.velocity(g, mu, 0.3)
        np.testing.assert_allclose(school.legendre(g, xi, 0.3), mu, atol=1e-12)
        assert school.symmetry is None


def test_an_obstacle_in_the_mirror_plane_is_a_mirror_image_of_itself():
    """A fish in the plane of a sphere's centre stays there; a second sphere opposite cancels what one does across."""
    one = School([NEUTRAL], GAIT, obstacles=[hydro.Sphere(0.5).placed(x=(0.0, 1.6, 0.0))], degree=3)
    xi = velocities(one, (0.0, 0.0, 0.0))[0]
    assert np.abs(xi[[0, 1, 5]]).max() < 1e-13
    assert np.abs(xi - alone(NEUTRAL)).max() > 5e-5
    beside = [hydro.Sphere(0.5).placed(x=(0.2, 0.1, z)) for z in (1.5, -1.5)]
    pushed = velocities(School([NEUTRAL], GAIT, obstacles=beside[:1], degree=3), (0.0, 0.0, 0.0))[0]
    assert np.abs(pushed[[0, 1, 5]]).max() > 1e-6
    between = velocities(School([NEUTRAL], GAIT, obstacles=beside, degree=3), (0.0, 0.0, 0.0))[0]
    assert np.abs(between[[0, 1, 5]]).max() < 1e-13


@pytest.mark.long
def test_a_run_keeps_the_momentum_of_the_whole_and_is_of_second_order():
    """Two fish, a quarter of a period; and one fish beside `reconstruct`, which is of sixth order."""
    school, T = School([NEUTRAL, LIGHT], GAIT), 2.0 * np.pi
    start = school.start([(0.0, 0.0, 0.0), (0.0, 0.2, 1.3)])
    run = nd.simulate(school, start, t1=T / 4, dt=T / 32, engine="xla")
    assert np.abs(run.momentum.to_numpy()).max() < 1e-13
    each = run.states.mu.reshape(len(run.t), 2, 6)
    assert np.abs(each[-1]).max() > 1e-4  # which they exchange
    one = School([NEUTRAL], GAIT)
    truth = reconstruct(NEUTRAL, GAIT, np.array([0.0, T / 4])).g.x[-1]
    errors = [
        np.linalg.norm(
            nd.simulate(one, one.start([(0.0, 0.0, 0.0)]), t1=T / 4, dt=T / n, engine="xla").final.g.x[0] - truth
        )
        for n in (16, 32)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: School([NEUTRAL.alone], GAIT), "made with coupled=True"),
        (lambda: School([], GAIT), "one or more swimmers"),
        (lambda: School([NEUTRAL] * 2, [GAIT] * 3), "3 gaits for 2 swimmers"),
        (lambda: School([NEUTRAL] * 2, GAIT).start([(0.0, 0.0, 0.0)]), "expected 2 rows x"),
        (lambda: School([NEUTRAL] * 2, GAIT).start([(0.0, 0.0, 0.0), (0.0, 0.0, 0.9)]), "touch or overlap"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
