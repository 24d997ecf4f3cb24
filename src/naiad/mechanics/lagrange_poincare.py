"""Systems with a symmetry group and a shape: Lagrangians of the body velocity, the shape and its rate."""

import abc
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup, Product
from naiad.mechanics.calculus import left_jacobian
from naiad.mechanics.connection import connection_of, curvature_of
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import solve


class Split(NamedTuple):
    """A velocity told apart by the connection: `locked`, I^-1 mu, that of the system frozen in its shape with the same
    momentum (vertical), and `drift`, - A(s) v, that of the change of shape without momentum (horizontal)."""

    locked: Float[Array, " d"]
    drift: Float[Array, " d"]


class LagrangePoincareSystem(LagrangianSystem):
    """A Lagrangian ell(xi, s, v, t) on G x S that G leaves alone: xi = g^-1 g' in the algebra of G, a shape s in S, and
    its rate v = s^-1 s' (s' on a vector space).

    A subclass gives `group`, a product of two factors, G first and S second (each may be a product itself), and
    `reduced_lagrangian`. Momenta are mu = d ell/d xi in the body frame and p = d ell/dv; the motion is

        mu' = ad*_xi mu  (vertical),     p' = ad*_v p + d ell/ds  (horizontal),     g' = g xi,

    with mu in space conserved. `Variational` steps it: neither mu nor s depends on g, which is reconstructed. For
    kinetic less potential energy the mechanical connection A, by automatic differentiation, splits the velocity into
    xi = I(s)^-1 mu - A(s) v [bourabee2007, section 7.4; marsden2000].
    """

    derives = ("lagrangian",)

    @abc.abstractmethod
    def reduced_lagrangian(self, xi: Float[Array, " d"], s: Any, v: Float[Array, " m"], t: Scalar) -> Float[Array, ""]:
        """ell(xi, s, v, t)."""

    @property
    def base(self) -> AbstractGroup:
        """The symmetry group G."""
        return self._product().factors[0]

    @property
    def shape(self) -> AbstractGroup:
        """The shape space S."""
        return self._product().factors[1]

    @property
    def symmetry_dim(self) -> int:
        return self.base.dim

    def symmetry(self, s: Float[Array, " d"], g: Any) -> Any:
        """Left translations of G; their momentum is that in space."""
        return type(g)(self.base.compose(self.base.exp(s), g[0]), g[1])

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """ell, whatever the place in G."""
        d = self.base.dim
        return self.reduced_lagrangian(xi[:d], g[1], xi[d:], t)

    def at(self, s: Any, g: Any = None) -> Any:
        """The configuration with this shape, at g (the identity of G if not given)."""
        return self._product().element((self.base.identity() if g is None else g, s))

    def inertia(self, s: Any, t: Scalar = 0.0) -> Float[Array, "n n"]:
        """K(s), the second derivatives of ell in (xi, v), at rest."""
        return jax.hessian(self.lagrangian, argnums=1)(self.at(s), jnp.zeros(self.group.dim), t)

    def locked_inertia(self, s: Any, t: Scalar = 0.0) -> Float[Array, "d d"]:
        """I(s) = K_gg: the inertia with the shape locked."""
        d = self.base.dim
        return self.inertia(s, t)[:d, :d]

    def connection(self, s: Any, t: Scalar = 0.0) -> Float[Array, "d m"]:
        """A(s) = I^-1 K_gs, a column for each rate of shape: without momentum xi = - A v."""
        return connection_of(self.inertia(s, t), self.base.dim)

    def curvature(self, s: Any, t: Scalar = 0.0) -> Float[Array, "m m d"]:
        """F_ab of the connection: a small loop that turns from a to b around the area c moves g to g exp(-c F_ab)."""
        size = self.group.dim
        rows = left_jacobian(self.shape, lambda x: jnp.ravel(self.inertia(x, t)), s)
        slopes = jnp.moveaxis(jnp.reshape(rows, (size, size, -1)), -1, 0)
        return curvature_of(self.base, self.inertia(s, t), slopes, self.shape)

    def split_velocity(self, state: State, t: Scalar = 0.0) -> Split:
        """The two parts of xi at a state."""
        d = self.base.dim
        v = self.velocity(state.g, state.mu, t)[d:]
        return Split(solve(self.locked_inertia(state.g[1], t), state.mu[:d]), -self.connection(state.g[1], t) @ v)

    def potential(self, s: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """V(s) = - ell at rest."""
        return -self.lagrangian(self.at(s), jnp.zeros(self.group.dim), t)

    def amended_potential(self, s: Any, mu: Float[Array, " d"], t: Scalar = 0.0) -> Float[Array, ""]:
        """V(s) + mu . I(s)^-1 mu / 2: its critical points are the shapes that turn steadily with the body momentum mu
        [marsden1992, chapter 4]."""
        mu = jnp.asarray(mu, float)
        return self.potential(s, t) + 0.5 * mu @ solve(self.locked_inertia(s, t), mu)

    def _product(self) -> Product:
        group = self.group
        if not isinstance(group, Product) or len(group.factors) != 2:
            raise InputError(
                f"{type(self).__name__}.group = {group!r}; expected a Product of two factors, the symmetry group first "
                "and the shape second, as in Product(R=SO3(), s=Rn(2))."
            )
        return group
