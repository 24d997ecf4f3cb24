"""Drives a method's step through time: saving, sections, statistics, progress."""

from naiad.simulation.monitor import Monitor
from naiad.simulation.noise import Noise
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Routine
from naiad.simulation.resume import resume
from naiad.simulation.saved import load
from naiad.simulation.section import Section
from naiad.simulation.simulate import propagate, simulate
from naiad.simulation.trajectory import Trajectory

__all__ = [
    "Monitor",
    "Noise",
    "Outcome",
    "Routine",
    "Section",
    "Trajectory",
    "load",
    "propagate",
    "resume",
    "simulate",
]
