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
    "gauss1": ("variational Runge-Kutta, Cayley map, Gauss with 1 stage, order 2", nd.VPRK("gauss1")),
    "gauss2": ("variational Runge-Kutta, Cayley map, Gauss with 2 stages, order 4", nd.VPRK("gauss2")),
    "gauss3": ("variational Runge-Kutta, Cayley map, Gauss with 3 stages, order 6", nd.VPRK("gauss3")),
    "lobatto2": ("variational Runge-Kutta, Cayley map, Lobatto IIIA-IIIB with 2 stages, order 2", nd.VPRK("lobatto2")),
    "lobatto3": ("variational Runge-Kutta, Cayley map, Lobatto IIIA-IIIB with 3 stages, order 4", nd.VPRK("lobatto3")),
    "collocation": ("collocation with 8 stages of Gauss, order 16, symplectic on vector spaces only", nd.Collocation()),
    "rkmk4": ("Runge-Kutta-Munthe-Kaas, order 4", nd.RKMK("rk4")),
    "rk4": ("classical Runge-Kutta on the matrix entries", nd.RK4()),
}

# those that take Lagrangians of the velocity alone
FREE_METHODS = {
    "tln": ("trapezoidal Lie-Newmark", nd.TrapezoidalLieNewmark()),
    "mln": ("midpoint Lie-Newmark, keeps the energy of a free body", nd.MidpointLieNewmark()),
    "flv": ("fast Lie-Verlet, two-step, no iteration", nd.FastLieVerlet()),
    "sw": ("Simo-Wong, explicit, keeps the momentum", nd.SimoWong()),
    "sw-perp": ("Simo-Wong, keeps momentum and energy", nd.SimoWongPerp()),
    "kr": ("Krysl, keeps momentum and energy, first order", nd.Krysl()),
    "split2": ("Lie-Poisson splitting, order 2", nd.Splitting(2)),
    "split4": ("Lie-Poisson splitting, order 4", nd.Splitting(4)),
    "split6": ("Lie-Poisson splitting, order 6", nd.Splitting(6)),
    "split8": ("Lie-Poisson splitting, order 8", nd.Splitting(8)),
}

# those that choose their steps, and take Lagrangians with a potential
VARIABLE_METHODS = {
    "reversible": ("cay with reversible steps that follow the motion, dt the first", nd.ReversibleSteps(_CAYLEY)),
    "energy": ("midpoint with steps that keep the discrete energy, dt the first", nd.EnergySteps()),
}

CHOICES = {name: words for name, (words, _) in METHODS.items()}
GENERAL = {
    name: CHOICES[name]
    for name in ("cay", "exp", "midpoint", "compose4", "compose6", "compose8", "collocation", "rkmk4", "rk4")
}
"""Those that fit every group, for studies on products and powers."""
SHAPE_CHOICES = GENERAL | {name: FREE_METHODS[name][0] for name in ("flv", "sw-perp")}
"""Those that fit a group with a shape space beside it."""
VARIABLE_CHOICES = {name: words for name, (words, _) in VARIABLE_METHODS.items()}
FREE_CHOICES = {name: words for name, (words, _) in (METHODS | FREE_METHODS).items()}

EULER = nd.Variational(nd.Cayley(), nd.Left())
"""The variational Euler method: the Lagrangian at the left node."""


def method(name: str) -> AbstractMethod:
    """The integrator of a name."""
    return (METHODS | FREE_METHODS | VARIABLE_METHODS)[name][1]
