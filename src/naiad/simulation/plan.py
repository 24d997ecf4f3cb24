"""What an engine is asked to do, and what it hands back."""

import abc
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import Module
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.section import Section

Observable = Callable[[State, Float[Array, ""]], Float[Array, "..."]]


class Program(Module):
    """What is done at every step: the method's step, and what is observed on the way."""

    system: LagrangianSystem
    method: AbstractMethod
    outputs: dict[str, Observable]
    monitors: dict[str, Observable]
    sections: dict[str, Section]


class Plan(NamedTuple):
    """A run of a program from node `first` to node `last` at times t0 + k h, then one step of `rest` if t1 is no whole
    number of steps away; every `save_every`-th node is saved, and the first and the last."""

    program: Program
    t0: float
    h: float
    first: int
    last: int
    rest: float
    save_every: int


class Statistics(NamedTuple):
    """Running figures of the solver over every step."""

    iterations: Any
    iterations_max: Any
    residual_max: Any
    correction_max: Any


class Chunk(NamedTuple):
    """A piece of a run, as NumPy arrays: the saved nodes, the crossings, and where the run stands after it."""

    times: np.ndarray
    frames: dict[str, Any]
    crossings: dict[str, Any]
    node: int
    t: float
    carry: Any
    monitors: dict[str, Monitor]
    statistics: Statistics
    outcome: Outcome


class AbstractEngine(Module):
    """Drives the step of a method through time."""

    @abc.abstractmethod
    def chunks(self, plan: Plan, carry: Any) -> Iterator[Chunk]:
        """The run in pieces of bounded size, the first with the initial node; it ends early after a failed step."""
