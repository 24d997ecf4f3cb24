"""What the studies of optimal control share: parameters of the discretisation, results, data and figures."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

import naiad as nd
from naiad.errors import InputError, RunError
from naiad.studies.parameters import Block, parameter
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray

ORDERS = "2 (variational, controls constant over a step), 4 or 6 (Gauss, controls linear and quadratic over a step)"
ITERATIONS = 200
MOST_KNOWN = 8  # optima that are kept
METHODS = {
    2: nd.Variational(),
    4: nd.VPRK("gauss2", nd.Exponential()),
    6: nd.VPRK("gauss3", nd.Exponential()),
}


class Discretisation(Block):
    """Parameters of the discretisation."""

    steps: int = parameter(64, at_least=8, at_most=20000, help="steps from the start to the goal")
    order: int = parameter(4, at_least=2, at_most=6, help=f"order of the discretisation: {ORDERS}")


def check_order(order: int) -> None:
    """Raise an `InputError` unless there is a method of this order."""
    if order not in METHODS:
        raise InputError(f"order={order}: expected one of 2, 4, 6; for example -p order=4")


def solved(study: Any, progress: Progress, *args: Any, **options: Any) -> nd.control.Solution:
    """The optimum of a study with these parameters, with the error of its cost; a `RunError` where there is none. That
    of a study of which it was found before is the same."""
    known = (type(study), *study.changed().items())
    if known in _FOUND:
        return _FOUND[known]

    def tell(iteration: int, _: Any) -> None:
        progress(iteration / (iteration + 10.0))

    found = nd.control.solve(
        *args,
        N=study.steps,
        method=METHODS[study.order],
        estimate=True,
        iterations=ITERATIONS,
        progress=tell,
        **options,
    )
    if not found.solved:
        raise RunError(found.message)
    progress(1.0)
    if len(_FOUND) >= MOST_KNOWN:
        _FOUND.clear()
    _FOUND[known] = found
    return found


_FOUND: dict[Any, nd.control.Solution] = {}  # the page of a study shows the optimum of its run


def results(found: nd.control.Solution) -> dict[str, Any]:
    """The results that all have."""
    return {
        "cost": found.cost,
        "time": found.T,
        "status": str(found.status),
        "iterations": found.iterations,
        "error_estimate": found.error_estimate,
    } | ({"remark": found.message} if found.message else {})


def dataset(found: nd.control.Solution) -> "xarray.Dataset":
    """Configurations and momenta at the nodes, costates after them, controls in the steps."""
    import xarray as xr

    group = found.problem.group
    data: dict[str, Any] = {}
    for name, leaf in zip(group.names.element, jax.tree.leaves(found.states.g), strict=True):
        data[name] = (("time", *(f"{name}_{k}" for k in range(leaf.ndim - 1))), leaf)
    for label, values in (("momentum", found.states.mu), ("costate", _costates(found))):
        data[label] = (("time", "component"), values)
    stages = found.u.shape[1]
    data["u"] = (("control_time", "control"), found.u.reshape(-1, found.u.shape[2]))
    times = {"time": ("time", found.t, {"units": "s"}), "control_time": found.t_u.reshape(-1)}
    return xr.Dataset(data, times, {"stages": stages, "cost": found.cost, "status": str(found.status)})


def _costates(found: nd.control.Solution) -> np.ndarray:
    """Of the configuration at the nodes; at the first, where the motion is given, that of the second."""
    lam = found.costates.g
    return np.concatenate([lam[:1], lam])


def figures(found: nd.control.Solution, bound: float | None) -> dict[str, Any]:
    """Controls with their bounds, costates, and the iterations."""
    return {
        "controls": lambda: controls_figure(found.t_u.reshape(-1), found.u.reshape(-1, found.u.shape[2]), bound),
        "costates": lambda: _costate_figure(found),
        "iterations": lambda: _iterations(found),
    }


def path_figure(g: Any, obstacle: np.ndarray | None = None) -> Any:
    """The path of poses, with the body's axes at some of them, and a sphere that is an obstacle: its middle and its
    radius."""
    from naiad import viz
    from naiad.viz.space import set_stage
    from naiad.viz.style import FAINT

    with viz.house():
        figure = viz.new_figure(6.0, 4.6, "Path and attitude")
        ax: Any = figure.add_subplot(projection="3d")
        ax.plot(*g.x.T, color=viz.PALETTE[0])
        length = 0.12 * float(np.linalg.norm(np.ptp(g.x, axis=0)))
        shown = [g.x]
        for k in np.linspace(0, len(g.x) - 1, 9).astype(int):
            for axis in range(3):
                ends = np.stack([g.x[k], g.x[k] + length * g.R[k][:, axis]])
                ax.plot(*ends.T, color=viz.PALETTE[1 + axis], linewidth=1.4)
                shown.append(ends)
        if obstacle is not None:
            u, v = np.mgrid[0 : 2 * np.pi : 24j, 0 : np.pi : 12j]
            ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
            ball = obstacle[:3] + obstacle[3] * ball
            ax.plot_wireframe(*np.moveaxis(ball, -1, 0), color=FAINT, linewidth=0.4)
            shown.append(ball.reshape(-1, 3))
        set_stage(ax, np.concatenate(shown))
        return figure


def controls_figure(t: np.ndarray, u: np.ndarray, bound: float | None) -> Any:
    """Controls, a column each, with their bounds."""
    from naiad import viz

    lines = {f"$u_{{{k + 1}}}$": u[:, k] for k in range(u.shape[1])}
    figure = viz.errors_over_time(t, lines, "control", title="Controls")
    if bound is not None:
        for value in (-bound, bound):
            figure.axes[0].axhline(value, color="#8A8A8A", linewidth=0.8, linestyle="--")
    return figure


def _costate_figure(found: nd.control.Solution) -> Any:
    from naiad import viz

    lam = found.costates.g
    lines = {f"$\\lambda_{{{k + 1}}}$": lam[:, k] for k in range(lam.shape[1])}
    return viz.errors_over_time(found.t[1:], lines, "costate of the configuration", title="Costates")


def _iterations(found: nd.control.Solution) -> Any:
    from naiad import viz

    count = np.arange(len(found.history["cost"]))
    shown = {key: np.maximum(found.history[key], 1e-17) for key in ("primal", "dual", "barrier")}
    figure = viz.errors_over_time(count, shown, "error", log=True, title="Iterations")
    figure.axes[0].set_xlabel("iteration")
    return figure
