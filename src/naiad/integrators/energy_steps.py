"""Steps that keep the discrete energy: variational integrators in extended time, whose step size is an unknown."""

import sys
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from naiad.errors import InputError
from naiad.integrators.clock import Clock
from naiad.integrators.gate import check_method
from naiad.integrators.method import AbstractMethod, StepInfo, velocity_floor
from naiad.integrators.rules import Midpoint
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import History, extrapolate, history, remember, solve, static
from naiad.retractions import Cayley

ROUNDING = 256.0 * sys.float_info.epsilon  # of the discrete energy, relative to its parts
FLAT = 1e-11  # a discrete energy that changes by less, relative to its parts, with h itself does not tell h


class EnergyCarry(NamedTuple):
    """The state, the velocities and the logarithms of the sizes of the last steps, the clock, the last step, the
    discrete energy to be kept, and how the last step went."""

    state: State
    memory: History
    clock: Clock
    h: Float[Array, ""]
    energy: Float[Array, ""]
    info: StepInfo

    @property
    def t(self) -> Float[Array, ""]:
        """The time at the node."""
        return self.clock.t


class EnergySteps(AbstractMethod):
    """The steps of a `Variational` method whose sizes keep its discrete energy: symplectic, energy and momentum
    [kane1999].

    The action of a step is varied in the times of its ends too. From (g_k, mu_k) at t_k the velocity xi and the size h
    of a step solve, at fixed chord h xi,

        mu_minus(g_k, xi, h) = mu_k,   d/dt_k L_d = E_k,   and then E_{k+1} = - d/dt_{k+1} L_d,

    so that (g, t; mu, -E) is stepped by a symplectic map of the extended phase space. Where L does not depend on time E
    is E_d = - d/dh L_d, and stays; E_0 is that of a first step of dt. The energy at the nodes is off by O(h^2), and
    does not drift.

    E_d(h) is flat where h tells nothing of the energy (a free particle, for one): there h stays. It may have no
    solution, as E_d(h) - E = c(g, mu) h^2 + ... and c may vanish, near turning points above all. Solutions are looked
    for from the extrapolated sizes of the last steps on, so that they stay on the branch of these: at most `change`
    times longer or shorter than the last, and within `bounds`, in units of dt. Where there is none the run stops and
    says so: a step of any other size would leave the energy, and with it all that keeps the sizes from drifting.
    """

    method: Variational = Variational(Cayley(), Midpoint())
    bounds: tuple[float, float] = static(default=(1e-3, 1e3))
    change: float = static(default=2.0)

    honours = OF_A_STEP - {"force", "dissipation", "constraint"}
    symplectic = False
    variable = True
    failure = (
        "No step near the last one keeps the discrete energy (its equation has no solution at some turning points); "
        "take a smaller dt, the rule Midpoint, or ReversibleSteps."
    )

    def __post_init__(self):
        low, high = self.bounds
        if not 0.0 < low <= 1.0 <= high or not self.change > 1.0:
            raise InputError(
                f"EnergySteps: bounds = {self.bounds!r}, change = {self.change!r}; expected bounds around 1 in units "
                "of dt, and a change above 1."
            )

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)

    def order(self, system: LagrangianSystem) -> int:
        return self.method.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return self.method.symmetric(system)

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> EnergyCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        size = jnp.asarray(h, float)
        xi = self.method.step_velocity(system, state, t, size)
        energy = self._energy(system, state.g, xi, jnp.asarray(t, float), size)
        memory = history(jnp.append(xi, jnp.log(jnp.abs(size))))
        return EnergyCarry(state, memory, Clock.at(t, h), size, energy, StepInfo.explicit())

    def step(
        self, system: LagrangianSystem, carry: EnergyCarry, t: Scalar, h: Scalar, inputs: Any = None
    ) -> EnergyCarry:
        state, clock = carry.state, carry.clock
        xi, size, iterations, found = self._solved(system, carry)
        low, high = (bound * jnp.abs(h) for bound in self.bounds)
        ratio, length = size / carry.h, jnp.abs(size)
        found = found & (ratio * self.change >= 1.0) & (ratio <= self.change) & (length >= low) & (length <= high)
        moved, residual = self.method.land(system, state, xi, clock.t, size)
        energy = carry.energy - self._time_slopes(system, state.g, xi, clock.t, size)[0]
        memory = remember(carry.memory, jnp.append(xi, jnp.log(length)))
        info = StepInfo.solved(iterations, residual, found)
        return EnergyCarry(moved, memory, clock.after(size), size, energy, info)

    def within(self, system: LagrangianSystem, carry: EnergyCarry, t: Scalar, h: Scalar, inputs: Any = None) -> State:
        xi = self.method.root(system, carry.state, carry.memory[0, :-1], carry.t, h).x
        return self.method.land(system, carry.state, xi, carry.t, h)[0]

    def figures(self, carry: EnergyCarry) -> dict[str, Any]:
        return carry.clock.figures

    def _solved(
        self, system: LagrangianSystem, carry: EnergyCarry
    ) -> tuple[Float[Array, " n"], Float[Array, ""], Int[Array, ""], Bool[Array, ""]]:
        """Velocity and size of a step of the wanted energy. The unknowns are xi and h in units of the last step and of
        the speed, so that the round-off of both is alike. They start from the step of the expected size: the energy
        tells h by terms of second order, and would be misled by a velocity that is off by as much."""
        state, n, t, last = carry.state, system.group.dim, carry.clock.t, carry.h
        guess, reach = extrapolate(carry.memory), jnp.log(self.change)
        expected = jnp.exp(jnp.clip(guess[n] - jnp.log(jnp.abs(last)), -reach, reach))
        nearby = self.method.root(system, state, guess[:n], t, last * expected)
        floor = velocity_floor(system.group, state.g, last)
        speed = jnp.maximum(jnp.max(jnp.abs(nearby.x)), floor)
        parts = jnp.abs(state.mu @ nearby.x) + jnp.abs(system.lagrangian(state.g, nearby.x, t))

        def equations(x):
            xi, h = x[:n], last * x[n] / speed
            mismatch = self.method.legs(system, state.g, xi, t, h).mu_minus - state.mu
            return mismatch, self._energy(system, state.g, xi, t, h) - carry.energy

        start = jnp.append(nearby.x, speed * expected)
        by_x, energy_by_x = jax.jacfwd(equations)(start)
        slope = energy_by_x[n] - energy_by_x[:n] @ solve(by_x[:, :n], by_x[:, n])
        flat = jnp.abs(slope * speed) <= FLAT * parts
        weight = jnp.where(flat, 0.0, 1.0)  # a number: Newton's derivative takes what it depends on as numbers

        def residual(x):
            mismatch, off = equations(x)
            rounding = jax.lax.stop_gradient(jnp.where(jnp.abs(off) <= ROUNDING * parts, off, 0.0))
            return jnp.append(mismatch, weight * (off - rounding) + (1.0 - weight) * (x[n] - speed))

        begin = jnp.where(flat, start.at[n].set(speed), start)
        root = self.method.newton.root(residual, begin, floor=floor)
        kept = jnp.abs(equations(root.x)[1]) <= FLAT * parts  # a flat energy that is another is none to be kept
        iterations, found = nearby.iterations + root.iterations, root.converged & (root.x[n] > 0.0) & kept
        return root.x[:n], last * root.x[n] / speed, iterations, found

    def _energy(
        self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar
    ) -> Float[Array, ""]:
        """d/dt_k of the action of a step between fixed ends, the energy at its beginning; at its end it is less by what
        the action changes with time."""
        by_t, by_h = self._time_slopes(system, g, xi, t, h)
        return by_t - by_h

    def _time_slopes(
        self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The derivatives of the action of a step between fixed ends by t at fixed h, and by h."""
        chord = h * xi

        def action(t, h):
            return self.method.discrete(system).action(system, self.method.retraction, g, chord / h, t, h)

        return jax.grad(action, argnums=(0, 1))(t, h)
