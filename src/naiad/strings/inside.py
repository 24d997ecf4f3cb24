"""The string inside a reel where it stretches there too: finite elements along its way over the drum.

The nodes j = 0, ..., M - 1 lie at the ways w_j from the guide way, the first at the end that is fixed to the drum, so
that w_0 = b + d theta; the guide way is node M. Element j has the part c_j of the unstretched length s inside, from
f_j s to f_{j+1} s. The string slides over the drum, and so its tension is continuous at the guide way: there is no jump
of strain and speed, and no term of Carnot's.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.strings.laws import AbstractLaw
from naiad.strings.parts import Tip
from naiad.strings.reel import Reel

Elements = Float[Array, " M"]


class InnerElements(NamedTuple):
    """What the elements inside are: unstretched length, way to both ends, and strain."""

    length: Elements
    near: Elements
    far: Elements

    @classmethod
    def of(cls, reel: Reel, at: Tip) -> "InnerElements":
        """Those at a place."""
        return cls(jnp.asarray(reel.shares) * at.s, at.w, jnp.append(at.w[1:], 0.0))

    @property
    def stretch(self) -> Elements:
        """Stretched over unstretched length."""
        return (self.near - self.far) / self.length

    @property
    def strain(self) -> Elements:
        """Of each."""
        return self.stretch - 1.0


def inner_speeds(reel: Reel, at: Tip, rate: Tip) -> tuple[Elements, Elements]:
    """The speeds of the string at both ends of each element, w_j' + f_j s' x_j and w_{j+1}' + f_{j+1} s' x_j, x_j its
    stretch: it runs over the elements as s changes. Between the ends the speed is linear."""
    shares, stretch = jnp.asarray(reel.shares), InnerElements.of(reel, at).stretch
    after = jnp.cumsum(shares)
    return rate.w + (after - shares) * rate.s * stretch, jnp.append(rate.w[1:], 0.0) + after * rate.s * stretch


def inner_kinetic(reel: Reel, density: Any, at: Tip, rate: Tip, *, lumped: bool) -> Float[Array, ""]:
    """That of the string, and kappa w_0'^2/2 of the drum."""
    a, b = inner_speeds(reel, at, rate)
    squares = (a**2 + b**2) / 2.0 if lumped else (a**2 + a * b + b**2) / 3.0
    return 0.5 * jnp.dot(density * InnerElements.of(reel, at).length, squares) + 0.5 * reel.inertia * rate.w[0] ** 2


def inner_first_moment(reel: Reel, at: Tip) -> Float[Array, ""]:
    """int z of the string inside over its unstretched length, z its depth below the guide way; nothing before the
    drum."""
    each = InnerElements.of(reel, at)
    near, far = (reel.first_moment(jnp.maximum(way, reel.guide)) for way in (each.near, each.far))
    return jnp.sum((near - far) / each.stretch)


def inner_elastic(reel: Reel, law: AbstractLaw, at: Tip) -> Float[Array, ""]:
    """The elastic energy inside."""
    each = InnerElements.of(reel, at)
    return jnp.dot(each.length, jax.vmap(law.energy)(each.strain))


def rubbing(reel: Reel, law: AbstractLaw, at: Tip, rate: Tip) -> tuple[Float[Array, ""], Elements]:
    """The generalised forces of friction on s and on w: a string of the tension T that slides over the drum is held
    back by friction T/d per unit of its length; the slip of an element is that of its middle."""
    assert reel.friction is not None
    each = InnerElements.of(reel, at)

    def slips(s_rate, w_rate):
        near, far = inner_speeds(reel, at, rate._replace(s=s_rate, w=w_rate))
        return 0.5 * (near + far) - w_rate[0]

    slip, pulled = jax.vjp(slips, rate.s, rate.w)
    tension = jnp.maximum(jax.vmap(law.tension)(each.strain), 0.0)
    wrapped = (jnp.maximum(each.near, reel.guide) - jnp.maximum(each.far, reel.guide)) / reel.radius
    return pulled(-reel.friction * tension * wrapped * slip / jnp.sqrt(slip**2 + reel.slip**2))


def inner_damping(reel: Reel, damping: Any, at: Tip, rate: Tip) -> tuple[Float[Array, ""], Elements]:
    """The generalised forces on s and on w of the tension damping strain'."""

    def strain_rates(s_rate, w_rate):
        moving = rate._replace(s=s_rate, w=w_rate)
        return jax.jvp(lambda at: InnerElements.of(reel, at).strain, (at,), (moving,))[1]

    strain_rate, pulled = jax.vjp(strain_rates, rate.s, rate.w)
    return pulled(-damping * InnerElements.of(reel, at).length * strain_rate)
