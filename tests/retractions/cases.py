"""The pairs of a retraction and a group that the tests run over, with the largest angle that the map takes."""

import functools
from typing import NamedTuple

from naiad.groups import SE3, SO3, AbstractGroup, Power, Product, Rn, SOn
from naiad.retractions import AbstractRetraction, Cayley, Exponential, Newmark, PerFactor, Skew
from tests.sampling import GROUPS


class Case(NamedTuple):
    """A map, its group, and the largest angle of x to draw."""

    retraction: AbstractRetraction
    group: AbstractGroup
    largest: float


SIMPLE = ["SO2", "SE2", "SO3", "S3", "SE3"]

# SO(n) for n = 3 is small enough for derivatives of its iterations; n = 4 has what n = 3 lacks, two angles.
SIMPLE_CASES = {
    **{f"Exponential on {name}": Case(Exponential(), GROUPS[name], 3.0) for name in SIMPLE},
    **{f"Cayley on {name}": Case(Cayley(), GROUPS[name], 3.0) for name in SIMPLE},
    "Exponential on SO(3)": Case(Exponential(), SOn(3), 3.0),
    "Cayley on SO(3)": Case(Cayley(), SOn(3), 3.0),
    "Skew on SO(3)": Case(Skew(), SOn(3), 0.9),
    "Skew on SO3": Case(Skew(), SO3(), 0.9),
    "Newmark on SO3": Case(Newmark(), SO3(), 1.8),
}

CASES = {
    **SIMPLE_CASES,
    "Exponential on SO(4)": Case(Exponential(), SOn(4), 3.0),
    "Cayley on SO(4)": Case(Cayley(), SOn(4), 3.0),
    "Skew on SO(4)": Case(Skew(), SOn(4), 0.9),
    "Cayley on R3": Case(Cayley(), Rn(3), 3.0),
    "Exponential on SE3^2": Case(Exponential(), Power(SE3(), 2), 3.0),
    "PerFactor on SO3^2 x SE3 x R2": Case(
        PerFactor(body=Cayley(), q=Exponential(), links=Newmark()),
        Product(links=Power(SO3(), 2), body=SE3(), q=Rn(2)),
        1.8,
    ),
    "Cayley on SO3^2 x SE2 x R3": Case(Cayley(), GROUPS["SO3^2 x SE2 x R3"], 3.0),
}


def per_case(build):
    """Cache what `build` makes for a case, by its name, so that each function compiles once."""
    return functools.cache(lambda name: build(CASES[name]))
