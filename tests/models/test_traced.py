"""Models and states whose numbers JAX traces: gradients with respect to what a constructor takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad import hydro, models

DRY = hydro.rigid_inertia(3.0, np.diag([0.5, 0.6, 0.7]), (0.0, 0.0, 0.1))
ADDED = np.diag([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.2], [1.0, 0.1, 0.0]])


def vehicle(linear, quadratic, centre, points, directions, thrust):
    forces = [models.Drag(linear, quadratic, centre=centre), models.Thrusters(points, directions, thrust)]
    return models.SubmergedBody(DRY, ADDED, displaced=3.0, gravity=(0.0, 0.0, 9.0), forces=forces)


def hinged(axis):
    same = {"J": [np.ones(3)], "M": 1.0, "own": -POINTS, "other": POINTS}
    return nd.Tree([-1, 0, 1], joints=["free", "hinge", "hinge"], axis=axis, **same)


def bodies(J, M, own, other, stiffness, damping, gravity, mass):
    tree = nd.Tree([-1, 0, 1], J, M, own=own, other=other)
    weight = models.Weight(gravity, mass)
    return models.ConnectedBodies(tree, weight=weight, stiffness=stiffness, damping=damping)


def string(length, density, stiffness, gravity, damping, mass, inertia, centre):
    body = models.HangingBody(mass, centre, inertia)
    return models.StringPendulum(
        length=length,
        mass_per_length=density,
        stiffness=stiffness,
        elements=3,
        gravity=gravity,
        damping=damping,
        body=body,
    )


def pair(m, J, G):
    return models.InteractingBodies(m, J, models.Gravity(G))


def eddies(a, b, gamma, circulation, density, dry):
    vortices = hydro.Vortices(gamma, hydro.Ellipse(a, b), circulation=circulation, density=density)
    return models.VortexBody(vortices, dry)


MODELS = {
    models.RigidBody: {"J": (1.0, 2.0, 2.5)},
    models.KirchhoffBody: {"I": (1.0, 2.0, 2.5), "M": (3.0, 2.0, 2.5), "S": 0.1 * np.eye(3)},
    models.SubmergedBody: {
        "dry": DRY,
        "added": ADDED,
        "displaced": 3.1,
        "gravity": (0.0, 0.1, 9.8),
        "buoyancy_centre": (0.0, 0.0, -0.1),
        "current": (0.1, 0.2, 0.0),
    },
    vehicle: {
        "linear": np.ones(6),
        "quadratic": np.ones(6),
        "centre": (0.1, 0.0, 0.2),
        "points": (1.0, 0.0, 0.3),
        "directions": (1.0, 0.3, 0.0),
        "thrust": 2.0,
    },
    models.BuoyantVehicle: {
        "m": 3.0,
        "added_mass": (1.0, 2.0, 3.0),
        "J": (1.0, 2.0, 2.5),
        "buoyancy": 28.0,
        "r": (0.0, 0.0, -0.1),
        "gravity": (0.0, 0.1, 9.8),
        "current": (0.1, 0.0, 0.2),
    },
    models.HeavyPlate: {
        "dry": (1.0, 2.0, 2.0),
        "added": (0.3, 0.1, 1.2),
        "displaced": 1.3,
        "buoyancy_centre": (0.1, -0.2),
        "gravity": (0.1, -9.8),
    },
    pair: {"m": (1.0, 2.0), "J": [(1.0, 2.0, 2.5)], "G": 1.3},
    models.OblateOrbit: {"m": 1.2, "GM": 1.3, "J2": 1e-2, "radius": 1.1},
    models.AtomCluster: {"m": (1.0, 2.0, 0.7)},
    models.OblateSatellite: {"m": 1.2, "J": (1.0, 2.0, 2.5), "GM": 1.3, "J2": 1e-2, "radius": 1.1},
    models.PointMasses: {"m": (1.0, 2.0), "G": 1.3},
    eddies: {"a": 0.05, "b": 0.03, "gamma": (1.0, -0.7), "circulation": 0.4, "density": 1.2, "dry": (0.1, 0.2, 0.2)},
    models.RotorSpacecraft: {"I": (1.0, 2.0, 2.5), "J_r": 0.1, "kappa": 0.3, "n": (0.1, 0.3, 1.0)},
    models.SphericalPendulum: {"m": 1.1, "l": 0.9, "gravity": 9.0, "epsilon": 0.1},
    bodies: {
        "J": [(1.0, 2.0, 2.5)],
        "M": [(3.0, 2.0, 3.0)],
        "own": -POINTS,
        "other": POINTS,
        "stiffness": 1.2,
        "damping": 0.1,
        "gravity": (0.0, 0.0, 9.0),
        "mass": 2.0,
    },
    string: {
        "length": 2.0,
        "density": 0.1,
        "stiffness": 100.0,
        "gravity": (0.0, 0.0, 9.8),
        "damping": 0.1,
        "mass": 1.3,
        "inertia": (1.0, 1.2, 1.1),
        "centre": (0.0, 0.1, 0.3),
    },
}


def rates(make, numbers):
    """The equations of motion of a model at some state, in one number."""
    system = make(**numbers)
    rng = np.random.default_rng(7)
    g = system.group.exp(0.4 * rng.normal(size=system.group.dim))
    found = system.equations(system.state(g, 0.3 * rng.normal(size=system.group.dim)), 0.1)
    return found.mu @ rng.normal(size=system.group.dim) + found.xi @ rng.normal(size=system.group.dim)


def directions(numbers):
    """How the numbers are varied: matrices stay symmetric, the joint of a free root stays away."""
    rng = np.random.default_rng(1)
    ways = {name: rng.normal(size=np.shape(value)) for name, value in numbers.items()}
    for name, way in ways.items():
        if way.ndim == 2:
            ways[name] = np.diag(np.arange(1.0, 1.0 + len(way))) if way.shape[0] == way.shape[1] else way
        if name in ("own", "other"):
            ways[name] = np.concatenate([np.zeros((1, 3)), way[1:]])
        if name == "dry" and way.ndim == 2:
            ways[name] = np.diag([1.0, 2.0, 2.5, 0.0, 0.0, 0.0])
    return ways


@pytest.mark.parametrize(("make", "numbers"), [*MODELS.items(), (hinged, {"axis": (0.0, 0.3, 1.0)})])
def test_a_traced_model_has_the_numbers_of_a_plain_one(make, numbers):
    with jax.enable_x64(True):
        traced = jax.jit(lambda numbers: jax.tree.leaves(make(**numbers)))(numbers)
    for one, other in zip(traced, jax.tree.leaves(make(**numbers)), strict=True):
        np.testing.assert_allclose(one, other, rtol=4e-16, atol=0.0)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_gradients_with_respect_to_what_a_constructor_takes(make):
    step = 1e-4
    with jax.enable_x64(True):
        numbers = {name: jnp.asarray(value, float) for name, value in MODELS[make].items()}
        value = jax.jit(lambda numbers: rates(make, numbers))
        gradient = jax.jit(jax.grad(lambda numbers: rates(make, numbers)))(numbers)
        for name, way in directions(numbers).items():
            at = [float(value({**numbers, name: numbers[name] + k * step * way})) for k in (-2, -1, 1, 2)]
            expected = (8.0 * (at[2] - at[1]) - (at[3] - at[0])) / (12.0 * step)
            assert np.vdot(gradient[name], way) == pytest.approx(expected, rel=1e-6, abs=1e-7), name


@pytest.mark.parametrize(
    "given", [np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.1, -0.7, 0.5])], ids=["rotvec", "quaternion"]
)
def test_gradients_with_respect_to_the_start(given):
    body = models.RigidBody((1.0, 2.0, 2.5))

    def end(numbers):
        R = numbers / jnp.linalg.norm(numbers) if len(numbers) == 4 else numbers
        state = nd.propagate(body, body.state(R=R, Omega=numbers[:3]), dt=0.1, steps=3)
        return jnp.sum(jnp.sin(state.g)) + state.mu[0]

    way, step = np.linspace(1.0, 2.0, len(given)), 1e-5
    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(end))(jnp.asarray(given))
        expected = (end(given + step * way) - end(given - step * way)) / (2.0 * step)
    assert np.vdot(gradient, way) == pytest.approx(float(expected), rel=1e-7)


def test_shapes_are_checked_where_values_are_not_known():
    with jax.enable_x64(True):
        with pytest.raises(nd.InputError, match="J has shape"):
            jax.grad(lambda J: models.RigidBody(J).J[0, 0])(jnp.ones(4))
        with pytest.raises(nd.InputError, match=r"Omega has shape \(2,\)"):
            jax.grad(lambda v: models.RigidBody((1.0, 2.0, 2.5)).state(Omega=v).mu[0])(jnp.ones(2))
