"""The integrators of studies of bodies that the water couples, whose inertia takes long: Newton's method goes with a
matrix near it."""

import naiad as nd
from naiad.integrators import AbstractMethod
from naiad.numerics import Newton

_CHORD = Newton(jacobian="inertia")
_MIDPOINT = nd.Variational(nd.Cayley(), nd.Midpoint(), _CHORD)

METHODS: dict[str, tuple[str, AbstractMethod]] = {
    "midpoint": ("variational, Cayley map, Lagrangian at the midpoint", _MIDPOINT),
    "cay": ("variational, Cayley map, Lagrangian at both ends", nd.Variational(nd.Cayley(), newton=_CHORD)),
    "exp": ("variational, exponential map, midpoint", nd.Variational(nd.Exponential(), nd.Midpoint(), _CHORD)),
    "compose4": ("midpoint composed to order 4", nd.Composition(_MIDPOINT, 4)),
    "compose6": ("midpoint composed to order 6", nd.Composition(_MIDPOINT, 6)),
    "rkmk4": ("Runge-Kutta-Munthe-Kaas, order 4", nd.RKMK("rk4")),
}

CHOICES = {name: words for name, (words, _) in METHODS.items()}


def coupled_method(name: str) -> AbstractMethod:
    """The integrator of a name."""
    return METHODS[name][1]
