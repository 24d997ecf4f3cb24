"""A fish that swims by a gait, as a system on SE(2) that has to do with time: what a live page steps."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import naiad as nd
from naiad.locomotion import AbstractGait, FourierGait, Swimmer
from naiad.locomotion.links import Links
from naiad.mechanics import Picture, Scalar
from naiad.numerics import Module, solve, static


class SwimmingFish(nd.LagrangianSystem):
    """ell = v . K(theta) v / 2 with v = (xi, theta'), the shape theta(t) that of a gait: the pose of the base is all
    that is free, and the momentum of fish and fluid is kept [kanso2005, eq. (5.17)]."""

    swimmer: Swimmer
    gait: AbstractGait
    axes: tuple[float, float] = static()
    group = nd.SE2()
    symmetry_dim = 3
    definite = True

    def lagrangian(self, g: Any, xi: Float[Array, "3"], t: Scalar) -> Float[Array, ""]:
        """The kinetic energy of links and fluid."""
        shape = self.gait.motion(t)
        v = jnp.concatenate([xi, shape.rates])
        return 0.5 * v @ self.swimmer.inertia(shape.theta) @ v

    def velocity(self, g: Any, mu: Float[Array, "3"], t: Scalar = 0.0) -> Float[Array, "3"]:
        """K_gg^-1 (mu - K_gt theta')."""
        shape = self.gait.motion(t)
        K = self.swimmer.inertia(shape.theta)
        return solve(K[:3, :3], mu - K[:3, 3:] @ shape.rates)

    def energy(self, state: nd.State, t: Scalar = 0.0) -> Float[Array, ""]:
        """The kinetic energy: the gait gives and takes it."""
        return self.lagrangian(state.g, self.velocity(state.g, state.mu, t), t)

    def symmetry(self, s: Float[Array, "3"], g: Any) -> Any:
        """Rigid motions."""
        return nd.SE2().compose(nd.SE2().exp(s), g)

    @property
    def picture(self) -> Picture:
        """The links."""
        count = self.swimmer.links.count
        names = [f"B{k + 1}" for k in range(count)]
        return Picture(shapes=[self.axes] * count, seen=LinkPoses(self.swimmer.links, self.gait), names=names)


class LinkPoses(Module):
    """The links in space, seen from a base at g."""

    links: Links
    gait: AbstractGait

    def __call__(self, g: Any, t: Scalar) -> dict[str, Any]:
        poses = [nd.SE2().compose(g, pose) for pose in self.links.poses(self.gait(t))]
        return {"beta": jnp.stack([pose.beta for pose in poses]), "x": jnp.stack([pose.x for pose in poses])}


def swimming(fish: Swimmer, gait: FourierGait, axes: tuple[float, float], study: Any) -> tuple[SwimmingFish, nd.State]:
    """The fish with the mean and the first harmonic of a study with these values; it begins at rest."""
    cosines, sines = np.asarray(gait.cosines)[1:], np.asarray(gait.sines)[1:]
    wave = FourierGait(
        mean=study.mean,
        cosines=jnp.concatenate([study.cosines[None], cosines]),
        sines=jnp.concatenate([study.sines[None], sines]),
    )
    system = SwimmingFish(fish, wave, axes)
    return system, system.state(mu=jnp.zeros(3))
