"""The integrators of strings that studies offer: a discrete Lagrangian by name, composed to an order."""

from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Composition, Implicit, Left, Midpoint
from naiad.numerics.composition import COMPOSITIONS
from naiad.strings import StringPendulum, StringVariational

SCHEMES = {
    "paper": "the paper's discrete Lagrangian, inertia and forces at the start of a step: first order with a reel",
    "symmetric": "inertia half-way, half of the forces at each end: second order",
    "imex": "the same with the elastic energy at the mean of the strains of both ends: not bound by the fastest wave",
}
RULES = {"paper": Left(), "symmetric": Midpoint(), "imex": Implicit()}
ORDERS = (2, *COMPOSITIONS)


def string_method(system: StringPendulum, scheme: str, order: int) -> AbstractMethod:
    """The integrator of a scheme; above order 2 the composition of its steps."""
    plain = StringVariational(RULES[scheme])
    if order == 2:
        return plain
    if not plain.symmetric(system):
        raise InputError(
            f"order={order}: scheme={scheme} is of first order here and cannot be composed; use scheme=symmetric or "
            "scheme=imex with it, or order=2"
        )
    return Composition(plain, order)


def longest_stage(order: int) -> float:
    """The longest of the steps that a step of an order is composed of, in either direction, as a part of it."""
    return max(map(abs, COMPOSITIONS.get(order, (1.0,))))
