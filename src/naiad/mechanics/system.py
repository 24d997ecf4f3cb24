"""What a mechanical system is: a group and a Lagrangian; everything else follows by automatic differentiation."""

import abc
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.mechanics.calculus import left_gradient, left_jacobian, left_velocity
from naiad.mechanics.constraint_projection import nearest_on_constraint
from naiad.mechanics.functions import explained
from naiad.mechanics.hooks import derive_anew, has_own_inverse, refuse_misspelt
from naiad.mechanics.initial import assembled, fitted_state
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.units import SI
from naiad.numerics import Module, Newton, Sparse, check_rotations, cross, is_definite, solve
from naiad.numerics.arguments import checked
from naiad.numerics.checks import is_known

GROUP_TOLERANCE = 1e-8
CONSTRAINT_TOLERANCE = 1e-8
INVERSE_TOLERANCE = 1e-8


class Rates(NamedTuple):
    """The continuous motion at a state: xi = g^-1 g', mu', and the multipliers of the constraints."""

    xi: Float[Array, " n"]
    mu: Float[Array, " n"]
    multipliers: Float[Array, " m"]


class LagrangianSystem(Module):
    """A Lagrangian ell(g, xi, t) on a Lie group, xi = g^-1 g'. A subclass gives `group` and `lagrangian`; the rest is
    optional:

    - `force(g, xi, t)`: a generalised force in the body frame, of the shape of mu;
    - `dissipation`: the symmetric matrix C of a friction - C xi, or a function C(g, t); with it `temperature`, kT of a
      heat bath in J, or `diffusion`, a matrix Sigma of random forces Sigma dW/dt or a function Sigma(g, t). Such a
      system runs with `StochasticVariational`;
    - `constraint(g, t)`: a vector that is held at zero, by multipliers;
    - `symmetry(s, g)`: an action of s in R^k on the group that leaves the Lagrangian alone, the identity at
      `symmetry_dim` zeros;
    - `discrete_lagrangian(g, xi, t, h, tau)`: its own action of one step from g to g tau(h xi), `tau` being the
      retraction; `discrete_order` and `discrete_symmetric` say what it is;
    - `structure`: how the unknowns of a step are coupled;
    - `near_inertia(g, t)`: a matrix near d2 ell/d xi2, where that takes long: `Newton(jacobian="inertia")` takes it;
    - `default_method`: the method that `simulate` takes if none is given;
    - `picture`: a `Picture`, where a drawing shows more than the state;
    - `labels`: a `Label` by the name of a component, where its dimensions, words or units are others than the group's;
    - `units`: the `Units` in which its numbers are, SI if not given: labels, axes, tables and pages say them;
    - `limit(g, t, h)`: a number below zero (or none) where steps of h cannot go on; a run ends before it, and says
      `limit_words`;
    - `definite`: whether the inertia is known to be positive definite, so that a state need not be examined for it.

    A method or solver that does not honour one of them refuses the system (see `naiad.mechanics.features`). A method
    of the class that is named nearly as one of these `hooks`, and that nothing calls, is refused too. Where a class
    overrides the Lagrangian of another, the closed forms that it inherits (`velocity`, `legendre`, `energy`,
    `discrete_lagrangian`) are derived again; those that it writes itself have to fit, which a run checks.
    """

    needs = ("group",)
    hooks: ClassVar[tuple[str, ...]] = (
        *("group", "lagrangian", "force", "dissipation", "temperature", "diffusion", "constraint"),
        *("symmetry", "symmetry_dim", "discrete_lagrangian", "discrete_order", "discrete_symmetric"),
        *("structure", "near_inertia", "velocity", "default_method", "picture", "labels", "units"),
        *("limit", "limit_words", "definite"),
    )
    """What a subclass may define."""
    derives: ClassVar[tuple[str, ...]] = ()
    """The hooks that a class makes of parts of its own, which its steps take instead of them."""
    if TYPE_CHECKING:  # a dataclass would take them for fields with defaults in every subclass that has them as fields
        group: ClassVar[AbstractGroup]
        dissipation: ClassVar[Any]
        temperature: ClassVar[Any]
        diffusion: ClassVar[Any]

    force: ClassVar[Any] = None
    constraint: ClassVar[Any] = None
    symmetry: ClassVar[Any] = None
    symmetry_dim = 1
    discrete_lagrangian: ClassVar[Any] = None
    discrete_order = 1
    discrete_symmetric = False
    structure = Sparse()
    near_inertia: ClassVar[Any] = None
    default_method: ClassVar[Any] = None
    picture: ClassVar[Any] = None
    labels: ClassVar[Any] = types.MappingProxyType({})
    units = SI
    definite = False
    limit: ClassVar[Any] = None
    limit_words = "The system came to its limit; take a smaller dt, or end the run before."

    def __init_subclass__(cls, **kwargs: Any):
        refuse_misspelt(cls, LagrangianSystem.hooks)
        derive_anew(cls, LagrangianSystem)
        super().__init_subclass__(**kwargs)

    def _repr_html_(self) -> str:
        from naiad import viz

        return viz.card(self)

    @abc.abstractmethod
    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """ell(g, xi, t)."""

    def discretised(self, rule: Any) -> Any:
        """The discrete Lagrangian that a rule of an integrator makes of the system: the rule itself, which takes
        `lagrangian` at some places of a step, unless the class knows one that fits it better."""
        return rule

    @checked
    @explained
    def state(
        self,
        g: Any = None,
        xi: Any = None,
        mu: Any = None,
        *,
        t: Scalar = 0.0,
        onto_constraint: bool = False,
        **components: Any,
    ) -> State:
        """A checked state from g (the identity if not given) and a velocity xi (zero if not given) or a momentum mu.

        Each may be given whole or by the names of its components: `state(R=..., Omega=...)`, `state(x=..., Pi=...,
        p=...)`. With `onto_constraint` they need not satisfy the constraint: the state is the nearest that does, at the
        least distance in the metric of the inertia d2 ell/d xi2. Where none is found, an `InputError` says how far off
        the search came.
        """
        given = assembled(self.group, g, xi, mu, components)
        if onto_constraint:
            given = nearest_on_constraint(self, given, t)
        if given.mu is not None:
            return check_state(self, State(given.g, given.mu), t)
        if not all(map(is_known, jax.tree.leaves((self, given, t)))):
            return check_state(self, State(given.g, self.legendre(given.g, given.xi, t)), t)
        mu, sound = execute(_begun, self, given.g, given.xi, t, parameters=(0,))
        state = State(given.g, mu)
        if not sound:
            examine(self, state, t)
        return state

    def check_parts(self) -> None:
        """Raise an `InputError` if a system that this one is made of has a feature that would be lost."""

    def legendre(self, g: Any, xi: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """mu = d ell / d xi."""
        return jax.grad(self.lagrangian, argnums=1)(g, xi, t)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """The inverse Legendre transform: xi with d ell / d xi = mu. NaN where none is found."""
        root = Newton().root(lambda xi: self.legendre(g, xi, t) - mu, jnp.zeros(self.group.dim), self.structure)
        return jnp.where(root.converged, root.x, jnp.nan)

    def named(self, state: State, t: Scalar = 0.0) -> dict[str, Any]:
        """The components of the configuration, the velocity and the momentum at a state, by their names: what an output
        or a monitor may want, as in `lambda state, t: system.named(state, t)["v"]`."""
        names, xi = self.group.names, self.velocity(state.g, state.mu, t)
        found = dict(zip(names.element, jax.tree.leaves(state.g), strict=True))
        for kind, vector in ((names.velocity, xi), (names.momentum, state.mu)):
            found |= zip(kind, self.group.split(vector), strict=True)
        return found

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """E = <mu, xi> - ell(g, xi, t)."""
        xi = self.velocity(state.g, state.mu, t)
        return state.mu @ xi - self.lagrangian(state.g, xi, t)

    def momentum(self, state: State) -> Float[Array, " n"]:
        """The momentum in space, Ad*_{g^-1} mu: that of left translations, conserved if ell does not depend on g."""
        return self.group.Ad_dual(self.group.inverse(state.g), state.mu)

    def noether(
        self, state: State, action: Callable[[Float[Array, " k"], Any], Any] | None = None, *, dim: int | None = None
    ) -> Float[Array, " k"]:
        """The momentum J_i = <mu, g^-1 d/ds_i action(s, g)> at s = 0 of an action of s in R^dim.

        By default that of the system's own `symmetry`, or of left translations if it declares none.
        """
        act = self.symmetry if action is None else action
        if act is None:
            return self.momentum(state)
        size = (self.symmetry_dim if action is None else 1) if dim is None else dim

        def component(direction):
            return state.mu @ left_velocity(self.group, lambda s: act(s * direction, state.g))

        return jax.vmap(component)(jnp.eye(size))

    def equations(self, state: State, t: Scalar = 0.0) -> Rates:
        """The equations of motion: g' = g xi, mu' = ad*_xi mu + T*L_g d ell/dg + F - C xi + (constraint Jacobian)^T
        lambda, without noise."""
        g, mu = state
        xi = self.velocity(g, mu, t)
        rate = self.group.ad_dual(xi, mu) + left_gradient(self.group, lambda x: self.lagrangian(x, xi, t), g)
        acting = self.total_force
        if acting is not None:
            rate = rate + acting(g, xi, t)
        if self.constraint is None:
            return Rates(xi, rate, jnp.zeros(0))
        return self._constrained_rates(state, t, xi, rate)

    @property
    def total_force(self) -> Any:
        """The function F(g, xi, t) - C(g, t) xi, which methods take as the force; None where nothing acts."""
        if getattr(self, "dissipation", None) is None:
            return self.force
        return self.friction if self.force is None else lambda g, xi, t: self.force(g, xi, t) + self.friction(g, xi, t)

    def friction(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        """- C(g, t) xi, zero if the system declares no `dissipation`."""
        C = getattr(self, "dissipation", None)
        return jnp.zeros_like(xi) if C is None else -jnp.asarray(C(g, t) if callable(C) else C) @ xi

    def constraint_jacobian(self, g: Any, t: Scalar) -> Float[Array, "m n"]:
        """The left-trivialised derivative of the constraint."""
        return left_jacobian(self.group, lambda x: jnp.atleast_1d(self.constraint(x, t)), g)

    def constraint_rate(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " m"]:
        """d/dt of the constraint along xi."""
        moving = (self.group.tangent(g, xi), jnp.ones(()))
        return jnp.atleast_1d(jax.jvp(self.constraint, (g, jnp.asarray(t, float)), moving)[1])

    def _constrained_rates(self, state: State, t: Scalar, xi: Float[Array, " n"], free: Float[Array, " n"]) -> Rates:
        """Multipliers that keep d/dt constraint_rate at zero (the hidden acceleration constraint)."""
        g, mu = state
        normal = self.constraint_jacobian(g, t)

        def rate(g, mu, t):
            return self.constraint_rate(g, self.velocity(g, mu, t), t)

        at = (g, mu, jnp.asarray(t, float))
        drift = jax.jvp(rate, at, (self.group.tangent(g, xi), free, jnp.ones(())))[1]
        response = jax.jacfwd(lambda m: rate(g, m, t))(mu) @ normal.T
        multipliers = solve(response, -drift)
        return Rates(xi, free + normal.T @ multipliers, multipliers)


@checked
def check_state(system: LagrangianSystem, state: State, t: Scalar) -> State:
    """The state as NumPy arrays, if a motion can start there; else an `InputError` that says what is wrong.

    Where JAX traces the system or the state, only the shapes are checked.
    """
    state = fitted_state(system.group, state)
    if not all(map(is_known, jax.tree.leaves((system, state, t)))):
        return state
    if not execute(is_sound, system, state, t, parameters=(0,)):
        examine(system, state, t)
    return state


def examine(system: LagrangianSystem, state: State, t: Scalar) -> None:
    """Raise an `InputError` that says why a motion cannot start at a state, if it cannot."""
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(state)):
        raise InputError("The state holds NaN or infinite values; give finite numbers.")
    found = execute(_examination, system, state, t, parameters=(0,))
    error = float(found.group_error)
    if error > GROUP_TOLERANCE:
        raise InputError(
            f"The configuration is off the group by {error:.3g} (Frobenius norm of R^T R - I); expected at "
            f"most {GROUP_TOLERANCE:g}. Orthonormalise it first, or build it with group.exp."
        )
    for R in system.group.rotations(state.g):
        check_rotations("The initial attitude", R)
    if found.inertia is not None and not (lowest := _lowest(found.inertia)) > 0:
        raise InputError(
            f"The inertia d2 ell/d xi2 is not positive definite at the initial state (smallest eigenvalue "
            f"{lowest:.3g}); check the inertia and masses: every velocity must carry kinetic energy."
        )
    if found.limit is not None and not found.limit > 0:
        raise InputError(f"No motion can start there. {system.limit_words}")
    if not found.inverse <= INVERSE_TOLERANCE:
        raise InputError(
            f"{type(system).__name__}.velocity is not the inverse of d ell/d xi: at the velocity that it gives, the "
            f"momentum is off by {found.inverse:.3g} of its size. Mend it, or leave it out: it is derived then."
        )
    if not (found.constraint <= CONSTRAINT_TOLERANCE and found.constraint_rate <= CONSTRAINT_TOLERANCE):
        raise InputError(
            f"The initial state violates the constraint (value {found.constraint:.3g}, rate "
            f"{found.constraint_rate:.3g}; expected both below {CONSTRAINT_TOLERANCE:g}); start on the constraint, "
            "with a velocity along it: system.state(..., onto_constraint=True) finds the nearest."
        )


def is_sound(system: LagrangianSystem, state: State, t: Scalar) -> Any:
    """Whether nothing is wrong with a state, for JAX to trace; False also where only `examine` can tell."""
    found = _examination(system, state, t)
    rotations = system.group.rotations(state.g)
    if any(R.shape[-1] != 3 for R in rotations):
        return jnp.zeros((), bool)
    parts = [jnp.isfinite(leaf) for leaf in jax.tree.leaves(state)]
    parts += [found.group_error <= GROUP_TOLERANCE, *(_determinants(R) > 0.0 for R in rotations)]
    parts += [value <= CONSTRAINT_TOLERANCE for value in (found.constraint, found.constraint_rate)]
    parts.append(found.inverse <= INVERSE_TOLERANCE)
    if found.inertia is not None:
        parts.append(is_definite(0.5 * (found.inertia + found.inertia.T)))
    if found.limit is not None:
        parts.append(found.limit > 0.0)
    return functools.reduce(jnp.logical_and, map(jnp.all, parts))


class _Examination(NamedTuple):
    """How far a state is off the group and off the constraint, the inertia there where it must be looked at, how far it
    is from a limit, and how far, relatively, a user's `velocity` is off the inverse of d ell/d xi."""

    group_error: Any
    inertia: Any
    constraint: Any
    constraint_rate: Any
    limit: Any
    inverse: Any


def _examination(system: LagrangianSystem, state: State, t: Scalar) -> _Examination:
    g, mu = state
    inertia = None
    if not system.definite:
        inertia = jax.hessian(system.lagrangian, argnums=1)(g, jnp.zeros(system.group.dim), t)
    value = rate = jnp.zeros(())
    if system.constraint is not None:
        value = jnp.max(jnp.abs(system.constraint(g, t)))
        rate = jnp.max(jnp.abs(system.constraint_rate(g, system.velocity(g, mu, t), t)))
    limit = None if system.limit is None else system.limit(g, t, jnp.zeros(()))
    inverse = jnp.zeros(())
    if has_own_inverse(system):
        there = system.legendre(g, system.velocity(g, mu, t), t)
        size = jnp.maximum(jnp.max(jnp.abs(mu)), jnp.max(jnp.abs(there)))
        inverse = jnp.max(jnp.abs(there - mu)) / jnp.where(size == 0.0, 1.0, size)
    return _Examination(system.group.error(g), inertia, value, rate, limit, inverse)


def _determinants(R: Float[Array, "*rows 3 3"]) -> Float[Array, " *rows"]:
    x, y, z = jnp.moveaxis(R, (-2, -1), (0, 1))
    return jnp.sum(x * cross(y, z), axis=0)


def _lowest(inertia: np.ndarray) -> float:
    """The smallest eigenvalue."""
    return float(np.linalg.eigvalsh(0.5 * (inertia + inertia.T))[0]) if np.all(np.isfinite(inertia)) else float("nan")


def _begun(system: LagrangianSystem, g: Any, xi: Any, t: Scalar) -> Any:
    """The momentum of a velocity, and whether nothing is wrong with the state."""
    mu = system.legendre(g, xi, t)
    return mu, is_sound(system, State(g, mu), t)
