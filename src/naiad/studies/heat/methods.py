"""What the studies of heat baths share: integrators by name, and Maxwell's distribution."""

from collections.abc import Callable

import numpy as np

import naiad as nd

METHODS = {
    "euler": ("stochastic variational Euler, friction lagged (the thesis)", nd.StochasticVariational()),
    "implicit": ("the same with the friction of the step's velocity", nd.StochasticVariational(lagged=False)),
    "trapezoid": (
        "by the trapezoid, second order in averages",
        nd.StochasticVariational(quadrature=nd.Trapezoid(), lagged=False),
    ),
    "midpoint": (
        "by the midpoint, second order in averages, exact for linear forces",
        nd.StochasticVariational(quadrature=nd.Midpoint(), lagged=False),
    ),
}
CHOICES = {name: words for name, (words, _) in METHODS.items()}


def normal_density(variance: float) -> Callable[[np.ndarray], np.ndarray]:
    """The density of a normal number of mean 0."""
    return lambda x: np.exp(-(x**2) / (2.0 * variance)) / np.sqrt(2.0 * np.pi * variance)
