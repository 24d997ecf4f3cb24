"""The balance of the Kelvin-Noether quantity, step by step."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Reduced, Variational
from naiad.mechanics import AdvectedSystem, Scalar, State, diamond
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Trajectory


class KelvinNoether(Module):
    """The Kelvin-Noether quantity of c_0, as an observable: `system.kelvin_noether`.

    In a step of a variational method its value at the right node is I_k of the left one [advected, eq. (51)].
    """

    system: AdvectedSystem
    c0: Float[Array | np.ndarray, " m"]

    def __call__(self, state: State, t: Scalar) -> Float[Array, ""]:
        return self.system.kelvin_noether(state, jnp.asarray(self.c0))


class KelvinNoetherChange(Module):
    """What a step adds to the Kelvin-Noether quantity of c_0: <c_0, d L_d/d a_0 <> a_0>, as an observable.

    For the rule `Left` this is <c_k, h d ell/da_k <> a_k> [advected, eq. (52)]. It is zero where c_0 leaves a_0 alone,
    and it holds for every discrete Lagrangian that is invariant when g, q and a_0 move together.
    """

    system: AdvectedSystem
    method: Variational
    c0: Float[Array | np.ndarray, " m"]
    dt: float

    @classmethod
    def of(cls, system: Any, method: AbstractMethod, c0: Any, dt: float) -> "KelvinNoetherChange":
        """The change in steps of dt of a `Variational` or `Reduced` method."""
        if isinstance(method, Reduced):
            method = Variational(method.retraction, method.rule, method.newton)
        if (
            not isinstance(system, AdvectedSystem)
            or not isinstance(method, Variational)
            or system.total_force is not None
        ):
            raise InputError(
                "The Kelvin-Noether balance is that of an AdvectedSystem without forces in steps of Variational or "
                f"Reduced; {type(system).__name__} in steps of {type(method).__name__} was given."
            )
        covector = np.asarray(c0, float)
        if covector.shape != (system.base.dim,):
            raise InputError(
                f"c0 has shape {covector.shape}; expected ({system.base.dim},), as the algebra of the base."
            )
        return cls(system, method, covector, float(dt))

    def __call__(self, state: State, t: Scalar) -> Float[Array, ""]:
        system, method = self.system, self.method
        a0 = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), system.a0)
        xi = method.step_velocity(system, state, t, self.dt)

        def action(a):
            moved = system.replaced(a0=a)
            return method.discrete(system).action(moved, method.retraction, state.g, xi, t, self.dt)

        return jnp.asarray(self.c0) @ diamond(system.base, system.act_a, jax.grad(action)(a0), a0)


@checked
def kelvin_noether_defect(run: Trajectory, c0: Any) -> np.ndarray:
    """How far each step of a run is from the balance: the change of the quantity of c_0 less what the step adds.

    Round-off for a variational method, whatever c_0. The run must hold every step (`save_every=1`).
    """
    attributes = run.attrs
    change = KelvinNoetherChange.of(run.system, run.method, c0, attributes["dt"])
    if len(run.states.mu) != attributes["steps"] + 1:
        raise InputError(
            f"{len(run.states.mu)} nodes of {attributes['steps']} steps were saved; run with save_every=1."
        )
    values = run.evaluate(KelvinNoether(change.system, change.c0))
    return np.diff(values) - run.evaluate(change)[:-1]
