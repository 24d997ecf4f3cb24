"""The integrators that studies offer by name."""

import naiad as nd
from naiad.integrators import AbstractMethod

_CAYLEY = nd.Variational(nd.Cayley())

METHODS = {
    "cay": ("variational, Cayley map", _CAYLEY),
    "exp": ("variational, exponential map", nd.Variational(nd.Exponential())),
    "new": ("variational, Newmark map (Moser-Veselov)", nd.Variational(nd.Newmark())),
    "skew": ("variational, skew map", nd.Variational(nd.Skew())),
    "midpoint": ("variational, Cayley map, Lagrangian at the midpoint", nd.Variational(nd.Cayley(), nd.Midpoint())),
    "compose4": ("cay composed to order 4", nd.Composition(_CAYLEY, 4)),
    "compose6": ("cay composed to order 6", nd.Composition(_CAYLEY, 6)),
    "compose8": ("cay composed to order 8", nd.Composition(_CAYLEY, 8)),
    "rkmk4": ("Runge-Kutta-Munthe-Kaas, order 4", nd.RKMK("rk4")),
    "rk4": ("classical Runge-Kutta on the matrix entries", nd.RK4()),
}

# those that take Lagrangians of the velocity alone
FREE_METHODS: dict[str, tuple[str, AbstractMethod]] = {}

CHOICES = {name: words for name, (words, _) in METHODS.items()}
FREE_CHOICES = {name: words for name, (words, _) in (METHODS | FREE_METHODS).items()}


def method(name: str) -> AbstractMethod:
    """The integrator of a name."""
    return (METHODS | FREE_METHODS)[name][1]
