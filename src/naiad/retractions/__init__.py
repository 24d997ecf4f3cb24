"""Retractions: maps from the algebra to the group, their tangents, inverses, halves and duals."""

from naiad.retractions.cayley import Cayley
from naiad.retractions.exponential import Exponential
from naiad.retractions.newmark import Newmark
from naiad.retractions.per_factor import PerFactor
from naiad.retractions.retraction import AbstractRetraction, AbstractSimpleRetraction
from naiad.retractions.skew import Skew

__all__ = ["AbstractRetraction", "AbstractSimpleRetraction", "Cayley", "Exponential", "Newmark", "PerFactor", "Skew"]
