"""A cluster of atoms as a rotation and a shape, in the frame of Eckart about a reference."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Product, Rn
from naiad.mechanics import Picture, SlicedSystem, State
from naiad.models.atom_cluster import AtomCluster
from naiad.numerics import static

MARGIN = 0.05


class ClusterShape(SlicedSystem):
    """An `AtomCluster` on SO(3) x R^(3N - 6): q = R (X + sum_a s_a B_a), X the Jacobi vectors of a reference and B an
    orthonormal basis of what is orthogonal to its turns (the conditions of Eckart; [littlejohn1997]).

    The kinetic energy is |s'|^2 / 2 + Omega . (sum of q x q') + Omega . I(s) Omega / 2, and A(0) = 0. The chart ends
    where a shape is as far from the reference as the condition allows; a run ends before, and `about(state)` gives
    the same motion about another reference. Atoms in a line have no frame.
    """

    whole: AtomCluster
    reference: Float[Array | np.ndarray, "n 3"]
    basis: Float[Array | np.ndarray, "m n 3"]
    group: AbstractGroup = static()
    limit_words = "The shape is too far from the reference of its chart; go on with `about(state)`, a chart there."

    def __init__(self, whole: AtomCluster, reference: Any):
        X = np.asarray(reference, float)
        if X.shape != (len(whole.m) - 1, 3) or not np.all(np.isfinite(X)):
            raise InputError(
                f"reference has shape {X.shape}; expected the Jacobi vectors of a shape, {len(whole.m) - 1} rows of "
                "three, as cluster.coordinates(x) gives them."
            )
        turns = np.cross(np.eye(3)[:, None], X).reshape(3, -1)
        _, sizes, rows = np.linalg.svd(turns)
        if not sizes[2] > 1e-6 * sizes[0]:
            raise InputError("The atoms of the reference lie in a line, so they have no frame; take another reference.")
        self.whole, self.reference = whole, X
        self.basis = rows[3:].reshape(-1, *X.shape)
        self.group = Product(R=SO3(), s=Rn(len(self.basis)))

    def act(self, g: Float[Array, "3 3"], q: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
        """The cluster turned."""
        return q @ g.T

    def slice(self, s: Float[Array, " m"]) -> Float[Array, "n 3"]:
        """X + sum_a s_a B_a."""
        return jnp.asarray(self.reference) + jnp.tensordot(s, jnp.asarray(self.basis), axes=1)

    def split(self, q: Float[Array, "n 3"]) -> tuple[Float[Array, "3 3"], Float[Array, " m"]]:
        """The turn that comes nearest to the reference, and the shape seen from there."""
        left, _, right = jnp.linalg.svd(jnp.asarray(q).T @ self.reference)
        sign = jnp.array([1.0, 1.0, jnp.linalg.det(left @ right)])
        R = (left * sign) @ right
        return R, jnp.tensordot(jnp.asarray(self.basis), q @ R - self.reference, axes=2)

    def about(self, state: State) -> tuple["ClusterShape", State]:
        """The chart about the shape of a state, and the state there."""
        chart = ClusterShape(self.whole, np.asarray(self.slice(state.g.s)))
        return chart, chart.reduced(self.unreduced(state))

    def limit(self, g: Any, t: Any, h: Any) -> Float[Array, ""]:
        """How far the frame is from being undetermined: 1 at the reference, less a margin."""
        X = jnp.asarray(self.reference)
        return _determinacy(X, self.slice(g.s)) / _determinacy(X, X) - MARGIN

    @property
    def picture(self) -> Picture:
        """The atoms where they are."""
        return Picture(seen=lambda g, t: {"x": self.whole.places(self.configuration(g))})


def _determinacy(X: Float[Array, "n 3"], q: Float[Array, "n 3"]) -> Float[Array, ""]:
    """det of the matrix of Omega -> sum X x (Omega x q)."""
    a, b, c = jnp.sum(X * q) * jnp.eye(3) - q.T @ X
    return a @ jnp.cross(b, c)
