"""The exponential map as a retraction."""

import math
from fractions import Fraction
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Element
from naiad.groups.s3 import S3
from naiad.groups.se2 import SE2
from naiad.groups.se3 import SE3
from naiad.groups.so2 import SO2
from naiad.groups.so3 import SO3
from naiad.groups.son import SOn
from naiad.numerics import matrix_functions
from naiad.numerics.linalg import solve
from naiad.numerics.module import static
from naiad.numerics.series import dexp_inv_coefficient, stumpff
from naiad.retractions.retraction import AbstractSimpleRetraction

Vector = Float[Array, " dim"]


class Exponential(AbstractSimpleRetraction):
    """tau = exp, with dexp_x = sum_j ad_x^j / (j+1)! and dexp_x^-1 = sum_j B_j/j! ad_x^j [bourabee2007, eq. (4.6.4)].

    Both are summed in closed form. With `order` given, dexp^-1 alone is cut after ad^order, as the methods of
    Munthe-Kaas type do. Valid for rotation angles below 2 pi (`inverse`: below pi, except on SO(2), SE(2), S^3).
    """

    groups: ClassVar[tuple[type[AbstractGroup], ...]] = (SO2, SE2, SO3, S3, SE3, SOn)
    order: int | None = static()

    def __init__(self, order: int | None = None):
        if order is not None and order < 0:
            raise InputError(
                f"Exponential(order={order!r}): order, the highest power of ad kept in dexp^-1, must be an integer of "
                "at least 0, such as order=4; leave it out for the exact map"
            )
        self.order = None if order is None else int(order)

    def _increment(self, group: AbstractGroup, x: Vector) -> Element:
        return group.expm1(x)

    def _inverse(self, group: AbstractGroup, f: Element) -> Vector:
        return group.log(f)

    def _half(self, group: AbstractGroup, x: Vector) -> Vector:
        return 0.5 * x

    def _dtau(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        match group:
            case SOn():
                return group.Ad(group.exp(0.5 * x), _half_ad_sinc(group, x) @ y)
            case SE3():
                return _over_dual_numbers(lambda Omega, y: _dexp(SO3(), Omega, y), group, x, y)
            case _:
                return _dexp(group, x, y)

    def _dtau_inv(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        match group:
            case _ if self.order is not None:
                return _dexp_inv_truncated(group, x, y, self.order)
            case SOn():
                return solve(_half_ad_sinc(group, x), group.Ad(group.exp(-0.5 * x), y))
            case SE3():
                return _over_dual_numbers(lambda Omega, y: _dexp_inv(SO3(), Omega, y), group, x, y)
            case _:
                return _dexp_inv(group, x, y)


def _dexp(group: AbstractGroup, x: Vector, y: Vector) -> Vector:
    """dexp_x = 1 + c_2 ad_x + c_3 ad_x^2 where ad_x^3 = -theta^2 ad_x: on SO(2), SE(2), SO(3), S^3."""
    u, bracket = _angle_squared(group, x), group.ad(x, y)
    return y + stumpff(2, u) * bracket + stumpff(3, u) * group.ad(x, bracket)


def _dexp_inv(group: AbstractGroup, x: Vector, y: Vector) -> Vector:
    """dexp_x^-1 = 1 - ad_x / 2 + beta ad_x^2 where ad_x^3 = -theta^2 ad_x: on SO(2), SE(2), SO(3), S^3."""
    bracket = group.ad(x, y)
    return y - 0.5 * bracket + dexp_inv_coefficient(_angle_squared(group, x)) * group.ad(x, bracket)


def _angle_squared(group: AbstractGroup, x: Vector) -> Float[Array, ""]:
    return x[0] ** 2 if isinstance(group, SO2 | SE2) else jnp.dot(x, x)


def _over_dual_numbers(function, group: SE3, x: Vector, y: Vector) -> Vector:
    """f(ad_x) y on se(3) from f(ad_Omega) y on so(3).

    ad_(Omega, v) is the block matrix [[hat(Omega), 0], [hat(v), hat(Omega)]], that is, hat(Omega + eps v), eps^2 = 0;
    so the lower block of f(ad) (y, z) is the derivative of f(hat(Omega)) y in the direction (v, z).
    """
    (Omega, v), (y, z) = group.split(x), group.split(y)
    return jnp.concatenate(jax.jvp(function, (Omega, y), (v, z)))


def _half_ad_sinc(group: SOn, x: Vector) -> Float[Array, "dim dim"]:
    """K = sinh(ad_x/2) / (ad_x/2), so that dexp_x = Ad_{exp(x/2)} K; symmetric, and positive definite below 2 pi."""
    half_ad = jax.vmap(lambda y: group.ad(0.5 * x, y), out_axes=1)(jnp.eye(group.dim))
    return matrix_functions.sinc(-half_ad @ half_ad)


def _dexp_inv_truncated(group: AbstractGroup, x: Vector, y: Vector, order: int) -> Vector:
    """sum_{j <= order} B_j/j! ad_x^j y, by Horner's rule."""
    coefficients = [float(number) / math.factorial(j) for j, number in enumerate(_bernoulli_numbers(order))]
    value = coefficients[-1] * y
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient * y + group.ad(x, value)
    return value


def _bernoulli_numbers(last: int) -> list[Fraction]:
    """B_0, ..., B_last, from sum_{i <= j} binomial(j+1, i) B_i = 0 for j >= 1."""
    numbers = [Fraction(1)]
    for j in range(1, last + 1):
        numbers.append(-sum(math.comb(j + 1, i) * numbers[i] for i in range(j)) / Fraction(j + 1))
    return numbers
