"""The three-link fish in studies of gaits: how it is made from parameters, and how its gaits are drawn."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from naiad.hydro import Ellipse
from naiad.locomotion import FORWARD, TURNING, AbstractGait, FourierGait, Swimmer, reconstruct, three_link_fish
from naiad.locomotion.loop import loop

MASSES = {"massless": 0.0, "neutral": 1.0}
MASS_TEXTS = {"massless": "links without mass", "neutral": "links as dense as the fluid"}
GAITS = {"forward": FORWARD, "turning": TURNING}
GAIT_TEXTS = {"forward": "theta = (-cos t, sin t)", "turning": "theta = (1 - cos t, -1 + sin t)"}


def fish(study: Any) -> Swimmer:
    """From the parameters a, b, c, rho, mass and hydro."""
    ratio = MASSES[study.mass] if isinstance(study.mass, str) else study.mass
    return three_link_fish(
        study.a, study.b, study.c, fluid=study.rho, density=ratio * study.rho, coupled=study.hydro == "coupled"
    )


def scaled(gait: FourierGait, factor: float) -> FourierGait:
    """The gait with all its angles times a factor."""
    return FourierGait.of(factor * gait.mean, factor * gait.cosines, factor * gait.sines, gait.period)


def shapes(gait: AbstractGait, count: int = 240) -> np.ndarray:
    """The angles along one period, at equal times."""
    return loop(gait, count).theta


def swum(swimmer: Swimmer, gait: AbstractGait, periods: int, pictures: int) -> tuple[np.ndarray, list[Any]]:
    """The path of the middle link, rows (x, y), and (beta, x, y, theta) at some times."""
    times = np.linspace(0.0, periods * float(gait.period), 60 * periods + 1)
    motion = reconstruct(swimmer, gait, times)
    every = np.linspace(0, len(times) - 1, pictures).astype(int)
    return motion.g.x, [(motion.g.beta[k], *motion.g.x[k], motion.theta[k]) for k in every]


def outlines(swimmer: Swimmer, a: float, b: float, moments: list[Any]) -> list[list[np.ndarray]]:
    """The outline of each link in space at some moments."""
    z = Ellipse(a, b).sample(120).z
    drawn = []
    for beta, x, y, theta in moments:
        poses = swimmer.links.poses(jnp.asarray(theta))
        inner = [np.exp(1j * float(pose.beta)) * z + complex(*np.asarray(pose.x)) for pose in poses]
        placed = [np.exp(1j * beta) * each + complex(x, y) for each in inner]
        drawn.append([np.stack([each.real, each.imag], axis=1) for each in placed])
    return drawn
