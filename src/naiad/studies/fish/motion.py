"""The three-link fish of a study, its gaits, and how it moves over any number of periods."""

from typing import Any, NamedTuple

import numpy as np

from naiad.locomotion import FORWARD, TURNING, AbstractGait, FourierGait, Swimmer, reconstruct, three_link_fish
from naiad.locomotion.loop import loop

GAITS = {"forward": FORWARD, "turning": TURNING}
GAIT_TEXTS = {"forward": "theta = (-cos t, sin t)", "turning": "theta = (1 - cos t, -1 + sin t)"}
SAMPLES = 96


class FishMotion(NamedTuple):
    """At times: the poses (beta, x, y) of B3, its velocity in its own frame, and the shape with its rates."""

    times: np.ndarray
    poses: np.ndarray
    xi: np.ndarray
    theta: np.ndarray
    rates: np.ndarray

    @property
    def turn(self) -> float:
        """The angle from the first to the last time."""
        return float(self.poses[-1, 0] - self.poses[0, 0])

    @property
    def distance(self) -> float:
        """The distance between the first place and the last."""
        return float(np.hypot(*(self.poses[-1, 1:] - self.poses[0, 1:])))

    def repeated(self, periods: int) -> "FishMotion":
        """This period again and again: from rest each begins where the last one ended, g_{k+1} = g_k g_1."""
        place, turn, steps = 0.0 + 0.0j, self.turn, len(self.times) - 1
        z, poses = self.poses[:, 1] + 1j * self.poses[:, 2], [self.poses[:1]]
        for k in range(periods):
            places = place + np.exp(1j * k * turn) * z[1:]
            poses.append(np.column_stack([self.poses[1:, 0] + k * turn, np.real(places), np.imag(places)]))
            place = places[-1]
        order = np.concatenate([[0], np.tile(np.arange(1, steps + 1), periods)])
        times = np.concatenate([[0.0], np.add.outer(self.times[-1] * np.arange(periods), self.times[1:]).ravel()])
        return FishMotion(times, np.concatenate(poses), self.xi[order], self.theta[order], self.rates[order])


def three_links(study: Any) -> Swimmer:
    """The fish of a study's `Links`, `LinkMass` and `hydro`."""
    density, coupled = study.rho * study.density_ratio, study.hydro == "coupled"
    return three_link_fish(study.a, study.b, study.c, fluid=study.rho, density=density, coupled=coupled)


def one_period(fish: Swimmer, gait: AbstractGait) -> FishMotion:
    """The motion from rest during a period, at equal times."""
    found = reconstruct(fish, gait, np.linspace(0.0, float(gait.period), SAMPLES + 1))
    return FishMotion(found.times, np.column_stack([found.g.beta, found.g.x]), found.xi, found.theta, found.rates)


def shapes(gait: AbstractGait, count: int = 240) -> np.ndarray:
    """The angles along one period, at equal times."""
    return loop(gait, count).theta


def fourier_gait(rows: np.ndarray) -> FourierGait:
    """The gait of the rows mean; cosines, sines of the first harmonic; of the second; and so on."""
    return FourierGait.of(rows[0], rows[1::2], rows[2::2])
