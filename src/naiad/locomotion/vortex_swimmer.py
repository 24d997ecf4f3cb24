"""A swimmer of the plane that changes its shape by a gait, among point vortices."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import SE2, AbstractGroup, Power, Product, Rn
from naiad.groups.se2 import PlanarPose
from naiad.groups.so2 import rotation
from naiad.hydro import AmongVortices, Ellipse, PlanarBodies, Vortices
from naiad.locomotion.checks import check_free
from naiad.locomotion.gait import AbstractGait
from naiad.locomotion.swimmer import Swimmer
from naiad.mechanics import Label, LagrangianSystem, Picture, Scalar, State
from naiad.models.point_vortices import TOO_NEAR, drift, gauge, impulse, swept
from naiad.numerics import Module, solve, static
from naiad.numerics.checks import vector


class LinkPlaces(Module):
    """The links in space, in place of the base."""

    swimmer: Swimmer
    gait: AbstractGait

    def __call__(self, g: Any, t: Scalar) -> dict[str, Any]:
        poses = [SE2().compose(g.body, pose) for pose in self.swimmer.links.poses(self.gait(t))]
        return {"body_beta": jnp.stack([pose.beta for pose in poses]), "body_x": jnp.stack([pose.x for pose in poses])}


class SwimmerAmongVortices(LagrangianSystem):
    """A swimmer whose shape theta(t) is that of a gait, and point vortices, on SE(2) x (R^2)^N:

        ell = v . K(theta) v / 2 + (B v) . p_V - W + (rho/2) sum_k Gamma_k (y_k x_k' - x_k y_k'),   v = (xi, theta'),

    where W is the energy of the vortices among links at rest and p_V the momenta of the links then, in their frames
    (`PlanarBodies.among_vortices`), and B v are the velocities of the links. There is no circulation around them.
    The links of the `swimmer` are coupled by boundary elements, which are solved for in every step. Angular and linear
    impulse of the whole are kept (`noether`); the gait gives and takes energy.
    """

    swimmer: Swimmer
    gait: AbstractGait
    vortices: Vortices
    group: AbstractGroup = static()
    definite = True
    symmetry_dim = 3
    discrete_order = 2
    discrete_symmetric = True
    limit_words = TOO_NEAR

    def __init__(self, swimmer: Swimmer, gait: AbstractGait, gamma: Any):
        check_free(swimmer)
        if not isinstance(swimmer.fluid, PlanarBodies):
            raise InputError("SwimmerAmongVortices: the links are not coupled by the fluid; give coupled=True to them.")
        self.swimmer, self.gait = swimmer, gait
        self.vortices = Vortices(gamma, density=swimmer.fluid.density)
        if not self.vortices.count:
            raise InputError("SwimmerAmongVortices: there is no vortex; give the strength of one at least.")
        self.group = Product(body=SE2(), vortex=Power(Rn(2), self.vortices.count))

    labels = {  # noqa: RUF012
        "vortex": Label(("vortices", "axis"), "places of the vortices", "m"),
        "vortex_v": Label(("vortices", "axis"), "velocities of the vortices", "m/s"),
        "vortex_p": Label(("vortices", "axis"), "momenta of the vortices", "kg/s"),
    }

    def start(self, at: Any, pose: Any = (0.0, 0.0, 0.0), t: float = 0.0, *, held: bool = False) -> State:
        """The state with the vortices at these places and the base at `pose`: without momentum but that of the
        vortices, so that a neutral swimmer is carried by their stream; or just after the gait has begun, before which
        the swimmer was `held` at rest, K_gg xi + K_gt theta' = 0."""
        pose, q = vector("pose", pose), self.vortices.places(at)
        self.vortices.check(q)
        g = self.group.identity()._replace(body=PlanarPose(pose[0], pose[1:]), vortex=q)
        mu = np.zeros(3)
        if held:
            mu = execute(_momenta, self, g, np.asarray(self.gait(t)), parameters=())[:3]
        return self.state(g=g, mu=np.concatenate([mu, gauge(self.vortices, q)]), t=t)

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energy of links and fluid, less the energy of the vortices, and the areas."""
        motion = self.gait.motion(t)
        v = jnp.concatenate([xi[:3], motion.rates])
        there = self._among(g, motion.theta)
        return 0.5 * v @ there.inertia @ v + there.impulse @ v - there.energy + swept(self.vortices, g.vortex, xi[3:])

    def discrete_lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar, tau: Any) -> Float[Array, ""]:
        """The Lagrangian half-way."""
        middle = self.group.compose(g, tau.tau(self.group, tau.half(self.group, h * xi)))
        return h * self.lagrangian(middle, xi, t + 0.5 * h)

    def legendre(self, g: Any, xi: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """The momentum of the base; those of the vortices belong to their places."""
        motion = self.gait.motion(t)
        v, there = jnp.concatenate([xi[:3], motion.rates]), self._among(g, motion.theta)
        return jnp.concatenate([(there.inertia @ v + there.impulse)[:3], gauge(self.vortices, jnp.asarray(g.vortex))])

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """K_gg^-1 of what is left of the momentum; and the flow at the vortices."""
        motion = self.gait.motion(t)

        def left(q: Any) -> Any:
            there = self._among(g._replace(vortex=q), motion.theta)
            v = jax.lax.stop_gradient(_velocities(there, mu, motion.rates))
            return there.impulse @ v - there.energy, v

        slope, v = jax.grad(left, has_aux=True)(g.vortex)
        return jnp.concatenate([v[:3], drift(self.vortices, slope)])

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """v . K v / 2 + W, which the gait changes."""
        motion = self.gait.motion(t)
        there = self._among(state.g, motion.theta)
        v = _velocities(there, state.mu, motion.rates)
        return 0.5 * v @ there.inertia @ v + there.energy

    def limit(self, g: Any, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """How far the vortices are from turning by a radian in a step about each other or their images in a link, by
        the nodes of its outline; below 0 also where a link is nearer than its nodes are apart, or around one."""
        X, gamma = self._seen(g), jnp.abs(jnp.asarray(self.vortices.gamma))
        gap, fine = jnp.inf, jnp.ones((), bool)
        for boundary, pose in zip(self._fluid.boundaries, self.swimmer.links.poses(self.gait(t)), strict=True):
            level = boundary.finest
            nodes, normals = (np.stack([np.real(each), np.imag(each)], axis=1) for each in (level.z, level.normal))
            spacing = np.linalg.norm(normals, axis=1) * 2.0 * np.pi / level.size
            away = ((X - pose.x) @ rotation(pose.beta))[:, None] - nodes
            square = jnp.sum(away**2, axis=2)
            turns = jnp.sum(jnp.sum(away * normals, axis=2) / square, axis=1) / level.size  # 1 inside, 0 outside
            fine = fine & jnp.all(square > spacing**2) & jnp.all(turns < 0.5)
            gap = jnp.minimum(gap, jnp.sqrt(jnp.min(square, axis=1)))
        near = 1.0 - jnp.abs(h) * jnp.max(gamma / (4.0 * jnp.pi * gap**2))
        return jnp.where(fine, jnp.minimum(near, self.vortices.margin(X, h)), -1.0)

    def symmetry(self, s: Float[Array, "3"], g: Any) -> Any:
        """Rigid motions of swimmer and vortices."""
        move = SE2().exp(s)
        places = jax.vmap(lambda each: SE2().act(move, each))(g.vortex)
        return g._replace(body=SE2().compose(move, g.body), vortex=places)

    def noether(self, state: State, action: Any = None, *, dim: int | None = None) -> Float[Array, " k"]:
        """The angular impulse about the origin and the linear one, of swimmer, fluid and vortices."""
        if action is not None:
            return super().noether(state, action, dim=dim)
        pose = state.g.body
        p = rotation(pose.beta) @ state.mu[1:3]
        angular = state.mu[0] + pose.x[0] * p[1] - pose.x[1] * p[0]
        return jnp.concatenate([angular[None], p]) + impulse(self.vortices, state.g.vortex, state.mu[3:])

    @property
    def picture(self) -> Picture:
        """The links, where they are ellipses, and the vortices."""
        curves, count = [boundary.curve for boundary in self._fluid.boundaries], self.vortices.count
        shapes = [(curve.a, curve.b) if isinstance(curve, Ellipse) else None for curve in curves]
        names = [*(f"B{k + 1}" for k in range(len(curves))), *(f"vortex {k + 1}" for k in range(count))]
        return Picture(shapes=[*shapes, *[None] * count], seen=LinkPlaces(self.swimmer, self.gait), names=names)

    @property
    def _fluid(self) -> PlanarBodies:
        fluid: Any = self.swimmer.fluid
        return fluid

    def _seen(self, g: Any) -> Float[Array, "N 2"]:
        return (g.vortex - g.body.x) @ rotation(g.body.beta)

    def _among(self, g: Any, theta: Any) -> AmongVortices:
        """K, B^T p_V and W."""
        links = self.swimmer.links
        poses = jnp.stack([jnp.concatenate([jnp.reshape(pose.beta, 1), pose.x]) for pose in links.poses(theta)])
        found = self._fluid.among_vortices(self.vortices.gamma, self._seen(g), poses)
        B = links.jacobian(theta)
        dry = jnp.einsum("nia,nij,njb->ab", B, jnp.asarray(self.swimmer.own), B)
        flat = B.reshape(-1, B.shape[2])
        return AmongVortices(dry + flat.T @ found.inertia @ flat, flat.T @ found.impulse, found.energy)


def _velocities(there: AmongVortices, mu: Float[Array, " n"], rates: Float[Array, " m"]) -> Float[Array, " k"]:
    """(xi, theta') of the momentum of the base."""
    K = there.inertia
    return jnp.concatenate([solve(K[:3, :3], mu[:3] - there.impulse[:3] - K[:3, 3:] @ rates), rates])


def _momenta(system: SwimmerAmongVortices, g: Any, theta: Any) -> Float[Array, " n"]:
    return system._among(g, theta).impulse
