"""Friction and noise: what a system in contact with a heat bath declares, and what follows from it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics.state import Scalar
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import semidefinite_root
from naiad.numerics.arguments import checked


@checked
def has_bath(system: LagrangianSystem) -> bool:
    """Whether the system declares friction or noise."""
    return declares_bath(system)


def declares_bath(system: LagrangianSystem) -> bool:
    """The same of a system that is one."""
    return declared(system, "dissipation") or declared(system, "temperature") or declared(system, "diffusion")


@checked
def noise_matrix(system: LagrangianSystem, g: Any, t: Scalar) -> Float[Array, "n k"]:
    """Sigma(g, t) of the random force Sigma dW/dt.

    The system's own `diffusion`, or from its temperature by fluctuation and dissipation: Sigma Sigma^T = 2 kT C, for
    which the density exp(-H/kT) on T*G is stationary. No columns if it declares neither.
    """
    if declared(system, "diffusion"):
        return jnp.asarray(_value(system.diffusion, g, t))
    if declared(system, "temperature"):
        root = semidefinite_root(jnp.asarray(_value(system.dissipation, g, t)))
        return jnp.sqrt(2.0 * jnp.asarray(system.temperature)) * root
    return jnp.zeros((system.group.dim, 0))


@checked
def noise_size(system: LagrangianSystem) -> int:
    """k, the number of independent Wiener processes that drive the system."""
    return _shape(noise_matrix, system)[1] if has_bath(system) else 0


@checked
def check_bath(system: LagrangianSystem) -> None:
    """Raise an `InputError` unless what the system declares of friction and noise fits together."""
    name, n = type(system).__name__, system.group.dim
    if declared(system, "temperature"):
        if declared(system, "diffusion"):
            raise InputError(f"{name} declares both `temperature` and `diffusion`; declare one of them.")
        if not declared(system, "dissipation"):
            raise InputError(
                f"{name} declares a `temperature` but no `dissipation`, from which its noise follows; declare the "
                f"{n} x {n} matrix of the friction too, or the noise itself as `diffusion`."
            )
        if isinstance(system.temperature, int | float | np.ndarray) and not system.temperature >= 0:
            raise InputError(f"{name}: temperature = {float(system.temperature):g}; expected kT in J, at least 0.")
    if declared(system, "dissipation"):
        shape = _shape(lambda system, g, t: jnp.asarray(_value(system.dissipation, g, t)), system)
        if shape != (n, n):
            raise InputError(f"{name}: `dissipation` has shape {shape}; expected a {n} x {n} matrix.")
    if declared(system, "diffusion"):
        shape = _shape(noise_matrix, system)
        if len(shape) != 2 or shape[0] != n:
            raise InputError(f"{name}: `diffusion` has shape {shape}; expected {n} rows and a column for each noise.")


def declared(system: LagrangianSystem, name: str) -> bool:
    """Whether a system has a hook of friction or noise."""
    return getattr(system, name, None) is not None


def _value(matrix: Any, g: Any, t: Scalar) -> Any:
    return matrix(g, t) if callable(matrix) else matrix


def _shape(function: Any, system: LagrangianSystem) -> tuple[int, ...]:
    with jax.enable_x64(True):
        return jax.eval_shape(lambda: function(system, system.group.identity(), 0.0)).shape
