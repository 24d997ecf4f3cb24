"""Point masses under their mutual gravity: the N-body problem."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Power, Rn
from naiad.mechanics import LagrangianSystem, Picture, Scalar
from naiad.numerics import AbstractStructure, Sparse, reciprocal_root, static
from naiad.numerics.checks import masses, positive


class PointMasses(LagrangianSystem):
    """ell = sum_i m_i |v_i|^2 / 2 + sum_{i<j} G m_i m_j / |q_i - q_j| on (R^3)^N [hairer2006, section I.2.4].

    The symmetry is that of rigid motions: `noether` gives the angular momentum about the origin and the linear
    momentum. `structure=Chain(3)` solves a step in O(N), as for `InteractingBodies`. `names` are what the masses are
    called in pictures and datasets.
    """

    m: Float[Array | np.ndarray, " N"]
    G: float
    group: AbstractGroup = static()
    structure: AbstractStructure = static()
    names: tuple[str, ...] | None = static()
    symmetry_dim = 6

    def __init__(
        self,
        m: Any,
        G: float = 1.0,
        structure: AbstractStructure | None = None,
        *,
        names: Sequence[str] | None = None,
    ):
        self.m, self.G = masses(m), positive("G", G)
        self.group = Power(Rn(3), len(self.m))
        self.structure = Sparse() if structure is None else structure
        if names is not None and (len(names) != len(self.m) or not all(isinstance(name, str) for name in names)):
            raise InputError(f"names = {names!r}; expected a text for each of {len(self.m)} masses.")
        self.names = None if names is None else tuple(names)

    @property
    def picture(self) -> Picture:
        """What the masses are called."""
        return Picture(names=self.names)

    def lagrangian(self, g: Float[Array, "N 3"], xi: Float[Array, " 3N"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energies less the gravity of all pairs."""
        v, q, m = jnp.reshape(xi, (-1, 3)), jnp.asarray(g), jnp.asarray(self.m)
        first, second = np.triu_indices(len(self.m), 1)
        gap = q[first] - q[second]
        attraction = jnp.sum(m[first] * m[second] * reciprocal_root(jnp.sum(gap**2, axis=1)))
        return 0.5 * jnp.sum(m[:, None] * v**2) + self.G * attraction

    def velocity(self, g: Float[Array, "N 3"], mu: Float[Array, " 3N"], t: Scalar = 0.0) -> Float[Array, " 3N"]:
        """Momenta over masses."""
        return mu * jnp.repeat(1.0 / jnp.asarray(self.m), 3)

    def symmetry(self, s: Float[Array, "6"], g: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        """Turns about the origin, and shifts."""
        return g @ SO3().exp(s[:3]).T + s[3:]
