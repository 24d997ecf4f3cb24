"""A cluster of atoms about its centre of mass, by Jacobi vectors."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Power, Rn
from naiad.mechanics import LagrangianSystem, Picture, Scalar
from naiad.models.pair_potentials import AbstractPairPotential, Body, LennardJones
from naiad.numerics import AbstractStructure, Chain, static
from naiad.numerics.checks import masses, namespace
from naiad.numerics.fire import fallen


class AtomCluster(LagrangianSystem):
    """ell = |q'|^2 / 2 - sum_{i<j} U(|x_i - x_j|), q the mass-weighted Jacobi vectors of N atoms, (R^3)^(N-1):

        q_k = sqrt(m_{k+1} M_k / M_{k+1}) (x_{k+1} - centre of the first k),   M_k = m_1 + ... + m_k,

    so that the centre of mass is at rest at the origin [littlejohn1997]. The potential is one of the distance alone,
    of those in `naiad.models.pair_potentials`; if not given `LennardJones`. Turns about the centre are a symmetry, and
    their momentum is the angular momentum.
    """

    m: Float[Array | np.ndarray, " N"]
    potential: AbstractPairPotential
    group: AbstractGroup = static()
    structure: AbstractStructure = static()
    symmetry_dim = 3
    definite = True

    def __init__(self, m: Any, potential: AbstractPairPotential | None = None):
        self.m = masses(m)
        if len(self.m) < 2:
            raise InputError(f"AtomCluster: {len(self.m)} mass was given; expected at least two.")
        self.potential = LennardJones() if potential is None else potential
        self.group = Power(Rn(3), len(self.m) - 1)
        self.structure = Chain(3)

    @property
    def jacobi(self) -> Float[Array | np.ndarray, "N N-1"]:
        """The matrix W of the atoms' places x = W q; W^T diag(m) W = 1, and m W = 0."""
        xp = namespace(self.m)
        total, count = xp.cumsum(self.m), len(self.m)
        c = xp.sqrt(self.m[1:] * total[:-1] / total[1:])
        atom, vector = np.indices((count, count - 1))
        return xp.where(atom == vector + 1, c / self.m[1:], xp.where(atom <= vector, -c / total[:-1], 0.0))

    def places(self, q: Float[Array, "N-1 3"]) -> Float[Array, "N 3"]:
        """Where the atoms are, from their centre of mass."""
        return jnp.asarray(self.jacobi) @ q

    def coordinates(self, x: Any) -> Float[np.ndarray, "N-1 3"]:
        """The Jacobi vectors of atoms at x, wherever their centre of mass is."""
        x = np.asarray(x, float)
        if x.shape != (len(self.m), 3):
            raise InputError(f"x has shape {x.shape}; expected a row of three for each of {len(self.m)} atoms.")
        return (np.asarray(self.jacobi) * np.asarray(self.m)[:, None]).T @ x

    def potential_energy(self, q: Float[Array, "N-1 3"]) -> Float[Array, ""]:
        """The sum over pairs."""
        first, second = np.triu_indices(len(self.m), 1)
        x, m = self.places(q), jnp.asarray(self.m)

        def pair(gap, i, j):
            point = jnp.zeros((3, 3))
            return self.potential(gap, jnp.eye(3), Body(i, m[i], point), Body(j, m[j], point))

        return jnp.sum(jax.vmap(pair)(x[second] - x[first], jnp.asarray(first), jnp.asarray(second)))

    def relaxed(
        self, q: Any, *, h: float = 0.01, reach: float = 0.1, tolerance: float = 1e-10
    ) -> Float[np.ndarray, "... N-1 3"]:
        """The minima of the potential into which shapes fall, one or rows of them; NaN where none is found.

        They move from rest, by steps of h at first, by at most `reach`, until no force is above `tolerance`. What is
        given by default fits units in which mass, depth and radius are one.
        """
        shapes = np.asarray(q, float)
        size = (len(self.m) - 1, 3)
        if shapes.shape[-2:] != size:
            raise InputError(f"q has shape {shapes.shape}; expected {size}, or rows of these.")
        return execute_rows(_fallen, (self, h, reach, tolerance), shapes.reshape(-1, *size), parameters=(0,)).reshape(
            shapes.shape
        )

    def lagrangian(self, g: Float[Array, "N-1 3"], xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energy less the potentials of all pairs."""
        return 0.5 * xi @ xi - self.potential_energy(g)

    def velocity(self, g: Float[Array, "N-1 3"], mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """The momenta themselves."""
        return mu

    def symmetry(self, s: Float[Array, "3"], g: Float[Array, "N-1 3"]) -> Float[Array, "N-1 3"]:
        """Turns about the centre of mass; their momentum is the angular momentum."""
        return g @ SO3().exp(s).T

    @property
    def picture(self) -> Picture:
        """The atoms where they are."""
        return Picture(seen=lambda g, t: {"x": self.places(g)})


def _fallen(given: tuple[AtomCluster, Any, Any, Any], q: Float[Array, "N-1 3"]) -> Float[Array, "N-1 3"]:
    cluster, h, reach, tolerance = given

    def force(flat):
        return -jnp.ravel(jax.grad(cluster.potential_energy)(jnp.reshape(flat, q.shape)))

    end = fallen(force, jnp.ravel(q), h=h, reach=reach, tolerance=tolerance)
    return jnp.where(end.converged, jnp.reshape(end.x, q.shape), jnp.nan)
