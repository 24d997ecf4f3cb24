"""Several bodies in water: what they keep, and single ones beside the model of one body."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import hydro
from naiad.groups.se3 import Pose

BODIES = nd.models.SubmergedBodies.from_shapes(
    [hydro.Ellipsoid((1.0, 0.7, 0.5)), hydro.Sphere(0.6)], 1.2, gravity=(0.0, 0.0, -9.81), degree=6
)


def test_one_body_is_the_submerged_body():
    shape, density, gravity = hydro.Ellipsoid((1.0, 0.7, 0.5)), 1.2, (0.0, 0.0, -9.81)
    dry = hydro.rigid_inertia(2.0, (0.3, 0.4, 0.5), (0.02, 0.0, -0.05))
    one = nd.models.SubmergedBody.from_shape(shape, density, dry, gravity=gravity)
    many = nd.models.SubmergedBodies.from_shapes([shape], density, dry=[dry], gravity=gravity, degree=3)
    rng = np.random.default_rng(2)
    R, x, xi = np.asarray(nd.SO3().random(rng)), rng.standard_normal(3), rng.standard_normal(6)
    with jax.enable_x64(True):
        alone = one.lagrangian(Pose(R, x), xi, 0.0)
        assert many.lagrangian(Pose(R[None], x[None]), xi, 0.0) == pytest.approx(float(alone), rel=1e-13)
        mu = one.legendre(Pose(R, x), xi, 0.0)
        np.testing.assert_allclose(many.velocity(Pose(R[None], x[None]), mu), xi, atol=1e-12)


def test_weight_and_buoyancy():
    """Homogeneous and of the water's density: no force; the potential of another mass is its weight less buoyancy."""
    g = Pose(np.tile(np.eye(3), (2, 1, 1)), np.array([(0.0, 0.0, 2.0), (3.0, 0.0, -1.0)]))
    assert abs(float(BODIES.potential_energy(g))) < 1e-12
    heavy = BODIES.replaced(dry=2.0 * np.asarray(BODIES.dry))
    expected = 9.81 * (np.asarray(BODIES.displaced) @ g.x[:, 2])
    assert float(heavy.potential_energy(g)) == pytest.approx(expected, rel=1e-12)


def test_the_symmetries():
    """Rigid motions without gravity and plane; with them what leaves both alone."""
    rng = np.random.default_rng(4)
    g = Pose(
        np.stack([np.asarray(nd.SO3().random(rng)) for _ in range(2)]), np.array([(0.0, 0.0, 2.0), (2.5, 0.3, 2.5)])
    )
    s = rng.standard_normal(6)
    free = BODIES.replaced(gravity=np.zeros(3))
    moved = Pose(*map(np.asarray, free.symmetry(s, g)))
    assert np.linalg.norm(moved.x[1] - moved.x[0]) == pytest.approx(np.linalg.norm(g.x[1] - g.x[0]))
    assert abs(moved.x[0, 2] - 2.0) > 0.1
    level = Pose(*map(np.asarray, BODIES.symmetry(s, g)))
    np.testing.assert_allclose(level.x[:, 2], g.x[:, 2], atol=1e-14)
    aslant = hydro.SpatialBodies([hydro.Sphere(1.0)], plane=hydro.Plane((1.0, 0.0, 0.0), -9.0), degree=2)
    other = nd.models.SubmergedBodies(aslant, np.eye(6), displaced=[1.0], gravity=(0.0, 0.0, -1.0))
    only = Pose(*map(np.asarray, other.symmetry(s, Pose(g.R[:1], g.x[:1]))))
    np.testing.assert_allclose(only.R, g.R[:1], atol=1e-15)
    np.testing.assert_allclose(only.x - g.x[:1], [[0.0, s[4], 0.0]], atol=1e-14)


def test_the_limit_is_what_is_left_of_the_gap():
    """Two spheres of radii 0.6 and 0.5 with centres 1.4 m apart are 0.3 m apart."""
    spheres = [hydro.Sphere(0.6), hydro.Sphere(0.5)]
    pair = nd.models.SubmergedBodies.from_shapes(spheres, 1.0, degree=2).replaced(least=0.1)
    g = Pose(np.tile(np.eye(3), (2, 1, 1)), np.array([(0.0, 0.0, 0.0), (0.0, 1.4, 0.0)]))
    assert float(pair.limit(g, 0.0, 0.01)) == pytest.approx(0.3 - 0.1, abs=1e-9)


@pytest.mark.long
def test_a_mesh_moves_beside_a_sphere():
    """Momenta of the whole are kept to round-off whatever the mesh, and the energy without drift."""
    from tests.hydro import surfaces

    mesh = hydro.Mesh(*surfaces.box(1.0, 0.6, 0.4), tolerance=0.1)
    bodies = nd.models.SubmergedBodies.from_shapes([mesh, hydro.Sphere(0.5)], 1.0, degree=6)
    state = bodies.state(
        x=[(0.0, 0.0, 0.0), (1.6, 0.5, 0.0)], v=[(0.5, 0.0, 0.0), (-0.3, 0.0, 0.1)], Omega=np.full((2, 3), 0.3)
    )
    run = nd.simulate(bodies, state, t1=0.5, dt=0.05, engine="xla")
    assert run.outcome is nd.Outcome.COMPLETED
    assert nd.diagnostics.momentum_error(run).max() < 1e-14
    assert nd.diagnostics.energy_error(run).max() < 1e-4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: BODIES.state(x=[(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]),
            "and the plane, touch or overlap",
        ),
        (lambda: nd.models.SubmergedBodies(BODIES.fluid, np.eye(6), displaced=[1.0]), "expected 2 masses"),
        (lambda: nd.models.SubmergedBodies(BODIES.fluid, np.eye(3), displaced=[1.0, 1.0]), "expected a 6 x 6 matrix"),
        (
            lambda: nd.models.SubmergedBodies.from_shapes([hydro.EllipticCylinder(1.0, 1.0)], 1.0),
            "expected a shape of space",
        ),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(nd.InputError, match=words):
        make()
