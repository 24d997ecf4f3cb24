"""The sweeps against a dense solution of the same equations."""

import numpy as np

from naiad.compiler import execute
from naiad.control.riccati import PIECE, Sizes, Value, backward


def test_the_backward_sweep_is_the_dense_recursion():
    nx, nu, count = 4, 2, 5
    ny, rng = nx + nu, np.random.default_rng(0)
    A, H = 0.3 * rng.normal(size=(PIECE, ny + 1, nx)), rng.normal(size=(PIECE, ny + 1, ny))
    H[:, :ny] = H[:, :ny] @ H[:, :ny].transpose(0, 2, 1) + np.eye(ny)
    q, diagonal, slope = rng.normal(size=(PIECE, ny + 1)), np.full((PIECE, nu), 0.1), rng.normal(size=(PIECE, nu))
    V, v = np.eye(nx), rng.normal(size=nx)
    found, _ = execute(backward, Sizes(nx, nu), Value(V, v, np.inf), A, H, q, diagonal, slope, count, parameters=())
    for k in reversed(range(count)):
        lead, b = A[k, :ny].T, A[k, ny]
        matrix = H[k, :ny] + lead.T @ V @ lead
        matrix[:nu, :nu] += np.diag(diagonal[k])
        gradient = q[k, :ny] + H[k, ny] + lead.T @ (v + V @ b) + np.r_[slope[k], np.zeros(nx)]
        gain = -np.linalg.solve(matrix[:nu, :nu], np.c_[matrix[:nu, nu:], gradient[:nu]])
        V = matrix[nu:, nu:] + matrix[nu:, :nu] @ gain[:, :-1]
        v = gradient[nu:] + matrix[nu:, :nu] @ gain[:, -1]
    np.testing.assert_allclose(found.V, V, rtol=1e-12)
    np.testing.assert_allclose(found.v, v, rtol=1e-12)
    assert found.pivot > 0
