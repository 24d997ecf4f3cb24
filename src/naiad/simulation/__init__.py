"""Drives a method's step through time: saving, sections, statistics, progress."""

from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import AbstractEngine, Chunk, Plan, Program
from naiad.simulation.section import Section
from naiad.simulation.simulate import propagate, resume, simulate
from naiad.simulation.trajectory import Trajectory, load
from naiad.simulation.xla import XLA

__all__ = [
    "XLA",
    "AbstractEngine",
    "Chunk",
    "Monitor",
    "Outcome",
    "Plan",
    "Program",
    "Section",
    "Trajectory",
    "load",
    "propagate",
    "resume",
    "simulate",
]
