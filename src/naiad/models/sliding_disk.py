"""A disk that slides and rotates on a surface, in a heat bath."""

from collections.abc import Callable
from typing import Any, Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import Rn
from naiad.mechanics import LagrangianSystem, Scalar
from naiad.numerics import static
from naiad.numerics.checks import number, positive

POTENTIALS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda k, x: 0.0 * x,
    "harmonic": lambda k, x: 0.5 * k * x**2,
    "quartic": lambda k, x: 0.25 * k * x**4,
    "cosine": lambda k, x: k * (1.0 - jnp.cos(x)),
}
"""U(x) by name, each with a constant k."""


class SlidingDisk(LagrangianSystem):
    """ell = m v^2/2 + J omega^2/2 - U(x) for the position x and the angle theta, q = (x, theta), with a friction
    c (v + r omega) at the point of contact and noise of amplitude alpha [bourabee2007, eqs. (7.5.1)-(7.5.6)].

    As forces: friction - C (v, omega), C = c [[1, r], [r, r^2]], and noise

    - "isothermal": alpha M A^(1/2) dB with A = M^-1 C M^-1 / c, M = diag(m, J), whose covariance is 2 kT C with
      kT = alpha^2 / (2 c): <m v^2> = <J omega^2> = kT, unless U is constant, when J omega - m r v is conserved;
    - "translation": m alpha (dB_v, 0), which does not balance the friction.

    The two increments of a step are dB_v and dB_omega. `potential` is none, harmonic (k x^2/2), quartic (k x^4/4) or
    cosine (k (1 - cos x)).
    """

    m: float
    J: float
    r: float
    c: float
    alpha: float
    k: float
    potential: str = static()
    noise: Literal["isothermal", "translation"] = static()
    group = Rn(2)

    def __init__(
        self,
        m: float = 1.0,
        J: float = 0.5,
        r: float = 1.0,
        *,
        c: float = 1.0,
        alpha: float = 1.0,
        k: float = 1.0,
        potential: str = "harmonic",
        noise: Literal["isothermal", "translation"] = "isothermal",
    ):
        if potential not in POTENTIALS:
            raise InputError(f"SlidingDisk: potential = {potential!r}; expected one of {', '.join(POTENTIALS)}.")
        if noise not in ("isothermal", "translation"):
            raise InputError(f"SlidingDisk: noise = {noise!r}; expected 'isothermal' or 'translation'.")
        self.m, self.J, self.c = positive("m", m), positive("J", J), positive("c", c, zero=True)
        self.r, self.alpha, self.k = number("r", r), number("alpha", alpha), number("k", k)
        self.potential, self.noise = potential, noise

    @property
    def kT(self) -> float:
        """The temperature alpha^2 / (2 c), in J."""
        return self.alpha**2 / (2.0 * self.c)

    def lagrangian(self, g: Float[Array, "2"], xi: Float[Array, "2"], t: Scalar) -> Float[Array, ""]:
        """m v^2/2 + J omega^2/2 - U(x)."""
        v, omega = xi
        return 0.5 * self.m * v**2 + 0.5 * self.J * omega**2 - POTENTIALS[self.potential](self.k, g[0])

    def dissipation(self, g: Float[Array, "2"], t: Scalar) -> Float[Array, "2 2"]:
        """C = c (1, r) (1, r)^T."""
        arm = jnp.array([1.0, self.r])
        return self.c * arm[:, None] * arm

    def diffusion(self, g: Float[Array, "2"], t: Scalar) -> Float[Array, "2 2"]:
        """alpha M A^(1/2), or m alpha in the translation alone."""
        if self.noise == "translation":
            return jnp.array([[self.alpha * self.m, 0.0], [0.0, 0.0]])
        contact = jnp.array([1.0 / self.m, self.r / self.J])  # A = contact contact^T, A^(1/2) = A/|contact|
        return self.alpha * jnp.array([1.0, self.r])[:, None] * contact / jnp.sqrt(contact @ contact)
