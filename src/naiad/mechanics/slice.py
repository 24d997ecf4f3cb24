"""A system with a symmetry, seen as a group and a shape: its configurations are q = g . sigma(s)."""

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import AbstractGroup
from naiad.mechanics.calculus import pull_back
from naiad.mechanics.features import refuse_features
from naiad.mechanics.lagrange_poincare import LagrangePoincareSystem
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem


class SlicedSystem(LagrangePoincareSystem):
    """The system `whole`, whose Lagrangian a group G leaves alone, on G x S by a slice sigma: S -> Q that meets each
    orbit of G once.

    A subclass gives `whole`, `group` (G and S), the action `act(g, q)`, `slice(s)` and its inverse `split(q)`, which
    is the pair of g and s. The Lagrangian follows; so does the discrete Lagrangian, that of the trapezoid on `whole`,

        L_d = h/2 (L(q_k, w) + L(q_{k+1}, w)),   q_{k+1} = q_k tau(h w),

    in the coordinates g and s. So `Variational()` moves as it does on `whole`, exactly, and `Variational(rule=...)`
    makes another discrete Lagrangian, of ell(xi, s, v).
    """

    needs = ("group", "whole")
    if TYPE_CHECKING:
        whole: ClassVar[LagrangianSystem]

    discrete_order = 2
    discrete_symmetric = True

    def check_parts(self) -> None:
        honours = frozenset({"time", "linear", "override"})
        refuse_features(type(self).__name__, honours, self.whole, "Give it to the subclass of SlicedSystem.")

    @abc.abstractmethod
    def act(self, g: Any, q: Any) -> Any:
        """g . q."""

    @abc.abstractmethod
    def slice(self, s: Any) -> Any:
        """sigma(s)."""

    @abc.abstractmethod
    def split(self, q: Any) -> tuple[Any, Any]:
        """(g, s) with q = g . sigma(s)."""

    def configuration(self, g: Any) -> Any:
        """q of an element of G x S."""
        return self.act(g[0], self.slice(g[1]))

    def whole_velocity(self, g: Any, xi: Float[Array, " n"]) -> Float[Array, " n"]:
        """q^-1 q' for the velocity xi on G x S."""
        moved = (self.group.tangent(g, xi),)
        return _left_trivialised(self.whole.group, *jax.jvp(self.configuration, (g,), moved))

    def reduced_lagrangian(self, xi: Float[Array, " d"], s: Any, v: Float[Array, " m"], t: Scalar) -> Float[Array, ""]:
        """L at sigma(s), and at the velocity of both."""
        at = self.at(s)
        return self.whole.lagrangian(self.slice(s), self.whole_velocity(at, jnp.concatenate([xi, v])), t)

    def discrete_lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar, tau: Any) -> Float[Array, ""]:
        """The action of `whole` from sigma(s_k) to tau(h xi) . sigma(s_{k+1}), wherever g is."""
        whole, start = self.whole, self.slice(g[1])
        end = self.configuration(self.group.compose(self.at(g[1]), tau.tau(self.group, h * xi)))
        w = tau.inverse(whole.group, whole.group.compose(whole.group.inverse(start), end)) / h
        return 0.5 * h * (whole.lagrangian(start, w, t) + whole.lagrangian(end, w, t + h))

    def unreduced(self, state: State) -> State:
        """The state of `whole`: its momentum is that whose pairing with every velocity is the same."""
        return State(self.configuration(state.g), jnp.linalg.solve(self._frame(state.g).T, state.mu))

    def reduced(self, state: State) -> State:
        """The group element, the shape and the momenta of a state of `whole`."""
        place, shape = self.split(state.g)
        g = self.at(shape, place)
        return State(g, self._frame(g).T @ state.mu)

    def _frame(self, g: Any) -> Float[Array, "n n"]:
        """The matrix of `whole_velocity`."""
        return jnp.stack([self.whole_velocity(g, axis) for axis in jnp.eye(self.group.dim)], axis=1)


def _left_trivialised(group: AbstractGroup, q: Any, velocity: Any) -> Float[Array, " n"]:
    """w of the ambient velocity q w: the axes of the algebra are orthogonal there, and as long as at the identity."""
    lengths = pull_back(group, group.identity(), group.tangent(group.identity(), jnp.ones(group.dim)))
    return pull_back(group, q, velocity) / lengths
