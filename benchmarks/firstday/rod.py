"""An elastic rod as frames on SE(3)^N, clamped at one end: python rod.py N [sparse]."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from clock import part

import naiad as nd
from naiad.groups import Pose

N, SPARSE = int(sys.argv[1]), "sparse" in sys.argv
SE3 = nd.SE3()
STIFFNESS = np.array([0.02, 0.05, 0.05, 200.0, 100.0, 100.0])  # GJ, EI, EI, EA, GA, GA
STRAIGHT = np.array([0, 0, 0, 1.0, 0, 0])


class Rod(nd.LagrangianSystem):
    """Frames along a rod, each bound to the one before."""

    n: int = nd.numerics.static(default=20)
    length: float = 1.0
    density: float = 0.5
    gravity: float = 9.81

    @property
    def group(self):
        return nd.Power(nd.SE3(), self.n)

    @property
    def structure(self):
        return nd.Sparse() if SPARSE else nd.Chain(size=6)

    def lagrangian(self, g, xi, t):
        ds, xi = self.length / self.n, xi.reshape(self.n, 6)
        m = self.density * ds
        J = m * jnp.array([1e-4, 5e-5, 5e-5])
        kinetic = 0.5 * jnp.sum(J * xi[:, :3] ** 2) + 0.5 * m * jnp.sum(xi[:, 3:] ** 2)
        R, x = jnp.concatenate([jnp.eye(3)[None], g.R]), jnp.concatenate([jnp.zeros((1, 3)), g.x])

        def strain(Ra, xa, Rb, xb):
            return SE3.log(SE3.compose(SE3.inverse(Pose(Ra, xa)), Pose(Rb, xb))) / ds

        strains = jax.vmap(strain)(R[:-1], x[:-1], R[1:], x[1:]) - STRAIGHT
        return kinetic - 0.5 * ds * jnp.sum(STIFFNESS * strains**2) - m * self.gravity * jnp.sum(g.x[:, 2])


rod = Rod(n=N)
with part("state"):
    state = rod.state(R=np.tile(np.eye(3), (N, 1, 1)), x=[[(i + 1) / N, 0, 0] for i in range(N)])
dt = 4e-4 / N
with part("first run"):
    nd.simulate(rod, state, t1=10 * dt, dt=dt)
steps = 100_000 // N
with part("steps", steps):
    nd.simulate(rod, state, t1=steps * dt, dt=dt)
