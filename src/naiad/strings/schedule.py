"""Lengths that are given as functions of time."""

from collections.abc import Callable
from typing import Any

import jax

from naiad.errors import InputError
from naiad.forces.signals import AbstractSignal, GivenSignal


def as_schedule(name: str, value: Callable[..., Any]) -> AbstractSignal:
    """A function of time whose value is one number; or an `InputError`."""
    made = value if isinstance(value, AbstractSignal) else GivenSignal(value)
    with jax.enable_x64(True):
        shape = jax.eval_shape(made, 0.0).shape
    if shape not in ((), (1,)):
        raise InputError(f"{name} is a function whose value has shape {shape}; expected a number, in m.")
    return made
