"""What the momentum methods share: Euler-Poincare systems, mu' = ad*_xi mu, without forces and constraints; and, for
some of them, a shape space beside the group."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.integrators.method import AbstractMethod, refuse_truncated
from naiad.integrators.nystrom import check_constant_inertia, kick
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, is_euler_poincare
from naiad.numerics import Newton, Root, solve
from naiad.retractions import AbstractRetraction

Vector = Float[Array, " n"]


def check_free_motion(method: AbstractMethod, system: LagrangianSystem, *, with_shape: bool = False) -> None:
    """Raise an `InputError` unless the momentum of the system obeys mu' = ad*_xi mu, whatever g and t; `with_shape`,
    also where a potential of coordinates that commute with all (a shape space) is added, and the inertia constant."""
    name = type(method).__name__
    retraction = getattr(method, "retraction", None)
    if retraction is not None:
        refuse_truncated(method, retraction)
    if not is_euler_poincare(system) and not (with_shape and _has_shape(system)):
        other = ", or that and a potential of a shape space, with a constant inertia" if with_shape else ""
        raise InputError(
            f"{name} needs an EulerPoincareSystem, whose Lagrangian is a function of xi alone{other}; "
            f"{type(system).__name__} was given. Use Variational."
        )


def _has_shape(system: LagrangianSystem) -> bool:
    """Whether the inertia is constant, and the potential pulls along directions alone that commute with all others, of
    which some do not commute."""
    try:
        found, _, _ = check_constant_inertia("", system)
    except InputError:
        return False
    ad, axes = system.group.ad, jnp.eye(system.group.dim)
    turning = np.any(np.asarray(jax.vmap(lambda a: jax.vmap(lambda b: ad(a, b))(axes))(axes)) != 0.0, axis=(1, 2))
    return bool(turning.any()) and not any(np.any(each.pull[turning] != 0.0) for each in found)


def pull(system: LagrangianSystem, g: Any, t: Scalar) -> Vector | float:
    """-dV of a shape space; nothing where the Lagrangian is a function of xi alone. No motion turns it."""
    return 0.0 if is_euler_poincare(system) else kick(system, g, t)


def momentum(system: EulerPoincareSystem, xi: Vector) -> Vector:
    """mu = ell'(xi)."""
    return jax.grad(system.reduced_lagrangian)(xi)


def left_half(system: EulerPoincareSystem, xi: Vector, h: Any) -> Vector:
    """mu - (h/2) ad*_xi mu with mu = ell'(xi)."""
    mu = momentum(system, xi)
    return mu - 0.5 * h * system.group.ad_dual(xi, mu)


def left_half_root(newton: Newton, system: EulerPoincareSystem, value: Vector, guess: Vector, h: Any) -> Root:
    """The velocity xi with ell'(xi) - (h/2) ad*_xi ell'(xi) = value."""

    def inertia(v):
        return jax.jvp(lambda xi: momentum(system, xi), (guess,), (v,))[1]

    return newton.root(lambda xi: left_half(system, xi, h) - value, guess, system.structure, inertia)


def cayley_coadjoint(group: AbstractGroup, x: Vector, mu: Vector) -> Vector:
    """(1 - ad*_x / 2)^-1 (1 + ad*_x / 2) mu, as mu and its change."""
    operator = jax.vmap(lambda e: e - 0.5 * group.ad_dual(x, e), out_axes=1)(jnp.eye(group.dim))
    return mu + solve(operator, group.ad_dual(x, mu))


def through_the_node(
    group: AbstractGroup, retraction: AbstractRetraction, g: Any, before: Vector, after: Vector
) -> Any:
    """g tau(before)^(1/2) tau(after)^(1/2).

    The attitudes of TLN and FLV live at half steps, g_{k+1/2} = g_{k-1/2} tau(h xi_k); those at the nodes are half an
    increment further, g_k = g_{k-1/2} tau(h xi_k)^(1/2).
    """
    middle = group.advance(g, retraction.increment(group, retraction.half(group, before)))
    return group.advance(middle, retraction.increment(group, retraction.half(group, after)))
