"""Lie-Poisson splitting of a quadratic Hamiltonian: explicit, symplectic, and on every coadjoint orbit."""

from collections.abc import Sequence
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import SE3, SO3
from naiad.integrators.flows import Flow, Turns, along_axis, both, kick, screw, sphere
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, renormalised
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State
from naiad.numerics import SPLITTINGS, inverse, static

Parts = Literal["screws", "axes", "top", "kicked-top"]


class Splitting(AbstractOneStepMethod):
    """H = mu . A mu / 2 as a sum of parts with exact flows, composed symmetrically to order 2, 4, 6 or 8.

    Momentum in space and Casimirs are exact whatever the step; nothing is solved. How H is divided:

    - "screws": into squares, A = sum_i d_i l_i l_i^T, each a screw motion along l_i, the translations of SE(3) in one
      kick: for any quadratic Hamiltonian on any group;
    - "axes": a screw motion along each axis of the body, where I, M and S are diagonal (on SO(3) and SE(3));
    - "top": a_s |Pi|^2 / 2 + (a_k - a_s) Pi_k^2 / 2, a symmetric top, then (a_b - a_s) Pi_b^2 / 2 and the kick, in the
      order b, kick, top, where I is diagonal and there is no coupling S; `axes` are the numbers (s, k, b) of the axes;
    - "kicked-top": the same in the order kick, b, top, for coefficients of Nystrom type.

    `coefficients` of one's own are a palindrome a_1, ..., a_2s as in `naiad.numerics.splittings`. Rotations use short
    series up to an angle of `reach` within one flow; a step with a larger one is taken again with the full functions.
    """

    target: int = static()
    coefficients: tuple[float, ...] = static()
    parts: Parts = static()
    axes: tuple[int, int, int] = static()
    reach: float = static()

    def __init__(
        self,
        order: int = 2,
        parts: Parts = "screws",
        coefficients: Sequence[float] | None = None,
        axes: Sequence[int] = (1, 2, 0),
        reach: float = 0.5,
    ):
        if coefficients is None and order not in SPLITTINGS:
            raise InputError(f"Splitting: order = {order!r}; expected 2, 4, 6 or 8, or coefficients of your own.")
        if parts not in get_args(Parts):
            raise InputError(f"Splitting: parts = {parts!r}; expected one of {', '.join(map(repr, get_args(Parts)))}.")
        if sorted(axes) != [0, 1, 2]:
            raise InputError(f"Splitting: axes = {tuple(axes)!r}; expected the numbers 0, 1, 2 in some order.")
        if not 0 < reach <= 2:
            raise InputError(f"Splitting: reach = {reach!r}; expected an angle in (0, 2] radians.")
        self.target = order
        self.coefficients = SPLITTINGS[order] if coefficients is None else tuple(float(a) for a in coefficients)
        self.parts = parts
        self.axes = (int(axes[0]), int(axes[1]), int(axes[2]))
        self.reach = float(reach)
        a = self.coefficients
        if len(a) % 2 or abs(sum(a) - 1.0) > 1e-12 or a != a[::-1]:
            raise InputError(
                f"Splitting: the coefficients {a} must be an even number of them, sum to 1, and be the same "
                "read backwards."
            )

    def check(self, system: LagrangianSystem) -> None:
        if not isinstance(system, EulerPoincareSystem) or system.force is not None or system.constraint is not None:
            raise InputError(
                f"Splitting needs an EulerPoincareSystem without forces and constraints; {type(system).__name__} was "
                "given. Use Variational."
            )
        K, elsewhere = (execute(_inertia, system, np.full(system.group.dim, at)) for at in (0.0, 1.0))
        if np.max(np.abs(K - elsewhere)) > 1e-12 * np.max(np.abs(K)):
            raise InputError(
                f"Splitting needs a Lagrangian that is quadratic in xi; that of {type(system).__name__} is not. Use "
                "Variational."
            )
        if self.parts != "screws":
            self._check_form(system, K)

    def _check_form(self, system: LagrangianSystem, K: np.ndarray) -> None:
        if not isinstance(system.group, SO3 | SE3):
            raise InputError(f"Splitting: parts = {self.parts!r} is for SO(3) and SE(3); use parts='screws'.")
        blocks = {"I": K[:3, :3]}
        if isinstance(system.group, SE3):
            blocks |= {"S": K[3:, :3], "M": K[3:, 3:]}
        wanted = {"axes": {"I": True, "S": True, "M": True}}.get(self.parts, {"I": True, "S": False})
        for name, block in blocks.items():
            if name not in wanted:
                continue
            rest = block - np.diag(np.diag(block)) if wanted[name] else block
            if np.any(rest != 0.0):
                raise InputError(
                    f"Splitting: parts = {self.parts!r} needs {name} {'diagonal' if wanted[name] else 'zero'}; turn "
                    "the body to its principal axes, or use parts='screws'."
                )

    def order(self, system: LagrangianSystem) -> int:
        return self.target

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        return ()

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        fractions = schedule(len(self.flows(system)), self.coefficients)
        short, largest = state, jnp.zeros(())
        flows = self.flows(system, self.reach)
        for number, fraction in fractions:
            short, angle_squared = flows[number](short, fraction * h)
            largest = jnp.maximum(largest, angle_squared)

        def again():
            flows = [lambda state, h, flow=flow: flow(state, h)[0] for flow in self.flows(system)]
            numbers, parts = (jnp.array(each) for each in zip(*fractions, strict=True))
            return jax.lax.scan(
                lambda state, each: (jax.lax.switch(each[0], flows, state, each[1] * h), None), state, (numbers, parts)
            )[0]

        end = jax.lax.cond(largest <= self.reach**2, lambda: short, again)
        g, correction = renormalised(system.group, end.g)
        return State(g, end.mu), (), StepInfo.explicit(correction)

    def flows(self, system: EulerPoincareSystem, reach: float | None = None) -> list[Flow]:
        """The flows of the parts, in the order of chi."""
        turns, A = Turns(system.group, reach), inverse(_inertia(system, jnp.zeros(system.group.dim)))
        if self.parts == "screws":
            return _screws(turns, A)
        if self.parts == "axes":
            rotations = isinstance(system.group, SO3)
            return [screw(turns, A[i, i], jnp.eye(3)[i]) if rotations else along_axis(turns, i, A) for i in range(3)]
        s, k, b = self.axes
        basis, kicks = jnp.eye(len(A)), [kick(turns, A[3:, 3:])] if isinstance(system.group, SE3) else []
        top = both(sphere(turns, A[s, s]), screw(turns, A[k, k] - A[s, s], basis[k]))
        rest = screw(turns, A[b, b] - A[s, s], basis[b])
        return [*kicks, rest, top] if self.parts == "kicked-top" else [rest, *kicks, top]


def schedule(parts: int, coefficients: Sequence[float]) -> list[tuple[int, float]]:
    """The flows of a step, as the number of the part and its fraction of h; equal neighbours are one."""
    flows: list[tuple[int, float]] = []
    for turn, a in enumerate(coefficients):
        for number in range(parts) if turn % 2 == 0 else reversed(range(parts)):
            if flows and flows[-1][0] == number:
                flows[-1] = (number, flows[-1][1] + a)
            else:
                flows.append((number, a))
    return flows


def _inertia(system: EulerPoincareSystem, xi: Float[Array, " n"]) -> Float[Array, "n n"]:
    return jax.jacfwd(jax.grad(system.reduced_lagrangian))(xi)


def _screws(turns: Turns, A: Float[Array, "n n"]) -> list[Flow]:
    """The squares of A, column by column; what is left of SE(3) after three is a kick."""
    squares = 3 if isinstance(turns.group, SE3) else len(A)
    flows = []
    for i in range(squares):
        axis = jnp.concatenate([jnp.zeros(i), jnp.ones(1), A[i + 1 :, i] / A[i, i]])
        flows.append(screw(turns, A[i, i], axis))
        A = A - A[i, i] * axis[:, None] * axis
    return [*flows, kick(turns, A[3:, 3:])] if isinstance(turns.group, SE3) else flows
