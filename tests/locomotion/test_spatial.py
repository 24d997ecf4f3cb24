"""Swimmers of space against the trees of connected bodies, the swimmers of the plane, and the symmetries of space."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.hydro import Ellipse, Ellipsoid, EllipticCylinder
from naiad.locomotion import (
    FORWARD,
    AbstractGait,
    DrivenSwimmer,
    ExponentialGait,
    FourierGait,
    connection,
    curvature,
    gait_torques,
    placed_links,
    reconstruct,
    spatial_swimmer,
    swimmer_of,
    three_link_fish,
)
from naiad.models import ConnectedBodies
from naiad.trees import TreeVariational, motion
from tests.locomotion.spatial_problems import AXES, Slab, crossed, of_tree, random_bodies, random_motion

PERIOD = [0.0, 2.0 * np.pi]
HELICAL = FourierGait.of([0.1, -0.2], [[0.9, 0.0]], [[0.0, 0.9]])


def _energy(tree, g, xi):
    return tree.kinetic_energy(g, xi)


@pytest.mark.parametrize("joints", [("hinge", "weld", "hinge"), ("ball", "hinge", "weld", "ball")])
def test_inertia_and_momentum_are_those_of_the_tree(joints):
    """Absolute attitudes and relative ones: the same energies, places and momenta."""
    bodies, rng = random_bodies(joints), np.random.default_rng(3)
    tree, swimmer = bodies.tree, swimmer_of(bodies.tree)
    motions = [random_motion(bodies, rng) for _ in range(4)]
    states, xi = (_stacked([getattr(each, name) for each in motions]) for name in ("state", "xi"))
    energies = execute_rows(_energy, tree, states.g, xi, parameters=(0,))
    g, theta, v = _stacked([of_tree(tree, swimmer, each) for each in motions])
    K = swimmer.inertias(theta)
    np.testing.assert_allclose(0.5 * np.einsum("si,sij,sj->s", v, K, v), energies, rtol=1e-12)
    poses = placed_links(swimmer, g, theta)
    np.testing.assert_allclose(poses.R, states.g.R, atol=1e-13)
    np.testing.assert_allclose(poses.x, bodies.places(states.g), atol=1e-12)
    body = np.einsum("sij,sj->si", K, v)[:, :6]
    p, spin = (np.einsum("sij,sj->si", g.R, part) for part in (body[:, 3:], body[:, :3]))
    mu = states.mu
    np.testing.assert_allclose(p, mu[:, -3:], atol=1e-11)
    moments = np.einsum("snij,snj->si", states.g.R, mu[:, :-3].reshape(4, -1, 3))
    np.testing.assert_allclose(spin, moments, atol=1e-11)


def _stacked(each):
    return jax.tree.map(lambda *leaves: np.stack(leaves), *each)


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


def _tree(torque=None):
    """The three crossed links as bodies, the middle one the root."""
    arm = np.array([1.1, 0.0, 0.0])
    own, other = np.stack([0 * arm, -arm, arm]), np.stack([0 * arm, arm, -arm])
    axis = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    options = {"joints": "hinge", "axis": axis, "overlap": True, "torque": torque}
    return ConnectedBodies.ellipsoids([AXES] * 3, (-1, 0, 0), own=own, other=other, **options)


def test_a_helical_gait_goes_into_space_with_the_momentum_that_it_has():
    """The momentum of the bodies in space, from absolute attitudes, stays what was given; the motion is covariant."""
    swimmer, bodies = crossed(), _tree()
    J = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3])
    start = nd.SE3().random(np.random.default_rng(2))
    times = np.linspace(0.0, 9.0, 7)
    swum = reconstruct(swimmer, HELICAL, times, start=start, momentum=J)
    for k in range(len(times)):
        spin, v = swum.xi[k, :3], swum.g.R[k] @ swum.xi[k, 3:]
        turns, rates = (np.zeros((3, 3)) for _ in range(2))
        turns[0], rates[0] = Rotation.from_matrix(swum.g.R[k]).as_rotvec(), spin
        turns[[1, 2], [2, 1]], rates[[1, 2], [2, 1]] = swum.theta[k], swum.rates[k]
        state = bodies.joint_state(turns, rates, x=swum.g.x[k], v=v)
        np.testing.assert_allclose(bodies.noether(state), J, atol=2e-10)
    here = reconstruct(swimmer, HELICAL, times)
    assert np.all(np.abs(here.g.x[-1]) > 0.01)
    there = reconstruct(swimmer, HELICAL, times, start=start)
    np.testing.assert_allclose(there.g.x, here.g.x @ start.R.T + start.x, atol=1e-13)
    np.testing.assert_allclose(there.g.R, start.R @ here.g.R, atol=1e-13)


def test_reconstruction_in_space_is_of_sixth_order():
    swimmer, J = crossed(), [0.3, -0.2, 0.5, 0.1, 0.4, -0.3]
    exact, *found = (reconstruct(swimmer, HELICAL, PERIOD, momentum=J, steps=n).g for n in (320, 32, 64))
    coarse, fine = (np.linalg.norm(g.x[-1] - exact.x[-1]) + np.linalg.norm(g.R[-1] - exact.R[-1]) for g in found)
    assert 5.7 < np.log2(coarse / fine) < 6.3


class ChebyshevGait(AbstractGait):
    """A polynomial on [0, period] in Chebyshev's form."""

    coefficients: np.ndarray
    period: float

    def __call__(self, t):
        u, rows = 2.0 * t / self.period - 1.0, jnp.asarray(self.coefficients)
        last, now = jnp.zeros(rows.shape[1]), jnp.zeros(rows.shape[1])
        for row in rows[:0:-1]:
            last, now = now, 2.0 * u * now - last + row
        return u * now - last + rows[0]


def _push(g, xi, t):
    bend, lift = 0.3 * jnp.sin(2.0 * t), 0.2 * jnp.cos(3.0 * t)
    zero = jnp.zeros(())
    return jnp.stack([jnp.zeros(3), jnp.stack([zero, zero, bend]), jnp.stack([zero, lift, zero])])


def _held(tree, g, mu):
    """The velocity with this momentum that the joints let free."""
    return motion(tree, g, mu).xi


def test_torques_in_the_joints_move_the_tree_as_the_connection_says():
    """Links driven by torques: their velocity is - A theta' to round-off at every step, and the path of the base is the
    one that `reconstruct` makes of the angles, up to the error of the tree's integrator, of second order."""
    swimmer, bodies, T, off = crossed(), _tree(_push), 2.0, []
    for dt in (0.02, 0.01):
        run = nd.simulate(bodies, bodies.joint_state(), t1=T, dt=dt, method=TreeVariational())
        g, mu, t = run.states.g, run.states.mu, np.asarray(run.t)
        xi = execute_rows(_held, bodies.tree, g, mu, parameters=(0,))
        R, Omega, v = g.R, xi[:, :9].reshape(-1, 3, 3), np.einsum("tji,tj->ti", g.R[:, 0], xi[:, 9:])
        turns = np.einsum("tji,tnjk->tnik", R[:, 0], R[:, 1:])
        relative = Omega[:, 1:] - np.einsum("tnji,tj->tni", turns, Omega[:, 0])
        theta = np.arctan2(turns[:, [0, 1], [1, 0], [0, 2]], turns[:, :, 0, 0])
        rates = np.stack([relative[:, 0, 2], relative[:, 1, 1]], axis=1)
        predicted = -np.einsum("tij,tj->ti", connection(swimmer, theta), rates)
        np.testing.assert_allclose(np.concatenate([Omega[:, 0], v], axis=1), predicted, atol=1e-12)
        fits = [np.polynomial.Chebyshev.fit(t, angle, 40, domain=[0.0, T]).coef for angle in theta.T]
        end = reconstruct(swimmer, ChebyshevGait(np.stack(fits, axis=1), T), [0.0, T]).g
        off.append(np.linalg.norm(end.x[-1] - g.x[-1]) + np.linalg.norm(end.R[-1] - R[-1, 0]))
        assert np.linalg.norm(g.x[-1]) > 0.01
    assert off[1] < 1e-5
    assert 3.7 < off[0] / off[1] < 4.3


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


def _velocities(links, theta, v):
    return links.jacobian(theta) @ v


def test_torques_are_those_of_newton_and_euler():
    """On a link with P = M V, Pi = J Omega: f = P' + Omega x P, n = Pi' + Omega x Pi + V x P = tau + own x f. The work
    is the change of the energy."""
    swimmer, step = crossed("ball"), 0.01
    cosines, sines = 0.5 * np.random.default_rng(6).normal(size=(2, 1, 6))
    gait = ExponentialGait(FourierGait.of(np.zeros(6), cosines, sines), swimmer.links.shape)
    times = 0.8 + step * np.arange(-4, 5)
    J = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3])
    swum = reconstruct(swimmer, gait, times, momentum=J)
    xi = execute_rows(
        _velocities, swimmer.links, swum.theta, np.concatenate([swum.xi, swum.rates], axis=1), parameters=(0,)
    )
    mu = np.einsum("nij,tnj->tni", swimmer.own, xi)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / step
    change, here, momenta = np.einsum("t,tni->ni", weights, mu), xi[4], mu[4]
    expected = []
    for i, side in ((0, -1.1), (2, 1.1)):
        (Omega, V), (Pi, P), (dPi, dP) = (each[i].reshape(2, 3) for each in (here, momenta, change))
        force = dP + np.cross(Omega, P)
        moment = dPi + np.cross(Omega, Pi) + np.cross(V, P)
        expected.append(moment - np.cross([side, 0.0, 0.0], force))
    start = jax.tree.map(lambda leaf: leaf[0], swum.g)
    found = gait_torques(swimmer, gait, times, momentum=J, start=start)
    np.testing.assert_allclose(found.torques[4].reshape(2, 3), expected, atol=1e-9)
    np.testing.assert_allclose(found.work, found.kinetic_energy - found.kinetic_energy[0], atol=1e-12)


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


def _scaled(coefficients, scale, t):
    cosines, sines, shape = coefficients
    return ExponentialGait(FourierGait(np.zeros(6), scale * cosines, sines), shape).motion(t)


def _scaled_slope(coefficients, scale, t):
    return jax.jvp(lambda scale: _scaled(coefficients, scale, t).rates, (scale,), (scale / scale,))[1]


def test_rates_of_a_gait_of_turns():
    """theta^-1 theta' and its derivatives, in time and in the numbers of the gait, against differences."""
    cosines, sines = np.random.default_rng(4).normal(size=(2, 1, 6))
    given, s = (cosines, sines, crossed("ball").links.shape), 1e-5
    scale, t = np.array([1.0, 1.0, 1.0, 1.0 + s, 1.0 - s]), np.array([0.7, 0.7 + s, 0.7 - s, 0.7, 0.7])
    theta, rates, accelerations = execute_rows(_scaled, given, scale, t, parameters=(0,))
    W = np.einsum("nji,njk->nik", theta.turns[0], (theta.turns[1] - theta.turns[2]) / (2.0 * s))
    np.testing.assert_allclose(rates[0].reshape(2, 3), np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], 1), atol=1e-8)
    np.testing.assert_allclose(accelerations[0], (rates[1] - rates[2]) / (2.0 * s), atol=1e-8)
    slope = execute_rows(_scaled_slope, given, scale[:1], t[:1], parameters=(0,))[0]
    np.testing.assert_allclose(slope, (rates[3] - rates[4]) / (2.0 * s), atol=1e-8)


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
        ({"axis": np.zeros(3)}, r"axis\[1\] = .* is not a direction"),
        ({"rest": 2.0 * np.tile(np.eye(3), (2, 1, 1))}, r"rest\[0\] is not a rotation"),
        ({"density": -1.0}, "density = -1.0; expected a number of at least 0"),
        ({"fluid": -1.0}, "fluid = -1.0; expected the density of the fluid"),
        ({"shapes": [Ellipse(1.0, 0.2)] * 2}, "expected a sequence, each of them a shape"),
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
    swum = reconstruct(cat, HELICAL, np.linspace(0.0, 2.0 * np.pi, 5))
    centre = placed_links(cat, swum.g, swum.theta).x.mean(1)
    np.testing.assert_allclose(centre, np.tile(centre[0], (5, 1)), atol=1e-10)
    assert np.linalg.norm(swum.g.R[-1] - np.eye(3)) > 0.1


@pytest.mark.long
@pytest.mark.parametrize("joints", ["hinge", "ball"])
def test_free_joints_keep_momentum_and_energy(joints):
    """The variational motion of the swimmer itself, on SE(3) times its shapes (XLA: as machine code it is long)."""
    swimmer = crossed(joints)
    start = swimmer.state(xi=0.3 * np.random.default_rng(0).normal(size=swimmer.group.dim))
    run = nd.simulate(swimmer, start, t1=1.0, dt=0.02, method=nd.Variational(nd.Cayley()), engine="xla")
    g, body = run.states.g.g, run.states.mu[:, :6]
    p, spin = (np.einsum("tij,tj->ti", g.R, part) for part in (body[:, 3:], body[:, :3]))
    momentum = np.concatenate([p, spin + np.cross(g.x, p)], axis=1)
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-13)
    energy = np.asarray(run.energy)
    assert np.max(np.abs(energy / energy[0] - 1.0)) < 1e-4


def test_states_of_ball_joints_and_what_is_for_hinges_only():
    arm = np.array([1.1, 0.0, 0.0])
    worm = spatial_swimmer(
        [Ellipsoid((1.0, 0.2, 0.35))] * 2,
        parents=(-1, 0),
        own=[0 * arm, -arm],
        other=[0 * arm, arm],
        joints="ball",
        density=1.0,
    )
    start = worm.start(rates=(0.1, 0.2, 0.3), momentum=(0.0, 0.1, 0.0, 0.0, 0.0, 0.2))
    np.testing.assert_allclose(worm.momentum(start)[:6], (0.0, 0.1, 0.0, 0.0, 0.0, 0.2), atol=1e-15)
    stopped = worm.locked(start)
    np.testing.assert_allclose(worm.velocity(stopped.g, stopped.mu)[6:], 0.0, atol=1e-14)
    with pytest.raises(InputError, match="springs are for hinges"):
        DrivenSwimmer(worm, stiffness=1.0)
    with pytest.raises(InputError, match="is not a shape"):
        worm.start(theta=(0.1, 0.2, 0.3))
