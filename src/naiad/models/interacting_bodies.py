"""Rigid bodies that act on each other in pairs, by their positions and orientations."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE3, AbstractGroup, Power
from naiad.mechanics import LagrangianSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.models.pair_potentials import AbstractPairPotential, Body
from naiad.numerics import AbstractStructure, Sparse, static
from naiad.numerics.checks import body_inertia, masses, matrix_for_each


class GivenPair(AbstractPairPotential):
    """The pair potential of a plain function U(r, Q, a, b)."""

    function: Callable[..., Any] = static()

    def __call__(self, r: Any, Q: Any, a: Body, b: Body) -> Float[Array, ""]:
        return self.function(r, Q, a, b)


class InteractingBodies(LagrangianSystem):
    """ell = sum_i (Omega_i . J_i Omega_i + m_i |v_i|^2) / 2 - sum_{i<j} U(r_ij, Q_ij) on SE(3)^N, velocities in the
    body frames, r_ij = R_i^T (x_j - x_i), Q_ij = R_i^T R_j [bourabee2007, section 7.3].

    `potential` is one of `naiad.models.pair_potentials` or any function U(r, Q, a, b) (see `AbstractPairPotential`).
    `m` has N masses; `J` has a row of three moments or a matrix for each body, or one for all, as in [(a, b, c)], such
    as bodies can have unless `unphysical`. The symmetry is that of rigid motions: `noether` gives the total angular
    momentum about the origin and the total linear momentum.

    `structure=Chain(6)` solves a step in O(N): exact for `Variational` with the trapezoid (the default), left and right
    rules, where the unknown velocities of different bodies are not coupled.
    """

    m: Float[Array | np.ndarray, " N"]
    J: Float[Array | np.ndarray, "N 3 3"]
    potential: AbstractPairPotential
    group: AbstractGroup = static()
    structure: AbstractStructure = static()
    symmetry_dim = 6

    def __init__(
        self,
        m: Any,
        J: Any,
        potential: AbstractPairPotential | Callable[..., Any],
        structure: AbstractStructure | None = None,
        *,
        unphysical: bool = False,
    ):
        self.m = masses(m)
        self.J = _inertias(J, len(self.m), unphysical=unphysical)
        if not callable(potential):
            raise InputError(
                f"potential = {potential!r}; expected a pair potential such as Gravity(), or a function U(r, Q, a, b)."
            )
        self.potential = potential if isinstance(potential, AbstractPairPotential) else GivenPair(potential)
        self.group = Power(SE3(), len(self.m))
        self.structure = Sparse() if structure is None else structure

    def lagrangian(self, g: Any, xi: Float[Array, " 6N"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energies less the potentials of all pairs."""
        Omega, v = self.group.split(xi)
        turning = jnp.sum(Omega * jnp.einsum("nij,nj->ni", self.J, Omega))
        return 0.5 * (turning + jnp.sum(self.m[:, None] * v**2)) - self.potential_energy(g)

    def potential_energy(self, g: Any) -> Float[Array, ""]:
        """The sum over pairs."""
        first, second = np.triu_indices(len(self.m), 1)
        if not len(first):
            return jnp.zeros(())
        R, x, m, J = jnp.asarray(g.R), jnp.asarray(g.x), jnp.asarray(self.m), jnp.asarray(self.J)

        def pair(Ra, xa, Rb, xb, a, b):
            return self.potential((xb - xa) @ Ra, Ra.T @ Rb, a, b)

        a, b = (Body(jnp.asarray(index), m[index], J[index]) for index in (first, second))
        return jnp.sum(jax.vmap(pair)(R[first], x[first], R[second], x[second], a, b))

    @property
    def picture(self) -> Picture:
        """Ellipsoids with the inertia of the bodies."""
        bodies = zip(np.asarray(self.J), np.asarray(self.m), strict=True)
        return Picture(shapes=[ellipsoid_of_inertia(J, mass) for J, mass in bodies])

    def symmetry(self, s: Float[Array, "6"], g: Any) -> Any:
        """Rigid motions of all bodies at once: turns about the origin, and shifts."""
        move = SE3().exp(s)
        return jax.vmap(lambda pose: SE3().compose(move, pose))(g)


def _inertias(J: Any, count: int, *, unphysical: bool) -> np.ndarray:
    return matrix_for_each("J", J, count, lambda name, each: body_inertia(name, each, unphysical=unphysical))
