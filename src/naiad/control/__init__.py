"""Optimal control and estimation on groups: discrete equations of motion as constraints of an optimisation."""

from naiad.control.actuation import Directions, effort, elapsed
from naiad.control.interior import Status
from naiad.control.solution import Solution
from naiad.control.solving import solve

__all__ = ["Directions", "Solution", "Status", "effort", "elapsed", "solve"]
