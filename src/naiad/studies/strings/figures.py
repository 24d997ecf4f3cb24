"""The figures of a string pendulum: snapshots, energies, lengths, and what is conserved."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute_rows
from naiad.strings import StringPendulum
from naiad.strings.parts import pairs
from naiad.studies.strings.motion import StringMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOTS = 26
SMALLEST = 1e-17


def snapshots(system: StringPendulum, motion: StringMotion) -> "Figure":
    """The string at even times up to the middle of the run, from the side and from above; the colour of an element is
    its elastic energy, relative to the largest in that snapshot, as in the paper."""
    from matplotlib.collections import LineCollection

    from naiad import viz
    from naiad.viz.style import dress

    until = 0.5 * motion.frame_times[-1] if not system.reeled else motion.frame_times[-1]
    wanted = np.linspace(0.0, until, SHOTS)
    chosen = np.unique([int(np.argmin(np.abs(motion.frame_times - t))) for t in wanted])
    energies = execute_rows(_energies, system, _rows(motion.frames.g, chosen), parameters=(0,))
    q = np.asarray(motion.frames.g.q)[chosen]
    nodes = np.concatenate([np.zeros((len(chosen), 1, 3)), q], axis=1)
    wide, deep, high = np.maximum(np.ptp(nodes.reshape(-1, 3), axis=0), 0.15 * np.max(np.ptp(nodes, axis=(0, 1))))
    with viz.house():
        figure = viz.new_figure(7.6, float(np.clip(1.6 + 6.0 * (high + deep) / wide, 4.0, 9.0)))
        views = figure.subplots(2, 1, sharex=True, height_ratios=(high, deep))
        drawn = None
        for ax, (i, j), name in zip(views, ((0, 2), (0, 1)), ("z (down)", "y"), strict=True):
            for line, energy in zip(nodes, energies, strict=True):
                segments = np.stack([line[:-1][:, (i, j)], line[1:][:, (i, j)]], axis=1)
                top = np.max(energy)
                drawn = LineCollection(list(segments), cmap="viridis", linewidths=1.4)
                drawn.set_array(energy / top if top > 0 else energy)
                drawn.set_clim(0.0, 1.0)
                ax.add_collection(drawn)
            _bodies(ax, system, motion, chosen, (i, j))
            ax.plot(0.0, 0.0, "s", color="#333333", markersize=4)
            ax.autoscale_view()
            if high + deep < 2.0 * wide:
                ax.set_aspect("equal")
            dress(ax, "x [m]", f"{name} [m]")
        views[0].invert_yaxis()
        views[0].set_xlabel("")
        views[0].set_title(f"from the side and from above, t = 0 to {until:g} s")
        assert drawn is not None
        figure.colorbar(drawn, ax=views[0], shrink=0.8, label="elastic energy, relative")
        return figure


def energies(motion: StringMotion) -> "Figure":
    """Total, kinetic, rotational, gravitational and elastic energy over time; gravity from its value at the start."""
    from naiad import viz

    seen = motion.observed
    series = {
        "total": seen["energy"] - seen["gravity"][0],
        "kinetic": seen["kinetic"],
        "rotation": seen["rotational"],
        "gravity": seen["gravity"] - seen["gravity"][0],
        "elastic": seen["elastic"],
    }
    figure = viz.errors_over_time(motion.times, series, "energy [J]")
    figure.axes[0].ticklabel_format(axis="y", style="plain")
    return figure


def lengths(system: StringPendulum, motion: StringMotion) -> "Figure":
    """Stretched and unstretched length outside, and the second component of Omega."""
    from naiad import viz

    seen = motion.observed
    with viz.house():
        figure = viz.new_figure(7.2, 4.8)
        above, below = figure.subplots(2, 1, sharex=True)
        outside = {"stretched": seen["stretched_length"], "unstretched": float(system.length) - seen["s_p"]}
        viz.errors_over_time(motion.times, outside, "length outside [m]", ax=above)
        viz.errors_over_time(motion.times, {"": motion.Omega[:, 1]}, r"$\Omega_2$ [rad/s]", ax=below)
        for ax in (above, below):
            ax.ticklabel_format(axis="y", style="plain")
        above.set_xlabel("")
        return figure


def conserved(system: StringPendulum, motion: StringMotion) -> "Figure":
    """What should stay: the energy less the work done, pi_3, and the rotation matrix."""
    from naiad import viz

    seen, work = motion.observed, motion.work()
    off = seen["energy"] - seen["energy"][0] - sum(work.values())
    label = r"$\Delta E$ [J]" if not system.reeled else r"$\Delta E - W$ [J]"
    with viz.house():
        figure = viz.new_figure(7.2, 6.0)
        first, second, third = figure.subplots(3, 1, sharex=True)
        viz.errors_over_time(motion.times, {"": off}, label, ax=first)
        viz.errors_over_time(motion.times, {"": seen["pi3"] - seen["pi3"][0]}, r"$\Delta\pi_3$ [kg m$^2$/s]", ax=second)
        size = np.maximum(seen["orthogonality"], SMALLEST)
        viz.errors_over_time(motion.times, {"": size}, r"$|R^T R - I|$", log=True, ax=third)
        for ax in (first, second):
            ax.set_xlabel("")
        return figure


def strains(system: StringPendulum, motion: StringMotion) -> "Figure":
    """The strain of every element, inside and outside, at its place along the unstretched string, over time; the line
    is the guide way."""
    from naiad import viz

    assert system.reel is not None
    g, times = motion.frames.g, motion.frame_times
    strain = execute_rows(_strains, system, g, times, parameters=(0,))
    s, cuts = np.asarray(g.s), np.append(0.0, np.cumsum(system.reel.shares))
    outside = s + (float(system.length) - s) * np.arange(1, system.elements + 1) / system.elements
    edges = np.concatenate([s * cuts, outside], axis=1)
    middles = 0.5 * (times[1:] + times[:-1])
    sides = np.concatenate([times[:1], middles, times[-1:]])
    corners = np.concatenate([edges[:1], 0.5 * (edges[1:] + edges[:-1]), edges[-1:]])
    largest = np.max(np.abs(strain)) or 1.0
    with viz.house():
        figure = viz.new_figure(7.2, 4.2)
        ax = figure.subplots()
        mesh = ax.pcolormesh(
            np.broadcast_to(sides[:, None], corners.shape),
            corners,
            strain,
            cmap="RdBu_r",
            vmin=-largest,
            vmax=largest,
            rasterized=True,
        )
        ax.plot(times, s[:, 0], color="black", linewidth=1.2)
        ax.annotate("guide way", (times[0], s[0, 0]), (4, 4), textcoords="offset points", fontsize=8)
        ax.set(xlabel="t [s]", ylabel="along the unstretched string [m]", ylim=(0.0, float(system.length)))
        figure.colorbar(mesh, ax=ax, label="strain")
        return figure


def _bodies(ax: Any, system: StringPendulum, motion: StringMotion, chosen: np.ndarray, view: tuple[int, int]) -> None:
    """The line from the end of the string to the mass centre of the body, and the centre."""
    if not system.turning:
        return
    assert system.body is not None
    ends = np.asarray(motion.frames.g.q)[chosen, -1]
    centres = ends + np.asarray(motion.frames.g.R)[chosen] @ np.asarray(system.body.centre)
    for end, centre in zip(ends[:, view], centres[:, view], strict=True):
        ax.plot(*zip(end, centre, strict=True), color="#D55E00", linewidth=1.0)
    ax.plot(*centres[:, view].T, "o", color="#D55E00", markersize=3)


def _rows(g: Any, chosen: np.ndarray) -> Any:
    return type(g)(*(np.asarray(leaf)[chosen] for leaf in g))


def _strains(system: StringPendulum, g: Any, t: Any) -> Any:
    near, far = pairs(system.outlet(t), g.q)
    outside = jnp.sqrt(jnp.sum((far - near) ** 2, axis=1)) / system.element_length(system.wound(g, t)) - 1.0
    return jnp.concatenate([system.inner_strains(g, t), outside])


def _energies(system: StringPendulum, g: Any) -> Any:
    return system.elastic_energies(g)
