"""The motion of a string that belongs to a momentum, in O(N)."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics.state import Scalar
from naiad.numerics import solve
from naiad.strings.elimination import Piece, eliminate, substitute
from naiad.strings.parts import Span

if TYPE_CHECKING:
    from naiad.strings.system import StringSystem


def velocity(system: "StringSystem", g: Any, mu: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
    """xi with d ell/d xi = mu: the nodes are eliminated up to the last, then the ends are solved for."""
    rows, ends = system.split(jnp.asarray(mu))
    s = system.wound(g, t)
    speed = 0.0 if system.reeled else system.reel_speed(jnp.zeros(0), t)

    def pieces(index, near, far):
        def momentum(rate):
            at = Span(near[0], far[0], s)
            return jax.grad(system.element_kinetic, argnums=2)(index, at, Span.of(rate)).flat()

        rate = Span(near[2], jnp.zeros(3), speed).flat()
        target = jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])
        return Piece(momentum(rate) - target, jax.jacfwd(momentum)(rate))

    zero = jnp.zeros_like(rows)
    begin, each = (system.start(t), jnp.zeros(3), system.start_rate(t)), (jnp.asarray(g.q), rows, zero)
    factors, last = eliminate(pieces, begin, (system.numbers(), each), scalar=True, border=system.reeled)
    group, at = system.tip_group, system.tip_element(g)

    def kinetic(x):
        return system.tip_kinetic(system.tip_place(at, t), system.tip_rate(group.tangent(at, x), t))

    nothing = jnp.zeros(group.dim)
    matrix, right = last.equations(group.dim)
    own = jnp.concatenate([jnp.zeros(3), ends]) - jax.grad(kinetic)(nothing)
    x = solve(matrix + jax.hessian(kinetic)(nothing), right + own)
    found, _, _ = substitute(factors, x[:3], x[3] if system.reeled else 0.0, zero)
    return jnp.concatenate([found.reshape(-1), x[3:]])
