"""Bodies coupled in space: public numbers, invariants, derivatives, meshes beside smooth shapes."""

import jax
import numpy as np
import pytest

from naiad.errors import InputError
from naiad.groups import SE3, SO3
from naiad.groups.se3 import Pose
from naiad.hydro import Ellipsoid, Mesh, Plane, SpatialBodies, Sphere, Spheroid, moved
from naiad.hydro.spatial.harmonics import harmonics, sphere, turns
from naiad.hydro.spatial.smooth import energy_blocks
from tests.hydro import surfaces, two_spheres

TWO = SpatialBodies([Sphere(1.0), Sphere(1.0)], degree=12)
UNLIKE = SpatialBodies(
    [Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9), Sphere(0.5).placed(x=(0.3, 0.0, 0.0))], 1.3, degree=6
)


def _turned(x, seed=3):
    rng = np.random.default_rng(seed)
    return Pose(np.stack([SO3().random(rng) for _ in x]), np.array(x, float))


def _moved_together(poses, move):
    return Pose(np.asarray(move.R @ poses.R), np.asarray(poses.x @ np.asarray(move.R).T + move.x))


APART = _turned([(0.0, 0.0, 0.0), (2.6, 0.3, -0.2), (-0.4, 2.2, 1.2)])


def test_two_spheres():
    """Equal spheres of radius 1 at a distance of 3, by bispherical series."""
    M, dM = TWO.added_inertia_with_derivative([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)])
    along, across = M[np.ix_([3, 9], [3, 9])], M[np.ix_([4, 10], [4, 10])]
    np.testing.assert_allclose(along[0], [2.10670483, -0.23339113], atol=6e-9)
    np.testing.assert_allclose(across[0], [2.09780740, 0.11646307], atol=6e-9)
    np.testing.assert_allclose(dM[3, [3, 9], 1, 3], [-0.02779794, 0.23514684], atol=6e-9)
    np.testing.assert_allclose(dM[4, [4, 10], 1, 3], [-0.00791509, -0.11675890], atol=6e-9)
    assert np.abs(M[[0, 1, 2, 6, 7, 8]]).max() < 1e-14  # spheres turn without the water


def test_the_error_of_the_harmonics_is_that_against_multipoles():
    """Two spheres that nearly touch, by bispherical series; of nodes of a motion, at those that are nearest."""
    poses = Pose(np.tile(np.eye(3), (3, 2, 1, 1)), np.zeros((3, 2, 3)))
    poses.x[:, 1, 0] = (2.0, 1.65, 1.9)
    along, across = two_spheres.inertias(1.0, 0.5, 1.65)
    for degree in (4, 8):
        bodies = SpatialBodies([Sphere(1.0), Sphere(0.5)], degree=degree, points=40)
        M = bodies.added_inertia(Pose(poses.R[1], poses.x[1]))
        error = max(
            np.max(np.abs(M[np.ix_(rows, rows)] - exact) / np.sqrt(np.outer(np.diag(exact), np.diag(exact))))
            for rows, exact in (([3, 9], along), ([4, 10], across))
        )
        assert bodies.harmonics_error(poses) == pytest.approx(error, rel=0.15)
        assert error > 1e-4


def test_bodies_that_overlap_and_one_alone_have_no_error_of_harmonics_to_say():
    assert np.isnan(TWO.harmonics_error([(0.0, 0.0, 0.0), (1.5, 0.0, 0.0)]))
    assert SpatialBodies([Ellipsoid((1.5, 1.0, 0.6)).placed(x=(0.2, 0.0, 0.1))]).harmonics_error() < 1e-12


@pytest.mark.parametrize(
    ("kind", "across", "along"), [("wall", 1.11731352, 1.05723627), ("surface", 0.89444140, 0.94602223)]
)
def test_a_sphere_by_a_plane(kind, across, along):
    """1.5 radii from a plane that lies anywhere."""
    n = np.array([2.0, -1.0, 2.0]) / 3.0
    bodies = SpatialBodies([Sphere(2.0)], 1.5, plane=Plane(n, 0.7, kind), degree=10)
    M = bodies.added_inertia([3.7 * n + np.cross(n, (0.4, 1.0, -2.0))])[3:, 3:] / (0.5 * 1.5 * 4.0 / 3.0 * np.pi * 8.0)
    np.testing.assert_allclose(M, along * np.eye(3) + (across - along) * np.outer(n, n), atol=6e-9)


def test_far_images_of_far_bodies():
    """Dipoles: two spheres at c, and one at d from a plane, each to a^3 / c^3 of leading order."""
    c = 40.0
    M = SpatialBodies([Sphere(1.0), Sphere(1.0)], degree=4).added_inertia([(0.0, 0.0, 0.0), (c, 0.0, 0.0)])
    np.testing.assert_allclose(np.diag(M)[3:6], 2.0 / 3.0 * np.pi, rtol=1e-8)
    np.testing.assert_allclose(M[[3, 4], [9, 10]] * c**3, [-2.0 * np.pi, np.pi], rtol=1e-6)


@pytest.mark.parametrize("axes", [(1.0, 1.0, 1.0), (2.0, 1.0, 0.5), (10.0, 1.0, 320.0)])
def test_what_an_ellipsoid_does_to_itself(axes):
    """H . W^-1 H holds the flow outside, as in closed form, and that inside: V for shifts, and for turns that of an
    ellipsoidal shell, V/5 (b^2 - c^2)^2 / (b^2 + c^2) [lamb1932, art. 110]."""
    shape, (a, b, c) = Ellipsoid(axes), np.square(axes)
    sheet = SpatialBodies([shape], degree=3).sheets[0]
    inside = shape.volume * np.array(
        [(b - c) ** 2 / (b + c) / 5, (c - a) ** 2 / (c + a) / 5, (a - b) ** 2 / (a + b) / 5, 1.0, 1.0, 1.0]
    )
    expected = np.diag(shape.added_inertia(1.0)) + inside
    np.testing.assert_allclose(sheet.alone, np.diag(expected), rtol=1e-11, atol=1e-11 * expected.max())
    if axes[0] == axes[2]:
        for degree, block in enumerate(energy_blocks(axes, 4)[0], start=1):
            exact = degree * (degree + 1) / (2 * degree + 1) * np.eye(2 * degree + 1)
            np.testing.assert_allclose(block, exact, atol=1e-12)


def test_turns_of_harmonics():
    n, weights = sphere(8)
    Y = harmonics(4, n)
    np.testing.assert_allclose(Y.T @ (Y * weights[:, None]), np.eye(24), atol=1e-13)
    for k, e in enumerate(np.eye(3)):
        small = np.asarray(SO3().exp(1e-5 * e))
        slope = (harmonics(4, n @ small.T) - harmonics(4, n @ small)) / 2e-5
        for degree in range(1, 5):
            part = slice(degree**2 - 1, (degree + 1) ** 2 - 1)
            np.testing.assert_allclose(Y[:, part] @ turns(degree)[k], slope[:, part], atol=1e-8)


def test_symmetric_positive_and_above_the_bodies_alone():
    """M is positive definite, and what another body at rest adds to a body's own inertia is positive."""
    M = UNLIKE.added_inertia(APART)
    assert np.array_equal(M, M.T)
    moments = np.linalg.eigvalsh(M)
    assert np.abs(moments[:4]).max() < 1e-14  # the sphere has none about its middle, the spheroid about its axis
    assert moments[4] > 0.1
    alone = [sheet.added * 1.3 for sheet in UNLIKE.sheets]
    for k in range(3):
        own = slice(6 * k, 6 * k + 6)
        assert np.linalg.eigvalsh(M[own, own] - alone[k])[0] > -1e-13


@pytest.mark.parametrize("plane", [None, "wall", "surface"])
def test_a_common_rigid_motion_changes_nothing(plane):
    """Nor, beside a plane, does one that keeps it; also far from the origin."""
    n = np.array([1.0, 2.0, -2.0]) / 3.0
    bodies = SpatialBodies(
        [Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9)], plane=plane and Plane(n, -3.0, plane), degree=4
    )
    poses = Pose(APART.R[:2], APART.x[:2])
    if plane is None:
        move = SE3().random(np.random.default_rng(1))
        move = Pose(np.asarray(move.R), np.asarray(move.x) + np.array([1e3, -2e3, 1e3]))
    else:
        move = Pose(np.asarray(SO3().exp(0.7 * n)), np.cross(n, (30.0, 10.0, -20.0)))
    here, there = (bodies.added_inertia(each) for each in (poses, _moved_together(poses, move)))
    assert np.abs(here - there).max() < (1e-11 if plane is None else 1e-13) * np.abs(here).max()


@pytest.mark.parametrize("plane", [None, Plane((0.0, 0.0, 1.0), -3.0), Plane((0.6, 0.0, -0.8), -3.0, "surface")])
def test_derivatives_against_differences(plane):
    bodies = SpatialBodies([Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9)], 1.3, plane=plane, degree=5)
    poses = Pose(APART.R[:2], APART.x[:2])
    M, dM = bodies.added_inertia_with_derivative(poses)
    assert np.array_equal(M, bodies.added_inertia(poses))
    for k in range(2):
        for c in range(6):
            e, h = np.eye(6)[c], 1e-3
            values = []
            for step in (-2 * h, -h, h, 2 * h):
                move = SE3().exp(step * e)
                R, x = poses.R.copy(), poses.x.copy()
                R[k], x[k] = R[k] @ np.asarray(move.R), R[k] @ np.asarray(move.x) + x[k]
                values.append(bodies.added_inertia(Pose(R, x)))
            slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
            np.testing.assert_allclose(dM[:, :, k, c], slope, atol=2e-10)


def test_the_energy_for_jax():
    """Its value and its gradient agree with M and dM."""
    bodies, poses = (
        SpatialBodies([Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9)], 1.3, degree=4),
        Pose(APART.R[:2], APART.x[:2]),
    )
    M, dM = bodies.added_inertia_with_derivative(poses)
    Xi = np.random.default_rng(5).standard_normal(12)
    slope = 0.5 * np.einsum("a,abkc,b->kc", Xi, dM, Xi)
    with jax.enable_x64(True):

        def energy(s, Xi):
            each = [
                SE3().compose(Pose(R, x), SE3().exp(row)) for R, x, row in zip(*poses, s.reshape(-1, 6), strict=True)
            ]
            return bodies.added_energy(Pose(*(jax.numpy.stack(part) for part in zip(*each, strict=True))), Xi)

        value, (by_pose, momentum) = jax.jit(jax.value_and_grad(energy, argnums=(0, 1)))(np.zeros(12), Xi)
    np.testing.assert_allclose(value, 0.5 * Xi @ M @ Xi, rtol=1e-13)
    np.testing.assert_allclose(momentum, M @ Xi, atol=1e-12)
    np.testing.assert_allclose(by_pose, slope.ravel(), atol=1e-12)


BOX = Mesh(*surfaces.box(0.5, 0.4, 0.3), tolerance=0.1)
MANY = {
    "three of two kinds": ([Sphere(0.5), Ellipsoid((1.0, 0.6, 0.5)), Sphere(0.5)], None, 3),
    "three by a plane": ([Sphere(0.5), Ellipsoid((1.0, 0.6, 0.5)), Sphere(0.5)], Plane((0.0, 0.0, 1.0), -3.0), 3),
    "four and a mesh": (
        [Sphere(0.5), BOX, Sphere(0.5), Spheroid(0.4, 0.5)],
        Plane((0.0, 0.0, 1.0), -3.0, "surface"),
        2,
    ),
}


@pytest.mark.parametrize(
    "name", [name if name == "three by a plane" else pytest.param(name, marks=pytest.mark.long) for name in MANY]
)
def test_loops_over_alike_bodies(name):
    """For JAX, bodies whose sheets have equal sizes go through loops, in groups and pairs of groups; known poses, pair
    by pair. Both give the same inertia, energy, forces and gap."""
    shapes, plane, degree = MANY[name]
    bodies = SpatialBodies(shapes, 1.3, plane=plane, degree=degree)
    poses = _turned([(0.0, 0.0, 0.0), (2.0, 0.3, -0.2), (-0.4, 2.0, 1.2), (0.2, -2.0, 0.3)][: len(shapes)])
    M, dM = bodies.added_inertia_with_derivative(poses)
    Xi = np.random.default_rng(6).standard_normal(len(M))
    force = 0.5 * np.einsum("a,abkc,b->kc", Xi, dM, Xi)[:, 3:]

    def found(poses, Xi):
        slopes = jax.grad(bodies.added_energy, argnums=(0, 1))(poses, Xi)
        return bodies.added_inertia(poses), bodies.added_energy(poses, Xi), slopes, bodies.gap(poses)

    with jax.enable_x64(True):
        traced, energy, (by_pose, momentum), gap = jax.jit(found)(poses, Xi)
    size = np.abs(M).max()
    np.testing.assert_allclose(traced, M, atol=1e-12 * size)
    np.testing.assert_allclose(energy, 0.5 * Xi @ M @ Xi, rtol=1e-12)
    np.testing.assert_allclose(momentum, M @ Xi, atol=1e-11 * size)
    np.testing.assert_allclose(np.einsum("kij,ki->kj", poses.R, by_pose.x), force, atol=1e-11 * size)
    assert float(gap) == pytest.approx(bodies.gap(poses), rel=1e-12)


def test_bodies_that_are_alike_are_kept_once():
    """Three of a kind have one sheet, which any number of them read; a mesh is a group of its own."""
    bodies = SpatialBodies([Sphere(0.5), BOX, Sphere(0.5), Ellipsoid((1.0, 0.6, 0.5)), Sphere(0.5)], degree=2)
    assert [(group.bodies, group.which) for group in bodies.groups] == [((0, 2, 3, 4), (0, 0, 1, 0)), ((1,), (0,))]
    assert bodies.groups[0].kinds.W.shape == (2, 8, 8)
    assert bodies.count == len(bodies.sheets) == 5
    np.testing.assert_array_equal(bodies.sheets[3].axes, np.diag([1.0, 0.6, 0.5]))


def test_the_leading_inertia():
    """What it leaves out is of second order in the coupling, which falls with the cube of the distance."""
    bodies = SpatialBodies(
        [Ellipsoid((1.0, 0.8, 0.5)), Sphere(0.7)], 1.3, plane=Plane((0.0, 0.0, 1.0), -40.0), degree=4
    )
    off, coupling = [], []
    for c in (4.0, 8.0):
        poses = _turned([(0.0, 0.0, 0.0), (c, 0.2, 0.1)])
        M = bodies.added_inertia(poses)
        off.append(np.abs(M - np.asarray(bodies.leading_inertia(poses))).max())
        coupling.append(np.abs(M[:6, 6:]).max())
    assert 6.5 < coupling[0] / coupling[1] < 9.5
    assert 50.0 < off[0] / off[1] < 80.0


def _ellipsoid_mesh(axes, level):
    """Facets with the volume of the ellipsoid."""
    vertices, triangles = surfaces.ellipsoid(level, *axes)
    volume = Mesh(vertices, triangles).volume
    return Mesh(vertices * (4.0 / 3.0 * np.pi * np.prod(axes) / volume) ** (1.0 / 3.0), triangles, tolerance=0.05)


def test_meshes_beside_smooth_bodies():
    """Two ellipsoids, one or both of them meshes: what they do to each other agrees to the size of the triangles."""
    axes, others = (1.0, 0.8, 0.6), (0.7, 0.7, 1.1)
    poses = _turned([(0.0, 0.0, 0.0), (1.9, 0.4, 0.3)])
    smooth = SpatialBodies([Ellipsoid(axes), Ellipsoid(others)], degree=12).added_inertia(poses)
    cross = smooth[:6, 6:]
    mesh, other = _ellipsoid_mesh(axes, 2), _ellipsoid_mesh(others, 2)
    for shapes in ([mesh, Ellipsoid(others)], [Ellipsoid(axes), other], [mesh, other]):
        bodies = SpatialBodies(shapes, degree=8)
        M, dM = bodies.added_inertia_with_derivative(poses)
        assert np.linalg.norm(M[:6, 6:] - cross) < 0.01 * np.linalg.norm(cross)
        e = SE3().exp(1e-4 * np.eye(6)[1])
        R, x = poses.R.copy(), poses.x.copy()
        R[1], x[1] = R[1] @ np.asarray(e.R), R[1] @ np.asarray(e.x) + x[1]
        back = SE3().exp(-1e-4 * np.eye(6)[1])
        Rb, xb = poses.R.copy(), poses.x.copy()
        Rb[1], xb[1] = Rb[1] @ np.asarray(back.R), Rb[1] @ np.asarray(back.x) + xb[1]
        slope = (bodies.added_inertia(Pose(R, x)) - bodies.added_inertia(Pose(Rb, xb))) / 2e-4
        np.testing.assert_allclose(dM[:, :, 1, 1], slope, atol=1e-7)


@pytest.mark.long
def test_finer_meshes_come_nearer():
    """With four times the triangles the difference from smooth bodies is a quarter, or less."""
    axes, poses = (1.0, 0.8, 0.6), _turned([(0.0, 0.0, 0.0), (1.9, 0.4, 0.3)])
    smooth = SpatialBodies([Ellipsoid(axes)] * 2, degree=12).added_inertia(poses)
    errors = [
        np.abs(SpatialBodies([_ellipsoid_mesh(axes, level)] * 2).added_inertia(poses) - smooth)[:6, 6:].max()
        for level in (2, 3)
    ]
    assert errors[1] < 2e-5
    assert 3.3 < errors[0] / errors[1] < 8.0


def test_a_mesh_by_a_wall():
    mesh = _ellipsoid_mesh((1.0, 1.0, 1.0), 2)
    M = SpatialBodies([mesh], plane=Plane()).added_inertia([(0.0, 0.0, 1.5)])
    more = M - mesh.added_inertia(1.0)
    np.testing.assert_allclose(np.diag(more)[3:] / (2.0 / 3.0 * np.pi), [0.05723627, 0.05723627, 0.11731352], rtol=0.02)


def test_placed_shapes():
    """A body whose shape lies elsewhere in its frame is that shape there."""
    x, R = np.array([0.3, -0.2, 0.5]), np.asarray(SO3().exp(np.array([0.4, -0.3, 0.8])))
    shape, other = Ellipsoid((1.0, 0.8, 0.5)), Sphere(0.6)
    poses = _turned([(0.0, 0.0, 0.0), (2.6, 0.3, -0.2)])
    M = SpatialBodies([shape.placed(x, R), other], degree=5).added_inertia(poses)
    there = Pose(np.stack([poses.R[0] @ R, poses.R[1]]), np.stack([poses.R[0] @ x + poses.x[0], poses.x[1]]))
    at_shape = SpatialBodies([shape, other], degree=5).added_inertia(there)
    np.testing.assert_allclose(M[:6, :6], moved(at_shape[:6, :6], x, R), atol=1e-12)


def test_gaps():
    spheres = SpatialBodies([Sphere(1.0), Sphere(0.5)], degree=2)
    assert spheres.gap([(0.0, 0.0, 0.0), (0.0, 3.0, 4.0)]) == pytest.approx(3.5, abs=1e-12)
    ends = SpatialBodies([Ellipsoid((2.0, 1.0, 0.5))] * 2, degree=2, plane=Plane((0.0, 0.0, 1.0), -9.0))
    assert ends.gap([(0.0, 0.0, 0.0), (4.5, 0.0, 0.0)]) == pytest.approx(0.5, abs=1e-12)
    assert ends.gap([(0.0, 0.0, 0.0), (0.0, 1.5, 0.0)]) == pytest.approx(-0.5, abs=1e-12)
    assert ends.gap([(0.0, 0.0, 0.0), (5.0, 0.0, -8.4)]) == pytest.approx(0.1, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TWO.added_inertia([(0.0, 0.0, 0.0), (1.9, 0.0, 0.0)]), "Bodies 1 and 2 touch or overlap"),
        (lambda: TWO.added_inertia([(0.0, 0.0, 0.0), (0.0, 0.0, 0.0)]), "Bodies 1 and 2 touch or overlap"),
        (lambda: TWO.added_inertia([(0.0, 0.0, 0.0), (2.001, 0.0, 0.0)]), "too near each other for the points"),
        (lambda: TWO.added_inertia([(0.0, 0.0, 0.0)]), "expected 2 rows"),
        (lambda: TWO.flow([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)], [(1.0, 0.0, 0.0)]), "velocities of shape"),
        (lambda: SpatialBodies([Sphere(1.0)], plane=Plane()).added_inertia([(0.0, 0.0, 0.9)]), "touches the plane"),
        (lambda: SpatialBodies([]), "No shapes"),
        (lambda: SpatialBodies([Sphere(1.0)], degree=1), "degree = 1"),
        (lambda: SpatialBodies([Sphere(1.0)], points=4), "points = 4; expected more than the degree"),
        (lambda: SpatialBodies([Ellipsoid((1.0, 1.0, 0.0))]), "need a thickness"),
        (lambda: Plane((0.0, 0.0, 0.0)), "expected the direction from the plane"),
        (lambda: Plane(kind="floor"), "expected one of wall, surface"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_overlapping_meshes():
    mesh = _ellipsoid_mesh((1.0, 1.0, 1.0), 2)
    bodies = SpatialBodies([mesh, mesh])
    for x in (0.2, 1.0, 1.9):
        with pytest.raises(InputError, match="touch or overlap"):
            bodies.added_inertia([(0.0, 0.0, 0.0), (x, 0.0, 0.0)])
