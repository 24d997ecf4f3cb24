"""The systems that pages are made of here."""

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.studies.bodies.spherical_pendulum import on_section

DT = 0.005


class HeavyTop(nd.LagrangianSystem):
    """A top as a user writes it."""

    J: np.ndarray
    mgl: float
    group = nd.SO3()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ self.J @ xi - self.mgl * g[2, 2]

    def symmetry(self, s, g):
        return nd.SO3().exp(s[0] * jnp.array([0.0, 0.0, 1.0])) @ g


class Puck(nd.LagrangianSystem):
    """A disk that slides in the plane."""

    m: float
    group = nd.SE2()

    def lagrangian(self, g, xi, t):
        return 0.5 * self.m * xi @ xi


def put(system, state, x, y, reach):
    """The puck where one clicks, but not farther than `reach`."""
    place = jnp.where(x * x + y * y < reach**2, jnp.stack([x, y]), jnp.nan)
    return state._replace(g=state.g._replace(x=place))


def tilted(top, tilt=0.6):
    """A spinning start."""
    return top.state(R=(0.0, tilt, 0.0), Omega=(0.0, 0.3, 8.0))


TOP = HeavyTop(np.diag([2.0, 2.0, 1.0]), 4.0)
CONTROLS = {
    "mgl": nd.Slider(0.1, 8.0, unit="N m"),
    "J[2,2]": (0.5, 2.0),
    "tilt": (0.0, 3.0),
    "dt": nd.Slider(0.0005, 5.0, log=True),
}
METHODS = {"variational": nd.Variational(), "RK4": nd.RK4()}

PENDULUM = nd.models.SphericalPendulum(epsilon=0.25)
SECTION = nd.Section(lambda state, t: state.g[1, 2])
PLOT = nd.SectionPlot(
    SECTION,
    lambda state, t: state.g[0, 2],
    lambda system, state, t: state.g[0, 0] * state.mu[1] - state.g[0, 1] * state.mu[0],
    ("u_x", "u_x'"),
    start=lambda system, x, y, energy: on_section(system, energy, x, y),
    orbits=[(0.5, 0.0)],
)
