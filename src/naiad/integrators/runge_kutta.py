"""Explicit Runge-Kutta methods, on matrix entries and of Munthe-Kaas: the controls that are not symplectic."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import static
from naiad.numerics.tableaux import TABLEAUX, Tableau
from naiad.retractions import AbstractRetraction, Exponential


def _tableau(name: str) -> Tableau:
    if name not in TABLEAUX:
        raise InputError(f"The tableau {name!r} is not known; expected one of {', '.join(TABLEAUX)}.")
    return TABLEAUX[name]


class RK4(AbstractOneStepMethod):
    """An explicit method on the entries of g and mu, by default the classical one of fourth order: g drifts off the
    group.

    `tableau` is euler, heun2, kutta3 or rk4 (orders 1 to 4).
    """

    tableau: str = static(default="rk4")

    honours = OF_A_STEP
    symplectic = False
    renormalise = False

    def __post_init__(self):
        _tableau(self.tableau)

    def order(self, system: LagrangianSystem) -> int:
        return _tableau(self.tableau).order

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        return ()

    def advance(self, system, state, memory, t, h, inputs):
        def slope(stage: State, time: Scalar) -> State:
            rates = system.equations(stage, time)
            return State(system.group.tangent(stage.g, rates.xi), rates.mu)

        return _explicit_step(_tableau(self.tableau), slope, state, t, h), (), StepInfo.explicit()


class RKMK(AbstractOneStepMethod):
    """Runge-Kutta-Munthe-Kaas: an explicit method for Theta in g tau(Theta), Theta' = dtau^-1_{-Theta} xi, so that g
    stays on the group.

    `tableau` is euler, heun2, kutta3 or rk4 (orders 1 to 4) [hairer2006, section IV.8].
    """

    tableau: str = static(default="rk4")
    retraction: AbstractRetraction = Exponential()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP
    symplectic = False

    def __post_init__(self):
        _tableau(self.tableau)

    def check(self, system: LagrangianSystem) -> None:
        self.retraction.check(system.group)

    def order(self, system: LagrangianSystem) -> int:
        """Return the order of the tableau, or two more than the power of ad after which `Exponential` cuts dexp^-1
        [bourabee2007, theorem 4.2.2]."""
        kept = self.retraction.order if isinstance(self.retraction, Exponential) else None
        order = _tableau(self.tableau).order
        return order if kept is None else min(order, kept + 2)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        return ()

    def advance(self, system, state, memory, t, h, inputs):
        group, tau = system.group, self.retraction

        def slope(stage: State, time: Scalar) -> State:
            rates = system.equations(State(group.compose(state.g, tau.tau(group, stage.g)), stage.mu), time)
            return State(tau.dtau_inv(group, -stage.g, rates.xi), rates.mu)

        end = _explicit_step(_tableau(self.tableau), slope, State(jnp.zeros(group.dim), state.mu), t, h)
        return State(group.advance(state.g, tau.increment(group, end.g)), end.mu), (), StepInfo.explicit()


def _explicit_step(tableau: Tableau, slope: Any, start: Any, t: Scalar, h: Scalar) -> Any:
    """One step of an explicit tableau for a pytree of arrays."""
    slopes: list[Any] = []
    slope = jax.jit(slope)  # which is traced once

    def plus(weights: tuple[float, ...]) -> Any:
        used = [(weight, each) for weight, each in zip(weights, slopes, strict=False) if weight]
        return jax.tree.map(
            lambda y, *k: y + h * sum(w * x for (w, _), x in zip(used, k, strict=True)),
            start,
            *(each for _, each in used),
        )

    for row, c in zip(tableau.a, tableau.c, strict=True):
        slopes.append(slope(plus(row), t + c * h))
    return plus(tableau.b)
