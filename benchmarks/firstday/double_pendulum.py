"""Two point masses on rods, by constraints in R^6, with a section over 400,000 steps."""

import jax.numpy as jnp
from clock import part

import naiad as nd


class DoubleSphericalPendulum(nd.LagrangianSystem):
    """Two point masses, the second hanging on the first."""

    m1: float
    m2: float
    l1: float
    l2: float
    gravity: float = 9.81
    group = nd.Rn(6)

    def lagrangian(self, q, v, t):
        kinetic = 0.5 * self.m1 * v[:3] @ v[:3] + 0.5 * self.m2 * v[3:] @ v[3:]
        return kinetic - self.gravity * (self.m1 * q[2] + self.m2 * q[5])

    def constraint(self, q, t):
        rod = q[3:] - q[:3]
        return jnp.array([q[:3] @ q[:3] - self.l1**2, rod @ rod - self.l2**2])


pendulum = DoubleSphericalPendulum(1.0, 0.5, 1.0, 0.8)
state = pendulum.state(q=(1.0, 0, 0, 1.0, 0.8, 0), v=(0, 0.5, 0, 0, 0.5, 1.0))
with part("first run"):
    nd.simulate(pendulum, state, t1=20.0, dt=0.005)
with part("steps", 40_000):
    nd.simulate(pendulum, state, t1=200.0, dt=0.005)
with part("section over 400,000 steps"):
    section = {"side": nd.Section(lambda state, t: state.g[1], direction=1)}
    nd.simulate(pendulum, state, t1=2000.0, dt=0.005, save_every=1000, sections=section)
with part("audit"):
    nd.audit(pendulum, state, steps=200)
