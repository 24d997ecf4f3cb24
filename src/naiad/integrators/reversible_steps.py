"""Steps whose sizes follow the motion, and that can be gone back: a step density integrated beside the state."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.clock import Clock
from naiad.integrators.gate import check_method
from naiad.integrators.method import AbstractMethod, AbstractOneStepMethod, StepInfo
from naiad.integrators.step_monitors import MONITORS, check_monitor, squared_rate
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import static

Monitor = str | Callable[..., Scalar]


class DensityCarry(NamedTuple):
    """The state, what its method remembers, the clock, the step density at the node and its rate of change, and the
    least squared rate, which bounds the steps."""

    state: State
    memory: Any
    clock: Clock
    rho: Float[Array, ""]
    change: Float[Array, ""]
    least: Float[Array, ""]
    info: StepInfo

    @property
    def t(self) -> Float[Array, ""]:
        """The time at the node."""
        return self.clock.t


class ReversibleSteps(AbstractMethod):
    """Steps of a symmetric `method` with h = dt / rho, where the density rho follows a time scale Q of the motion
    without an equation to solve [hairer2005]:

        rho_{k+1/2} = rho_k + (dt/2) G_k,   a step of dt / rho_{k+1/2},   rho_{k+1} = rho_{k+1/2} + (dt/2) G_{k+1},

    G = - d/dt log Q along the motion and rho_0 = 1, so that the steps begin with dt and stay near dt Q/Q_0. State and
    density together are stepped by a symmetric map, and go back to round-off if Q does not tell v from -v: the energy
    has no drift where steps that follow the state alone would give it one.

    `monitor` is Q, a function of (state, t) or (system, state, t), of whose scale nothing depends; or a word:
    "frequency", by the second derivatives of the potential, "force", by the first, |F|^(-3/4), both in the metric of
    the inertia, and "distance", (sum of r^-3 over pairs of points)^(-1/2). `longest` bounds the steps [s], softly: for
    motions that leave what sets their time scale.
    """

    method: AbstractOneStepMethod
    monitor: Monitor = static(default="frequency")
    longest: float | None = None

    symplectic = False
    variable = True
    failure = (
        "A step failed: its solver did not converge, or the step density of ReversibleSteps fell to zero; take a "
        "smaller dt."
    )

    def __post_init__(self):
        if not callable(self.monitor) and self.monitor not in MONITORS:
            raise InputError(
                f"ReversibleSteps: monitor = {self.monitor!r}; expected one of {', '.join(MONITORS)}, or a function "
                "Q(state, t) or Q(system, state, t)."
            )
        if isinstance(self.longest, int | float) and not self.longest > 0.0:
            raise InputError(f"ReversibleSteps: longest = {self.longest!r}; expected seconds above 0, or None.")

    @property
    def honours(self) -> frozenset[str]:
        """What the method does, without noise."""
        return self.method.honours - {"noise"}

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)
        if not self.method.symmetric(system):
            raise InputError(
                f"ReversibleSteps needs a symmetric method; {type(self.method).__name__} is not symmetric for "
                f"{type(system).__name__}. Use Symmetrised(method), or a symmetric rule (Trapezoid, Midpoint)."
            )
        check_monitor(self.monitor, system)

    def order(self, system: LagrangianSystem) -> int:
        return self.method.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> DensityCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        least = jnp.zeros(())
        if self.longest is not None:
            room = jnp.maximum((self.longest / h) ** 2 - 1.0, jnp.finfo(float).eps)
            least = squared_rate(self.monitor, system, state, t) / room
        change = self._change(system, state, t, least)
        memory = self.method.memory(system, state, t)
        return DensityCarry(state, memory, Clock.at(t, h), jnp.ones(()), change, least, StepInfo.explicit())

    def step(
        self, system: LagrangianSystem, carry: DensityCarry, t: Scalar, h: Scalar, inputs: Any = None
    ) -> DensityCarry:
        rho = carry.rho + 0.5 * h * carry.change
        size = h / rho
        state, memory, info = self.method.advance(system, carry.state, carry.memory, carry.t, size, inputs)
        clock = carry.clock.after(size)
        change = self._change(system, state, clock.t, carry.least)
        info = info._replace(converged=info.converged & (rho > 0.0))
        return DensityCarry(state, memory, clock, rho + 0.5 * h * change, change, carry.least, info)

    def within(self, system: LagrangianSystem, carry: DensityCarry, t: Scalar, h: Scalar, inputs: Any = None) -> State:
        return self.method.advance(system, carry.state, carry.memory, carry.t, h, inputs)[0]

    def figures(self, carry: DensityCarry) -> dict[str, Any]:
        return carry.clock.figures

    def _change(self, system: LagrangianSystem, state: State, t: Scalar, least: Float[Array, ""]) -> Float[Array, ""]:
        """G = - d/dt log Q, where Q^-2 is the squared rate and the least one."""
        rates = system.equations(state, t)
        moving = State(system.group.tangent(state.g, rates.xi), rates.mu)
        rate, slope = jax.jvp(
            lambda state, t: squared_rate(self.monitor, system, state, t),
            (state, jnp.asarray(t, float)),
            (moving, jnp.ones(())),
        )
        total = rate + least
        return 0.5 * slope / jnp.where(total > 0.0, total, 1.0)
