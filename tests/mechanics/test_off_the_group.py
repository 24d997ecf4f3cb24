"""The right side that Runge-Kutta methods see, where they have left the group.

Off the group a Lagrangian is read at the entries of g as they are, and the motion is that on the coset g G: coordinates
q with g exp(q), in which the Euler-Lagrange equations are written here by autodiff of the Lagrangian alone and solved
densely. With the velocity that belongs to a momentum exactly, the energy is then constant at every offset.
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.locomotion import DrivenSwimmer, three_link_fish
from naiad.mechanics import State
from tests.trees.trees import Bodies, HeavyBodies, random_tree
from tests.verification.problems import PROBLEMS, hanging_string

OFFSET = 0.02
J = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, -0.2], [0.0, -0.2, 2.6]])
ATOMS = nd.models.AtomCluster((1.0, 2.0, 0.5), nd.models.Gravity())
DRY = nd.hydro.Ellipsoid((0.9, 0.5, 0.4)).inertia(800.0)


def trees():
    tree = random_tree((-1, 0, 0, 1))
    weight = nd.models.Weight((0.1, -0.2, -3.0), (1.0, 0.7, 0.9, 0.4), 0.3, (0.1, 0.0, 0.2))
    joints = nd.models.ConnectedBodies(tree, weight=weight, stiffness=0.7)
    driven = nd.models.ConnectedBodies(tree, damping=0.3, torque=lambda g, xi, t: 0.2 * jnp.ones((4, 3)))
    pinned = HeavyBodies(random_tree((-1, 0, 1), root="pinned"), np.array([2.0, 1.0, 0.5]), 0.5)
    return {"tree": Bodies(random_tree((-1, 0, 1, 0, 3))), "joints": joints, "driven": driven, "pinned": pinned}


SYSTEMS = {
    "rigid-body": nd.models.RigidBody(J),
    "rigid-body-s3": nd.models.RigidBody(J, group=nd.S3()),
    "kirchhoff": PROBLEMS["vehicle"].system,
    "buoyant": PROBLEMS["buoyant-vehicle"].system,
    "submerged": nd.models.SubmergedBody(
        DRY,
        0.6 * DRY,
        displaced=500.0,
        gravity=(0.0, 0.3, -2.0),
        buoyancy_centre=(0.0, 0.1, 0.2),
        current=(0.3, 0.1, 0.0),
    ),
    "interacting": nd.models.InteractingBodies((1.0, 2.0), J, nd.models.Gravity()),
    "isothermal": nd.models.IsothermalRigidBody(J, (0.3, 0.2, 0.1), 0.5, kappa=0.7),
    "oblate": nd.models.OblateSatellite(1.0, J, J2=0.1),
    "masses": nd.models.PointMasses((1.0, 2.0, 0.5)),
    "orbit": nd.models.OblateOrbit(1.2, J2=0.1),
    "atoms": ATOMS,
    "shape": nd.models.ClusterShape(ATOMS, ATOMS.coordinates([[0.0, 0.1, 0.0], [1.0, 0.0, 0.0], [0.4, 0.9, 0.2]])),
    "rotor": nd.models.RotorSpacecraft(J, 0.2, 0.3),
    "disk": nd.models.SlidingDisk(c=0.3),
    "plate": nd.models.HeavyPlate((1.0, 2.0, 2.0), (0.3, 0.1, 1.2), displaced=1.3, buoyancy_centre=(0.1, -0.2)),
    "pendulum": nd.models.SphericalPendulum(epsilon=0.2),
    "string": hanging_string(reel=True)[0],
    "coupled": nd.models.SubmergedBodies.from_shapes(
        [nd.hydro.Ellipsoid((0.9, 0.5, 0.4)), nd.hydro.Sphere(0.6)], 1.0, gravity=(0.0, 0.3, -2.0), degree=3
    ),
    "swimmer": DrivenSwimmer(three_link_fish(1.0, 0.4, 0.3, fluid=1.0, density=0.5), stiffness=(2.0, 1.5)),
    **trees(),
}


def off_the_group(system, rng):
    """A configuration with every entry of its matrices off by some hundredths, away from what is singular."""
    near = hanging_string(reel=True)[1].g if isinstance(system, nd.models.StringPendulum) else system.group.random(rng)
    if isinstance(system, nd.models.SubmergedBodies):
        near = near._replace(x=np.array([[0.0, 0.0, 0.0], [1.3, 0.8, -0.4]]))
    return jax.tree.map(lambda leaf: np.asarray(leaf + OFFSET * rng.standard_normal(np.shape(leaf))), near)


def reference_rates(system, g, xi, t):
    """mu' from L(q, q') = ell(g exp(q), q' - [q, q']/2): the velocity to the first order in q, which is all that counts
    at q = 0."""
    group = system.group

    def moved(q):
        return group.compose(g, group.exp(q))

    def lagrangian(q, rate, t):
        return system.lagrangian(moved(q), rate - 0.5 * group.ad(q, rate), t)

    def momentum(q, rate, t):
        return jax.grad(lagrangian, argnums=1)(q, rate, t)

    zero, one, t = jnp.zeros(group.dim), jnp.ones(()), jnp.asarray(t)
    inertia = jax.jacfwd(momentum, argnums=1)(zero, xi, t)
    drift = jax.jvp(lambda q, s: momentum(q, xi, s), (zero, t), (xi, one))[1]
    force = jax.grad(lagrangian)(zero, xi, t) - drift
    if system.force is not None:
        force = force + system.force(g, xi, t)
    if hasattr(system, "dissipation"):
        friction = system.dissipation(g, t) if callable(system.dissipation) else system.dissipation
        force = force - jnp.asarray(friction) @ xi
    acceleration = jnp.linalg.solve(inertia, force)

    def along(s):
        return jax.grad(system.lagrangian, argnums=1)(moved(s * xi), xi + s * acceleration, t + s)

    return along(0.0), jax.jvp(along, (0.0,), (1.0,))[1]


SLOW = ("string", "coupled", "interacting", "swimmer", "tree", "driven", "pinned")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in SYSTEMS]
)
def test_the_right_side_off_the_group_is_that_of_the_lagrangian(name):
    system = SYSTEMS[name]
    rng = np.random.default_rng(4)
    g, xi, t = off_the_group(system, rng), 0.7 * rng.standard_normal(system.group.dim), 0.3

    @jax.jit
    def both(g, xi):
        mu, rate = reference_rates(system, g, xi, t)
        return mu, rate, system.equations(State(g, mu), t)

    with jax.enable_x64(True):
        assert name in ("masses", "orbit", "atoms", "disk", "plate", "swimmer") or system.group.error(g) > 1e-3
        mu, rate, found = jax.tree.map(np.asarray, both(g, xi))
    scale = np.abs(mu).max() + np.abs(rate).max()
    np.testing.assert_allclose(found.xi, xi, rtol=0, atol=2e-13)
    np.testing.assert_allclose(found.mu, rate, rtol=0, atol=1e-13 * scale)


IN_COORDINATES = {nd.models.PointVortices, nd.models.VortexBody}
"""On R^n and SE(2), which an angle and a place cannot leave; and their Lagrangians are degenerate."""


def test_every_model_is_compared():
    models = [each for _, each in inspect.getmembers(nd.models, inspect.isclass)]
    systems = {each for each in models if issubclass(each, nd.LagrangianSystem)}
    assert systems == {type(system) for system in SYSTEMS.values()} & systems | IN_COORDINATES
