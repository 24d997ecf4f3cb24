"""The figures of the study of a buoyant vehicle."""

from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.diagnostics import relative_change
from naiad.studies.buoyant_schemes import MAPS, SCHEMES, MidwayEnergy

if TYPE_CHECKING:
    from naiad.studies.buoyant_vehicle import BuoyantVehicle


def figures(study: "BuoyantVehicle", run: nd.Trajectory) -> dict:
    """Path and attitude of the run; energy and Kelvin-Noether quantity of all maps and schemes; the energy's growth."""
    from naiad import viz

    drawn = {
        "trajectory": lambda: trajectory(run),
        "attitude": lambda: attitude(run),
        "energy": lambda: errors(study, "energy", "relative error of the energy"),
        "kelvin-noether": lambda: errors(study, "kelvin_noether", "relative error of the Kelvin-Noether quantity"),
    }
    growth = {"energy-growth": lambda: energy_growth(study)} if study.scheme == "paper" else {}
    return drawn | growth | {"overview": lambda: viz.plot(run.dataset)}


def trajectory(run: nd.Trajectory) -> Any:
    """The path in space, downwards drawn downwards, and its coordinates over time."""
    from naiad import viz
    from naiad.viz.space import dress_space, to_scale
    from naiad.viz.style import dress

    q = run.g.q
    with viz.house():
        figure = viz.new_figure(10.0, 4.4)
        grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.2))
        space: Any = figure.add_subplot(grid[0], projection="3d")
        space.plot(*q.T, color=viz.PALETTE[0])
        space.plot(*q[:1].T, "o", color=viz.PALETTE[0], markersize=4)
        dress_space(space, ("$x$ [m]", "$y$ [m]", "$z$, downwards [m]"))
        to_scale(space, q, zoom=0.86)
        space.invert_zaxis()
        space.invert_yaxis()  # still right-handed
        over_time = figure.add_subplot(grid[1])
        for index, name in enumerate("xyz"):
            over_time.plot(run.t, q[:, index], color=viz.PALETTE[index], label=f"${name}$")
        over_time.invert_yaxis()
        dress(over_time, "time [s]", "position [m], $z$ downwards")
        over_time.legend()
        return figure


def attitude(run: nd.Trajectory) -> Any:
    """Yaw, pitch and roll, and the tilt of the body's third axis from the vertical."""
    from scipy.spatial.transform import Rotation

    from naiad import viz

    R = run.g.R
    angles = np.unwrap(Rotation.from_matrix(R).as_euler("ZYX"), axis=0)
    tilt = np.arctan2(np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
    with viz.house():
        figure = viz.new_figure(7.0, 4.8)
        upper, lower = figure.subplots(2, 1, sharex=True)
        viz.errors_over_time(run.t, {"yaw": np.rad2deg(angles[:, 0])}, "yaw [°]", ax=upper)
        series = {
            "pitch": np.rad2deg(angles[:, 1]),
            "roll": np.rad2deg(angles[:, 2]),
            "tilt from the vertical": np.rad2deg(tilt),
        }
        viz.errors_over_time(run.t, series, "angle [°]", ax=lower)
        upper.set_xlabel("")
        return figure


def errors(study: "BuoyantVehicle", name: str, label: str) -> Any:
    """The relative error of an invariant, for both maps with both schemes."""
    from naiad import viz

    series, time = {}, None
    for scheme in SCHEMES:
        for map in MAPS:
            plan = study.plan(map, scheme)
            run = _simulated(study, plan, {name: plan.invariants[name]})
            time, values = run.t, relative_change(run.record[name])
            series[f"{scheme}, {map}"] = np.maximum(values, 1e-17)
    return viz.errors_over_time(time, series, label, log=True)


def energy_growth(study: "BuoyantVehicle") -> Any:
    """E_k - E_0 of the paper's scheme, what its one-sidedness predicts, and the energy with U half a step later."""
    from naiad import viz

    plan = study.plan(study.map, "paper")
    midway = MidwayEnergy(plan.vehicle, plan.method, study.dt)
    run = _simulated(study, plan, {"E": plan.energy, "midway": midway, "xi": plan.velocity})
    E, midway, v_z = run.record["E"], run.record["midway"], run.record["xi"][:, 5]
    series = {
        "$E_k - E_0$": E - E[0],
        "$(h/2)\\,W\\,(v_z(t) - v_z(0))$": 0.5 * study.dt * plan.vehicle.surplus * (v_z - v_z[0]),
        "$U$ at $(q_k + q_{k+1})/2$": midway - midway[0],
    }
    return viz.errors_over_time(run.t, series, "change of energy [J]", title="Where the energy's growth comes from")


def _simulated(study: "BuoyantVehicle", plan: Any, outputs: dict) -> nd.Trajectory:
    return nd.simulate(
        plan.vehicle, plan.state, t1=study.t1, dt=study.dt, method=plan.method, outputs=outputs, progress=False
    )
