"""A body that moves freely among point vortices in the plane."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE2, AbstractGroup, Power, Product, Rn
from naiad.groups.se2 import PlanarPose
from naiad.groups.so2 import rotation
from naiad.hydro import Ellipse, Vortices
from naiad.mechanics import Label, LagrangianSystem, Picture, Scalar, State
from naiad.models.point_vortices import TOO_NEAR, drift, gauge, impulse, swept
from naiad.numerics import quarter_turn, solve, static
from naiad.numerics.checks import is_known, semidefinite_inertia, vector

Twist = Float[Array, "3"]
SPOT = 0.07
"""The radius of a vortex in a picture, over that of the body."""


class VortexBody(LagrangianSystem):
    """A rigid body and N point vortices in an ideal fluid [shashikanth2002], [borisov2007], on SE(2) x (R^2)^N:

        ell = xi . M xi / 2 + xi . p_V(X) - W(X) + (rho/2) sum_k Gamma_k (y_k x_k' - x_k y_k') - (rho Gamma_b/2) x x x',

    with xi = (Omega, v_x, v_y) in the body, M = dry + added, the vortices at z_k in space and at X_k = R^T (z_k - x)
    in the body's frame, W their energy around a body at rest and p_V its momentum then (`naiad.hydro.Vortices`).

    `vortices` has the strengths, the outline and the circulation, `dry` is the inertia of the body itself: (I, m, m)
    for one whose centre of mass is the origin of its outline, else a 3 x 3 matrix. Make states with `start`. The
    discrete Lagrangian takes everything half-way, and the last term as the area x_0 x x_1 / 2, so that a step keeps
    what the motion keeps: `noether`, the angular impulse about the origin and the linear one.
    """

    vortices: Vortices
    dry: Float[Array | np.ndarray, "3 3"]
    M: Float[Array | np.ndarray, "3 3"]
    group: AbstractGroup = static()
    definite = True
    symmetry_dim = 3
    discrete_order = 2
    discrete_symmetric = True
    limit_words = TOO_NEAR

    def __init__(self, vortices: Vortices, dry: Any):
        if vortices.body is None:
            raise InputError("VortexBody: the vortices are alone; give them the outline of the body.")
        self.vortices = vortices
        self.dry = semidefinite_inertia("dry", dry, 3)
        self.M = self.dry + vortices.density * vortices.body.added
        if is_known(self.M) and (lowest := float(np.linalg.eigvalsh(self.M)[0])) <= 0.0:
            raise InputError(
                f"dry: the inertia of body and fluid has the eigenvalue {lowest:.3g}; expected every motion to have "
                "some (a circle that turns moves no fluid)."
            )
        count = vortices.count
        self.group = Product(body=SE2(), vortex=Power(Rn(2), count)) if count else SE2()

    labels = {  # noqa: RUF012
        "vortex": Label(("vortices", "axis"), "places of the vortices", "m"),
        "vortex_v": Label(("vortices", "axis"), "velocities of the vortices", "m/s"),
        "vortex_p": Label(("vortices", "axis"), "momenta of the vortices", "kg/s"),
    }

    def start(self, at: Any = None, pose: Any = (0.0, 0.0, 0.0), xi: Any = (0.0, 0.0, 0.0)) -> State:
        """The state with the vortices at these places in space (rows (x, y), or x1, y1, x2, y2, ...) and the body at
        `pose` (beta, x, y), with the velocity xi in its frame."""
        pose, xi, q = vector("pose", pose), vector("xi", xi), self.vortices.places(at)
        self.vortices.check(Vortices.seen(q, pose))
        body = PlanarPose(pose[0], pose[1:])
        g = body if not self.vortices.count else self.group.identity()._replace(body=body, vortex=q)
        return self.state(g=g, xi=jnp.concatenate([xi, jnp.zeros(2 * self.vortices.count)]))

    def parts(self, g: Any) -> tuple[PlanarPose, Float[Array, "N 2"]]:
        """The pose of the body, and the places of the vortices."""
        return (g, jnp.zeros((0, 2))) if not self.vortices.count else (g.body, g.vortex)

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energy of body and fluid, less the energy of the vortices, and the areas."""
        pose, _ = self.parts(g)
        held = -0.5 * self._weight * quarter_turn(pose.x) @ (rotation(pose.beta) @ xi[1:3])
        return self._invariant(g, xi) + held

    def discrete_lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar, tau: Any) -> Float[Array, ""]:
        """The Lagrangian half-way, and the area between the ends."""
        middle = self.group.compose(g, tau.tau(self.group, tau.half(self.group, h * xi)))
        begin = self.parts(g)[0]
        end = SE2().compose(begin, tau.tau(SE2(), h * xi[:3]))
        held = -0.5 * self._weight * quarter_turn(begin.x) @ end.x
        return h * self._invariant(middle, xi) + held

    def legendre(self, g: Any, xi: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """M xi and the momentum of the body at rest; those of the vortices, which belong to their places."""
        _, q = self.parts(g)
        mu = jnp.asarray(self.M) @ xi[:3] + self._at_rest(g)
        return jnp.concatenate([mu, gauge(self.vortices, jnp.asarray(q))]) if self.vortices.count else mu

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """M^-1 of what is left of the momentum; and the flow at the vortices."""
        pose, q = self.parts(g)
        xi = solve(jnp.asarray(self.M), mu[:3] - self._at_rest(g))
        if not self.vortices.count:
            return xi

        def left(q: Any) -> Any:
            rest = self.vortices.at_rest(_seen(q, pose))
            return xi @ rest.impulse - rest.energy

        return jnp.concatenate([xi, drift(self.vortices, jax.grad(left)(q))])

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """xi . M xi / 2 + W."""
        pose, q = self.parts(state.g)
        xi = solve(jnp.asarray(self.M), state.mu[:3] - self._at_rest(state.g))
        return 0.5 * xi @ self.M @ xi + self.vortices.energy(_seen(q, pose))

    def limit(self, g: Any, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """How far the vortices are from turning by a radian in a step about each other or their images."""
        pose, q = self.parts(g)
        return self.vortices.margin(_seen(q, pose), h)

    def symmetry(self, s: Twist, g: Any) -> Any:
        """Rigid motions of body and vortices."""
        move, (pose, q) = SE2().exp(s), self.parts(g)
        moved = SE2().compose(move, pose)
        if not self.vortices.count:
            return moved
        return g._replace(body=moved, vortex=jax.vmap(lambda each: SE2().act(move, each))(q))

    def noether(self, state: State, action: Any = None, *, dim: int | None = None) -> Float[Array, " k"]:
        """The angular impulse about the origin and the linear one, of body, fluid and vortices: those of the symmetry,
        which shifts change ell by a rate of change."""
        if action is not None:
            return super().noether(state, action, dim=dim)
        pose, q = self.parts(state.g)
        p = rotation(pose.beta) @ state.mu[1:3]
        angular = state.mu[0] + pose.x[0] * p[1] - pose.x[1] * p[0]
        linear = p - 0.5 * self._weight * quarter_turn(pose.x)
        found = jnp.concatenate([angular[None], linear])
        return found + impulse(self.vortices, q, state.mu[3:]) if self.vortices.count else found

    @property
    def picture(self) -> Picture:
        """The outline of an ellipse, and the vortices as spots."""
        outline, count, body = self.vortices.outline, self.vortices.count, self.vortices.body
        shape = (outline.a, outline.b) if isinstance(outline, Ellipse) else None
        names = ["body", *(f"vortex {k + 1}" for k in range(count))]
        spot = np.full(2, SPOT * float(0.0 if body is None else body.radius))
        return Picture(shapes=[shape, *[spot] * count], names=names)

    @property
    def _weight(self) -> Any:
        """rho Gamma_b."""
        return self.vortices.density * self.vortices.circulation

    def _invariant(self, g: Any, xi: Float[Array, " n"]) -> Float[Array, ""]:
        pose, q = self.parts(g)
        rest, b = self.vortices.at_rest(_seen(q, pose)), xi[:3]
        ell = 0.5 * b @ self.M @ b + b @ rest.impulse - rest.energy
        return ell + swept(self.vortices, q, xi[3:]) if self.vortices.count else ell

    def _at_rest(self, g: Any) -> Twist:
        """The momentum of the body at rest."""
        pose, q = self.parts(g)
        held = -0.5 * self._weight * (rotation(pose.beta).T @ quarter_turn(pose.x))
        return self.vortices.impulse(_seen(q, pose)) + jnp.concatenate([jnp.zeros(1), held])


def _seen(q: Float[Array, "N 2"], pose: PlanarPose) -> Float[Array, "N 2"]:
    return (q - pose.x) @ rotation(pose.beta)
