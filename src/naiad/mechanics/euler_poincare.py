"""Systems with the whole group as their symmetry: Lagrangians of the body velocity alone."""

import abc
from typing import Any, TypeGuard

from jaxtyping import Array, Float

from naiad.mechanics.state import Scalar
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics.arguments import checked


class EulerPoincareSystem(LagrangianSystem):
    """A Lagrangian ell(xi) of the body velocity alone: mu' = ad*_xi mu, and the momentum in space is conserved."""

    derives = ("lagrangian",)

    @abc.abstractmethod
    def reduced_lagrangian(self, xi: Float[Array, " n"]) -> Float[Array, ""]:
        """ell(xi)."""

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """ell(xi), whatever g and t."""
        return self.reduced_lagrangian(xi)


def is_euler_poincare(system: LagrangianSystem) -> TypeGuard[EulerPoincareSystem]:
    """Whether the Lagrangian is the `reduced_lagrangian` of xi alone: no subclass overrides `lagrangian`."""
    return isinstance(system, EulerPoincareSystem) and type(system).lagrangian is EulerPoincareSystem.lagrangian


@checked
def has_symmetry(system: LagrangianSystem) -> bool:
    """Whether the system says that `noether` is conserved: it declares a symmetry, or depends on xi alone."""
    return system.symmetry is not None or is_euler_poincare(system)
