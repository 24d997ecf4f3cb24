"""Whether a step keeps the symplectic form of T*G, and the Poisson bracket of the reduced space."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.diagnostics.fitting import check_steps
from naiad.diagnostics.tangent import displaced, step_jacobian, units
from naiad.groups import AbstractGroup
from naiad.integrators import AbstractMethod
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, State
from naiad.numerics.arguments import checked, checked_throughout


@checked_throughout
def bracket_matrix(group: AbstractGroup, mu: Float[Array, " n"]) -> Float[Array, "n n"]:
    """C_ij = <mu, [e_i, e_j]>."""
    basis = jnp.eye(group.dim)
    return jax.vmap(lambda x: jax.vmap(lambda y: mu @ group.ad(x, y))(basis))(basis)


@checked_throughout
def symplectic_matrix(group: AbstractGroup, mu: Float[Array, " n"]) -> Float[Array, "m m"]:
    """The exterior derivative of the canonical one-form <mu, eta> in the left trivialisation [marsden1999, section
    4.4].

    ((eta, nu), (eta', nu')) -> <nu, eta'> - <nu', eta> - <mu, [eta, eta']>.
    """
    identity, zero = jnp.eye(group.dim), jnp.zeros((group.dim, group.dim))
    return jnp.block([[-bracket_matrix(group, mu), -identity], [identity, zero]])


@checked
def symplecticity_defect(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    *,
    dt: float,
    t: float = 0.0,
    steps: int = 1,
    sizes: tuple[float, float] = (1.0, 1.0),
) -> float:
    """|D^T W(mu') D - W(mu)| / |W(mu)| for the derivative D of some steps: round-off for a symplectic method.

    Under a constraint, in the directions that keep it. A method of more steps than one shows itself only after its
    start: take `steps=2`. Displacements and momenta are counted in `sizes`, which matter where theirs are far from 1.
    """
    check_steps("symplecticity_defect", steps)
    image, D = step_jacobian(system, method, state, dt=dt, t=t, steps=steps)
    before, after = (execute(symplectic_matrix, system.group, mu, parameters=(0,)) for mu in (state.mu, image.mu))
    unit = units(system.group, sizes)
    D, before, after = D / unit[:, None] * unit, *(unit[:, None] * W * unit / np.prod(sizes) for W in (before, after))
    T = np.eye(len(D)) if system.constraint is None else _kept_directions(system, state, t) / unit[:, None]
    return float(np.linalg.norm(T.T @ (D.T @ after @ D - before) @ T) / np.linalg.norm(T.T @ before @ T))


def _kept_directions(system: LagrangianSystem, state: State, t: float) -> Float[np.ndarray, "m k"]:
    """Columns that span the directions (eta, nu) along which the constraint and its rate stay as they are."""

    def held(z):
        g, mu = displaced(system.group, state, z)
        rate = system.constraint_rate(g, system.velocity(g, mu, t), t)
        return jnp.concatenate([jnp.atleast_1d(system.constraint(g, t)), rate])

    rows = np.asarray(jax.jacfwd(held)(jnp.zeros(2 * system.group.dim)))
    return np.linalg.svd(rows)[2][len(rows) :].T


@checked
def poisson_defect(system: EulerPoincareSystem, method: AbstractMethod, state: State, *, dt: float) -> float:
    """|D C(mu) D^T - C(mu')| / |C(mu')| for the derivative D of mu -> mu': round-off for a Lie-Poisson method."""
    n = system.group.dim
    image, D = step_jacobian(system, method, state, dt=dt)
    before, after = (execute(bracket_matrix, system.group, mu, parameters=(0,)) for mu in (state.mu, image.mu))
    return float(np.linalg.norm(D[n:, n:] @ before @ D[n:, n:].T - after) / np.linalg.norm(after))
