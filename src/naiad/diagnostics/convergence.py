"""The order of a method, measured."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from naiad.diagnostics.fitting import fitting
from naiad.diagnostics.march import march
from naiad.diagnostics.reference import reference
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


class Convergence(NamedTuple):
    """Step sizes, and the errors there: the largest entry of g and of mu."""

    dt: np.ndarray
    error_g: np.ndarray
    error_mu: np.ndarray

    @property
    def order(self) -> float:
        """The smaller of the slopes, for g and for mu, of the least-squares line through the logarithms."""
        orders = [
            np.polyfit(np.log(self.dt), np.log(error), 1)[0]
            for error in (self.error_g, self.error_mu)
            if np.all(error > 0)
        ]
        return float(min(orders))


@checked
def convergence(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    *,
    t1: float,
    steps: Sequence[int],
    t0: float = 0.0,
    exact: State | None = None,
) -> Convergence:
    """The error at t1 for each number of steps, against `exact` (by default `reference`)."""
    if len(set(steps)) < 2 or min(steps) < 1:
        raise InputError(f"convergence: steps = {list(steps)}; expected two numbers of steps or more: (20, 40).")
    if not t1 > t0:
        raise InputError(f"convergence: t1 = {t1:g} is not after t0 = {t0:g}; expected a later time.")
    exact = reference(system, state, t1=t1, t0=t0) if exact is None else fitting(system, exact, method, t0=t0, t1=t1)
    errors = []
    for count in steps:
        end = march(system, method, state, dt=(t1 - t0) / count, steps=count, t0=t0)
        gaps = jax.tree.map(lambda a, b: float(np.max(np.abs(np.asarray(a) - b))), end, exact)
        errors.append((max(jax.tree.leaves(gaps.g)), gaps.mu))
    error_g, error_mu = np.array(errors).T
    return Convergence((t1 - t0) / np.asarray(steps, float), error_g, error_mu)
