"""Figures of a body among vortices: paths, streamlines, what is kept."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import naiad as nd
from naiad.diagnostics import relative_change
from naiad.models import VortexBody

SHOWN, CELLS, SMALLEST = 6, 160, 1e-17


def parts(system: VortexBody, g: Any) -> tuple[np.ndarray, np.ndarray]:
    """The poses (beta, x, y) of the body in rows, and the places of the vortices, along time."""
    pose, places = (g, np.zeros((len(g.beta), 0, 2))) if not system.vortices.count else (g.body, g.vortex)
    return np.column_stack([pose.beta, pose.x]), np.asarray(places)


def figures(run: nd.Trajectory, body: np.ndarray, places: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The paths with the body at some instants, the streamlines at the start and at the end, the errors."""
    from naiad import viz

    system: Any = run.system
    gamma = np.asarray(system.vortices.gamma)
    instants = np.unique(np.linspace(0, len(body) - 1, SHOWN).astype(int))
    names = [f"vortex {k + 1}, Γ = {strength:.4g} m²/s" for k, strength in enumerate(gamma)]

    def paths() -> Any:
        outlines = [outline(system, pose) for pose in body[instants]]
        ways = {"body": body[:, 1:]} | {name: places[:, k] for k, name in enumerate(names)}
        return viz.planar_paths(outlines, ways, instants, title="Paths of the body and of the vortices")

    def stream(k: int) -> Callable[[], Any]:
        def picture() -> Any:
            x, y = _grid(body[k], places[k], system)
            xi = run.xi.to_numpy()[k, :3]
            flow = system.vortices.flow(places[k], body[k], xi)
            psi = flow.stream_function(np.stack(np.meshgrid(x, y), axis=-1))
            z, turn = complex(*body[k, 1:]), np.exp(1j * body[k, 0])
            arrows = (np.array([z]), np.array([turn * complex(*xi[1:])]))
            bodies: Mapping[str, np.ndarray] = {"": outline(system, body[k])}
            title = f"Streamlines at t = {float(run.t[k]):g} s"
            return viz.streamlines(x, y, psi, bodies, arrows, title=title, vortices=(places[k], gamma))

        return picture

    def errors() -> Any:
        series = {"energy": relative_change(run.energy), "impulse": relative_change(run.momentum)}
        shown = {name: np.maximum(values, SMALLEST) for name, values in series.items()}
        return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What is kept")

    return {"paths": paths, "streamlines-start": stream(0), "streamlines-end": stream(-1), "errors": errors}


def outline(system: VortexBody, pose: np.ndarray, points: int = 200) -> np.ndarray:
    """The outline of the body in space, rows (x, y)."""
    curve: Any = system.vortices.outline
    z = np.exp(1j * pose[0]) * curve.sample(points).z + complex(*pose[1:])
    return np.stack([z.real, z.imag], axis=1)


def _grid(pose: np.ndarray, places: np.ndarray, system: VortexBody) -> tuple[np.ndarray, np.ndarray]:
    """x and y around body and vortices, the cells about as wide as high."""
    every = np.concatenate([outline(system, pose, 32), places])
    low, high = every.min(axis=0), every.max(axis=0)
    pad = 0.35 * float(np.max(high - low))
    low, high = low - pad, high + pad
    step = float(np.max(high - low)) / CELLS
    x, y = (np.linspace(low[k], high[k], int((high[k] - low[k]) / step) + 1) for k in (0, 1))
    return x, y
