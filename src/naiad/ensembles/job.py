"""What the runs of an ensemble have in common, and what each has of its own."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import Device, Engine
from naiad.ensembles.family import Family
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import Module, static
from naiad.simulation.noise import Source
from naiad.simulation.plan import Cadence, Plan, Routine
from naiad.simulation.section import Section


class Program(Module):
    """What is done at every step of every run, as a `Routine` has it."""

    family: Family
    method: AbstractMethod
    outputs: dict[str, Callable[..., Any]]
    monitors: dict[str, Callable[..., Any]]
    sections: dict[str, Section]
    reconstruct: bool = static(default=True)
    apart: bool = static(default=False)
    room: int = static(default=64)

    def routine(self, own: Any) -> Routine:
        """What is done at every step of the run with these numbers of its own."""
        return self._routine(self.family.member(own))

    def known(self, own: np.ndarray | None) -> Routine:
        """The same of known numbers."""
        return self._routine(self.family.known(own))

    def _routine(self, system: LagrangianSystem) -> Routine:
        return Routine.unchecked(
            system=system,
            method=self.method,
            outputs=self.outputs,
            monitors=self.monitors,
            sections=self.sections,
            reconstruct=self.reconstruct,
            apart=self.apart,
            room=self.room,
        )


class Schedule(NamedTuple):
    """The steps of runs: `last` of h from t0, then one of `rest` if that is above 0; nodes are saved every `save`
    steps, and outputs that do not go with them every `output`. One number for all runs, or one for each."""

    t0: Any
    h: Any
    last: Any
    rest: Any
    save: Any
    output: Any

    @property
    def uniform(self) -> bool:
        """Whether all runs have the same times."""
        return not any(map(np.ndim, filter(lambda value: value is not None, self)))

    @property
    def frames(self) -> int:
        """The most nodes that a run saves."""
        return _rows(self, self.save)

    @property
    def rows(self) -> int:
        """The most rows of outputs with a cadence of their own."""
        return _rows(self, self.output)


def _rows(schedule: Schedule, every: Any) -> int:
    last, rest = np.asarray(schedule.last), np.asarray(schedule.rest)
    return int(np.max(1 + last // every + np.where(rest > 0.0, 1, last % every != 0)))


class Job(NamedTuple):
    """The runs of an ensemble, or some of them: a row of `own`, `states` and `sources` for each."""

    program: Program
    own: np.ndarray | None
    states: State
    schedule: Schedule
    sources: Sequence[Source] | None
    engine: Engine
    frames: int  # room for the nodes that a run saves, and
    rows: int  # for its outputs with a cadence of their own: the same in all parts of an ensemble
    device: Device = "cpu"

    @property
    def size(self) -> int:
        """How many runs."""
        return len(self.states.mu)

    def part(self, first: int, stop: int) -> "Job":
        """The runs from `first` to before `stop`."""

        def cut(tree: Any) -> Any:
            return jax.tree.map(lambda leaf: leaf[first:stop] if np.ndim(leaf) else leaf, tree)

        return self._replace(
            own=None if self.own is None else self.own[first:stop],
            states=jax.tree.map(lambda leaf: leaf[first:stop], self.states),
            schedule=cut(self.schedule),
            sources=None if self.sources is None else self.sources[first:stop],
        )

    def plan(self, k: int) -> Plan:
        """The plan of a run, as `simulate` would have it."""
        t0, h, last, rest, save = (self.each(value)[k] for value in self.schedule[:5])
        cadence = Cadence(int(save), None if self.schedule.output is None else int(self.each(self.schedule.output)[k]))
        source = None if self.sources is None else self.sources[k]
        routine = self.program.known(None if self.own is None else self.own[k])
        return Plan(routine, float(t0), float(h), 0, int(last), float(rest), cadence, self.engine, source)

    def each(self, value: Any) -> np.ndarray:
        """A number of the schedule for every run."""
        return np.broadcast_to(value, (self.size,))
