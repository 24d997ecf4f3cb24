"""The study of a body among vortices where it sheds its own."""

from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.hydro import EllipticCylinder, FreeWake, shed_freely
from naiad.studies.study import Findings

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from naiad.studies.flow.vortex_body import VortexBody

SHOWN = 7


def shedding_findings(study: "VortexBody") -> Findings:
    """The motion, the wake, and the balance of the impulse."""
    body = EllipticCylinder(study.a, 0.0 if study.shape == "plate" else study.b)
    wake = shed_freely(
        body,
        (study.I, study.m, study.m),
        xi=study.xi,
        pose=study.pose,
        t1=study.t1,
        dt=study.dt,
        density=study.rho,
        gamma=() if study.gamma is None else study.gamma,
        at=study.at,
        circulation=study.circulation,
        force=lambda t: (0.0, 0.0, study.heave * np.cos(study.rate * t)),
    )
    given = 0 if study.gamma is None else len(study.gamma)
    push = study.heave * np.cos(study.rate * wake.t)
    gained = np.concatenate([[0.0], np.cumsum(0.5 * study.dt * (push[1:] + push[:-1]))])
    left = wake.impulse[:, 1:] - wake.impulse[0, 1:] - np.stack([0.0 * gained, gained], axis=1)
    scale = float(np.max(np.abs(wake.impulse))) or 1.0
    results: dict[str, Any] = {
        "pose": wake.poses[-1],
        "xi": wake.xi[-1],
        "impulse": wake.impulse[-1],
        "impulse_error_max": float(np.max(np.abs(left))) / scale,
        "shed": len(wake.gamma) - given,
        "circulation": float(study.circulation - np.sum(wake.gamma[given:])),
        "t": float(wake.t[-1]),
    }
    figures = {"wake": lambda: _wake(body, wake), "velocity": lambda: _velocity(wake)}
    return Findings(results, lambda: _dataset(study, wake), figures, notes=_NOTES, units=_UNITS)


def _wake(body: EllipticCylinder, wake: FreeWake) -> "Figure":
    """The path, the body at some times, and the vortices in the end."""
    from naiad import viz
    from naiad.viz.style import FAINT, INK, dress

    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    outline = float(body.a) * np.cos(angle) + 1j * float(body.b) * np.sin(angle)
    shown = np.unique(np.linspace(0, len(wake.t) - 1, SHOWN).astype(int))
    with viz.house():
        figure = viz.new_figure(9.0, 4.2)
        ax = figure.add_subplot()
        for k in shown:
            z = outline * np.exp(1j * wake.poses[k, 0]) + complex(*wake.poses[k, 1:])
            ax.plot(z.real, z.imag, color=INK if k == shown[-1] else FAINT, linewidth=1.4)
        ax.plot(wake.poses[:, 1], wake.poses[:, 2], color=viz.PALETTE[0], linewidth=1.0, label="middle of the body")
        sizes = 60.0 * np.abs(wake.gamma) / (np.max(np.abs(wake.gamma)) or 1.0)
        for sign, colour, words in ((1.0, viz.PALETTE[1], "counterclockwise"), (-1.0, viz.PALETTE[3], "clockwise")):
            own = sign * wake.gamma > 0.0
            ax.scatter(*wake.places[own].T, s=sizes[own], color=colour, alpha=0.7, linewidths=0, label=words)
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        dress(ax, "x [m]", "y [m]", f"The body and its wake, t = {wake.t[-1]:g} s")
        return figure


def _velocity(wake: FreeWake) -> "Figure":
    from naiad import viz

    v = (wake.xi[:, 1] + 1j * wake.xi[:, 2]) * np.exp(1j * wake.poses[:, 0])
    return viz.errors_over_time(
        wake.t, {"along x": v.real, "along y": v.imag}, "m/s", title="Velocity of the body in space"
    )


def _dataset(study: "VortexBody", wake: FreeWake) -> "xarray.Dataset":
    import xarray as xr

    parts = {
        "beta": (("body", "time"), wake.poses[None, :, 0], {"units": "rad"}),
        "x": (("body", "time", "xy"), wake.poses[None, :, 1:], {"units": "m"}),
        "xi": (("time", "component"), wake.xi),
        "impulse": (("time", "component"), wake.impulse),
        "gamma": (("vortex",), wake.gamma, {"units": "m^2/s"}),
        "vortex": (("vortex", "xy"), wake.places, {"units": "m"}),
    }
    along = {"time": ("time", wake.t, {"units": "s"})}
    return xr.Dataset(parts, along, {"bodies": ["body"], "shapes": [[study.a, study.b]]})


_UNITS = {
    "pose": "rad, m, m",
    "xi": "rad/s, m/s, m/s",
    "impulse": "kg m/s, kg/s, kg/s",
    "circulation": "m^2/s",
    "t": "s",
}

_NOTES = (
    "`pose` is (beta, x, y), `xi` the velocity in the body at `t`; `impulse` is the angular one about the origin and "
    "the linear one, of body, fluid and wake, and `impulse_error_max` how far the linear one is from what the push has "
    "given, relative. `circulation` is that around the body in the end, which `shed` vortices have left behind. Steps "
    "are Heun's."
)
