"""The three-link fish in studies of gaits: how it is made from parameters, and how its gaits are drawn."""

from typing import Any

import numpy as np

from naiad.hydro import Ellipse
from naiad.locomotion import AbstractGait, FourierGait, Swimmer, link_poses, three_link_fish
from naiad.locomotion.loop import loop
from naiad.studies.fish.motion import MASSES, FishMotion


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


def outlines(swimmer: Swimmer, ellipse: Ellipse, motion: FishMotion, count: int) -> list[list[np.ndarray]]:
    """The outline of each link in space, rows (x, y), at so many times."""
    shown = np.linspace(0, len(motion.times) - 1, count).round().astype(int)
    z = ellipse.sample(120).z
    drawn = []
    for links in link_poses(swimmer, motion.theta[shown], motion.poses[shown]):
        placed = [np.exp(1j * beta) * z + complex(x, y) for beta, x, y in links]
        drawn.append([np.stack([each.real, each.imag], axis=1) for each in placed])
    return drawn
