"""Point vortices in the plane, alone or around a body that does not move."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE2, AbstractGroup, Power, Rn
from naiad.hydro import Ellipse, Vortices
from naiad.mechanics import Label, LagrangianSystem, Picture, Scalar, State
from naiad.numerics import static
from naiad.numerics.checks import vector

TOO_NEAR = (
    "A vortex came so near the wall or another vortex that the step cannot follow it (they turn by a radian about each "
    "other, or one is inside); take a smaller dt, or end the run before."
)


class PointVortices(LagrangianSystem):
    """ell = (rho/2) sum_k Gamma_k (y_k x_k' - x_k y_k') - W on (R^2)^N: no inertia, and equations of first order,
    rho Gamma_k x_k' = dW/dy_k, rho Gamma_k y_k' = -dW/dx_k [lin1941].

    `vortices` has the strengths, and the body that is held at `pose` (beta, x, y), if there is one. Make states with
    `start`: the momentum of a vortex is (rho Gamma/2) (y, -x) there, and stays so. Alone, the linear impulse
    rho sum Gamma (y, -x) and the angular one, -rho sum Gamma |z|^2 / 2, are conserved: `noether`, angular first. A
    variational step of it is the implicit midpoint rule.
    """

    vortices: Vortices
    pose: Float[Array | np.ndarray, "3"]
    group: AbstractGroup = static()
    definite = True
    symmetry_dim = 3
    discrete_order = 2
    discrete_symmetric = True
    limit_words = TOO_NEAR

    def __init__(self, vortices: Vortices, pose: Any = (0.0, 0.0, 0.0)):
        if not vortices.count:
            raise InputError("PointVortices: there is no vortex; give the strength of one at least.")
        self.vortices, self.pose = vortices, vector("pose", pose)
        self.group = Power(Rn(2), vortices.count)

    labels = {  # noqa: RUF012
        "q": Label(("vortex", "axis"), "places of the vortices", "m"),
        "v": Label(("vortex", "axis"), "velocities of the vortices", "m/s"),
        "p": Label(("vortex", "axis"), "momenta of the vortices", "kg/s"),
    }

    def start(self, at: Any) -> State:
        """The state with the vortices at these places: rows (x, y), or x1, y1, x2, y2, ..."""
        q = self.vortices.places(at)
        self.vortices.check(self._seen(q))
        return self.state(g=q, mu=gauge(self.vortices, q))

    def lagrangian(self, g: Float[Array, "N 2"], xi: Float[Array, " 2N"], t: Scalar) -> Float[Array, ""]:
        """The area that the vortices go around, less the energy."""
        return swept(self.vortices, g, xi) - self.vortices.energy(self._seen(g))

    def discrete_lagrangian(self, g: Any, xi: Float[Array, " 2N"], t: Scalar, h: Scalar, tau: Any) -> Float[Array, ""]:
        """The Lagrangian half-way."""
        return h * self.lagrangian(g + 0.5 * h * jnp.reshape(xi, (-1, 2)), xi, t)

    def velocity(self, g: Float[Array, "N 2"], mu: Float[Array, " 2N"], t: Scalar = 0.0) -> Float[Array, " 2N"]:
        """Of the energy, whatever mu is."""
        return drift(self.vortices, jax.grad(lambda q: -self.vortices.energy(self._seen(q)))(g))

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """W."""
        return self.vortices.energy(self._seen(state.g))

    def limit(self, g: Float[Array, "N 2"], t: Scalar, h: Scalar) -> Float[Array, ""]:
        """How far the vortices are from turning by a radian in a step about each other or their images."""
        return self.vortices.margin(self._seen(g), h)

    @property
    def symmetry(self) -> Any:
        """Turns about the origin and shifts, where no body is in the way."""
        return (lambda s, g: jax.vmap(lambda q: SE2().act(SE2().exp(s), q))(g)) if self.vortices.body is None else None

    def noether(self, state: State, action: Any = None, *, dim: int | None = None) -> Float[Array, " k"]:
        """The angular and the linear impulse: those of the symmetry, which shifts change ell by a rate of change."""
        if action is not None:
            return super().noether(state, action, dim=dim)
        return impulse(self.vortices, state.g, state.mu)

    @property
    def picture(self) -> Picture:
        """The vortices, and the body where it is an ellipse at the origin."""
        outline = self.vortices.outline
        fixed = None
        if isinstance(outline, Ellipse) and not np.any(self.pose):
            fixed = {"body": (outline.a, outline.b)}
        return Picture(names=[f"vortex {k + 1}" for k in range(self.vortices.count)], fixed=fixed)

    def _seen(self, q: Any) -> Any:
        return q if self.vortices.body is None else Vortices.seen(q, jnp.asarray(self.pose))


def gauge(vortices: Vortices, q: Any) -> Any:
    """(rho Gamma/2) (y, -x): the momenta that belong to the places."""
    xp = np if isinstance(q, np.ndarray) and isinstance(vortices.gamma, np.ndarray) else jnp
    half = 0.5 * vortices.density * xp.asarray(vortices.gamma)
    return xp.stack([half * q[:, 1], -half * q[:, 0]], axis=1).reshape(-1)


def swept(vortices: Vortices, q: Any, v: Any) -> Float[Array, ""]:
    """(rho/2) sum_k Gamma_k (y_k x_k' - x_k y_k')."""
    return gauge(vortices, jnp.asarray(q)) @ jnp.reshape(v, -1)


def drift(vortices: Vortices, slope: Float[Array, "N 2"]) -> Float[Array, " 2N"]:
    """The velocities that a Lagrangian with these derivatives at the vortices gives them."""
    weight = 1.0 / (vortices.density * jnp.asarray(vortices.gamma))
    return jnp.stack([-weight * slope[:, 1], weight * slope[:, 0]], axis=1).reshape(-1)


def impulse(vortices: Vortices, q: Float[Array, "N 2"], mu: Float[Array, " 2N"]) -> Float[Array, "3"]:
    """The angular impulse of the vortices about the origin, and the linear one."""
    p = jnp.reshape(mu, (-1, 2))
    angular = jnp.sum(q[:, 0] * p[:, 1] - q[:, 1] * p[:, 0])
    linear = jnp.sum(p + jnp.reshape(gauge(vortices, jnp.asarray(q)), (-1, 2)), axis=0)
    return jnp.concatenate([angular[None], linear])
