"""Strings: the string pendulum, its reel, its body, the laws of its material, and what acts on it."""

from naiad.models.string.bending import Bending
from naiad.models.string.fields import AbstractField, GravityGradient
from naiad.models.string.hanging_body import HangingBody
from naiad.models.string.laws import AbstractLaw, Hooke, Inextensible, MooneyRivlin, Rubber, TensionOnly
from naiad.models.string.loads import AbstractLoad, LineDrag, StringPoint
from naiad.models.string.pendulum import StringPendulum
from naiad.models.string.reel import Reel

__all__ = [
    "AbstractField",
    "AbstractLaw",
    "AbstractLoad",
    "Bending",
    "GravityGradient",
    "HangingBody",
    "Hooke",
    "Inextensible",
    "LineDrag",
    "MooneyRivlin",
    "Reel",
    "Rubber",
    "StringPendulum",
    "StringPoint",
    "TensionOnly",
]
