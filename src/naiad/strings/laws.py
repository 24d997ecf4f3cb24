"""Constitutive laws of a string: the elastic energy of a unit of its unstretched length, as a function of strain."""

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics import Module, static
from naiad.numerics.checks import positive


class AbstractLaw(Module):
    """An energy W(strain) in J/m, strain = stretched length / unstretched length - 1; its slope is the tension in N."""

    @abc.abstractmethod
    def energy(self, strain: Any) -> Float[Array, ""]:
        """W."""

    def tension(self, strain: Any) -> Float[Array, ""]:
        """W'."""
        return jax.grad(lambda x: jnp.asarray(self.energy(x), float))(jnp.asarray(strain, float))

    def stiffness(self, strain: Any) -> Float[Array, ""]:
        """W'': the axial stiffness in N."""
        return jax.grad(self.tension)(jnp.asarray(strain, float))


class Hooke(AbstractLaw):
    """W = EA strain^2/2, in tension and in compression; EA in N is Young's modulus times the cross section."""

    EA: float

    def __post_init__(self):
        positive("Hooke: EA", self.EA)

    def energy(self, strain: Any) -> Float[Array, ""]:
        return 0.5 * self.EA * strain**2


class Inextensible(AbstractLaw):
    """A string that does not stretch: its elements keep their lengths, by constraints, and have no elastic energy."""

    def energy(self, strain: Any) -> Float[Array, ""]:
        return jnp.zeros(())


class TensionOnly(AbstractLaw):
    """Hooke's law in tension and nothing in compression: a string that goes slack."""

    EA: float

    def __post_init__(self):
        positive("TensionOnly: EA", self.EA)

    def energy(self, strain: Any) -> Float[Array, ""]:
        return 0.5 * self.EA * jnp.maximum(strain, 0.0) ** 2


class Rubber(AbstractLaw):
    """An incompressible neo-Hookean string, W = EA (x^2 + 2/x - 3)/6, x = 1 + strain: EA is its stiffness at rest."""

    EA: float

    def __post_init__(self):
        positive("Rubber: EA", self.EA)

    def energy(self, strain: Any) -> Float[Array, ""]:
        x = 1.0 + strain
        return self.EA * strain**2 * (x + 2.0) / (6.0 * x)


class MooneyRivlin(AbstractLaw):
    """An incompressible string of Mooney and Rivlin's rubber, W = C1 (x^2 + 2/x - 3) + C2 (2 x + 1/x^2 - 3),
    x = 1 + strain.

    C1 and C2 in N are constants of the material times the cross section at rest; the stiffness there is 6 (C1 + C2).
    """

    C1: float
    C2: float = 0.0

    def __post_init__(self):
        positive("MooneyRivlin: C1", self.C1, zero=True)
        positive("MooneyRivlin: C2", self.C2, zero=True)
        positive("MooneyRivlin: C1 + C2", self.C1 + self.C2)

    def energy(self, strain: Any) -> Float[Array, ""]:
        x = 1.0 + strain
        return strain**2 * (self.C1 * (x + 2.0) / x + self.C2 * (2.0 * x + 1.0) / x**2)


class GivenLaw(AbstractLaw):
    """A plain function of strain."""

    function: Callable[..., Any] = static()

    def energy(self, strain: Any) -> Float[Array, ""]:
        return jnp.asarray(self.function(strain))


def as_law(value: Any) -> AbstractLaw:
    """A law from a law, from EA of Hooke's law, or from a function W(strain); or an `InputError`."""
    if isinstance(value, AbstractLaw):
        return value
    if not callable(value):
        return Hooke(positive("stiffness", value))
    law = GivenLaw(value)
    with jax.enable_x64(True):
        shape = jax.eval_shape(law.energy, jnp.zeros(())).shape
    if shape != ():
        raise InputError(
            f"stiffness is a function whose value has shape {shape}; expected a number, the energy in J/m."
        )
    return law
