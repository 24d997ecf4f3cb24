"""Two bodies on a ball joint with a spring and a damper, by a Lagrangian of one's own on SO(3) x SO(3) x R^3."""

import jax.numpy as jnp
import numpy as np
from clock import part

import naiad as nd


class Satellite(nd.LagrangianSystem):
    """A large body A, a small body B at its joint, and the place x of the first."""

    J1: np.ndarray
    J2: np.ndarray
    m1: float
    m2: float
    k: float
    r1: np.ndarray
    r2: np.ndarray
    group = nd.Product(A=nd.SO3(), B=nd.SO3(), x=nd.Rn(3))

    def lagrangian(self, g, xi, t):
        W1, W2, v = xi[:3], xi[3:6], xi[6:]
        v2 = v + g.A @ jnp.cross(W1, self.r1) + g.B @ jnp.cross(W2, self.r2)
        kinetic = W1 @ self.J1 @ W1 + W2 @ self.J2 @ W2 + self.m1 * v @ v + self.m2 * v2 @ v2
        return 0.5 * kinetic - self.k * (3 - jnp.trace(g.A.T @ g.B)) / 2

    def force(self, g, xi, t):
        relative = g.A.T @ g.B @ xi[3:6] - xi[:3]
        return jnp.concatenate([0.5 * relative, -0.5 * (g.B.T @ g.A @ relative), jnp.zeros(3)])


satellite = Satellite(
    np.diag([30.0, 40, 45]), np.diag([0.5, 3, 3]), 200.0, 10.0, 60.0, np.array([0.6, 0, 0]), np.array([1.5, 0, 0])
)
state = satellite.state(B=(0, 0.2, 0.1), A_Omega=(0, 0, 0.3), B_Omega=(0, 0, 0.3))
with part("first run"):
    nd.simulate(satellite, state, t1=60.0, dt=0.005)
with part("steps", 120_000):
    nd.simulate(satellite, state, t1=600.0, dt=0.005)
with part("audit"):
    nd.audit(satellite, state)
