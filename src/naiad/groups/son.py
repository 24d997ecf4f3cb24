"""Rotations of R^n."""

import functools
import itertools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Names
from naiad.numerics import matrix_functions
from naiad.numerics.module import static

Rotation = Float[Array, "n n"]
Vector = Float[Array, " dim"]


class SOn(AbstractGroup):
    """SO(n); an element is a rotation matrix R.

    The basis of the algebra runs over the pairs i < j, counted from 0, in reverse lexicographic order; the coordinate
    x_k of the pair (i, j) stands at X_ji = (-1)^(i+j+1) x_k = -X_ij. For n = 3 this is hat of SO(3), for n = 2 that of
    SO(2), and <x, y> = tr(X^T Y)/2 for all n.
    """

    n: int = static()

    def __init__(self, n: int):
        if n < 2:
            raise InputError(f"SOn({n!r}): n must be an integer of at least 2; give for example SOn(4)")
        self.n = int(n)

    @property
    def dim(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def names(self) -> Names:
        return Names(("R",), ("Omega",), ("Pi",))

    def identity(self) -> Rotation:
        return jnp.eye(self.n)

    def compose(self, g: Rotation, f: Rotation) -> Rotation:
        return jnp.matmul(g, f)

    def inverse(self, g: Rotation) -> Rotation:
        return jnp.transpose(g)

    def hat(self, x: Vector) -> Float[Array, "n n"]:
        return jnp.tensordot(x, basis(self.n), 1)

    def vee(self, X: Float[Array, "n n"]) -> Vector:
        return 0.5 * jnp.tensordot(basis(self.n), X, 2)

    def Ad(self, g: Rotation, x: Vector) -> Vector:
        return self.vee(g @ self.hat(x) @ jnp.transpose(g))

    def ad(self, x: Vector, y: Vector) -> Vector:
        X, Y = self.hat(x), self.hat(y)
        return self.vee(X @ Y - Y @ X)

    def expm1(self, x: Vector) -> Float[Array, "n n"]:
        """exp(X) - I, to round-off for rotation angles up to 2 pi."""
        return matrix_functions.expm1(self.hat(x))

    def advance(self, g: Rotation, d: Float[Array, "n n"]) -> Rotation:
        return g + g @ d

    def Ad_change(self, d: Float[Array, "n n"], x: Vector) -> Vector:
        X = self.hat(x)
        turned = d @ X
        return self.vee(turned - jnp.transpose(turned) + turned @ jnp.transpose(d))

    def tangent(self, g: Rotation, x: Vector) -> Float[Array, "n n"]:
        return g @ self.hat(x)

    def log(self, g: Rotation) -> Vector:
        """The principal logarithm, for rotation angles up to 3.13."""
        return self.vee(matrix_functions.rotation_log(g))

    def act(self, g: Rotation, v: Float[Array, " n"]) -> Float[Array, " n"]:
        return jnp.matmul(g, v)

    def split(self, x: Vector) -> tuple[Vector]:
        return (jnp.asarray(x),)

    def error(self, g: Rotation) -> Float[Array, ""]:
        defect = jnp.transpose(g) @ g - jnp.eye(self.n)
        return jnp.sqrt(jnp.sum(defect**2))

    def spin(self, x: Vector) -> Float[Array, ""]:
        return jnp.sqrt(jnp.dot(x, x))

    def versine(self, g: Rotation, f: Rotation) -> Float[Array, ""]:
        return 0.5 * (self.n - jnp.sum(g * f))  # of the turns in all planes together

    def rotations(self, g: Rotation) -> tuple[Rotation]:
        return (g,)

    def renormalise(self, g: Rotation) -> Rotation:
        return 0.5 * g @ (3.0 * jnp.eye(self.n) - jnp.transpose(g) @ g)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform, by the QR factorisation of a normal matrix with positive diagonal of R [mezzadri2007]."""
        Q, R = np.linalg.qr(rng.standard_normal((self.n, self.n)))
        Q = Q * np.sign(np.diagonal(R))
        Q[:, 0] *= np.sign(np.linalg.det(Q))
        return Q


@functools.cache
def basis(n: int) -> np.ndarray:
    """The basis of so(n), of shape (dim, n, n)."""
    pairs = sorted(itertools.combinations(range(n), 2), reverse=True)
    matrices = np.zeros((len(pairs), n, n))
    for k, (i, j) in enumerate(pairs):
        matrices[k, j, i] = (-1.0) ** (i + j + 1)
        matrices[k, i, j] = -matrices[k, j, i]
    return matrices
