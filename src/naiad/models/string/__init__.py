"""Strings: the string pendulum, its reel, its body, and the laws of its material."""

from naiad.models.string.hanging_body import HangingBody
from naiad.models.string.laws import AbstractLaw, Hooke, Rubber, TensionOnly
from naiad.models.string.pendulum import StringPendulum
from naiad.models.string.reel import Reel

__all__ = ["AbstractLaw", "HangingBody", "Hooke", "Reel", "Rubber", "StringPendulum", "TensionOnly"]
