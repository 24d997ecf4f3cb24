"""Runs that a study needs to their end."""

import warnings
from collections.abc import Callable
from typing import Any

import naiad as nd
from naiad.errors import RunError, RunWarning


def whole_run(run: Callable[..., nd.Trajectory], *args: Any, t1: float, **options: Any) -> nd.Trajectory:
    """What `simulate` or `resume` gives; a run that cannot go on to t1 is an error, and not half a result."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\w+ stopped at t = ", RunWarning)
        ran = run(*args, t1=t1, **options)
    if ran.outcome.failed:
        raise RunError(f"the run stopped at t = {ran.attrs['t']:g} s of {t1:g} s: {ran.ending}")
    return ran
