"""The fish that bends smoothly: a cloth over the joints, a wave of curvature, and the hinged fish beside them."""

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro import AbstractCurve, ClosedCurve, Ellipse
from naiad.locomotion import (
    AbstractGait,
    BendingSwimmer,
    FourierGait,
    Swimmer,
    bending_swimmer,
    cloth_joints,
    curvature_wave,
    link_poses,
    reconstruct,
    three_link_fish,
)
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.studies.fish.motion import GAIT_TEXTS, GAITS, FishMotion
from naiad.studies.flow.links import LinkMass, Links
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study, Table

if TYPE_CHECKING:
    import xarray as xr

STEPS, SAMPLES, CHECKS = 24, 48, 6
"""Steps a period; times that are kept; times at which the momentum is checked."""
MORE = 1.25
"""Nodes of that check, over those of the motion."""


class SmoothFish(Study, Links, LinkMass, name="smooth-fish"):
    """One outline that bends smoothly, as wide and as long as the three-link fish, and how far it swims beside it.

    `cloth`: the joints of the three-link fish under a cloth, which lets no water through; its midline bends by the same
    angles, over `width`, with the same gait. `wave`: a wave of curvature runs down the fish. `hinged`: the three links,
    coupled through the fluid. Midlines keep their lengths and bodies their areas. From rest the momentum of fish and
    fluid, that of the deformation included, stays zero.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, section 8"

    gait: str = parameter("forward", choices=GAIT_TEXTS, help="the gait of the joints, hinged or under the cloth")
    width: float = parameter(2.0, unit="m", above=0.0, help="standard deviation of the bend of a joint under the cloth")
    amplitude: float = parameter(1.0, unit="rad", above=0.0, help="of the wave: its curvature times wavelength / 2 pi")
    wavelength: float = parameter(1.0, above=0.0, help="of the wave, in lengths of the fish")
    growth: float = parameter(0.0, at_least=-1.0, at_most=1.0, help="how the wave grows to the tail: by 1 -/+ growth")
    taper: float = parameter(0.0, above=-1.0, below=1.0, help="how much wider the head is than the tail")
    points: int = parameter(512, at_least=64, at_most=2048, help="nodes of the outline, a multiple of 8")

    def validate(self) -> None:
        if self.points % 8:
            raise InputError(f"points={self.points}: expected a multiple of 8")

    @property
    def half_length(self) -> float:
        """Of the hinged fish, and of the smooth ones."""
        return 3.0 * self.a + 2.0 * self.c

    @property
    def outline(self) -> AbstractCurve:
        """That of the straight fish: (l cos t, b sin t (1 + taper cos t))."""
        size, b, taper = self.half_length, self.b, self.taper
        if taper == 0.0:
            return Ellipse(size, b)
        return ClosedCurve(lambda t: (size * math.cos(t), b * math.sin(t) * (1.0 + taper * math.cos(t))))

    @property
    def wave(self) -> AbstractGait:
        """The gait of the wave: (cos t, - sin t), towards the tail."""
        return FourierGait.of([0.0, 0.0], [[1.0, 0.0]], [[0.0, -1.0]])

    def smooth(self, kind: str, *, width: float | None = None, more: float = 1.0) -> BendingSwimmer:
        """The fish under the cloth, or with the wave."""
        if kind == "cloth":
            joint = self.a + self.c
            modes: Any = cloth_joints((joint, -joint), self.width if width is None else width)
        else:
            length, size = 2.0 * self.wavelength * self.half_length, self.half_length
            most = self.amplitude * 2.0 * math.pi / length
            modes = curvature_wave(length, lambda s: most * (1.0 - self.growth * s / size))
        density = self.rho * self.density_ratio
        return bending_swimmer(self.outline, modes, fluid=self.rho, density=density, points=round(more * self.points))

    def run(self, progress: Progress) -> Findings:
        density = self.rho * self.density_ratio
        fish: dict[str, AbstractSwimmer] = {
            "hinged": three_link_fish(self.a, self.b, self.c, fluid=self.rho, density=density, coupled=True),
            "cloth": self.smooth("cloth"),
            "wave": self.smooth("wave"),
        }
        gaits = {"hinged": GAITS[self.gait], "cloth": GAITS[self.gait], "wave": self.wave}
        motions, errors = {}, {}
        for k, (name, swimmer) in enumerate(fish.items()):
            motions[name] = period(swimmer, gaits[name])
            if name != "hinged":
                errors[name] = momentum_error(self.smooth(name, more=MORE), motions[name])
            progress((k + 1) / len(fish))
        results: dict[str, Any] = {}
        for name, motion in motions.items():
            results[f"{name}_net"] = motion.poses[-1]
            results[f"{name}_distance"] = motion.distance
        results |= {
            f"{name}_over_hinged": motions[name].distance / motions["hinged"].distance for name in ("cloth", "wave")
        }
        results |= {f"{name}_momentum_error": error for name, error in errors.items()}
        results["area_error"] = area_error(fish, motions)
        from naiad.studies.fish import smooth_figures as figures

        drawn = functools.cache(lambda: self._outlines(fish, motions))
        return Findings(
            results,
            lambda: _dataset(motions, drawn()),
            {
                "fish": lambda: figures.along(motions, drawn(), self._title),
                "path": lambda: figures.paths(motions, self._title),
                "bends": lambda: figures.bends(fish, motions),
            },
            notes=_NOTES,
            units={f"{name}_{key}": unit for name in fish for key, unit in (("net", "rad, m, m"), ("distance", "m"))},
            tables={"width": lambda: self._widths(motions["hinged"].distance)},
        )

    def _outlines(
        self, fish: Mapping[str, AbstractSwimmer], motions: Mapping[str, FishMotion]
    ) -> dict[str, list[np.ndarray]]:
        """For each fish its outlines in space, rows of points, at all times: three links, or one."""
        found = {}
        for name, swimmer in fish.items():
            motion = motions[name]
            if isinstance(swimmer, BendingSwimmer):
                found[name] = [swimmer.outlines(motion.theta, motion.poses)]
            elif isinstance(swimmer, Swimmer):
                poses, z = link_poses(swimmer, motion.theta, motion.poses), Ellipse(self.a, self.b).sample(160).z
                at = np.exp(1j * poses[..., :1]) * z + (poses[..., 1:2] + 1j * poses[..., 2:])
                found[name] = [np.stack([np.real(each), np.imag(each)], axis=-1) for each in np.swapaxes(at, 0, 1)]
        return found

    def _widths(self, hinged: float) -> Table:
        """How far the fish under the cloth swims, for bends of several widths."""
        rows = []
        for width in (2.0 * self.width, 1.5 * self.width, self.width):
            distance = period(self.smooth("cloth", width=width), GAITS[self.gait]).distance
            rows.append((f"{width:g}", f"{distance:.4f}", f"{distance / hinged:.4f}"))
        return Table(("Width of the bend [m]", "Distance a period [m]", "Over the hinged fish's"), tuple(rows))

    @property
    def _title(self) -> str:
        mass = self.mass if isinstance(self.mass, str) else f"{self.density_ratio:g} times as dense as the fluid"
        return f"A period from rest, {mass}"


def period(fish: AbstractSwimmer, gait: AbstractGait) -> FishMotion:
    """The motion from rest during a period."""
    found = reconstruct(fish, gait, np.linspace(0.0, float(gait.period), SAMPLES + 1), steps=STEPS)
    return FishMotion(found.times, np.column_stack([found.g.beta, found.g.x]), found.xi, found.theta, found.rates)


def momentum_error(finer: BendingSwimmer, motion: FishMotion) -> float:
    """The largest momentum of fish and fluid along a motion, by other nodes than those that it was made with, relative
    to what the frame's own motion has."""
    every = slice(0, None, SAMPLES // CHECKS)
    K, v = finer.inertias(motion.theta[every]), np.hstack([motion.xi[every], motion.rates[every]])
    total, own = np.einsum("sij,sj->si", K[:, :3], v), np.einsum("sij,sj->si", K[:, :3, :3], v[:, :3])
    return float(np.max(np.max(np.abs(total), axis=0) / np.max(np.abs(own), axis=0)))


def area_error(fish: Mapping[str, AbstractSwimmer], motions: Mapping[str, FishMotion]) -> float:
    """The largest change of the area inside the outlines, relative."""
    largest = 0.0
    for name, swimmer in fish.items():
        if isinstance(swimmer, BendingSwimmer):
            z = swimmer.outlines(motions[name].theta) @ np.array([1.0, 1j])
            m = np.fft.fftfreq(z.shape[1], 1.0 / z.shape[1])
            areas = np.pi * np.sum(m * np.abs(np.fft.fft(z, axis=1) / z.shape[1]) ** 2, axis=1)
            largest = max(largest, float(np.max(np.abs(areas / swimmer.bend.area - 1.0))))
    return largest


def _dataset(motions: Mapping[str, FishMotion], outlines: Mapping[str, list[np.ndarray]]) -> "xr.Dataset":
    """Poses, shapes and outlines in space of all three."""
    import xarray as xr

    fields: dict[str, Any] = {}
    for name, motion in motions.items():
        fields[f"{name}_pose"] = (("time", "component"), motion.poses)
        fields[f"{name}_shape"] = (("time", "mode"), motion.theta)
        for k, each in enumerate(outlines[name]):
            fields[f"{name}_outline_{k + 1}"] = (("time", f"{name}_point", "xy"), each, {"units": "m"})
    times = motions["hinged"].times
    return xr.Dataset(fields, {"time": ("time", times, {"units": "s"}), "component": ["beta", "x", "y"]})


_NOTES = (
    "`hinged`, `cloth` and `wave` are the three fish. `_net` is (beta, x, y) of the middle of each after a period from "
    "rest, `_distance` how far it came, `_over_hinged` relative to the hinged fish. `_momentum_error` is the largest "
    "momentum of fish and fluid along the motion, evaluated with a quarter more nodes, relative to that of the frame's "
    "motion alone; `area_error` the largest relative change of an outline's area. The table `width` has the distance "
    "of the fish under the cloth for bends of several widths."
)
