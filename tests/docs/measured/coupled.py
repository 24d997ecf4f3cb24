"""Numbers of docs/hydro.md on shapes in closed form, and on bodies that the fluid couples."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np

from naiad.groups import SE3, SO3
from naiad.groups.se3 import Pose
from naiad.hydro import Ellipse, Ellipsoid, EllipticCylinder, PlanarBodies, Plane, SpatialBodies, Sphere, Spheroid
from naiad.numerics import double
from tests.docs.measured.registry import measured
from tests.hydro import fish
from tests.hydro.circles import added_masses
from tests.hydro.test_ellipsoid import added, by_quadrature_formula
from tests.hydro.test_planar_bodies import FISH, SHAPES, TRANSLATIONS
from tests.hydro.test_planar_flow import DISTANCES, POSES, VELOCITIES, near
from tests.hydro.test_spatial_bodies import APART, _ellipsoid_mesh, _moved_together, _turned

LENGTHS = np.geomspace(0.01, 100.0, 41)


def largest(found, exact):
    """The largest difference, relative to the largest entry."""
    return float(np.max(np.abs(np.asarray(found) - exact)) / np.max(np.abs(exact)))


@measured("axes-of-any-size")
def axes_of_any_size():
    """A thousand draws of any axes, a thousand of nearly equal ones."""
    rng, off = np.random.default_rng(0), []
    for nearly in (False, True):
        for _ in range(1000):
            axes = 10.0 ** rng.uniform(-6.0, 6.0, 3)
            if nearly:
                axes[1:] = axes[0] * (1.0 + 10.0 ** rng.uniform(-15.0, -0.3, 2))
            rng.shuffle(axes)
            exact = np.array(by_quadrature_formula(axes))
            off.append(np.max(np.abs(added(Ellipsoid(tuple(axes))) - exact)[exact > 0.0] / exact[exact > 0.0]))
    return {"that was found is #, in two thousand draws": max(off)}


def disc(a):
    return 16.0 / 45.0 * a**5 * np.array([1, 0, 1, 0, 0, 0]) + 8.0 / 3.0 * a**3 * np.array([0, 0, 0, 0, 1, 0])


def needle(a, b, c):
    """How far its inertia is off that of strips of the local section, summed over the length."""
    moment, along_b, along_c = np.diag(EllipticCylinder(b, c).added_inertia(1.0))
    turns = moment * 16 / 15 * a, along_c * 4 / 15 * a**3, along_b * 4 / 15 * a**3
    exact = np.array([*turns, along_b * 4 / 3 * a, along_c * 4 / 3 * a])
    return np.max(np.abs(added(Ellipsoid((a, b, c)))[[0, 1, 2, 4, 5]] / exact - 1.0))


@measured("limits-of-shapes", quick=True)
def limits_of_shapes():
    """The largest over many sizes, since of one it may be none."""
    flat = [(a, 0.3 * a * (1.0 + np.sin(a))) for a in LENGTHS]
    elliptic = [
        float(4 / 3 * mp.pi * a * mp.mpf(b) ** 2 / mp.ellipe(1 - (mp.mpf(b) / mp.mpf(a)) ** 2)) for a, b in flat
    ]
    off = [
        max(largest(added(Ellipsoid((r, r, r))), np.repeat([0.0, 2.0 / 3.0 * np.pi * r**3], 3)) for r in LENGTHS),
        max(largest(added(Ellipsoid((a, 0.0, a))), disc(a)) for a in LENGTHS),
        max(largest(added(Ellipsoid((a, b, 0.0)))[5], exact) for (a, b), exact in zip(flat, elliptic, strict=True)),
        max(needle(1e9, 2.0, c) for c in np.linspace(0.2, 1.8, 33)),
        max(largest(added(EllipticCylinder(r, r)), np.pi * r**2 * np.array([0.0, 1.0, 1.0])) for r in LENGTHS),
        max(largest(added(EllipticCylinder(a, 0.0)), np.pi * a**2 * np.array([a**2 / 8, 0.0, 1.0])) for a in LENGTHS),
    ]
    assert max(off[4:]) < 1e-15
    return {
        "| ρV/2 | ρV/2 | 0 | # |": off[0],
        "a diameter | # |": off[1],
        "1 − b²/a²)) | 0 | | # |": off[2],
        "its axis | # at a/b = 5e8 |": off[3],
    }


def of_a_circle(distance):
    """By how much the flow of a circle is off that of a dipole: potential, stream function and velocity."""
    a, U, turn = 1.3, 0.7 - 0.4j, np.exp(0.9j)
    V = U / turn
    flow = PlanarBodies([Ellipse(a, a)], points=64).flow((0.9, 0.5, -2.0), (5.0, V.real, V.imag))
    z = (a + distance) * np.exp(1j * np.linspace(0.0, 6.0, 40)) * (1 + 1e-15)
    points = np.stack([z.real + 0.5, z.imag - 2.0], axis=-1)
    w, velocity = flow.potential(points) + 1j * flow.stream_function(points), flow.velocity(points) @ [1.0, 1.0j]
    return max(np.max(np.abs(w + U * a**2 / z)), np.max(np.abs(np.conj(velocity) - U * a**2 / z**2)))


def beside_the_fish():
    """Off the flow of 288 points, and the largest values: potential and stream function, then velocity."""
    finer = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, points=288).flow(POSES, VELOCITIES)
    flow, off = FISH.flow(POSES, VELOCITIES), []
    for body in range(3):
        for distance in DISTANCES:
            points = near(body, distance)[0]
            exact, found = (
                [np.stack([each.potential(points), each.stream_function(points)]), each.velocity(points)]
                for each in (finer, flow)
            )
            off.append([(np.max(np.abs(x - y)), np.max(np.abs(y))) for x, y in zip(found, exact, strict=True)])
    return np.max(off, axis=0)


def far_dipole():
    flow = FISH.flow(POSES, VELOCITIES)
    circle = 100.0 * np.exp(2j * np.pi * np.arange(256) / 256)
    points = np.stack([circle.real, circle.imag], axis=-1)
    dipole = np.mean((flow.potential(points) + 1j * flow.stream_function(points)) * circle)
    momentum = (FISH.added_inertia(POSES) @ VELOCITIES.ravel()).reshape(3, 3)
    displaced = fish.DENSITY * np.pi * fish.A * fish.B
    impulse = np.sum(np.exp(1j * POSES[:, 0]) * ((momentum + displaced * VELOCITIES) @ [0.0, 1.0, 1.0j]))
    return abs(-2.0 * np.pi * fish.DENSITY * dipole / impulse - 1.0)


def adjoint_against_jax():
    poses = fish.poses(0.9, -0.6) + np.array([0.2, 5.0, -3.0])
    by_jax = double(jax.jit(jax.jacfwd(FISH.added_inertia)))(double(jnp.asarray)(poses))
    return largest(FISH.added_inertia_with_derivative(poses).derivative, np.asarray(by_jax))


@measured("checks-of-planar-bodies", within={7: 0.9})  # the rounding of a velocity at the tip of a link
def checks_of_planar_bodies():
    ellipses = [(10.0, 1.0), (3.0, 2.0), (0.2, 1.7), (1.0, 1.0)]
    circles = PlanarBodies([Ellipse(2.0, 2.0), Ellipse(1.0, 1.0)], 1.3, points=512)
    pair = circles.added_inertia([(0.0, 0.3, -0.2), (0.0, 3.5, -0.2)], symmetric=False)
    inertias = [FISH.added_inertia(fish.poses(*shape), symmetric=False) for shape in SHAPES]
    potential, velocity = beside_the_fish()
    return [
        max(
            largest(
                PlanarBodies([Ellipse(a, b)]).added_inertia(symmetric=False), EllipticCylinder(a, b).added_inertia(1.0)
            )
            for a, b in ellipses
        ),
        largest(pair[np.ix_(TRANSLATIONS, TRANSLATIONS)], added_masses((2.0, 1.0), 3.2, 1.3)),
        max(largest(M, M.T) for M in inertias),
        adjoint_against_jax(),
        max(of_a_circle(distance) for distance in DISTANCES),
        *potential,
        *velocity,
        far_dipole(),
    ]


def of_two_spheres(degree):
    """Inertia along and across the line of centres, and its slope."""
    spheres = SpatialBodies([Sphere(1.0), Sphere(1.0)], degree=degree)
    M, dM = spheres.added_inertia_with_derivative([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)])
    rows, columns = [3, 3, 4, 4], [3, 9, 4, 10]
    return M[rows, columns], dM[rows, columns, 1, 3]


SPHERES = [2.10670483, -0.23339113, 2.09780740, 0.11646307], [-0.02779794, 0.23514684, -0.00791509, -0.11675890]
"""Radius 1, a distance of 3, by bispherical series."""


def by_a_plane(kind, height, degree, points=None):
    """A sphere of radius 1: across and along, in units of its added mass."""
    sphere = SpatialBodies([Sphere(1.0)], plane=Plane(kind=kind), degree=degree, points=points)
    return np.diag(sphere.added_inertia([(0.0, 0.0, height)]))[[5, 4]] / (2.0 / 3.0 * np.pi)


def of_itself(axes):
    """As in tests/hydro/test_spatial_bodies.py::test_what_an_ellipsoid_does_to_itself."""
    shape, (a, b, c) = Ellipsoid(axes), np.square(axes)
    turns = [(b - c) ** 2 / (b + c) / 5, (c - a) ** 2 / (c + a) / 5, (a - b) ** 2 / (a + b) / 5]
    exact = np.diag(shape.added_inertia(1.0)) + shape.volume * np.array([*turns, 1.0, 1.0, 1.0])
    alone = np.diag(SpatialBodies([shape], degree=3).sheets[0].alone)
    return np.max(np.abs(alone - exact)[exact > 0.0] / exact[exact > 0.0])


def slopes_and_differences():
    """The largest difference of dM from differences of fourth order."""
    bodies = SpatialBodies([Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9)], 1.3, degree=5)
    poses, h, off = Pose(APART.R[:2], APART.x[:2]), 1e-3, []
    dM = bodies.added_inertia_with_derivative(poses).derivative
    for k in range(2):
        for c in range(6):
            slope = np.zeros_like(dM[:, :, 0, 0])
            for step, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
                move, R, x = SE3().exp(step * h * np.eye(6)[c]), poses.R.copy(), poses.x.copy()
                R[k], x[k] = R[k] @ np.asarray(move.R), R[k] @ np.asarray(move.x) + x[k]
                slope += weight * bodies.added_inertia(Pose(R, x)) / (12 * h)
            off.append(np.max(np.abs(dM[:, :, k, c] - slope)))
    return max(off)


def moved_together(shift):
    """The largest change by a common rigid motion, of twenty, relative to the largest entry."""
    bodies, rng = SpatialBodies([Ellipsoid((1.5, 1.0, 0.6)), Spheroid(0.4, 0.9)], degree=4), np.random.default_rng(1)
    poses = Pose(APART.R[:2], APART.x[:2])
    here, off = bodies.added_inertia(poses), []
    for _ in range(20):
        away = rng.standard_normal(3)
        move = Pose(np.asarray(SO3().random(rng)), shift * away / np.linalg.norm(away))
        off.append(largest(bodies.added_inertia(_moved_together(poses, move)), here))
    return max(off)


def of_meshes(level):
    """Two meshes against two ellipsoids of their volume: what they do to each other."""
    axes, poses = (1.0, 0.8, 0.6), _turned([(0.0, 0.0, 0.0), (1.9, 0.4, 0.3)])
    smooth = SpatialBodies([Ellipsoid(axes)] * 2, degree=12).added_inertia(poses)[:6, 6:]
    found = SpatialBodies([_ellipsoid_mesh(axes, level)] * 2).added_inertia(poses)[:6, 6:]
    return np.linalg.norm(found - smooth) / np.linalg.norm(smooth)


@measured("checks-of-spatial-bodies")
def checks_of_spatial_bodies():
    exact = of_two_spheres(16)
    assert max(np.max(np.abs(x - y)) for x, y in zip(exact, SPHERES, strict=True)) < 6e-9
    spheres = [[np.max(np.abs(x - y)) for x, y in zip(of_two_spheres(n), exact, strict=True)] for n in (8, 12)]
    assert max(spheres[1]) < 5e-9
    planes = []
    for kind, known in (("wall", (1.11731352, 1.05723627)), ("surface", (0.89444140, 0.94602223))):
        fine = by_a_plane(kind, 1.5, 14)
        assert np.max(np.abs(fine - known)) < 6e-9
        planes.append([np.max(np.abs(by_a_plane(kind, 1.5, n) - fine)) for n in (8, 10)])
    assert np.max(planes, axis=0)[1] < 5e-9
    close = by_a_plane("wall", 1.1, 24, 48)
    return {
        "# at degree 8, its derivative #; eight digits at degree 12": spheres[0],
        "| #, also for axes 10, 1, 320 |": max(map(of_itself, [(1.0, 1.0, 1.0), (2.0, 1.0, 0.5), (10.0, 1.0, 320.0)])),
        "from a free surface | # at degree 8": np.max(planes, axis=0)[0],
        "1.1 radii from a wall | # at degree 10; # with": [
            np.max(np.abs(by_a_plane("wall", 1.1, 10, points) - close)) for points in (None, 20)
        ],
        "differences of fourth order | # |": slopes_and_differences(),
        "common rigid motion | #, for bodies 2 km from the origin # |": [
            moved_together(shift) for shift in (10.0, 2e3)
        ],
        "of their volume | # of the coupling; 1280 triangles: # |": [of_meshes(level) for level in (2, 3)],
    }
