"""A body that bends about its midline: where its points are, and how they move."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float
from numpy.polynomial import chebyshev

from naiad.errors import InputError
from naiad.hydro import AbstractCurve
from naiad.numerics import Module

ACROSS = 12
"""Gauss points from the midline to the outline."""
UNRESOLVED = 1e-6
"""Of a mode's series, the share of its last terms that is too much."""


class BentPoints(NamedTuple):
    """Points of a bent body, and their velocities per rate of each mode, in the frame of the midline's middle."""

    X: Complex[Array, " p"]
    slopes: Complex[Array, "p m"]


class Bend(Module):
    """The bend of a straight body into one whose midline has the curvature kappa = sum_a q_a kappa_a(s).

    The point at s along and nu across the straight body goes to

        X = Z(s) + i n exp(i alpha),   alpha = int_0^s kappa,   Z = int_0^s exp(i alpha),   n - kappa n^2 / 2 = nu.

    The midline keeps its length, sections stay straight and across it, and every piece of the body keeps its area: the
    tissue moves from the outer side of the bend to the inner one. So the body is as dense everywhere as it was.
    At s = 0 the midline is at the origin, along e_1.

    `s`, `nu` are points of the outline at equal steps of its parameter, `shares` - nu ds there, whose sum is the area.
    `sums` are the weights of int_0^s of what is known at nodes along the midline; `node_alphas`, `kappas` and `alphas`
    have a column for each mode, the first at the nodes, the others at the points.
    """

    s: Float[np.ndarray, " n"]
    nu: Float[np.ndarray, " n"]
    shares: Float[np.ndarray, " n"]
    sums: Float[np.ndarray, "n k"]
    node_alphas: Float[np.ndarray, "k m"]
    kappas: Float[np.ndarray, "n m"]
    alphas: Float[np.ndarray, "n m"]

    @classmethod
    def of(cls, outline: AbstractCurve, modes: Sequence[Callable[[float], float]], points: int) -> "Bend":
        """Of a straight body with this outline, its midline along e_1, at so many points of it."""
        z, dz, _ = outline.sample(points)
        s, nu = np.real(z), np.imag(z)
        low, high = float(np.min(s)), float(np.max(s))
        if not low < 0.0 < high:
            raise InputError(f"an outline from x = {low:g} to {high:g}; expected one about x = 0, the fish's middle.")
        nodes = chebyshev.chebpts1(points)
        at_nodes = _curvatures(modes, 0.5 * (low + high) + 0.5 * (high - low) * nodes)
        terms = chebyshev.chebvander(nodes, points - 1).T * (2.0 / points)
        terms[0] *= 0.5
        _check_resolved(terms @ at_nodes)
        integrals = 0.5 * (high - low) * chebyshev.chebint(terms)
        middle = chebyshev.chebvander(_unit(np.zeros(1), low, high), points)

        def sums(x: np.ndarray) -> np.ndarray:
            return (chebyshev.chebvander(x, points) - middle) @ integrals

        along = sums(_unit(s, low, high))
        shares = -(2.0 * np.pi / points) * np.real(dz) * nu
        return cls(s, nu, shares, along, sums(nodes) @ at_nodes, _curvatures(modes, s), along @ at_nodes)

    @property
    def area(self) -> float:
        """That of the outline, bent or not."""
        return float(np.sum(self.shares))

    def outline(self, q: Float[Array | np.ndarray, " m"]) -> BentPoints:
        """The outline."""
        return self._across(q, jnp.ones(1))

    def midline(self, q: Float[Array | np.ndarray, " m"]) -> BentPoints:
        """The midline, at each point of the outline: there and back."""
        return self._across(q, jnp.zeros(1))

    def inside(self, q: Float[Array | np.ndarray, " m"]) -> tuple[BentPoints, Float[Array, " p"]]:
        """Points of the whole body, and the share of its area that each stands for: by Green's theorem, along the
        outline and from the midline to it, int f ds dnu = - int int_0^1 f(s, r nu) nu dr ds."""
        x, w = np.polynomial.legendre.leggauss(ACROSS)
        return self._across(q, jnp.asarray(0.5 * (1.0 + x))), jnp.ravel(0.5 * w[:, None] * jnp.asarray(self.shares))

    def room(self, q: Float[Array | np.ndarray, " m"]) -> Float[Array, ""]:
        """The least 1 - 2 kappa nu: above zero, where no section meets its neighbour."""
        return jnp.min(1.0 - 2.0 * (jnp.asarray(self.kappas) @ q) * jnp.asarray(self.nu))

    def _across(self, q: Any, parts: Any) -> BentPoints:
        """Points at these parts of the way from the midline to the outline, and their slopes: by

        dX/dq_a = dZ/dq_a + exp(i alpha) (i dn/dq_a - n alpha_a),   dn/dq_a = kappa_a n^2 / (2 (1 - kappa n)).
        """
        kappa, nu = jnp.asarray(self.kappas) @ q, parts[:, None] * jnp.asarray(self.nu)
        n = 2.0 * nu / (1.0 + jnp.sqrt(1.0 - 2.0 * kappa * nu))
        turned = jnp.exp(1j * (jnp.asarray(self.node_alphas) @ q))
        Z = jnp.asarray(self.sums) @ turned
        dZ = jnp.asarray(self.sums) @ (1j * jnp.asarray(self.node_alphas) * turned[:, None])
        across = jnp.exp(1j * (jnp.asarray(self.alphas) @ q))
        dn = (n**2 / (2.0 * (1.0 - kappa * n)))[..., None] * jnp.asarray(self.kappas)
        slopes = dZ + across[:, None] * (1j * dn - n[..., None] * jnp.asarray(self.alphas))
        return BentPoints(jnp.ravel(Z + 1j * n * across), slopes.reshape(-1, slopes.shape[-1]))


def _unit(x: np.ndarray, low: float, high: float) -> np.ndarray:
    return (2.0 * x - low - high) / (high - low)


def _curvatures(modes: Sequence[Callable[[float], float]], s: np.ndarray) -> np.ndarray:
    try:
        found = np.array([[float(mode(float(x))) for mode in modes] for x in s])
    except (TypeError, ValueError):
        found = np.full((len(s), 1), np.nan)
    if not len(modes) or not np.all(np.isfinite(found)):
        raise InputError(
            f"{len(modes)} modes with curvatures that are no numbers; expected at least one function of s, in 1/m."
        )
    return found


def _check_resolved(terms: np.ndarray) -> None:
    sizes = np.abs(terms)
    lost = np.max(sizes[-len(sizes) // 8 :], axis=0) / np.maximum(np.max(sizes, axis=0), 1e-300)
    if np.max(lost) > UNRESOLVED:
        raise InputError(
            f"Mode {int(np.argmax(lost))} changes too fast along the midline for {len(sizes)} points: "
            f"{np.max(lost):.1g} of it is lost; give more points or a smoother mode."
        )
