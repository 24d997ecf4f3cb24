"""The method of Moser and Veselov: a variational integrator in the ambient space, held on the group by multipliers."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import S3, SO3, SOn
from naiad.groups.son import basis
from naiad.integrators.free_motion import check_free_motion, momentum
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State, pull_back
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import History, Newton, extrapolate, history, remember, static

Vector = Float[Array, " n"]


class MoserVeselov(AbstractOneStepMethod):
    """The extremal of sum_k [L_d(g_k, g_{k+1}) + lambda_k . phi(g_k)], g_k in the ambient space and phi(g) = 0 on the
    group [bourabee2007, section 4.5], [moser1991]:

        D_2 L_d(g_{k-1}, g_k) + D_1 L_d(g_k, g_{k+1}) + lambda_k . D phi(g_k) = 0,    phi(g_{k+1}) = 0.

    On SO(n) phi(R) = R^T R - I and L_d = tr((R_{k+1} - R_k) M (R_{k+1} - R_k)^T) / (2h) for ell = tr(hat(Omega) M
    hat(Omega)^T)/2, which on SO(3) is any free rigid body, M = tr(J)/2 - J; on S^3 phi(q) = |q|^2 - 1 and L_d = h ell(2
    vec(q_k^-1 q_{k+1})/h). The momentum mu_k = -T*L_g D_1 L_d, along the group, is free of the multipliers. On SO(3)
    and S^3 the motion is that of `Variational(Newmark())`, by a route that knows no retraction.
    """

    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_FREE_MOTION

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system)
        group = system.group
        if not isinstance(group, S3 | SO3 | SOn):
            raise InputError(f"MoserVeselov was given {group!r}; it lives on SO3, SOn and S3. Use Variational.")
        if not isinstance(group, S3) and _mass_misfit(system) > 1e-10:
            raise InputError(
                "MoserVeselov needs a kinetic energy tr(hat(Omega) M hat(Omega)^T)/2 with a symmetric matrix M; that "
                f"of {type(system).__name__} on {group!r} is not of this form. Use Variational."
            )

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> History:
        """(g_{k+1} - g_k)/h of the last few steps, along the group and across it; to begin with, the velocity."""
        xi = system.velocity(state.g, state.mu, t)
        return history(jnp.concatenate([xi, jnp.zeros(_codimension(system.group))]))

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        group = system.group
        here = group.identity()

        def momenta(d):
            """The momenta at both ends of a step from e to e + d, by the derivatives of L_d in its two arguments."""
            by_start, by_difference = jax.grad(_action, argnums=(1, 2))(system, here, d, h)
            return pull_back(group, here, by_difference - by_start), pull_back(group, here + d, by_difference)

        def residual(u):
            d = _ambient(group, u)
            return jnp.concatenate([momenta(d)[0] - state.mu, _constraint(group, d) / h])

        root = self.newton.root(residual, h * extrapolate(memory))
        d = _ambient(group, root.x)
        miss = jnp.max(jnp.abs(residual(root.x)))
        info = StepInfo.solved(root.iterations, miss, root.converged)
        return State(group.advance(state.g, d), momenta(d)[1]), remember(memory, root.x / h), info


def _action(system: EulerPoincareSystem, g: Any, d: Any, h: Scalar) -> Float[Array, ""]:
    """L_d(g, g + d) in the ambient space."""
    group = system.group
    if isinstance(group, S3):  # vec(q^-1 (q + d)) = vec(q^-1 d)
        return h * system.reduced_lagrangian(group.vee(group.compose(group.inverse(g), d)) / h)
    return 0.5 / h * jnp.sum(d * (d @ _mass(system)))


def _ambient(group: Any, u: Vector) -> Any:
    """The ambient vector with coordinates u: those along the group at the identity, then those across it."""
    along, across = u[: group.dim], u[group.dim :]
    if isinstance(group, S3):
        return group.hat(along).at[0].set(across[0])
    return group.hat(along) + jnp.tensordot(across, _symmetric_basis(_size(group)), 1)


def _constraint(group: Any, d: Any) -> Vector:
    """phi(e + d)."""
    if isinstance(group, S3):
        return jnp.reshape(2.0 * d[0] + d @ d, (1,))
    n = _size(group)
    return (d + jnp.transpose(d) + jnp.transpose(d) @ d)[np.triu_indices(n)]


def _size(group: Any) -> int:
    return 3 if isinstance(group, SO3) else group.n


def _codimension(group: Any) -> int:
    return 1 if isinstance(group, S3) else len(_symmetric_basis(_size(group)))


@functools.cache
def _symmetric_basis(n: int) -> np.ndarray:
    """The symmetric matrices with ones at (i, j) and (j, i), of shape (n(n+1)/2, n, n)."""
    rows, columns = np.triu_indices(n)
    matrices = np.zeros((rows.size, n, n))
    matrices[np.arange(rows.size), rows, columns] = matrices[np.arange(rows.size), columns, rows] = 1.0
    return matrices


@functools.cache
def _inertia_of_mass(n: int) -> np.ndarray:
    """The linear map from the coordinates of M to the matrix K with x . K y = tr(hat(x) M hat(y)^T)."""
    algebra, symmetric = basis(n), _symmetric_basis(n)
    return np.einsum("aij,sjk,bik->abs", algebra, symmetric, algebra)


def _inertia(system: EulerPoincareSystem) -> Float[Array, "n n"]:
    return jax.jacfwd(lambda xi: momentum(system, xi))(jnp.zeros(system.group.dim))


def _mass(system: EulerPoincareSystem) -> Float[Array, "n n"]:
    """M, by least squares (on SO(2) it is not unique)."""
    n = _size(system.group)
    inverse = np.linalg.pinv(_inertia_of_mass(n).reshape(-1, n * (n + 1) // 2))
    return jnp.tensordot(inverse @ _inertia(system).reshape(-1), _symmetric_basis(n), 1)


def _mass_misfit(system: Any) -> float:
    """How far ell'(xi) is from that of the kinetic energy with mass matrix M, relative."""
    group = system.group
    n, M = _size(group), np.asarray(_mass(system))
    xi = np.cos(np.arange(float(group.dim)))
    expected = np.einsum("aij,jk,ik->a", basis(n), M, np.tensordot(xi, basis(n), 1))
    given = np.asarray(momentum(system, jnp.asarray(xi)))
    return float(np.max(np.abs(given - expected)) / np.max(np.abs(given)))
