"""A four-bar linkage: three bars on SE(2) and eight constraints."""

import jax.numpy as jnp
import numpy as np
from clock import part

import naiad as nd

L = np.array([0.4, 1.0, 0.8])


class FourBar(nd.LagrangianSystem):
    """Crank, coupler and rocker, in a plane under gravity."""

    L: np.ndarray
    m: np.ndarray
    ground: float = 1.0
    gravity: float = 9.81
    group = nd.Product(crank=nd.SE2(), coupler=nd.SE2(), rocker=nd.SE2())

    def lagrangian(self, g, xi, t):
        xi = xi.reshape(3, 3)
        spin = 0.5 * jnp.sum(self.m * self.L**2 / 12 * xi[:, 0] ** 2)
        height = jnp.array([g.crank.x[1], g.coupler.x[1], g.rocker.x[1]])
        return spin + 0.5 * jnp.sum(self.m * (xi[:, 1] ** 2 + xi[:, 2] ** 2)) - self.gravity * self.m @ height

    def constraint(self, g, t):
        def end(pose, length):
            return pose.x + 0.5 * length * jnp.array([jnp.cos(pose.beta), jnp.sin(pose.beta)])

        return jnp.concatenate(
            [
                end(g.crank, -self.L[0]),
                end(g.crank, self.L[0]) - end(g.coupler, -self.L[1]),
                end(g.coupler, self.L[1]) - end(g.rocker, self.L[2]),
                end(g.rocker, -self.L[2]) - jnp.array([self.ground, 0.0]),
            ]
        )


turn = np.pi / 3
B, D = L[0] * np.array([np.cos(turn), np.sin(turn)]), np.array([1.0, 0.0])
distance = np.linalg.norm(D - B)
lean = np.arctan2(*(D - B)[::-1]) + np.arccos((L[1] ** 2 + distance**2 - L[2] ** 2) / (2 * L[1] * distance))
C = B + L[1] * np.array([np.cos(lean), np.sin(lean)])
bars = FourBar(L, np.array([1.0, 2.0, 1.5]))
state = bars.state(
    crank_beta=turn,
    crank_x=B / 2,
    coupler_beta=lean,
    coupler_x=(B + C) / 2,
    rocker_beta=np.arctan2(*(C - D)[::-1]),
    rocker_x=(C + D) / 2,
)
with part("first run"):
    nd.simulate(bars, state, t1=20.0, dt=0.002)
with part("steps", 100_000):
    nd.simulate(bars, state, t1=200.0, dt=0.002)
