"""Maps from the outside of a circle to the outside of a body, z = f(s) = s + a_0 + a_1/s + ..., |s| > R.

With z in the frame of the body and s = R exp(i theta) on its outline, the flow of a body that moves with Omega and
V = v_x + i v_y, at rest at infinity, has the complex potential

    w = -V R^2/s + conj(V) sum_k a_k s^-k - i Omega sum_k conj(c_k) (R/s)^k,    |f|^2 = sum_k c_k exp(i k theta).
"""

import abc
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float

from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.pair import Pair
from naiad.numerics import Module
from naiad.numerics.checks import is_known

REFINEMENTS = 2
"""Steps of Newton's method for the inverse, from where Cauchy's integral is."""


class AbstractExteriorMap(Module):
    """A map for JAX to trace; points are pairs of arrays."""

    radius: Any

    def inverse(self, z: Pair) -> Pair:
        """s of points outside the body; inside, what it gives is not a number or has |s| < R."""
        return _inverse(self, z)

    @abc.abstractmethod
    def found(self, z: Pair) -> Pair:
        """The same without derivatives, which are those of an inverse."""

    @abc.abstractmethod
    def value(self, s: Pair) -> Pair:
        """f(s)."""

    @abc.abstractmethod
    def slope(self, s: Pair) -> Pair:
        """f'(s)."""

    @abc.abstractmethod
    def streams(self, s: Pair) -> Float[Array, "*n 3"]:
        """The stream functions Im w of unit Omega, v_x and v_y, zero at infinity."""

    @property
    @abc.abstractmethod
    def on_body(self) -> Float[Array, "3"]:
        """The same on the body, less those of its own rigid motion (-|z|^2/2, y, -x), on the average: constants."""

    @property
    @abc.abstractmethod
    def added(self) -> Float[Array | np.ndarray, "3 3"]:
        """The added inertia, for density 1."""

    def height(self, s: Pair) -> Any:
        """About the distance from the wall: (|s| - R) |f'(s)|."""
        return (jnp.sqrt(s.square) - self.radius) * jnp.sqrt(self.slope(s).square)


class EllipseMap(AbstractExteriorMap):
    """f = s + c/s, R = (a + b)/2, c = (a^2 - b^2)/4."""

    a: Any
    b: Any
    radius: Any
    c: Any

    def __init__(self, a: Any, b: Any):
        self.a, self.b = a, b
        self.radius, self.c = 0.5 * (a + b), 0.25 * (a - b) * (a + b)

    def found(self, z: Pair) -> Pair:
        """The larger root of s^2 - z s + c = 0."""
        root = z.times(z).minus(Pair(4.0 * self.c, 0.0)).root()
        sign = jnp.where(root.x * z.x + root.y * z.y < 0.0, -0.5, 0.5)
        return z.scaled(0.5).plus(root.scaled(sign))

    def value(self, s: Pair) -> Pair:
        return s.plus(Pair(self.c, 0.0).over(s))

    def slope(self, s: Pair) -> Pair:
        return Pair(1.0, 0.0).minus(Pair(self.c, 0.0).over(s.times(s)))

    def streams(self, s: Pair) -> Float[Array, "*n 3"]:
        u, R2 = Pair(1.0, 0.0).over(s), self.radius * self.radius
        return jnp.stack([-self.c * R2 * u.times(u).x, (self.c - R2) * u.y, -(self.c + R2) * u.x], axis=-1)

    @property
    def on_body(self) -> Float[Array, "3"]:
        return jnp.stack([0.25 * (self.a * self.a + self.b * self.b), 0.0, 0.0])

    @property
    def added(self) -> Float[Array | np.ndarray, "3 3"]:
        if is_known(self.a) and is_known(self.b):
            return EllipticCylinder(self.a, self.b).added_inertia(1.0)
        moment = 2.0 * self.c * self.c
        return jnp.pi * jnp.diag(jnp.stack([moment, self.b * self.b, self.a * self.a]))


class LaurentMap(AbstractExteriorMap):
    """Any f by its series in u = R/s: f = s + a_0 + sum_k alpha_k u^k, and sum_k conj(c_k) u^k for the turns.

    The inverse is that of Cauchy's integral over the outline, `nodes` with their `weights` z'(t) and the `values` of
    s - z + a_0 there, which is as good at the wall as far from it [barnett2015], and then Newton's.
    """

    radius: float
    shift: Float[Array | np.ndarray, "2"]
    terms: Float[Array | np.ndarray, "k 2"]
    turning: Float[Array | np.ndarray, "m 2"]
    fluid: Float[Array | np.ndarray, "3 3"]
    body: Float[Array | np.ndarray, "3"]
    inner: Float[Array | np.ndarray, "2"]
    nodes: Float[Array | np.ndarray, "n 2"]
    weights: Float[Array | np.ndarray, "n 2"]
    values: Float[Array | np.ndarray, "n 2"]

    def found(self, z: Pair) -> Pair:
        return jax.lax.fori_loop(
            0, REFINEMENTS, lambda _, s: s.minus(self.value(s).minus(z).over(self.slope(s))), self._by_cauchy(z)
        )

    def value(self, s: Pair) -> Pair:
        return s.plus(Pair.of(self.shift)).plus(_series(0, self.terms, self._u(s)))

    def slope(self, s: Pair) -> Pair:
        u = self._u(s)
        return Pair(1.0, 0.0).minus(_series(1, self.terms, u).times(u).over(s))

    def streams(self, s: Pair) -> Float[Array, "*n 3"]:
        u = self._u(s)
        sideways, turned = _series(0, self.terms, u), _series(0, self.turning, u)
        x = sideways.y - self.radius * u.y
        return jnp.stack([-turned.x, x, -sideways.x - self.radius * u.x], axis=-1)

    @property
    def on_body(self) -> Float[Array, "3"]:
        return jnp.asarray(self.body)

    @property
    def added(self) -> Float[Array | np.ndarray, "3 3"]:
        return self.fluid

    def _u(self, s: Pair) -> Pair:
        return Pair(self.radius, 0.0).over(s)

    def _by_cauchy(self, z: Pair) -> Pair:
        inner = Pair.of(self.inner)

        def add(sums: tuple[Pair, Pair], node: tuple[Any, Any, Any]) -> tuple[tuple[Pair, Pair], None]:
            zeta, weight, value = map(Pair.of, node)
            share = weight.over(zeta.minus(z))
            return (sums[0].plus(share.times(value)), sums[1].plus(share.over(zeta.minus(inner)))), None

        zero = Pair(jnp.zeros_like(z.x), jnp.zeros_like(z.x))
        nodes = (jnp.asarray(self.nodes), jnp.asarray(self.weights), jnp.asarray(self.values))
        (above, below), _ = jax.lax.scan(add, (zero, zero), nodes)
        turns = below.times(z.minus(inner))  # -i n outside, none inside
        change = above.over(turns)
        outside = -turns.y > 0.5 * len(self.nodes)
        s = z.minus(Pair.of(self.shift)).plus(change)
        return Pair(jnp.where(outside, s.x, jnp.nan), jnp.where(outside, s.y, jnp.nan))


@jax.custom_jvp
def _inverse(mapping: AbstractExteriorMap, z: Pair) -> Pair:
    return mapping.found(z)


def _inverse_moved(primals: Any, tangents: Any) -> tuple[Pair, Pair]:
    """ds = (dz - df) / f'(s), df where the map itself changes."""
    (mapping, z), (changed, dz) = primals, tangents
    s = _inverse(mapping, z)
    if any(not isinstance(leaf, SymbolicZero) for leaf in jax.tree.leaves(changed, is_leaf=_is_zero)):
        changed = jax.tree.map(_made, changed, is_leaf=_is_zero)
        mapping = jax.tree.map(jnp.asarray, mapping)
        df = jax.jvp(lambda mapping: mapping.value(s), (mapping,), (changed,))[1]
        dz = jax.tree.map(_made, dz, is_leaf=_is_zero).minus(df)
    return s, jax.tree.map(_made, dz, is_leaf=_is_zero).over(mapping.slope(s))


_inverse.defjvp(_inverse_moved, symbolic_zeros=True)


def _is_zero(leaf: Any) -> bool:
    return isinstance(leaf, SymbolicZero)


def _made(leaf: Any) -> Any:
    return jnp.zeros(leaf.shape, leaf.dtype) if _is_zero(leaf) else leaf


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _series(order: int, terms: Any, u: Pair) -> Pair:
    """The derivative of this order of sum_k c_k u^k, k from 1, by Horner: no derivative goes through the loop."""
    powers = np.arange(1.0, terms.shape[0] + 1.0)
    weights = np.prod([powers - j for j in range(order)], axis=0) * np.ones(len(powers))
    first = max(order - 1, 0)
    kept = jnp.asarray(terms)[first:] * weights[first:, None]

    def down(sum: Pair, term: Any) -> tuple[Pair, None]:
        return sum.times(u).plus(Pair.of(term)), None

    total, _ = jax.lax.scan(down, Pair(jnp.zeros_like(u.x), jnp.zeros_like(u.x)), kept, reverse=True)
    return total.times(u) if order == 0 else total


@_series.defjvp
def _series_moved(order: int, primals: Any, tangents: Any) -> tuple[Pair, Pair]:
    (terms, u), (changed, du) = primals, tangents
    moved = _series(order + 1, terms, u).times(du)
    return _series(order, terms, u), moved.plus(_series(order, changed, u))
