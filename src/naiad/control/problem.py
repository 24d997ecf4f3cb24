"""An optimal control problem on a group, discretised: what the kernels are given besides numbers of an iterate."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.transcription import AbstractTranscription, Controlled, GaussSteps
from naiad.control.units import ProblemUnits
from naiad.groups import AbstractGroup
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import Module, static
from naiad.retractions import Cayley

CHART = Cayley()


class Problem(Module):
    """A system, how its steps are taken, what acts on it, and what is wanted.

    `push(g, u, t)` is the force map, `cost(g, xi, u, t)` the cost rate, `path(g, xi, u, t)` what must not be positive
    along the motion, `end_cost(state, t)` the cost of the end, `ending(state, t)` what must vanish there besides the
    difference from the goal, where `reaching` says that there is one. The unknown constants theta are the duration, if
    `free_time`, then as many `unknown` parameters, and any more that are given; without the duration they make the
    system, `model(system, theta)`. The first node is `begin(parameters)`, if that is given, and the functions of the
    end take the unknown parameters too, if there are any. Increments of configurations, momenta,
    controls, costs, and what must vanish or not be positive are in `units`; the functions of the problem know nothing
    of that.
    """

    system: LagrangianSystem
    steps: AbstractTranscription
    push: Any
    cost: Any
    path: Any
    end_cost: Any
    ending: Any
    model: Any
    begin: Any
    units: ProblemUnits
    controls: int = static()
    constants: int = static()
    unknown: int = static()
    free_time: bool = static()
    reaching: bool = static()

    @property
    def group(self) -> AbstractGroup:
        """The group on which it moves."""
        return self.system.group

    @property
    def state_size(self) -> int:
        """Increments of configuration and momentum, and the constants, which are carried along."""
        return 2 * self.group.dim + self.constants

    @property
    def inner_size(self) -> int:
        """Inner unknowns of a step."""
        return self.steps.inner * self.group.dim

    @property
    def staged(self) -> bool:
        """Whether steps have stages, of which one stands for all."""
        return isinstance(self.steps, GaussSteps)

    @property
    def control_size(self) -> int:
        """Controls of a step."""
        return self.steps.stages * self.controls

    def controlled(self) -> Controlled:
        """What acts and what it costs."""
        control, cost = self.units.control, self.units.cost

        def path(g: Any, xi: Any, u: Any, t: Any) -> Any:
            return self.path(g, xi, control * u, t) / self.units.path

        return Controlled(
            lambda g, u, t: self.push(g, control * u, t),
            lambda g, xi, u, t: self.cost(g, xi, control * u, t) / cost,
            path,
        )

    @property
    def inner_units(self) -> Any:
        """The units of the inner unknowns of a step, as one row or a row each."""
        place, momentum = (jnp.broadcast_to(each, self.group.dim) for each in self.units[:2])
        return jnp.stack([*[place] * (self.steps.inner - 1), momentum]) if self.staged else place

    def parameters(self, theta: Any) -> Any:
        """The unknown parameters among the constants."""
        return theta[int(self.free_time) :][: self.unknown]

    def known(self, theta: Float[Array, " c"]) -> LagrangianSystem:
        """The system with these constants."""
        return self.system if self.model is None else self.model(self.system, theta[int(self.free_time) :])

    def outside(self, state: State) -> State:
        """A state as it is without units."""
        return State(state.g, self.units.momentum * state.mu)

    def at_end(self, function: Any, state: State, t: Scalar, theta: Float[Array, " c"]) -> Any:
        """A function of the end, of a state without units."""
        return function(state, t, self.parameters(theta)) if self.unknown else function(state, t)

    def length(self, theta: Float[Array, " c"], step: Scalar) -> Any:
        """h of a step that is `step`, or this part of the free duration."""
        return step * theta[0] if self.free_time else step

    def moved(self, g: Any, eta: Float[Array, " n"]) -> Any:
        """g cay(eta): increments of configurations are measured by the Cayley map, which is the cheapest."""
        return self.group.compose(g, CHART.tau(self.group, self.units.place * eta))

    def difference(self, g: Any, f: Any) -> Float[Array, " n"]:
        """eta of f = g cay(eta)."""
        return CHART.inverse(self.group, self.group.compose(self.group.inverse(g), f)) / self.units.place

    def carried(self, eta: Float[Array, " n"], lam: Float[Array, " n"]) -> Float[Array, " n"]:
        """The multipliers of increments of a node, for increments from where it is moved by eta."""
        place = self.units.place
        return place * CHART.dtau_inv_dual(self.group, -place * eta, lam / place)

    def passed(self, g: Any, g_next: Any, eta: Float[Array, " n"], x: Float[Array, " n"]) -> Float[Array, " n"]:
        """The increment of the next node where a step leads by x, which has no units, from g cay(eta)."""
        apart = self.group.compose(self.group.inverse(g_next), g)
        moved = CHART.tau(self.group, self.units.place * eta)
        ahead = self.group.compose(moved, self.steps.retraction.tau(self.group, x))
        return CHART.inverse(self.group, self.group.compose(apart, ahead)) / self.units.place

    def path_values(self, g: Any, K: Any, U: Any, t: Scalar, h: Scalar) -> Float[Array, " c"]:
        """`path` at all stages of a step, whose inner unknowns have no units."""
        if self.path is None:
            return jnp.zeros(0)
        return self.steps.path(self.controlled(), self.group, g, K, U, t, h)
