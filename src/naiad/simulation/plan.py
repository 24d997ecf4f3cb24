"""What a run does at every step, how far it goes, and what comes of it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int

from naiad.compiler import Engine
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.functions import with_system
from naiad.numerics import Module, static
from naiad.simulation.monitor import Monitor
from naiad.simulation.noise import Source
from naiad.simulation.outcome import Outcome
from naiad.simulation.section import Level, Section

ROOM = 4096  # rows of any kind that a chunk holds at most
Observable = Callable[..., Any]
"""A function of state and time, or of system, state and time."""


class Routine(Module):
    """What is done at every step: the method's step, and what is observed on the way.

    Without `reconstruct` only the momentum moves, for a system whose momentum does not depend on the configuration.
    Outputs that are `apart` are not recorded with the saved nodes, but at a cadence of their own. `room` is the most
    rows of any kind that a chunk holds.
    """

    system: LagrangianSystem
    method: AbstractMethod
    outputs: dict[str, Observable]
    monitors: dict[str, Observable]
    sections: dict[str, Section]
    reconstruct: bool = static(default=True)
    apart: bool = static(default=False)
    room: int = static(default=ROOM)

    def onward(self, carry: Any, node: Any, t: Scalar, h: Scalar, inputs: Any = None) -> Any:
        """One step of the method from a node; without `reconstruct` the configuration stays where it is."""
        if self.reconstruct:
            return self.method.onward(self.system, carry, node, t, h, inputs)
        return self.method.held(self.method.step(self.system, carry, t, h, inputs), self.state(carry).g)

    def time(self, carry: Any, t0: Any, node: Any, h: Any) -> Any:
        """When a carry is: t0 + node h, or what a method says that chooses its steps."""
        return carry.t if self.method.variable else t0 + node * h

    def within(self, carry: Any, t: Scalar, h: Scalar, inputs: Any = None) -> State:
        """The state a time h after a carry, within the step that follows it."""
        state = self.method.within(self.system, carry, t, h, inputs)
        return state if self.reconstruct else state._replace(g=self.state(carry).g)

    def kept(self, carry: Any) -> Any:
        """What of a carry is needed to look for something within the step that follows."""
        kept = self.method.kept(carry)
        return kept if self.reconstruct else self.method.held(kept, None)

    def restored(self, kept: Any) -> Any:
        """A carry that steps as the one that was kept."""
        return kept if self.reconstruct else self.method.held(kept, self.system.group.identity())

    def observed(self, functions: dict[str, Observable], state: State, t: Scalar) -> dict[str, Any]:
        """What functions of the state and time give, by name."""
        return {name: with_system(function, self.system)(state, t) for name, function in functions.items()}

    def state(self, carry: Any) -> State:
        """The state at the node of a carry."""
        return self.method.state(self.system, carry)


class Cadence(NamedTuple):
    """Every how many steps a node is saved, and outputs that do not go with the saved nodes are recorded; the first and
    the last node always are."""

    save: int
    output: int | None = None


class Plan(NamedTuple):
    """A run of a routine from node `first` to node `last` at times t0 + k h, then one step of `rest` if t1 is no whole
    number of steps away; `noise` where a step takes any. A method that chooses its steps goes on to the first node that
    is not before `until`, and `last` is the node that steps of h would come to."""

    routine: Routine
    t0: float
    h: float
    first: int
    last: int
    rest: float
    cadence: Cadence
    engine: Engine
    noise: Source | None = None
    until: float | None = None

    @property
    def t1(self) -> float:
        """Where the run is to end."""
        return self.t0 + self.last * self.h + self.rest if self.until is None else self.until

    def time(self, standing: "Standing") -> float:
        """When a run that has taken whole steps stands."""
        return float(self.routine.time(standing.carry, self.t0, int(standing.node), self.h))

    def over(self, node: int, t: float) -> bool:
        """Whether a run that has come to a node at t is at its end."""
        return node >= self.last + (self.rest > 0.0) if self.until is None else t >= self.until

    def counted(self, node: int, t: float) -> int:
        """A node on the way from `first` to `last` for one that tells how far a run has come."""
        if self.until is None:
            return node
        share = 1.0 if self.over(node, t) else (t - self.t0) / (self.until - self.t0)
        return self.first + round((self.last - self.first) * share)


class Statistics(NamedTuple):
    """Running figures of the solver over every step."""

    iterations: Any
    iterations_max: Any
    residual_max: Any
    correction_max: Any


class Standing(NamedTuple):
    """Where a run stands: the node, the method's carry, what was watched so far, and whether it can go on."""

    node: Int[Array | np.ndarray, ""]
    carry: Any
    monitors: dict[str, Monitor]
    statistics: Statistics
    levels: dict[str, Level]
    outcome: Int[Array | np.ndarray, ""]

    @property
    def goes_on(self) -> bool:
        """Whether nothing has ended the run."""
        return int(self.outcome) == Outcome.COMPLETED


class Chunk(NamedTuple):
    """A piece of a run, as NumPy arrays: the saved nodes, outputs that do not go with them (times and values, or None),
    the crossings, where the run stands after it, and the largest angle in rad by which a step was seen to turn until
    then."""

    times: np.ndarray
    frames: Any
    outputs: Any
    crossings: dict[str, Any]
    node: int
    t: float
    standing: Standing
    turn: float

    @classmethod
    def joined(cls, chunks: "Sequence[Chunk]") -> "Chunk":
        """The rows of all, and where the run stands after the last."""
        if len(chunks) == 1:
            return chunks[0]
        return chunks[-1]._with_rows(lambda *leaves: np.concatenate(leaves), chunks)

    def ended(self, outcome: Outcome) -> "Chunk":
        """No rows, and the word of how the run ended."""
        standing = self.standing._replace(outcome=np.asarray(int(outcome)))
        return self._with_rows(lambda leaf: leaf[:0], [self])._replace(standing=standing)

    def _with_rows(self, change: Callable[..., np.ndarray], chunks: "Sequence[Chunk]") -> "Chunk":
        rows = [(chunk.times, chunk.frames, chunk.outputs, chunk.crossings) for chunk in chunks]
        times, frames, outputs, crossings = jax.tree.map(change, *rows)
        return self._replace(times=times, frames=frames, outputs=outputs, crossings=crossings)
