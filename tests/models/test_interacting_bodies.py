"""Bodies on SE(3)^N: their potentials, forces and momenta by other routes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad import models

POTENTIALS = {
    "gravity": models.Gravity(1.3),
    "lennard-jones": models.LennardJones(0.7, 0.9),
    "dipoles": models.Dipoles(moment=np.array([[0.0, 0.0, 1.0], [0.3, 0.0, 0.5], [0.0, -1.0, 0.2]]), strength=0.8),
    "aligned": models.AlignedLennardJones(0.7, 0.9),
}
MASSES, INERTIAS = (1.0, 2.0, 1.5), ((0.2, 0.3, 0.4), (0.5, 0.6, 0.8), (0.3, 0.3, 0.5))


def bodies(potential, **options):
    rng = np.random.default_rng(3)
    system = models.InteractingBodies(MASSES, INERTIAS, potential, **options)
    x = np.array([[0.0, 0.0, 0.0], [1.3, 0.2, -0.1], [0.1, 1.4, 0.6]])
    R = np.stack([nd.SO3().random(rng) for _ in range(3)])
    Omega, v = 0.5 * rng.standard_normal((2, 3, 3))
    return system, system.state(R=R, x=x, Omega=Omega, v=v)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["dipoles", *(pytest.param(n, marks=pytest.mark.long) for n in POTENTIALS if n != "dipoles")]
)
def test_rigid_motions_leave_the_energy_alone_and_conserve_momenta(name):
    system, state = bodies(POTENTIALS[name])
    with jax.enable_x64(True):
        moved = system.symmetry(jnp.array([0.4, -0.3, 0.8, 1.0, 2.0, -3.0]), state.g)
    assert float(system.potential_energy(moved)) == pytest.approx(float(system.potential_energy(state.g)), rel=1e-13)
    total = system.noether(state)
    mu = state.mu.reshape(3, 6)
    p = np.einsum("nij,nj->ni", state.g.R, mu[:, 3:])
    L = np.einsum("nij,nj->ni", state.g.R, mu[:, :3]) + np.cross(state.g.x, p)
    np.testing.assert_allclose(total, np.concatenate([L.sum(0), p.sum(0)]), atol=1e-14)
    end = nd.diagnostics.march(system, nd.Variational(), state, dt=0.01, steps=300)
    np.testing.assert_allclose(system.noether(end), total, atol=3e-13)
    assert np.max(np.abs(end.mu - state.mu)) > 0.05  # they do act on each other


def test_gravity_is_that_of_two_clouds_of_points():
    """Two sets of point masses, their exact potential against the second-order one: the rest is of order 4 or 3."""
    rng = np.random.default_rng(5)
    clouds = []
    for count in (6, 7):
        points = rng.standard_normal((count, 3))
        points = np.concatenate([points, -points])  # symmetric: no odd moments
        clouds.append((points, 1.0 / (2 * count)))
    Q = nd.SO3().random(rng)
    u = np.array([0.36, 0.48, 0.8])

    def energies(size):
        inertias = [m * size**2 * np.sum((p**2).sum(1)[:, None, None] * np.eye(3) - p[:, :, None] * p[:, None], 0)
                    for p, m in clouds]  # fmt: skip
        (a, ma), (b, mb) = clouds
        gaps = np.linalg.norm(u + (size * b @ Q.T)[None] - (size * a)[:, None], axis=-1)
        system = models.InteractingBodies((1.0, 1.0), inertias, models.Gravity())
        g = system.state(R=np.stack([np.eye(3), Q]), x=np.stack([np.zeros(3), u])).g
        return -ma * mb * np.sum(1 / gaps), float(system.potential_energy(g))

    rests = [abs(exact - ours) for exact, ours in (energies(0.01), energies(0.005))]
    assert rests[0] / rests[1] == pytest.approx(16, rel=0.05)
    assert abs(energies(0.01)[1] + 1.0) > 20 * rests[0]


def test_a_chain_structure_gives_the_same_motion():
    ends = []
    for structure in (None, nd.Chain(6)):
        system, state = bodies(POTENTIALS["dipoles"], structure=structure)
        ends.append(nd.diagnostics.march(system, nd.Variational(), state, dt=0.01, steps=50))
    np.testing.assert_allclose(ends[0].mu, ends[1].mu, atol=1e-13)


def spring(r, Q, a, b):
    return 0.5 * a.m * b.m * (r @ r) + 0.2 * Q[2, 2]


@pytest.mark.long
def test_a_function_of_ones_own_is_a_potential_and_the_step_is_second_order():
    system, state = bodies(spring)
    measured = nd.diagnostics.convergence(system, nd.Variational(), state, t1=1.0, steps=(40, 80))
    assert measured.order == pytest.approx(2.0, abs=0.05)


def test_bad_values_are_refused():
    with pytest.raises(nd.InputError, match=r"m = \(1, -2\); expected one positive mass for each body"):
        models.InteractingBodies((1, -2), (1, 1, 1), models.Gravity())
    with pytest.raises(nd.InputError, match=r"J has shape \(2, 2\); expected a row of three numbers"):
        models.InteractingBodies((1, 2), np.eye(2), models.Gravity())
    with pytest.raises(nd.InputError, match="potential = 'gravity'; expected a pair potential or a function"):
        models.InteractingBodies((1, 2), [(1, 1, 1)], "gravity")
