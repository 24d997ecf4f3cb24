"""Euler-Poincare systems with advected parameters and additional dynamics."""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup, Product, Rn
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import Newton
from naiad.numerics.arguments import checked_throughout

Action = Callable[[Any, Any], Any]
"""(g, point) -> g point: of a group on a vector space, whose points are arrays or tuples of arrays."""


class ReducedState(NamedTuple):
    """What is left when the group is divided out: mu = d ell/d xi, n = g^-1 q, p = d ell/d nu, a = g^-1 a_0."""

    mu: Float[Array, " m"]
    n: Float[Array, " k"]
    p: Float[Array, " k"]
    a: Any


@checked_throughout
def generator(group: AbstractGroup, action: Action, xi: Float[Array, " m"], point: Any) -> Any:
    """xi acting on a point: d/ds exp(s xi) point at s = 0."""
    return jax.jvp(lambda g: action(g, point), (group.identity(),), (group.tangent(group.identity(), xi),))[1]


@checked_throughout
def diamond(group: AbstractGroup, action: Action, b: Any, point: Any) -> Float[Array, " m"]:
    """b <> point, defined by <b <> point, xi> = -<b, xi point> [advected, eq. (14)]."""
    (covector,) = jax.linear_transpose(lambda xi: generator(group, action, xi, point), jnp.zeros(group.dim))(b)
    return -covector


class AdvectedSystem(LagrangianSystem):
    """A Lagrangian ell(xi, n, nu, a, t) of xi = g^-1 g', n = g^-1 q, nu = g^-1 q' and the advected parameter a = g^-1
    a_0.

    `base` is the group, any of naiad's, products and powers too; `a0` the parameter in space, an array or a tuple of
    arrays; `additional_dim` the dimension of the vector space Q of q (0 for none: then n and nu are empty). The actions
    on Q and on the parameter are the natural one of the group unless a subclass defines `act_on_q` or `act_on_a`: any
    representation g, a -> g a, whose generators are found by differentiation. The configuration (g, q) of the full
    system lives on `group`, a product if there are additional dynamics.
    """

    needs = ("base", "a0")
    if TYPE_CHECKING:  # as for `group` of a LagrangianSystem
        base: ClassVar[AbstractGroup]
        a0: ClassVar[Any]

    derives = ("lagrangian",)
    additional_dim = 0
    act_on_q: ClassVar[Any] = None
    act_on_a: ClassVar[Any] = None

    @abc.abstractmethod
    def reduced_lagrangian(
        self,
        xi: Float[Array, " m"],
        n: Float[Array, " k"],
        nu: Float[Array, " k"],
        a: Any,
        t: Scalar,
    ) -> Float[Array, ""]:
        """ell(xi, n, nu, a, t)."""

    @property
    def group(self) -> AbstractGroup:
        return Product(base=self.base, q=Rn(self.additional_dim)) if self.additional_dim else self.base

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """The full Lagrangian on G x Q: ell at g^-1 of everything."""
        h, q = self.split_configuration(g)
        back = self.base.inverse(h)
        n, nu = self._tangent_action(back, q, xi[self.base.dim :])
        return self.reduced_lagrangian(xi[: self.base.dim], n, nu, self.act_a(back, self.a0), t)

    def act_q(self, g: Any, q: Float[Array, " k"]) -> Float[Array, " k"]:
        """g q."""
        return (self.base.act if self.act_on_q is None else self.act_on_q)(g, q) if self.additional_dim else q

    def act_a(self, g: Any, a: Any) -> Any:
        """g a, built as a is."""
        name = type(self).__name__
        try:
            moved = jax.tree.leaves((self.base.act if self.act_on_a is None else self.act_on_a)(g, a))
        except (TypeError, ValueError) as error:
            if self.act_on_a is not None:
                raise
            raise InputError(
                f"{name}: {type(self.base).__name__} has no natural action on a0 of shape {_shapes(a)}; define "
                "act_on_a(g, a), or give a0 as what the group moves (of a Product, one vector for each factor)."
            ) from error
        if _shapes(moved) != _shapes(a):
            raise InputError(
                f"{name}: the action makes {_shapes(moved)} of a parameter of shape {_shapes(a)}; expected g a to be "
                "shaped as a. Correct act_on_a, or a0."
            )
        return jax.tree.unflatten(jax.tree.structure(a), moved)

    def split_configuration(self, configuration: Any) -> tuple[Any, Float[Array, " k"]]:
        """(g, q) of a configuration; q is empty where there are no additional dynamics."""
        return tuple(configuration) if self.additional_dim else (configuration, jnp.zeros(0))

    def reduce(self, state: State) -> ReducedState:
        """The reduced state of a full one."""
        g, q = self.split_configuration(state.g)
        n, _ = self._tangent_action(self.base.inverse(g), q, q)
        return ReducedState(
            state.mu[: self.base.dim],
            n,
            self.pull_q(g, n, state.mu[self.base.dim :]),
            self.act_a(self.base.inverse(g), self.a0),
        )

    def pull_q(self, g: Any, n: Float[Array, " k"], p: Float[Array, " k"]) -> Float[Array, " k"]:
        """The pull-back of a covector on Q at g n to n: <g* p, w> = <p, g w>."""
        return jax.vjp(lambda w: self.act_q(g, w), n)[1](p)[0]

    def reduced_velocity(self, reduced: ReducedState, t: Scalar = 0.0) -> tuple[Float[Array, " m"], Float[Array, " k"]]:
        """(xi, nu) of the momenta (mu, p)."""
        size = self.base.dim

        def residual(v):
            partial = jax.grad(lambda v: self.reduced_lagrangian(v[:size], reduced.n, v[size:], reduced.a, t))(v)
            return partial - jnp.concatenate([reduced.mu, reduced.p])

        v = Newton().root(residual, jnp.zeros(size + self.additional_dim)).x
        return v[:size], v[size:]

    def reduced_equations(self, reduced: ReducedState, t: Scalar = 0.0) -> ReducedState:
        """The Euler-Poincare equations with advected parameters and additional dynamics [advected, eqs. (20)-(22)].

        mu' = ad*_xi mu + d_a <> a + d_n <> n + d_nu <> nu,  p' = d_n + L*_xi p,  n' = nu - xi n,  a' = -xi a.
        """
        xi, nu = self.reduced_velocity(reduced, t)
        d_n, d_a = jax.grad(self.reduced_lagrangian, argnums=(1, 3))(xi, reduced.n, nu, reduced.a, t)

        def on_n(x, n):
            return generator(self.base, self.act_q, x, n)

        def on_nu(x):
            return jax.jvp(lambda n: on_n(x, n), (reduced.n,), (nu,))[1]

        (carried,) = jax.linear_transpose(on_nu, jnp.zeros(self.base.dim))(reduced.p)
        (transported,) = jax.vjp(lambda n: on_n(xi, n), reduced.n)[1](reduced.p)
        return ReducedState(
            self.base.ad_dual(xi, reduced.mu)
            + diamond(self.base, self.act_a, d_a, reduced.a)
            + diamond(self.base, self.act_q, d_n, reduced.n)
            - carried,
            nu - on_n(xi, reduced.n),
            d_n + transported,
            jax.tree.map(jnp.negative, generator(self.base, self.act_a, xi, reduced.a)),
        )

    def kelvin_noether(self, state: State, c0: Float[Array, " m"]) -> Float[Array, ""]:
        """<c, mu - p <> n>, c = Ad_{g^-1} c_0: the momentum of moving g and q along c_0 [advected, eq. (27)]."""
        g, _ = self.split_configuration(state.g)
        reduced = self.reduce(state)
        carried = diamond(self.base, self.act_q, reduced.p, reduced.n)
        return self.base.Ad(self.base.inverse(g), jnp.asarray(c0)) @ (reduced.mu - carried)

    def kelvin_noether_rate(self, state: State, c0: Float[Array, " m"], t: Scalar = 0.0) -> Float[Array, ""]:
        """d/dt of `kelvin_noether`: <c, d ell/da <> a>, zero where c_0 leaves a_0 alone [advected, eq. (28)]."""
        g, _ = self.split_configuration(state.g)
        reduced = self.reduce(state)
        xi, nu = self.reduced_velocity(reduced, t)
        d_a = jax.grad(self.reduced_lagrangian, argnums=3)(xi, reduced.n, nu, reduced.a, t)
        return self.base.Ad(self.base.inverse(g), jnp.asarray(c0)) @ diamond(self.base, self.act_a, d_a, reduced.a)

    def _tangent_action(
        self, g: Any, q: Float[Array, " k"], v: Float[Array, " k"]
    ) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
        return jax.jvp(lambda x: self.act_q(g, x), (q,), (v,))


def _shapes(a: Any) -> str:
    return ", ".join(str(jnp.shape(leaf)) for leaf in jax.tree.leaves(a))
