"""Swimmers of space against the trees of connected bodies, the swimmers of the plane, and the symmetries of space."""

import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Ellipse, Ellipsoid, EllipticCylinder
from naiad.integrators import TreeVariational
from naiad.locomotion import (
    FORWARD,
    AbstractGait,
    ExponentialGait,
    FourierGait,
    connection,
    curvature,
    link_poses,
    reconstruct,
    spatial_swimmer,
    swimmer_of,
    three_link_fish,
)
from naiad.models import ConnectedBodies
from tests.locomotion.spatial_problems import AXES, Slab, crossed, of_tree, random_bodies, random_state

PERIOD = [0.0, 2.0 * np.pi]
HELICAL = FourierGait.of([0.1, -0.2], [[0.9, 0.0]], [[0.0, 0.9]])
JOINTS = {"hinges": ("hinge", "weld", "hinge"), "mixed": ("ball", "hinge", "weld", "ball"), "balls": ("ball", "ball")}


@pytest.mark.parametrize("joints", JOINTS.values(), ids=JOINTS)
def test_inertia_and_momentum_are_those_of_the_tree(joints):
    """Absolute attitudes and relative ones: the same energies, places and momenta."""
    bodies, rng = random_bodies(joints), np.random.default_rng(3)
    swimmer = swimmer_of(bodies.tree)
    states = [random_state(bodies, rng) for _ in range(4)]
    for state, rates in states:
        q, v = of_tree(bodies, swimmer, state, rates)
        K = swimmer.inertias(q.theta)[0]
        assert 0.5 * v @ K @ v == pytest.approx(float(bodies.energy(state)), rel=1e-12)
        body = (K @ v)[:6]
        p = q.g.R @ body[3:]
        angular = q.g.R @ body[:3] + np.cross(q.g.x, p)
        np.testing.assert_allclose([*angular, *p], bodies.noether(state), rtol=1e-11, atol=1e-11)
        stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[None], (q.g, q.theta))
        poses = link_poses(swimmer, *stacked)
        np.testing.assert_allclose(poses.R[0], state.g.R, atol=1e-13)
        np.testing.assert_allclose(poses.x[0], bodies.tree.centres(state.g), atol=1e-12)


def test_hinges_across_a_plane_are_the_swimmer_of_that_plane():
    planar = three_link_fish(density=0.2, fluid=0.5)
    arm = np.array([12.0, 0.0, 0.0])
    own, other = np.stack([-arm, arm, 0 * arm]), np.stack([arm, -arm, 0 * arm])
    parts = {"own": own, "other": other, "axis": (0.0, 0.0, 1.0), "density": 0.2, "fluid": 0.5}
    spatial = spatial_swimmer([Slab(EllipticCylinder(10.0, 1.0))] * 3, (2, 2, -1), **parts)
    shapes = np.random.default_rng(0).normal(size=(5, 2))
    in_plane = [2, 3, 4, 6, 7]
    K, dK = spatial.inertias_with_slopes(shapes)
    K2, dK2 = planar.inertias_with_slopes(shapes)
    np.testing.assert_allclose(K[:, in_plane][:, :, in_plane], K2, rtol=1e-13, atol=1e-10)
    np.testing.assert_allclose(dK[:, :, in_plane][:, :, :, in_plane], dK2, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(curvature(spatial, shapes)[..., 2:5], curvature(planar, shapes), atol=1e-10)
    there, here = (reconstruct(swimmer, FORWARD, PERIOD).g.x[-1] for swimmer in (spatial, planar))
    np.testing.assert_allclose(there, [*here, 0.0], atol=1e-10)


def _tree(swimmer):
    """The three crossed links as bodies, the middle one the root."""
    arm = np.array([1.1, 0.0, 0.0])
    own, other = np.stack([0 * arm, -arm, arm]), np.stack([0 * arm, arm, -arm])
    axis = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    torque = swimmer if callable(swimmer) else None
    options = {"joints": "hinge", "axis": axis, "overlap": True, "torque": torque}
    return ConnectedBodies.ellipsoids([AXES] * 3, (-1, 0, 0), own=own, other=other, **options)


def test_a_helical_gait_goes_into_space_with_the_momentum_that_it_has():
    """The momentum of the bodies in space, from absolute attitudes, stays what was given; the motion is covariant."""
    swimmer, bodies = crossed(), _tree(None)
    J = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3])
    start = nd.SE3().random(np.random.default_rng(2))
    times = np.linspace(0.0, 9.0, 7)
    motion = reconstruct(swimmer, HELICAL, times, start=start, momentum=J)
    for k in range(len(times)):
        spin, v = motion.xi[k, :3], motion.g.R[k] @ motion.xi[k, 3:]
        turns, rates = (np.zeros((3, 3)) for _ in range(2))
        turns[0], rates[0] = Rotation.from_matrix(motion.g.R[k]).as_rotvec(), spin
        turns[[1, 2], [2, 1]], rates[[1, 2], [2, 1]] = motion.theta[k], motion.rates[k]
        state = bodies.joint_state(turns, rates, x=motion.g.x[k], v=v)
        np.testing.assert_allclose(bodies.noether(state), J, atol=2e-10)
    here = reconstruct(swimmer, HELICAL, times)
    assert np.all(np.abs(here.g.x[-1]) > 0.01)
    there = reconstruct(swimmer, HELICAL, times, start=start)
    np.testing.assert_allclose(there.g.x, here.g.x @ start.R.T + start.x, atol=1e-13)
    np.testing.assert_allclose(there.g.R, start.R @ here.g.R, atol=1e-13)


def test_reconstruction_in_space_is_of_sixth_order():
    swimmer, J = crossed(), [0.3, -0.2, 0.5, 0.1, 0.4, -0.3]
    exact, *found = (reconstruct(swimmer, HELICAL, PERIOD, momentum=J, steps=n).g for n in (160, 16, 32))
    coarse, fine = (np.linalg.norm(g.x[-1] - exact.x[-1]) + np.linalg.norm(g.R[-1] - exact.R[-1]) for g in found)
    assert 5.6 < np.log2(coarse / fine) < 6.5


class ChebyshevGait(AbstractGait):
    """A polynomial on [0, period] in Chebyshev's form."""

    coefficients: np.ndarray
    period: float

    def __call__(self, t):
        import jax.numpy as jnp

        u, rows = 2.0 * t / self.period - 1.0, jnp.asarray(self.coefficients)
        last, now = jnp.zeros(rows.shape[1]), jnp.zeros(rows.shape[1])
        for row in rows[:0:-1]:
            last, now = now, 2.0 * u * now - last + row
        return u * now - last + rows[0]


def _push(g, xi, t):
    import jax.numpy as jnp

    bend, lift = 0.4 * jnp.sin(2.0 * t), 0.3 * jnp.cos(3.0 * t)
    zero = jnp.zeros(())
    return jnp.stack([jnp.zeros(3), jnp.stack([zero, zero, bend]), jnp.stack([zero, lift, zero])])


def test_torques_in_the_joints_move_the_tree_as_the_connection_says():
    """Links driven by torques: their velocity is - A theta' to round-off at every step, and the path of the base is the
    one that `reconstruct` makes of the angles, up to the error of the tree's integrator, of second order."""
    swimmer, bodies, T = crossed(), _tree(_push), 2.0
    off = []
    for dt in (0.02, 0.01):
        run = nd.simulate(bodies, bodies.joint_state(), t1=T, dt=dt, method=TreeVariational())
        R, x, t = (np.asarray(value) for value in (run.states.g.R, run.states.g.x, run.times))
        turned = [Rotation.from_matrix(R[:, 0].swapaxes(1, 2) @ R[:, i]).as_rotvec() for i in (1, 2)]
        theta = np.stack([turned[0][:, 2], turned[1][:, 1]], axis=1)
        xi = np.stack([bodies.velocity(g, mu) for g, mu in _every(run, 20)])
        Omega = xi[:, :9].reshape(-1, 3, 3)
        some = np.arange(0, len(t), 20)
        relative = [
            Omega[:, i] - np.einsum("tji,tj->ti", R[some, i], np.einsum("tij,tj->ti", R[some, 0], Omega[:, 0]))
            for i in (1, 2)
        ]
        rates = np.stack([relative[0][:, 2], relative[1][:, 1]], axis=1)
        v = np.einsum("tji,tj->ti", R[some, 0], xi[:, 9:])
        A = connection(swimmer, theta[some])
        np.testing.assert_allclose(
            np.concatenate([Omega[:, 0], v], axis=1), -np.einsum("tij,tj->ti", A, rates), atol=1e-11
        )
        fit = (
            np.polynomial.chebyshev.Chebyshev.fit(t, theta[:, 0], 20, domain=[0, T]),
            np.polynomial.chebyshev.Chebyshev.fit(t, theta[:, 1], 20, domain=[0, T]),
        )
        gait = ChebyshevGait(np.stack([each.coef for each in fit], axis=1), T)
        g = reconstruct(swimmer, gait, [0.0, T]).g
        off.append(np.linalg.norm(g.x[-1] - x[-1]) + np.linalg.norm(g.R[-1] - R[-1, 0]))
        assert np.linalg.norm(x[-1]) > 0.01
    assert off[1] < 1e-4
    assert 3.7 < off[0] / off[1] < 4.3


def _every(run, count):
    states = run.states
    return [jax.tree.map(lambda leaf, k=k: leaf[k], (states.g, states.mu)) for k in range(0, len(run.times), count)]


def test_a_ball_that_turns_about_one_axis_is_a_hinge():
    hinge, ball = crossed(), crossed("ball")
    axes = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    vectors = FourierGait.of(
        *(
            np.einsum("...k,kj->...kj", np.asarray(part), axes).reshape(*np.shape(part)[:-1], 6)
            for part in (HELICAL.mean, HELICAL.cosines, HELICAL.sines)
        )
    )
    gait = ExponentialGait(vectors, ball.links.shape)
    one, other = reconstruct(hinge, HELICAL, PERIOD), reconstruct(ball, gait, PERIOD)
    np.testing.assert_allclose(other.g.x, one.g.x, atol=1e-12)
    np.testing.assert_allclose(other.g.R, one.g.R, atol=1e-12)
    np.testing.assert_allclose(other.rates.reshape(-1, 2, 3), one.rates[:, :, None] * axes, atol=1e-12)


def test_slopes_and_curvature_where_turns_do_not_commute():
    """Slopes by differences along theta exp(s e); the curvature from what small loops do, which sees the brackets."""
    swimmer = swimmer_of(random_bodies(("ball", "hinge")).tree)
    shape, step = swimmer.links.shape, 1e-4
    with jax.enable_x64(True):
        theta = shape.exp(np.array([0.3, 0.5, -0.7, 0.4]))
        moved = [[shape.compose(theta, shape.exp(s * e)) for s in (step, -step)] for e in np.eye(4)]
    slopes = swimmer.inertias_with_slopes(theta).slopes[0]
    for a in range(4):
        up, down = (swimmer.inertias(each)[0] for each in moved[a])
        np.testing.assert_allclose(slopes[a], (up - down) / (2.0 * step), atol=1e-6)
    with jax.enable_x64(True):
        F = curvature(swimmer, shape.identity())
    size, log = 0.03, nd.SE3().log
    for a, b in ((1, 2), (2, 3), (0, 1)):
        found = np.zeros(6)
        for amplitude in (size, -size):
            circle = FourierGait.of(np.zeros(4), amplitude * np.eye(4)[[a]], amplitude * np.eye(4)[[b]])
            g = reconstruct(swimmer, ExponentialGait(circle, shape), PERIOD, steps=24).g
            found -= np.asarray(log(jax.tree.map(lambda leaf: leaf[-1], g))) / (2.0 * np.pi * size**2)
        np.testing.assert_allclose(found, F[a, b], atol=0.01 * np.abs(F[a, b]).max())
        np.testing.assert_array_equal(F[b, a], -F[a, b])


def test_rates_of_a_gait_of_turns():
    """theta^-1 theta' and its derivatives, in time and in the numbers of the gait, against differences."""
    shape = crossed("ball").links.shape
    rng = np.random.default_rng(4)
    cosines, sines = rng.normal(size=(2, 1, 6))

    def gait(scale):
        return ExponentialGait(FourierGait(np.zeros(6), scale * cosines, sines), shape)

    with jax.enable_x64(True):
        t, s = 0.7, 1e-5
        motion = gait(1.0).motion(t)
        R, ahead, behind = (gait(1.0)(at).turns for at in (t, t + s, t - s))
        W = np.einsum("nji,njk->nik", R, (ahead - behind) / (2 * s))
        np.testing.assert_allclose(
            motion.rates.reshape(2, 3), np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], 1), atol=1e-8
        )
        change = (gait(1.0).motion(t + s).rates - gait(1.0).motion(t - s).rates) / (2 * s)
        np.testing.assert_allclose(motion.accelerations, change, atol=1e-8)
        slope = jax.jvp(lambda scale: gait(scale).motion(t).rates, (1.0,), (1.0,))[1]
        by_hand = (gait(1.0 + s).motion(t).rates - gait(1.0 - s).motion(t).rates) / (2 * s)
        np.testing.assert_allclose(slope, by_hand, atol=1e-8)


def _two(**parts):
    arm = np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]])
    given = {"own": arm, "other": -arm, "axis": (0.0, 0.0, 1.0)} | parts
    return spatial_swimmer(given.pop("shapes", [Ellipsoid(AXES)] * 2), given.pop("parents", (-1, 0)), **given)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"parents": (-1, 0, 1)}, "2 shapes and 3 parents"),
        ({"parents": (0, 0)}, "expected -1 for one link"),
        ({"own": np.zeros((2, 2))}, r"own has shape \(2, 2\); expected 2 rows \(x, y, z\)"),
        ({"joints": "slider"}, "joints = 'slider'; expected one of 'hinge', 'ball', 'weld'"),
        ({"joints": ("hinge",)}, "one for each of 2"),
        ({"joints": "weld"}, "No joint lets a link move"),
        ({"axis": None}, "body 1 has a hinge, but no axis was given"),
        ({"axis": np.zeros(3)}, r"axis\[1\] is zero"),
        ({"rest": 2.0 * np.tile(np.eye(3), (2, 1, 1))}, r"rest\[0\] is not a rotation"),
        ({"density": -1.0}, "density = -1.0; expected a number of at least 0"),
        ({"fluid": -1.0}, "fluid = -1.0; expected the density of the fluid"),
        ({"shapes": [Ellipse(1.0, 0.2)] * 2}, r"shapes\[0\] = .*; expected a shape of space"),
        ({"shapes": [EllipticCylinder(1.0, 0.2)] * 2}, r"shapes\[0\] = .*; expected a shape of space"),
        ({"shapes": [Ellipsoid((1.0, 0.2, 0.2))] * 2}, "a motion without kinetic energy"),
    ],
)
def test_what_is_refused(parts, words):
    with pytest.raises(InputError, match=words):
        _two(**parts)


def test_what_is_refused_elsewhere():
    pinned = ConnectedBodies.ellipsoids(AXES, (-1, 0), own=np.ones((2, 3)), other=np.ones((2, 3)), root="pinned")
    with pytest.raises(InputError, match="pinned; a swimmer is free"):
        swimmer_of(pinned.tree)
    with pytest.raises(InputError, match=r"arrays of shape \(2,\); expected \(1,\) for one"):
        _two().inertias([1.0, 2.0])
    with pytest.raises(InputError, match="expected the group of shapes"):
        ExponentialGait(HELICAL)


def test_a_dry_swimmer_turns_like_a_falling_cat():
    """Without a fluid the mass centre stays where it is, and a loop of shapes turns the bodies all the same."""
    cat = crossed(fluid=0.0)
    motion = reconstruct(cat, HELICAL, np.linspace(0.0, 2.0 * np.pi, 5))
    centre = link_poses(cat, motion.g, motion.theta).x.mean(1)
    np.testing.assert_allclose(centre, np.tile(centre[0], (5, 1)), atol=1e-10)
    assert np.linalg.norm(motion.g.R[-1] - np.eye(3)) > 0.1
