"""Moser-Veselov: the Newmark map by another route, and its equations with explicit multipliers."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import convergence, march, symplecticity_defect
from naiad.groups.son import basis
from naiad.integrators import check_method
from tests.verification.problems import PROBLEMS, RigidBodyN

FULL = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, -0.2], [0.0, -0.2, 2.6]])


@pytest.mark.parametrize("J", [(1.0, 2.0, 3.0), FULL], ids=["flat", "full"])
def test_it_is_the_newmark_map_on_matrices_and_quaternions(J):
    """A flat body, J_3 = J_1 + J_2, has a singular mass matrix."""
    body, lifted = nd.models.RigidBody(J), nd.models.RigidBody(J, group=nd.S3())
    Pi = (0.7, 0.8, -1.5)
    new = march(body, nd.Variational(nd.Newmark()), body.state(Pi=Pi), dt=0.05, steps=400)
    matrices = march(body, nd.MoserVeselov(), body.state(Pi=Pi), dt=0.05, steps=400)
    quaternions = march(lifted, nd.MoserVeselov(), lifted.state(Pi=Pi), dt=0.05, steps=400)
    np.testing.assert_allclose(matrices.mu, new.mu, rtol=0, atol=2e-13)
    np.testing.assert_allclose(matrices.g, new.g, rtol=0, atol=2e-13)
    np.testing.assert_allclose(quaternions.mu, new.mu, rtol=0, atol=2e-13)
    rotated = np.stack([np.asarray(nd.S3().act(quaternions.g, axis)) for axis in np.eye(3)], axis=1)
    np.testing.assert_allclose(rotated, new.g, rtol=0, atol=2e-13)


def body_of_masses(masses):
    """A free body on SO(n) with diagonal mass matrix: the inertia of the plane (i, j) is m_i + m_j."""
    n = len(masses)
    inertia = np.einsum("aij,j,aij->a", basis(n), masses, basis(n))
    return RigidBodyN(inertia, nd.SOn(n))


@pytest.mark.long
def test_the_equations_with_multipliers_on_so4():
    """(R_{k+1} - 2 R_k + R_{k-1}) M / h = R_k Lambda with a symmetric Lambda; and a variational method on SO(4)."""
    masses, h = np.array([1.0, 0.7, 0.4, 1.6]), 0.1
    body = body_of_masses(masses)
    state = body.state(Omega=(0.5, -0.2, 0.3, 0.4, -0.6, 0.1))
    method = nd.MoserVeselov()
    check_method(method, body)
    run = nd.simulate(body, state, t1=2.0, dt=h, method=method, save_every=1, progress=False)
    R = run.g
    multipliers = np.einsum("kji,kjl->kil", R[1:-1], (R[2:] - 2 * R[1:-1] + R[:-2]) * masses / h)
    np.testing.assert_allclose(multipliers, np.swapaxes(multipliers, 1, 2), rtol=0, atol=2e-14)
    assert np.max(np.abs(multipliers)) > 0.01
    assert convergence(body, method, state, t1=2.0, steps=(20, 40, 80)).order == pytest.approx(2, abs=0.05)
    assert symplecticity_defect(body, method, state, dt=h) < 2e-15
    np.testing.assert_allclose(body.momentum(run.final), body.momentum(state), rtol=0, atol=1e-14)


def test_what_does_not_fit_is_refused():
    problem = PROBLEMS["free-body-so5"]
    with pytest.raises(nd.InputError, match=r"needs a kinetic energy tr\(hat\(Omega\) M hat\(Omega\)\^T\)/2"):
        nd.MoserVeselov().check(problem.system)
    with pytest.raises(nd.InputError, match=r"MoserVeselov was given .*SE3.*lives on SO3, SOn and S3"):
        nd.MoserVeselov().check(PROBLEMS["vehicle"].system)

    class Quartic(nd.EulerPoincareSystem):
        group = nd.SO3()

        def reduced_lagrangian(self, xi):
            return 0.5 * xi @ xi + 0.1 * jnp.sum(xi**4)

    with pytest.raises(nd.InputError, match="is not of this form"):
        nd.MoserVeselov().check(Quartic())
