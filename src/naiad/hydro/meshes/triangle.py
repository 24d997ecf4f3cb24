"""Integrals over flat triangles, and over pairs of them, for compiled code.

At a point x, with R the distance to a point y of the triangle (vertices v, unit normal n), d the height of x above its
plane and rho the foot of x in it, all in closed form [wilton1984]: the sums run over the edges, of which each has
f = int 1/R along it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

TINY = 1e-15
"""Closer to an edge, relative to its length, a point is on it; what multiplies f there vanishes."""


class Potentials(NamedTuple):
    """What a triangle does at a point."""

    single: jax.Array
    """int 1/R."""
    angle: jax.Array
    """The solid angle, positive on the side of the normal."""
    edges: jax.Array
    """sum m f, m the normal of an edge in the plane."""
    moment: jax.Array
    """int (y - rho)/R."""
    height: jax.Array
    """d."""


def potentials(x: jax.Array, v: jax.Array, n: jax.Array) -> Potentials:
    """The integrals of a triangle at x."""
    r = v - x
    length = jnp.sqrt(jnp.sum(r * r, axis=1))
    d = -n @ r[0]
    triple = r[0] @ jnp.cross(r[1], r[2])
    turned = jnp.stack([r[1] @ r[2], r[2] @ r[0], r[0] @ r[1]])
    angle = -2.0 * jnp.arctan2(triple, length[0] * length[1] * length[2] + turned @ length)
    single, edges, moment = -d * angle, jnp.zeros(3), jnp.zeros(3)
    for k in range(3):
        p, q = r[k], r[(k + 1) % 3]
        rp, rq = length[k], length[(k + 1) % 3]
        along = q - p
        L = jnp.sqrt(along @ along)
        t = along / L
        m = jnp.cross(t, n)
        h = p @ m
        gap = rp + rq - L
        f = jnp.where(gap > TINY * L, jnp.log((rp + rq + L) / jnp.where(gap > TINY * L, gap, L)), 0.0)
        single += h * f
        edges += m * f
        moment += 0.5 * m * ((h * h + d * d) * f + (q @ t) * rq - (p @ t) * rp)
    return Potentials(single, angle, edges, moment, d)


def solid_angle(x: jax.Array, corners: jax.Array) -> jax.Array:
    """The sum of the solid angles of triangles at x, positive where x is on the side of the normal; one that has x in
    its plane has none.

    Half of it is the angle of a complex number [oosterom1983]. These are multiplied, and the turns of their product
    counted: it crosses the negative axis where a factor with a positive angle takes it from above to below."""

    def add(carry, v):
        real, imaginary, turns = carry
        r = v - x
        a, b, c = jnp.sqrt(jnp.sum(r * r, axis=1))
        triple = r[0] @ jnp.cross(r[1], r[2])
        flat = a * b * c + (r[0] @ r[1]) * c + (r[1] @ r[2]) * a + (r[2] @ r[0]) * b
        in_plane = jnp.abs(triple) <= 1e-12 * a * b * c
        scale = 1.0 / jnp.where(in_plane, 1.0, a * b * c)
        p, q = jnp.where(in_plane, 1.0, flat * scale), jnp.where(in_plane, 0.0, triple * scale)
        now = real * q + imaginary * p
        over = jnp.where((q > 0.0) & (imaginary >= 0.0) & (now < 0.0), 1.0, 0.0)
        under = jnp.where((q < 0.0) & (imaginary < 0.0) & (now >= 0.0), 1.0, 0.0)
        return (real * p - imaginary * q, now, turns + over - under), None

    (real, imaginary, turns), _ = jax.lax.scan(add, (1.0, 0.0, 0.0), corners)
    angle = jnp.arctan2(jnp.where(imaginary == 0.0, 0.0, imaginary), real)  # -0 would be the other side of the cut
    return -2.0 * (angle + 2.0 * jnp.pi * turns)


def normal(v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The unit normal of a triangle and its area."""
    c = jnp.cross(v[1] - v[0], v[2] - v[0])
    twice = jnp.sqrt(c @ c)
    return c / twice, 0.5 * twice


def turning(x: jax.Array, n: jax.Array) -> jax.Array:
    """Normal velocities of unit turns about the axes: n . (Omega x x) = Omega . (x x n)."""
    return jnp.cross(x, n)


def gradients(v: jax.Array, n: jax.Array, area: jax.Array) -> jax.Array:
    """The gradients of the three vertex functions in the triangle."""
    opposite = jnp.roll(v, -2, axis=0) - jnp.roll(v, -1, axis=0)
    return jnp.cross(n, opposite) / (2.0 * area)


class Pair(NamedTuple):
    """What two triangles are to each other, all over 4 pi."""

    D: jax.Array
    """The double integral of 1/R."""
    K: jax.Array
    """[k, a]: the turn a on the outer one, times the double layer of vertex function k on the inner one."""
    S: jax.Array
    """[a, b]: the turn a on the outer one, times the single layer of the turn b on the inner one."""


class Both(NamedTuple):
    """What two triangles are to each other, either of them being the outer one."""

    D: jax.Array
    """The mean of both."""
    first: jax.Array
    """K with the first one as the inner one."""
    second: jax.Array
    S: jax.Array
    """The sum of both."""


def both(pair: Callable[[jax.Array, jax.Array], Pair], first: jax.Array, second: jax.Array) -> Both:
    """Two triangles, either way."""
    one, other = pair(second, first), pair(first, second)
    return Both(0.5 * (one.D + other.D), one.K, other.K, one.S + other.S)


def near(outer: jax.Array, inner: jax.Array, points: np.ndarray, weights: np.ndarray) -> Pair:
    """Closed form on the inner triangle, a rule of barycentric points on the outer one. What an inner triangle does as
    a double layer in its own plane is nothing."""
    no, area = normal(outer)
    n, inside = normal(inner)
    g = gradients(inner, n, inside)
    scale = jnp.sqrt(inside)

    def add(sums, rule):
        point, weight = rule
        x = point @ outer
        at = potentials(x, inner, n)
        h = turning(x, no)
        foot = x - at.height * n
        hat = jnp.stack([g[k] @ (foot - inner[(k + 1) % 3]) for k in range(3)])
        layer = at.angle * hat - at.height * (g @ at.edges)
        layer = jnp.where(jnp.abs(at.height) > 1e-12 * scale, layer, 0.0)
        source = jnp.cross(foot * at.single + at.moment, n)
        more = Pair(at.single, jnp.outer(layer, h), jnp.outer(h, source))
        return jax.tree.map(lambda total, one: total + weight * one, sums, more), None

    zero = Pair(jnp.zeros(()), jnp.zeros((3, 3)), jnp.zeros((3, 3)))
    sums, _ = jax.lax.scan(add, zero, (points, weights))
    return jax.tree.map(lambda total: total * area / (4.0 * jnp.pi), sums)


class Distant(NamedTuple):
    """What is known of a triangle from afar."""

    centroid: Any
    normal: Any
    area: Any
    size: Any
    """The distance of the farthest corner from the centroid."""
    moments: Any
    """The mean of (y - centroid) (y - centroid)^T over the triangle."""
    turn: Any
    """The normal velocities of unit turns at the centroid."""

    @classmethod
    def of(cls, corners: np.ndarray, centroids: np.ndarray, normals: np.ndarray, areas: np.ndarray) -> "Distant":
        """Of many triangles, as rows."""
        offsets = corners - centroids[:, None]
        sizes = np.linalg.norm(offsets, axis=2).max(axis=1)
        moments = np.einsum("tki,tkj->tij", offsets, offsets) / 12.0
        return cls(centroids, normals, areas, sizes, moments, np.cross(centroids, normals))


class Row(NamedTuple):
    """What many triangles are to one, all over 4 pi."""

    D: jax.Array
    """The double integrals of 1/R; 0 where a triangle is near."""
    layer: jax.Array
    """The sum of the turns on those that are far, times the double layer of the one."""
    source: jax.Array
    """The sum of the turns on those that are far, times the single layer of the one."""


def far(inner: Distant, outer: Distant, reach: float) -> Row:
    """By centroids and second moments, for the outer triangles (rows) that are farther than `reach` sizes."""

    def add(sums, one):
        r = one.centroid - inner.centroid
        square = r @ r
        away = square > (reach * (inner.size + one.size)) ** 2
        over2 = 1.0 / jnp.where(away, square, 1.0)
        weight = jnp.where(away, jnp.sqrt(over2) * inner.area * one.area / (4.0 * jnp.pi), 0.0)
        C = inner.moments + one.moments
        D = weight * (1.0 + 0.5 * over2 * (3.0 * over2 * (r @ C @ r) - jnp.trace(C)))
        layer, source = sums
        return (layer + weight * over2 * (inner.normal @ r) * one.turn, source + D * one.turn), D

    (layer, source), D = jax.lax.scan(add, (jnp.zeros(3), jnp.zeros(3)), outer)
    return Row(D, layer, source)


def middle(outer: jax.Array, inner: jax.Array, points: np.ndarray, weights: np.ndarray) -> Pair:
    """A rule on both triangles."""
    no, area = normal(outer)
    n, inside = normal(inner)

    def add(sums, rule):
        point, weight = rule
        x = point @ outer
        h = turning(x, no)
        y = points @ inner
        r = x - y
        square = jnp.sum(r * r, axis=1)
        over = weights / jnp.sqrt(square)
        layer = (over * (r @ n) / square) @ points
        source = jnp.cross(y, n).T @ over
        more = Pair(jnp.sum(over), jnp.outer(layer, h), jnp.outer(h, source))
        return jax.tree.map(lambda total, one: total + weight * one, sums, more), None

    zero = Pair(jnp.zeros(()), jnp.zeros((3, 3)), jnp.zeros((3, 3)))
    sums, _ = jax.lax.scan(add, zero, (points, weights))
    return jax.tree.map(lambda total: total * area * inside / (4.0 * jnp.pi), sums)


def touching(a: jax.Array, b: jax.Array, graded: jax.Array, points: np.ndarray, weights: np.ndarray) -> jax.Array:
    """The double integral of 1/R over 4 pi of triangles whose first vertices are the same, and if `graded` is 1 the
    second ones too: scaled about the first, of degree 3, it is one over the two opposite edges."""

    def opposite(this, other):
        n, _ = normal(other)
        _, area = normal(this)

        def add(total, rule):
            y, weight = rule
            u = jnp.where(graded > 0.5, y * y, y)
            slope = jnp.where(graded > 0.5, 2.0 * y, 1.0)
            x = (1.0 - u) * this[1] + u * this[2]
            return total + weight * slope * potentials(x, other, n).single, None

        total, _ = jax.lax.scan(add, jnp.zeros(()), (points, weights))
        return area * total

    return (opposite(a, b) + opposite(b, a)) / (6.0 * jnp.pi)


def own(v: np.ndarray) -> np.ndarray:
    """The double integral of 1/R over 4 pi of each triangle with itself [eibert1995]."""
    sides = np.linalg.norm(np.roll(v, -2, axis=1) - np.roll(v, -1, axis=1), axis=2)
    area = np.linalg.norm(np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]), axis=1) / 2.0
    total = np.zeros(len(v))
    for k in range(3):
        a, b, c = (sides[:, (k + j) % 3] for j in range(3))
        total += np.log(((a + b) ** 2 - c**2) / (b**2 - (c - a) ** 2)) / a
    return 4.0 / 3.0 * area**2 * total / (4.0 * np.pi)


def rule(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Barycentric points and weights of sum 1, exact for polynomials of degree 2, 4 or 6 with 3, 6 or 12 points
    [dunavant1985]."""
    if count == 3:
        return _orbit(1.0 / 6.0), np.full(3, 1.0 / 3.0)
    if count == 6:
        points = [_orbit(0.44594849091596489), _orbit(0.091576213509770743)]
        return np.concatenate(points), np.repeat([0.22338158967801147, 0.10995174365532187], 3)
    a, b = 0.31035245103378440, 0.053145049844816947
    c = 1.0 - a - b
    six = np.array([(a, b, c), (b, a, c), (a, c, b), (b, c, a), (c, a, b), (c, b, a)])
    points = [_orbit(0.24928674517091042), _orbit(0.063089014491502227), six]
    weights = np.repeat([0.11678627572637937, 0.050844906370206817, 0.082851075618373575], (3, 3, 6))
    return np.concatenate(points), weights


def _orbit(a: float) -> np.ndarray:
    """(a, a, 1 - 2a) and the two others like it."""
    return np.full((3, 3), a) + (1.0 - 3.0 * a) * np.eye(3)
