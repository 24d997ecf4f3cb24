"""The contract that every integrator fulfils: `init`, `step`, `state`."""

import abc
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import PLAIN
from naiad.numerics import Module
from naiad.retractions import AbstractRetraction, Exponential, PerFactor

EVERY = 16
"""The nodes from one at which g is put back on the group to the next: round-off takes it off by less than a unit in the
last place in so many steps, and looking at it costs a fifth of a small step."""


class StepInfo(NamedTuple):
    """How a step went: Newton's iterations, residual and success, and the round-off correction of g."""

    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    converged: Bool[Array, ""]
    correction: Float[Array, ""]

    @classmethod
    def explicit(cls) -> "StepInfo":
        """The information of a step without a solver."""
        return cls.solved(jnp.zeros((), int), jnp.zeros(()), jnp.ones((), bool))

    @classmethod
    def solved(cls, iterations: Any, residual: Any, converged: Any) -> "StepInfo":
        """The information of a step with a solver, g as it came out."""
        return cls(iterations, residual, converged, jnp.zeros(()))

    def then(self, other: "StepInfo") -> "StepInfo":
        """The information of two steps in a row."""
        return StepInfo(
            self.iterations + other.iterations,
            jnp.maximum(self.residual, other.residual),
            self.converged & other.converged,
            jnp.maximum(self.correction, other.correction),
        )


class AbstractMethod(Module):
    """An integrator: `init` makes a carry of a state, `step` takes it from t to t + h, `state` reads the state.

    A carry is a named tuple with the fields `state` and `info`, and whatever else the method takes along.
    """

    failure: ClassVar[str | None] = None
    """What it means that the solver of a step fails, and what to do, where the method can say more than the outcome."""
    symplectic: ClassVar[Any] = True
    """Whether a step keeps the symplectic form of T*G, and the momenta of symmetries, where no force acts."""
    honours: ClassVar[Any] = PLAIN
    """The names of the features of a system that the steps take into account (see `naiad.mechanics.features`); a system
    that has others is refused. A method that declares nothing takes a plain Lagrangian."""
    variable: ClassVar[bool] = False
    """Whether the method chooses the sizes of its steps: dt is then the first, and a carry has its own time, `t`."""
    renormalise = True
    """Whether the round-off by which g leaves the group is removed now and then (`settled`)."""

    def check(self, system: LagrangianSystem) -> None:
        """Raise an `InputError` if the method does not fit the system for a reason that no feature tells."""

    @abc.abstractmethod
    def order(self, system: LagrangianSystem) -> int:
        """The order of accuracy that the method claims for the system."""

    @abc.abstractmethod
    def symmetric(self, system: LagrangianSystem) -> bool:
        """Whether a step by -h undoes a step by h."""

    def noise_size(self, system: LagrangianSystem) -> int:
        """How many random increments a step takes as its `inputs`."""
        return 0

    @abc.abstractmethod
    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> Any:
        """The carry at time t: what a checkpoint holds."""

    @abc.abstractmethod
    def step(self, system: LagrangianSystem, carry: Any, t: Scalar, h: Scalar, inputs: Any = None) -> Any:
        """The carry at t + h. Pure and traceable; `inputs` are held over the step: controls, or noise as dW/h."""

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        """The carry at a node, after the step to it. At every sixteenth node g is put back on the group, from which the
        round-off of the steps has taken it; how far, `info` says."""
        if not self.renormalise:
            return carry
        g, correction = put_back(system.group, carry.state.g, node % EVERY == 0)
        info = carry.info._replace(correction=jnp.maximum(carry.info.correction, correction))
        return carry._replace(state=carry.state._replace(g=g), info=info)

    def onward(self, system: LagrangianSystem, carry: Any, node: Any, t: Scalar, h: Scalar, inputs: Any = None) -> Any:
        """The carry at the node after this one, at t + h: a step, settled."""
        return self.settled(system, self.step(system, carry, t, h, inputs), node + 1)

    def state(self, system: LagrangianSystem, carry: Any) -> State:
        """The state at the node of the carry."""
        return carry.state

    def info(self, carry: Any) -> StepInfo:
        """How the last step went."""
        return carry.info

    def figures(self, carry: Any) -> dict[str, Any]:
        """Numbers on all steps so far that only this method has, by name."""
        return {}

    def bounded(self, system: LagrangianSystem, carry: Any, t: Scalar, h: Scalar) -> Any:
        """The carry at t, with NaN as its momentum where it is beyond the limit of the system."""
        if system.limit is None:
            return carry
        inside = system.limit(carry.state.g, t, h) > 0.0
        return carry._replace(state=carry.state._replace(mu=jnp.where(inside, carry.state.mu, jnp.nan)))

    def within(self, system: LagrangianSystem, carry: Any, t: Scalar, h: Scalar, inputs: Any = None) -> State:
        """The state a time h after the carry, within the step that follows it."""
        return self.state(system, self.step(system, carry, t, h, inputs))

    def kept(self, carry: Any) -> Any:
        """What `within` needs of a carry."""
        return self.bare(carry)

    def bare(self, carry: Any) -> Any:
        """The carry without how the last step went: what the next step depends on."""
        return carry._replace(info=None)

    def held(self, carry: Any, g: Any) -> Any:
        """The carry, bare or not, with g as its configuration: what is left of a step when only the momentum is
        followed."""
        info = None if carry.info is None else carry.info._replace(correction=jnp.zeros(()))
        return carry._replace(state=carry.state._replace(g=g), info=info)


class OneStepCarry(NamedTuple):
    """The state, what the method remembers to start its solver, and how the last step went."""

    state: State
    memory: Any
    info: StepInfo


class AbstractOneStepMethod(AbstractMethod):
    """A method whose next state depends on the state alone; its memory only speeds up the solver."""

    @abc.abstractmethod
    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Any:
        """What the solver starts from at the first step."""

    @abc.abstractmethod
    def advance(
        self, system: LagrangianSystem, state: State, memory: Any, t: Scalar, h: Scalar, inputs: Any
    ) -> tuple[State, Any, StepInfo]:
        """One step: the new state, the new memory, and how it went."""

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> OneStepCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        return OneStepCarry(state, self.memory(system, state, t), StepInfo.explicit())

    def step(
        self,
        system: LagrangianSystem,
        carry: OneStepCarry,
        t: Scalar,
        h: Scalar,
        inputs: Any = None,
    ) -> OneStepCarry:
        return OneStepCarry(*self.advance(system, carry.state, carry.memory, t, h, inputs))


def refuse_variable(method: AbstractMethod, caller: str) -> None:
    """Raise an `InputError` if a method chooses its steps where all of them must be of dt."""
    if method.variable:
        raise InputError(
            f"{caller} takes steps of one size, and {type(method).__name__} chooses its own; give it a method of "
            "constant steps, or use simulate."
        )


def refuse_truncated(method: AbstractMethod, retraction: AbstractRetraction) -> None:
    """Raise an `InputError` if dexp^-1 is to be cut in a method that does without it, where it would change nothing."""
    if truncated(retraction):
        name = type(method).__name__
        raise InputError(
            f"{name} was given {retraction!r}, which cuts dexp^-1, and {name} does without dexp^-1; leave order out, "
            "or use Variational, Reduced or RKMK."
        )


def truncated(retraction: AbstractRetraction) -> bool:
    """Whether dexp^-1 is to be cut."""
    parts = retraction.retractions if isinstance(retraction, PerFactor) else (retraction,)
    return any(isinstance(part, Exponential) and part.order is not None for part in parts)


def velocity_floor(group: AbstractGroup, g: Any, h: Scalar) -> Float[Array, ""]:
    """eps |g|/h: a velocity below it moves no entry of g, and is all that a system at rest under forces has. It has no
    length of its own: a system of atoms in metres is solved as one of planets is."""
    turned = [id(R) for R in group.rotations(g)]
    sizes = [1.0 if id(leaf) in turned else jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(g)]
    return jnp.finfo(float).eps * functools.reduce(jnp.maximum, sizes) / jnp.abs(h)


def put_back(group: AbstractGroup, g: Any, due: Any) -> tuple[Any, Float[Array, ""]]:
    """g, put back on the group at the level of round-off if that is due, and the size of the correction. To derivatives
    it is g: along the group nothing else changes."""
    if group.free:
        return g, jnp.zeros(())

    @jax.custom_jvp
    def put(g: Any, due: Any) -> tuple[Any, Float[Array, ""]]:
        return jax.lax.cond(due, lambda g: renormalised(group, g), lambda g: (g, jnp.zeros(())), g)

    @put.defjvp
    def _(primals, tangents):
        return put(*primals), (tangents[0], jnp.zeros(()))

    return put(g, due)


def renormalised(group: AbstractGroup, g: Any) -> tuple[Any, Float[Array, ""]]:
    """g put back on the group at the level of round-off, and the size of that correction."""
    corrected = group.renormalise(g)
    pairs = zip(jax.tree.leaves(corrected), jax.tree.leaves(g), strict=True)
    changes = [jnp.max(jnp.abs(a - b)) for a, b in pairs if a is not b]
    return corrected, functools.reduce(jnp.maximum, changes, jnp.zeros(()))
