"""The Cayley transform as a retraction."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Element
from naiad.groups.s3 import S3
from naiad.groups.se2 import SE2, PlanarPose
from naiad.groups.se3 import SE3, Pose
from naiad.groups.so2 import SO2
from naiad.groups.so3 import SO3
from naiad.groups.son import SOn
from naiad.numerics.linalg import inverse, solve
from naiad.numerics.matrix_functions import cayley_inverse, polar_factor
from naiad.numerics.vectors import cross, quarter_turn, vee
from naiad.retractions import rotation_form
from naiad.retractions.retraction import AbstractSimpleRetraction

Home = SO2 | SE2 | SO3 | S3 | SE3 | SOn
Vector = Float[Array, " dim"]


class Cayley(AbstractSimpleRetraction):
    """tau(x) = (e - X/2)^-1 (e + X/2), X = hat(x) [bourabee2007, eq. (4.6.6)].

    dtau_x y = (e - X/2)^-1 Y (e + X/2)^-1 and dtau_x^-1 y = (e - X/2) Y (e + X/2) [bourabee2007, eq. (4.6.7)]. The
    products are those of the quaternions on S^3 and of (homogeneous) matrices on the other groups. Below, c is x/2 or
    its angular part (on S^3: x/4); the rotation angle is 2 arctan |c|, below pi for all x (on S^3: 4 arctan |c|).
    """

    groups: ClassVar[tuple[type[AbstractGroup], ...]] = (SO2, SE2, SO3, S3, SE3, SOn)

    def _increment(self, group: Home, x: Vector) -> Element:
        match group:
            case SO2():
                return 2.0 * jnp.arctan(0.5 * x[0])
            case SE2():
                c = 0.5 * x[0]
                return PlanarPose(2.0 * jnp.arctan(c), _planar_resolvent(c, x[1:]))
            case SO3():
                return _turn(0.5 * x)
            case SE3():
                c = 0.5 * x[:3]
                return Pose(_turn(c), _resolvent(c, x[3:]))
            case S3():
                c = 0.25 * x
                s = jnp.dot(c, c)
                return jnp.concatenate([(-2.0 * s)[None], 2.0 * c]) / (1.0 + s)
            case SOn():
                X = group.hat(x)
                return solve(group.identity() - 0.5 * X, X)

    def _inverse(self, group: Home, f: Element) -> Vector:
        match group:
            case SO2():
                return jnp.reshape(2.0 * jnp.tan(0.5 * f), (1,))
            case SE2():
                c = jnp.tan(0.5 * f.beta)
                return jnp.concatenate([jnp.reshape(2.0 * c, (1,)), f.x - c * quarter_turn(f.x)])
            case SO3():
                return _so3_inverse(f)
            case SE3():
                x = _so3_inverse(f.R)
                return jnp.concatenate([x, f.x - 0.5 * cross(x, f.x)])
            case S3():
                return 4.0 * f[1:] / (1.0 + f[0])
            case SOn():
                return 2.0 * group.vee(cayley_inverse(f))

    def _half(self, group: Home, x: Vector) -> Vector:
        """The vector of 2 D, D = C (1 + sqrt(1 - C^2))^-1, C = X/2.

        On SE(3) D = C/2 + C^3 / (2 (1 + s)^2), s = sqrt(1 + |c|^2).
        """
        match group:
            case SO2() | SE2():
                return x / (1.0 + jnp.sqrt(1.0 + 0.25 * x[0] ** 2))
            case SO3():
                return x / (1.0 + jnp.sqrt(1.0 + 0.25 * jnp.dot(x, x)))
            case S3():
                return x / (1.0 + jnp.sqrt(1.0 + 0.0625 * jnp.dot(x, x)))
            case SE3():
                c, v = 0.5 * x[:3], x[3:]
                s = jnp.sqrt(1.0 + jnp.dot(c, c))
                linear = 0.5 * v + cross(c, cross(c, v)) / (2.0 * (1.0 + s) ** 2)
                return jnp.concatenate([x[:3] / (1.0 + s), linear])
            case SOn():
                root = polar_factor(group.identity() + 0.5 * group.hat(x))
                return 2.0 * group.vee(cayley_inverse(root))

    def _dtau(self, group: Home, x: Vector, y: Vector) -> Vector:
        match group:
            case SO2():
                return y / (1.0 + 0.25 * x[0] ** 2)
            case SE2():
                c, d = 0.5 * x[0], 0.5 * x[1:]
                angular = y[0] / (1.0 + c**2)
                return jnp.concatenate([angular[None], _planar_resolvent(c, y[1:]) - angular * quarter_turn(d)])
            case SO3():
                return _so3_dtau(0.5 * x, y)
            case SE3():
                c, d = 0.5 * x[:3], 0.5 * x[3:]
                angular = _so3_dtau(c, y[:3])
                return jnp.concatenate([angular, _resolvent(c, y[3:]) + cross(d, angular)])
            case S3():
                s = 0.0625 * jnp.dot(x, x)
                return rotation_form.dtau(x, y, 1.0 - s, 0.5, 0.125) / (1.0 + s) ** 2
            case SOn():
                C, identity = 0.5 * group.hat(x), group.identity()
                return group.vee(solve(identity - C, group.hat(y)) @ inverse(identity + C))

    def _dtau_inv(self, group: Home, x: Vector, y: Vector) -> Vector:
        match group:
            case SO2():
                return y * (1.0 + 0.25 * x[0] ** 2)
            case SE2():
                c, d = 0.5 * x[0], 0.5 * x[1:]
                moment = y[1:] + y[0] * quarter_turn(d)
                return jnp.concatenate([((1.0 + c**2) * y[0])[None], moment - c * quarter_turn(moment)])
            case SO3():
                return _so3_dtau_inv(0.5 * x, y)
            case SE3():
                c, d = 0.5 * x[:3], 0.5 * x[3:]
                moment = y[3:] - cross(d, y[:3])
                return jnp.concatenate([_so3_dtau_inv(c, y[:3]), moment - cross(c, moment)])
            case S3():
                return rotation_form.dtau_inv(x, y, 1.0 - 0.0625 * jnp.dot(x, x), 0.125)
            case SOn():
                C, identity = 0.5 * group.hat(x), group.identity()
                return group.vee((identity - C) @ group.hat(y) @ (identity + C))


def _share(c: Float[Array, "3"]) -> Float[Array, ""]:
    """1 / (1 + |c|^2)."""
    return 1.0 / (1.0 + jnp.dot(c, c))


def _turn(c: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """tau - I = 2 (C + C^2) / (1 + |c|^2), C = hat(c) [bourabee2007, section 5.5]."""
    share = 2.0 * _share(c)
    return rotation_form.increment(c, share, share)


def _so3_dtau(c: Float[Array, "3"], y: Float[Array, "3"]) -> Float[Array, "3"]:
    """(y + c cross y) / (1 + |c|^2)."""
    return _share(c) * (y + cross(c, y))


def _so3_dtau_inv(c: Float[Array, "3"], y: Float[Array, "3"]) -> Float[Array, "3"]:
    """y - c cross y + c (c.y)."""
    return y - cross(c, y) + jnp.dot(c, y) * c


def _so3_inverse(R: Float[Array, "3 3"]) -> Float[Array, "3"]:
    """x = 4 vee(R) / (1 + tr R), since vee(R) = sin(theta) n and 1 + tr R = 2 (1 + cos(theta))."""
    return 4.0 * vee(R) / (1.0 + R[0, 0] + R[1, 1] + R[2, 2])


def _resolvent(c: Float[Array, "3"], v: Float[Array, "3"]) -> Float[Array, "3"]:
    """(I - hat(c))^-1 v = (v + c cross v + c (c.v)) / (1 + |c|^2)."""
    return _share(c) * (v + cross(c, v) + jnp.dot(c, v) * c)


def _planar_resolvent(c: Float[Array, ""], v: Float[Array, "2"]) -> Float[Array, "2"]:
    """(I - c J)^-1 v = (v + c J v) / (1 + c^2)."""
    return (v + c * quarter_turn(v)) / (1.0 + c**2)
