"""Lie-Poisson splitting of a quadratic Hamiltonian: explicit, symplectic, and on every coadjoint orbit."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import SE3, SO3, AbstractGroup
from naiad.integrators.flows import AbstractFlow, AlongAxis, Kick, Screw, Sphere, Turns
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State, is_euler_poincare
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import SPLITTINGS, inverse, static
from naiad.numerics.splittings import coefficients_of, schedule

Parts = Literal["screws", "axes", "top", "kicked-top"]
Part = tuple[AbstractFlow, ...]
"""Flows that commute, one after the other."""


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
    series up to an angle of `reach` within the longest flow, and as much less in shorter ones (one number, or one for
    each kind of flow: see `fitted`); a step with a larger one is taken again with the full functions.
    """

    target: int = static()
    coefficients: tuple[float, ...] = static()
    parts: Parts = static()
    axes: tuple[int, int, int] = static()
    reach: tuple[float, ...] = static()

    honours = OF_A_FREE_MOTION - {"linear"}

    def __init__(
        self,
        order: int = 2,
        parts: Parts = "screws",
        coefficients: Sequence[float] | None = None,
        axes: Sequence[int] = (1, 2, 0),
        reach: float | Sequence[float] = 0.5,
    ):
        if parts not in get_args(Parts):
            raise InputError(f"Splitting: parts = {parts!r}; expected one of {', '.join(map(repr, get_args(Parts)))}.")
        if sorted(axes) != [0, 1, 2]:
            raise InputError(f"Splitting: axes = {tuple(axes)!r}; expected the numbers 0, 1, 2 in some order.")
        if tuple(axes) != (1, 2, 0) and parts in ("screws", "axes"):
            raise InputError(
                f"Splitting: axes = {tuple(axes)!r}, but parts = {parts!r} has no top whose axes they are; leave axes "
                "out, or use parts='top' or 'kicked-top'."
            )
        self.target = order
        self.coefficients = coefficients_of("Splitting", order, coefficients, SPLITTINGS)
        self.parts = parts
        self.axes = (int(axes[0]), int(axes[1]), int(axes[2]))
        self.reach = tuple(float(each) for each in (reach if isinstance(reach, Sequence) else (reach,)))
        if not all(0 < each <= 2 for each in self.reach):
            raise InputError(f"Splitting: reach = {reach!r}; expected angles in (0, 2] radians.")

    def fitted(self, system: EulerPoincareSystem, state: State, dt: float) -> "Splitting":
        """The same with the shortest series that serve every motion of the energy of this state with steps of dt."""
        K, energy = execute(_inertia, system, np.zeros(system.group.dim), parameters=(0,)), float(system.energy(state))
        if isinstance(system.group, SE3) and not np.any(K[3:, :3]):  # what p alone takes is not left for Pi
            energy -= 0.5 * float(state.mu[3:] @ state.mu[3:]) / np.linalg.eigvalsh(K[3:, 3:])[-1]
        parts = self._divided(system.group, np.linalg.inv(K))
        angles = [
            1.05 * a * abs(dt) * each.fastest(K, energy)
            for a, part in zip(self._longest(len(parts)), parts, strict=True)
            for each in part
        ]
        return self.replaced(reach=tuple(float(np.clip(np.ceil(20 * angle) / 20, 0.05, 2.0)) for angle in angles))

    def _longest(self, parts: int) -> list[float]:
        """The longest flow of each part, as a fraction of h."""
        flows = schedule(parts, self.coefficients)
        return [max(abs(a) for number, a in flows if number == i) for i in range(parts)]

    def check(self, system: LagrangianSystem) -> None:
        if not is_euler_poincare(system):
            raise InputError(
                f"Splitting needs an EulerPoincareSystem; {type(system).__name__} was given. Use Variational."
            )
        K, elsewhere = execute(_inertias, system, parameters=(0,))
        if np.max(np.abs(K - elsewhere)) > 1e-12 * np.max(np.abs(K)):
            raise InputError(
                f"Splitting needs a Lagrangian that is quadratic in xi; that of {type(system).__name__} is not. Use "
                "Variational."
            )
        if self.parts != "screws":
            self._check_form(system, K)
        count = self._kinds(system.group)
        if len(self.reach) not in (1, count):
            raise InputError(
                f"Splitting: reach has {len(self.reach)} angles; expected one, or {count}, one for each kind of flow."
            )

    def _check_form(self, system: LagrangianSystem, K: np.ndarray) -> None:
        if not isinstance(system.group, SO3 | SE3):
            raise InputError(f"Splitting: parts = {self.parts!r} is for SO(3) and SE(3); use parts='screws'.")
        diagonal = [("I", K[:3, :3])]
        zero = []
        if isinstance(system.group, SE3) and self.parts == "axes":
            diagonal += [("S", K[3:, :3]), ("M", K[3:, 3:])]
        elif isinstance(system.group, SE3):
            zero = [("S", K[3:, :3])]
        failing = [f"{name} diagonal" for name, block in diagonal if np.any(block != np.diag(np.diag(block)))]
        failing += [f"{name} zero" for name, block in zero if np.any(block)]
        if failing:
            raise InputError(
                f"Splitting: parts = {self.parts!r} needs {' and '.join(failing)}; turn the body to its principal "
                "axes, or use parts='screws'."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.target

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        return ()

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        parts = self._divided(system.group, inverse(_inertia(system, jnp.zeros(system.group.dim))))
        flows, longest = schedule(len(parts), self.coefficients), self._longest(len(parts))
        reach = iter(self.reach if len(self.reach) > 1 else self.reach * sum(map(len, parts)))
        reaches = [[next(reach) for _ in part] for part in parts]
        short, squares = state, [[jnp.zeros(()) for _ in part] for part in parts]
        for number, fraction in flows:
            for i, (each, angle) in enumerate(zip(parts[number], reaches[number], strict=True)):
                turns = Turns(system.group, angle * abs(fraction) / longest[number])
                short, square = each.flow(turns, short, fraction * h)
                squares[number][i] = jnp.maximum(squares[number][i], square)
        shares = [
            (each.pace(a * h) / angle) ** 2 * square
            for a, *part in zip(longest, parts, reaches, squares, strict=True)
            for each, angle, square in zip(*part, strict=True)
        ]
        within = jnp.all(jnp.stack(shares) <= 1.0)

        def again() -> State:
            """The same as a loop, with functions that hold for every angle."""
            numbers, fractions = (jnp.array(each) for each in zip(*flows, strict=True))
            branches = [lambda state, h, part=part: _run(part, Turns(system.group), state, h) for part in parts]
            return jax.lax.scan(
                lambda state, each: (jax.lax.switch(each[0], branches, state, each[1] * h), None),
                state,
                (numbers, fractions),
            )[0]

        return jax.lax.cond(within, lambda: short, again), (), StepInfo.explicit()

    def _kinds(self, group: AbstractGroup) -> int:
        """How many kinds of flows all parts have."""
        kicks = isinstance(group, SE3)
        return {"screws": 4 if kicks else group.dim, "axes": 3}.get(self.parts, 3 + kicks)

    def _divided(self, group: AbstractGroup, A: Any) -> list[Part]:
        """The parts in the order of chi."""
        unit, spatial = np.eye(len(A)), isinstance(group, SE3)
        if self.parts == "screws":
            return _squares(A, group)
        if self.parts == "axes":
            return [(AlongAxis(i, A) if spatial else Screw(A[i, i], unit[i]),) for i in range(3)]
        s, k, b = self.axes
        kick: list[Part] = [(Kick(A[3:, 3:], (b, k, s)),)] if spatial else []
        top: Part = (Sphere(A[s, s], (k, s, b)), Screw(A[k, k] - A[s, s], unit[k]))
        rest: Part = (Screw(A[b, b] - A[s, s], unit[b]),)
        return [*kick, rest, top] if self.parts == "kicked-top" else [rest, *kick, top]


def _run(part: Part, turns: Turns, state: State, h: Scalar) -> State:
    for each in part:
        state, _ = each.flow(turns, state, h)
    return state


def _inertia(system: EulerPoincareSystem, xi: Float[Array, " n"]) -> Float[Array, "n n"]:
    return jax.jacfwd(jax.grad(system.reduced_lagrangian))(xi)


def _inertias(system: EulerPoincareSystem) -> list[Float[Array, "n n"]]:
    """At rest and in motion."""
    return [_inertia(system, jnp.full(system.group.dim, at)) for at in (0.0, 1.0)]


def _squares(A: Any, group: AbstractGroup) -> list[Part]:
    """The squares of A, column by column; what is left of SE(3) after three is a kick."""
    spatial, n = isinstance(group, SE3), len(A)
    parts: list[Part] = []
    for i in range(3 if spatial else n):
        axis = [*np.zeros(i), 1.0, *(A[i + 1 :, i] / A[i, i])]
        axis = np.array(axis) if isinstance(A, np.ndarray) else jnp.stack(axis)
        parts.append((Screw(A[i, i], axis),))
        A = A - A[i, i] * axis[:, None] * axis
    return [*parts, (Kick(A[3:, 3:]),)] if spatial else parts
