"""The methods of the verification: a new one enters this table and inherits every measurement."""

import naiad as nd
from naiad.integrators import AbstractMethod

CAYLEY, EXPONENTIAL = nd.Cayley(), nd.Exponential()

METHODS: dict[str, AbstractMethod] = {
    "cay": nd.Variational(CAYLEY),
    "exp": nd.Variational(EXPONENTIAL),
    "new": nd.Variational(nd.Newmark()),
    "skew": nd.Variational(nd.Skew()),
    "cay-left": nd.Variational(CAYLEY, nd.Left()),
    "exp-right": nd.Variational(EXPONENTIAL, nd.Right()),
    "cay-midpoint": nd.Variational(CAYLEY, nd.Midpoint()),
    "exp-midpoint": nd.Variational(EXPONENTIAL, nd.Midpoint()),
    "skew-midpoint": nd.Variational(nd.Skew(), nd.Midpoint()),
    "new-midpoint": nd.Variational(nd.Newmark(), nd.Midpoint()),
    "cay-left-adjoint": nd.Adjoint(nd.Variational(CAYLEY, nd.Left())),
    "cay-left-symmetrised": nd.Symmetrised(nd.Variational(CAYLEY, nd.Left())),
    "compose4": nd.Composition(nd.Variational(CAYLEY), 4),
    "compose4-midpoint": nd.Composition(nd.Variational(CAYLEY, nd.Midpoint()), 4),
    "compose6": nd.Composition(nd.Variational(CAYLEY), 6),
    "compose8": nd.Composition(nd.Variational(EXPONENTIAL), 8),
    "rkmk1": nd.RKMK("euler"),
    "rkmk2": nd.RKMK("heun2"),
    "rkmk3": nd.RKMK("kutta3", CAYLEY),
    "rkmk4": nd.RKMK("rk4"),
    "rkmk2-adjoint": nd.Adjoint(nd.RKMK("heun2")),
    "rk4": nd.RK4(),
    "implicit-euler": nd.ImplicitEuler(),
    "projected": nd.Projected(nd.RKMK("heun2")),
    "projected-momentum": nd.Projected(nd.RKMK("heun2"), ("energy", "momentum")),
}

VARIATIONAL = {name for name in METHODS if not name.startswith(("rk", "implicit", "projected"))}
