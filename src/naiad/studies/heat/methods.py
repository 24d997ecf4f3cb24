"""What the studies of heat baths share: parameters, integrators by name, and Maxwell's distribution."""

from collections.abc import Callable
from typing import Any

import numpy as np

import naiad as nd
from naiad.studies.parameters import Block, parameter

METHODS = {
    "euler": ("stochastic variational Euler, friction lagged (the thesis)", nd.StochasticVariational()),
    "implicit": ("the same with the friction of the step's velocity", nd.StochasticVariational(lagged=False)),
    "trapezoid": (
        "by the trapezoid, second order in averages",
        nd.StochasticVariational(rule=nd.Trapezoid(), lagged=False),
    ),
    "midpoint": (
        "by the midpoint, second order in averages, exact for linear forces",
        nd.StochasticVariational(rule=nd.Midpoint(), lagged=False),
    ),
}
CHOICES = {name: words for name, (words, _) in METHODS.items()}


class LongRun(Block):
    """Parameters of a long run whose averages count after a while."""

    warm_up: float = parameter(100.0, unit="s", at_least=0.0, help="time before the averages begin")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(20_000.0, unit="s", above=0.0, help="time of the averages")
    seed: int = parameter(7, at_least=0, help="seed of the noise")

    def options(self, method: str) -> dict[str, Any]:
        """The same for `equilibrium`, with an integrator."""
        noise = nd.Noise(self.seed)
        return {"warm_up": self.warm_up, "t1": self.t1, "dt": self.dt, "noise": noise, "method": METHODS[method][1]}


def normal_density(variance: float) -> Callable[[np.ndarray], np.ndarray]:
    """The density of a normal number of mean 0."""
    return lambda x: np.exp(-(x**2) / (2.0 * variance)) / np.sqrt(2.0 * np.pi * variance)
