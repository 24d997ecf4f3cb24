"""The discrete Lagrangians of one body: momenta and their derivatives, all vectors in space.

L_d = (1/h) (1/2 u.S* u + tr((I - F) J_d)), u the displacement of the centre, F = cay(C) the turn, J_d = tr(J)/2 I - J;
S* is the mass matrix in space at the start, the mean of both ends, or at the middle of the turn. A coupling adds
(2/h) C . D* u, D* at the same places (see `coupling`).
"""

import abc
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.rules import AbstractRule, Left, Midpoint, Trapezoid
from naiad.numerics import Module, cross, hat, hat_times, outer, static, times_hat
from naiad.trees.coupling import Frame, Matrix, Vector, coupling_blocks, coupling_momenta


class Turned(NamedTuple):
    """A body at the start of a step, and its step: mass and inertia S, J, their coupling D, if any, and the arm a of
    its own joint in space, the Cayley vector C of its turn, the change da of the arm, the displacement u of the centre,
    and 1/h."""

    S: Matrix
    J: Matrix
    D: Matrix | None
    a: Vector
    C: Vector
    da: Vector
    u: Vector
    rate: Float[Array, ""]


class Momenta(NamedTuple):
    """P = D_u L_d and ell: what the body's own motion gives to the momentum at the start."""

    P: Vector
    ell: Vector


class Blocks(NamedTuple):
    """dP = G du + H w and d ell = Y du + X w for a small turn w, in space, of the attitude at the end."""

    G: Matrix
    H: Matrix
    Y: Matrix
    X: Matrix


def cayley_factor(C: Vector) -> Float[Array, ""]:
    """k = 2 / (1 + |C|^2)."""
    return 2.0 / (1.0 + jnp.dot(C, C))


def change(k: Float[Array, ""], C: Vector, v: Vector) -> Vector:
    """cay(C) v - v = k (C x v + C x (C x v)), without a subtraction."""
    turned = cross(C, v)
    return k * (turned + cross(C, turned))


def turn(k: Float[Array, ""], C: Vector) -> Matrix:
    """cay(C)."""
    return (1.0 - k * jnp.dot(C, C)) * jnp.eye(3) + k * (hat(C) + outer(C, C))


def congruent(E: Matrix, S: Matrix) -> Matrix:
    """E S E^T for a symmetric S; what is below the diagonal is what is above it."""
    rows, ES = range(3), E @ S
    entries = {(i, j): jnp.dot(ES[i], E[j]) for i in rows for j in range(i, 3)}
    return jnp.stack([entries[min(i, j), max(i, j)] for i in rows for j in rows]).reshape(3, 3)


def composed(first: Vector, second: Vector) -> Vector:
    """The Cayley vector of cay(first) cay(second)."""
    return (first + second + cross(first, second)) / (1.0 - jnp.dot(first, second))


class AbstractBodyRule(Module):
    """A discrete Lagrangian of one body."""

    correction: bool = static(default=False)

    @abc.abstractmethod
    def uncoupled_momenta(self, body: Turned) -> Momenta:
        """P and ell of S and J."""

    @abc.abstractmethod
    def uncoupled_blocks(self, body: Turned) -> Blocks:
        """Their derivatives."""

    @abc.abstractmethod
    def frames(self, D: Matrix, C: Vector) -> list[Frame]:
        """Where the coupling is taken."""

    def momenta(self, body: Turned) -> Momenta:
        """P and ell."""
        P, ell = self.uncoupled_momenta(body)
        if body.D is None:
            return Momenta(P, ell)
        more = coupling_momenta(body.C, body.u, body.rate, self.frames(body.D, body.C))
        return Momenta(P + more[0], ell + more[1])

    def blocks(self, body: Turned) -> Blocks:
        """Their derivatives."""
        G, H, Y, X = self.uncoupled_blocks(body)
        if body.D is None:
            return Blocks(G, H, Y, X)
        more = coupling_blocks(body.C, body.u, body.rate, self.frames(body.D, body.C))
        return Blocks(G, H + more[0], Y + more[1], X + more[2])


def _spin(body: Turned) -> Vector:
    """(k/h) (J C + C x J C): the momentum of the turn, the same at both ends in space."""
    JC = body.J @ body.C
    return body.rate * cayley_factor(body.C) * (JC + cross(body.C, JC))


def _spin_block(body: Turned) -> Matrix:
    """(tr(E J_d) I - E J_d)/h, E = cay(C)."""
    J = body.J
    half = 0.5 * (J[0, 0] + J[1, 1] + J[2, 2]) * jnp.eye(3) - J
    turned = turn(cayley_factor(body.C), body.C) @ half
    return body.rate * ((turned[0, 0] + turned[1, 1] + turned[2, 2]) * jnp.eye(3) - turned)


class OneSidedRule(AbstractBodyRule):
    """S* = S: first order. With the correction it is [lee2009, eq. (30)]."""

    def uncoupled_momenta(self, body: Turned) -> Momenta:
        P = body.rate * (body.S @ body.u)
        ell = _spin(body) + cross(body.u, P)
        if self.correction:
            ell = ell - body.rate * cross(body.a + body.da, body.S @ body.da)
        return Momenta(P, ell)

    def uncoupled_blocks(self, body: Turned) -> Blocks:
        G = body.rate * body.S
        X = _spin_block(body)
        if self.correction:
            X = X + _corrected(body, body.S, body.rate)
        return Blocks(G, jnp.zeros((3, 3)), hat_times(body.u, G) - hat(G @ body.u), X)

    def frames(self, D: Matrix, C: Vector) -> list[Frame]:
        return [Frame(D, 1.0, back=jnp.eye(3), ahead=jnp.zeros((3, 3)), bend=jnp.zeros((3, 3)))]


class TrapezoidRule(AbstractBodyRule):
    """S* = (S + S')/2, S' that at the end: second order, symmetric."""

    def uncoupled_momenta(self, body: Turned) -> Momenta:
        E = turn(cayley_factor(body.C), body.C)
        first = body.rate * (body.S @ body.u)
        last = body.rate * (E @ (body.S @ (body.u @ E)))
        ell = _spin(body) + 0.5 * cross(body.u, first)
        if self.correction:
            start, end = cross(body.a + body.da, body.S @ body.da), cross(body.a, E @ (body.S @ (body.da @ E)))
            ell = ell - 0.5 * body.rate * (start + end)
        return Momenta(0.5 * (first + last), ell)

    def uncoupled_blocks(self, body: Turned) -> Blocks:
        E = turn(cayley_factor(body.C), body.C)
        first, last = body.rate * body.S, body.rate * congruent(E, body.S)
        X = _spin_block(body)
        if self.correction:
            a, da = body.a, body.da
            moved = times_hat(last, da) - hat(last @ da) - times_hat(last, a + da)
            X = X + _corrected(body, body.S, 0.5 * body.rate) - 0.5 * hat_times(a, moved)
        return Blocks(
            0.5 * (first + last),
            0.5 * (times_hat(last, body.u) - hat(last @ body.u)),
            0.5 * (hat_times(body.u, first) - hat(first @ body.u)),
            X,
        )

    def frames(self, D: Matrix, C: Vector) -> list[Frame]:
        end, none = congruent(turn(cayley_factor(C), C), D), jnp.zeros((3, 3))
        return [Frame(D, 0.5, jnp.eye(3), none, none), Frame(end, 0.5, none, jnp.eye(3), none)]


class MidpointRule(AbstractBodyRule):
    """S* = S at cay(s) R, cay(s)^2 = cay(C): second order, symmetric."""

    def uncoupled_momenta(self, body: Turned) -> Momenta:
        s, E = _half(body.C)
        P = body.rate * (E @ (body.S @ (body.u @ E)))
        y = cross(body.u, P)
        return Momenta(P, _spin(body) + 0.5 * (y - cross(s, y)))

    def uncoupled_blocks(self, body: Turned) -> Blocks:
        s, E = _half(body.C)
        G = body.rate * congruent(E, body.S)
        P, u = G @ body.u, body.u
        y, back = cross(u, P), jnp.eye(3) - hat(s)
        H = 0.5 * (times_hat(G, u) - hat(P)) @ back
        Y = 0.5 * back @ (hat_times(u, G) - hat(P))
        X = _spin_block(body) + 0.5 * back @ hat_times(u, H) + 0.125 * hat_times(y, back @ back + outer(s, s))
        return Blocks(G, H, Y, X)

    def frames(self, D: Matrix, C: Vector) -> list[Frame]:
        s, E = _half(C)
        back = jnp.eye(3) - hat(s)
        return [Frame(congruent(E, D), 1.0, 0.5 * back, 0.5 * back, 0.25 * (back @ back + outer(s, s)))]


def _corrected(body: Turned, S: Matrix, rate: Float[Array, ""]) -> Matrix:
    """rate (a'^ S - (S da)^) a'^."""
    end = body.a + body.da
    return rate * times_hat(hat_times(end, S) - hat(S @ body.da), end)


def _half(C: Vector) -> tuple[Vector, Matrix]:
    """s = C/(1 + w), w = sqrt(1 + |C|^2), and cay(s), for which 2/(1 + |s|^2) = 1 + 1/w: by one quotient."""
    w = jnp.sqrt(1.0 + jnp.dot(C, C))
    share = 1.0 / (w * (1.0 + w))
    s = w * share * C
    return s, turn(1.0 + (1.0 + w) * share, s)


RULES: dict[type[AbstractRule], type[AbstractBodyRule]] = {
    Left: OneSidedRule,
    Trapezoid: TrapezoidRule,
    Midpoint: MidpointRule,
}
"""What the rules of the general integrator are for a body."""


def body_rule(name: str, rule: AbstractRule, *, correction: bool) -> AbstractBodyRule:
    """The discrete Lagrangian of a body by a rule; `name` is who asks."""
    if type(rule) not in RULES:
        raise InputError(f"{name}: rule = {rule!r}; expected Left(), Trapezoid() or Midpoint().")
    if correction and isinstance(rule, Midpoint):
        raise InputError(f"{name}: there is no correction for the midpoint rule; use rule=Left() or Trapezoid().")
    return RULES[type(rule)](correction)
