"""The figures of the study of a buoyant vehicle."""

from typing import Any

import numpy as np

import naiad as nd
from naiad.diagnostics import relative_change
from naiad.studies.vehicles.buoyant_vehicle import MAPS, SCHEMES, BuoyantVehicle, MidwayEnergy, Plan

AZIMUTH = -35.0
"""Of the view of the path: across the plane in which it bends."""


def figures(study: BuoyantVehicle, run: nd.Trajectory) -> dict:
    """Path and attitude of the run; energy and Kelvin-Noether quantity of all maps and schemes; the energy's growth."""
    drawn = {
        "trajectory": lambda: trajectory(run),
        "attitude": lambda: attitude(run),
        "energy": lambda: errors(study, "energy", "relative error of the energy\n($E_k$ for the paper's scheme)"),
        "kelvin-noether": lambda: errors(study, "kelvin_noether", "relative error of the\nKelvin-Noether quantity"),
    }
    growth = {"energy-growth": lambda: energy_growth(study)} if study.scheme == "paper" else {}
    return drawn | growth | {"overview": lambda: overview(study, run)}


def overview(study: BuoyantVehicle, run: nd.Trajectory) -> Any:
    """What every run shows; with the paper's scheme its energy, of the momenta at the nodes, is another than E_k."""
    figure = run.plot()
    for ax in figure.axes if study.scheme == "paper" else ():
        if ax.get_ylabel().startswith("energy error"):
            ax.set_ylabel("error of the energy\nof node momenta\n$(E-E_0)/|E_0|$, not $E_k$")
    return figure


def trajectory(run: nd.Trajectory) -> Any:
    """The path in space, downwards drawn downwards, and its coordinates over time."""
    from naiad import viz
    from naiad.viz.space import set_stage
    from naiad.viz.style import dress
    from naiad.viz.thinning import thin
    from naiad.viz.vertical import Vertical

    q = run.g.q
    with viz.house():
        figure = viz.new_figure(10.0, 4.6)
        grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.4))
        space: Any = figure.add_subplot(grid[0], projection="3d")
        space.plot(*q.T, color=viz.PALETTE[0])
        space.plot(*q[:1].T, "o", color=viz.PALETTE[0], markersize=4)
        set_stage(space, q, upright=Vertical.of(run.system.picture.down), azimuth=AZIMUTH)
        over_time = figure.add_subplot(grid[1])
        for index, (name, dashes) in enumerate(zip("xyz", ("-", "--", "-"), strict=True)):
            over_time.plot(*thin(run.t, q[:, index]), dashes, color=viz.PALETTE[index], label=f"${name}$")
        over_time.invert_yaxis()
        dress(over_time, "time [s]", "position [m], $z$ downwards")
        over_time.legend()
        return figure


def attitude(run: nd.Trajectory) -> Any:
    """Yaw, pitch and roll, and the tilt of the body's third axis from the vertical."""
    from scipy.spatial.transform import Rotation

    from naiad import viz

    R = run.g.R
    yaw, pitch, roll = Rotation.from_matrix(R).as_euler("ZYX").T
    tilt = np.arctan2(np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
    panels = {
        "yaw [turns]": np.unwrap(yaw) / (2 * np.pi),
        "pitch [°]": np.rad2deg(pitch),
        "roll [°]": np.rad2deg(roll),
        "tilt from the\nvertical [°]": np.rad2deg(tilt),
    }
    with viz.house():
        figure = viz.new_figure(7.0, 6.4)
        rows: Any = figure.subplots(len(panels), 1, sharex=True)
        for ax, (label, angle) in zip(rows, panels.items(), strict=True):
            viz.errors_over_time(run.t, {"": angle}, label, ax=ax)
            ax.lines[0].set_linewidth(0.8)
            ax.set_xlabel("time [s]" if ax is rows[-1] else "")
        return figure


def errors(study: BuoyantVehicle, name: str, label: str) -> Any:
    """The relative error of an invariant: a panel for each map, a line for each scheme."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(9.0, 3.4)
        panels: Any = figure.subplots(1, len(MAPS), sharey=True)
        for ax, (map, words) in zip(panels, MAPS.items(), strict=True):
            series, times = {}, np.zeros(0)
            for scheme in SCHEMES:
                plan = study.plan(map, scheme)
                run = _simulated(study, plan, {"invariant": plan.invariants[name]})
                times, series[scheme] = run.t.to_numpy(), relative_change(run.record["invariant"])
            viz.errors_over_time(times, series, label if ax is panels[0] else "", log=True, title=words, ax=ax)
            ax.get_legend().remove()
        panels[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def energy_growth(study: BuoyantVehicle) -> Any:
    """E_k - E_0 of the paper's scheme, what its one-sidedness predicts, and the energy with U half a step later."""
    from naiad import viz

    plan = study.plan(study.map, "paper")
    midway = MidwayEnergy(plan.vehicle, plan.method, study.dt)
    run = _simulated(study, plan, {"E": plan.energy, "midway": midway, "step_velocity": plan.velocity})
    E, midway, v_z = run.record["E"], run.record["midway"], run.record["step_velocity"][:, 5]
    series = {
        "$E_k - E_0$": E - E[0],
        "$(h/2)\\,W\\,(v_z(t) - v_z(0))$": 0.5 * study.dt * plan.vehicle.surplus * (v_z - v_z[0]),
        "$E_k - E_0$ with $U$ at $(q_k + q_{k+1})/2$": midway - midway[0],
    }
    return viz.errors_over_time(run.t, series, "change of energy [J]", title="Where the energy's growth comes from")


def _simulated(study: BuoyantVehicle, plan: Plan, outputs: dict) -> nd.Trajectory:
    return nd.simulate(
        plan.vehicle, plan.state, t1=study.t1, dt=study.dt, method=plan.method, outputs=outputs, progress=False
    )
