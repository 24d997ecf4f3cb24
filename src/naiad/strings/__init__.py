"""Strings: the string pendulum, its reel, its body, the laws of its material, what acts on it, and its step of O(N)."""

from naiad.strings.bending import Bending
from naiad.strings.fields import AbstractField, GravityGradient
from naiad.strings.hanging_body import HangingBody
from naiad.strings.laws import AbstractLaw, Hooke, Inextensible, MooneyRivlin, Rubber, TensionOnly
from naiad.strings.loads import AbstractLoad, LineDrag, StringPoint
from naiad.strings.parts import Span, Tip
from naiad.strings.pendulum import StringPendulum
from naiad.strings.reel import Reel
from naiad.strings.string_rule import StringRule
from naiad.strings.system import StringSystem
from naiad.strings.variational import StringVariational

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
    "Span",
    "StringPendulum",
    "StringPoint",
    "StringRule",
    "StringSystem",
    "StringVariational",
    "TensionOnly",
    "Tip",
]

StringSystem.default_method = StringVariational()  # here, since the step knows the system and not the other way round
