"""`plot`: one figure that shows what a run did, with the panels that its data allow, or those that are asked for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.viz import paths
from naiad.viz.bodies import spoken
from naiad.viz.conservation import energy_error, has_energy, momentum_error
from naiad.viz.lines import Panel, line_panels
from naiad.viz.pieces import errors_over_time
from naiad.viz.roles import Component, Element, clock_label, components, elements, units_of
from naiad.viz.style import house, labelled, new_figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERRORS = {"energy_error": energy_error, "momentum_error": momentum_error}
PATH = "path"
MOST_NUMBERS = 12
_QUANTITIES = {
    "Omega": ("angular velocity", r"\Omega", "rad/s"),
    "v": ("velocity", "v", "m/s"),
    "Pi": ("angular momentum", r"\Pi", "kg m^2/s"),
    "p": ("momentum", "p", "kg m/s"),
}


@checked_throughout
def plot(
    dataset: "xr.Dataset",
    *,
    variables: str | Sequence[str] | None = None,
    outputs: Sequence[str] = (),
    title: str | None = None,
) -> "Figure":
    """An overview of a trajectory: velocities (or momenta), energy and momentum errors, and the path that it took.

    The dataset has the coordinate `time` and variables named as the groups name them; there may be any number of bodies
    and of frames. Relative errors are (E - E_0)/|E_0| and |J - J_0|/|J_0|; absolute where the initial value is zero.
    Where work W is done (`work_done`) the balance E - E_0 - W is in place of the energy error, in a heat bath E itself.
    `variables` are the names of what is drawn instead, in their order: any variables of the dataset, "energy_error",
    "momentum_error" and "path". `outputs` are drawn besides what is usual, if they are of at most 12 numbers. Lines of
    very different size have panels of their own.
    """
    if "time" not in dataset.coords or dataset.sizes.get("time", 0) == 0:
        raise InputError("there is nothing to plot: expected a dataset with a coordinate 'time' and at least one frame")
    found = elements(dataset)
    path = paths.path_panel(dataset, found)
    if variables is None:
        few = [name for name in outputs if dataset[name][:1].size <= MOST_NUMBERS]
        series = _usual_panels(dataset, found) + _named_panels(dataset, few)
    else:
        names = [variables] if isinstance(variables, str) else list(variables)
        _check_names(dataset, names, path)
        series = _named_panels(dataset, [name for name in names if name != PATH])
        path = path if PATH in names else None
    if not series and path is None:
        raise InputError(
            "there is nothing to plot: expected variables such as R, x, Omega, v or energy along time, found "
            + (", ".join(map(str, dataset.data_vars)) or "none")
            + "; name what is to be drawn in `variables`"
        )
    with house():
        return _assemble(series, path, title)


def _check_names(dataset: "xr.Dataset", names: list[str], path: "paths.Path | None") -> None:
    known = [str(name) for name, each in dataset.data_vars.items() if _clock(each) and each.dtype.kind in "fiub"]
    known += [name for name, error in ERRORS.items() if error(dataset) is not None]
    known += [PATH] if path is not None else []
    for name in names:
        if name not in known:
            file = f" A figure goes into a file by plot().savefig({name!r})." if Path(name).suffix else ""
            raise InputError(f"variables: {name!r} is not there to draw; expected some of {', '.join(known)}.{file}")
    if not names:
        raise InputError(f"variables is empty; expected some of {', '.join(known)}.")


def _assemble(series: list[Panel], path: "paths.Path | None", title: str | None) -> "Figure":
    """Time series on the left, the path on the right; only series: one or two columns."""
    columns = 0 if not series else 1 if path is not None or len(series) <= 3 else 2
    widths = [1.35] * columns + [1.0] * (path is not None)
    rows = -(-len(series) // columns) if series else 1
    figure = new_figure(11.0 if len(widths) > 1 else 7.0, max(3.6, 2.0 * rows), title)
    grid = figure.add_gridspec(rows, len(widths), width_ratios=widths)
    first: Axes | None = None
    for index, panel in enumerate(series):
        ax = figure.add_subplot(grid[divmod(index, columns)], sharex=first)
        first = first or ax
        panel(ax)
        if index + columns < len(series):
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
    if path is not None:
        path.draw(figure.add_subplot(grid[:, -1], projection=path.projection))
    return figure


def _usual_panels(dataset: "xr.Dataset", found: list[Element]) -> list[Panel]:
    time, moving, clock = dataset["time"].to_numpy().astype(float), components(dataset), clock_label(dataset["time"])
    called = [str(name) for name in dataset.attrs.get("bodies", ())]
    panels: list[Panel] = []
    for kind in dict.fromkeys((motion.symbol, motion.units) for motion in moving):
        group = [motion for motion in moving if (motion.symbol, motion.units) == kind]
        panels += _motion_panels(time, group, called, clock)
    for element in found:
        if element.kind == "angle" or (element.kind == "position" and element.values.shape[2] not in (2, 3)):
            panels += _element_panels(time, element, clock)
    if has_energy(dataset) and energy_error(dataset) is None:
        panels += _named_panel(dataset, "energy")
    return panels + [panel for name in ERRORS for panel in _error_panels(dataset, name)]


def _motion_panels(time: np.ndarray, group: list[Component], called: Sequence[str], clock: str) -> list[Panel]:
    words, letter, usual = _QUANTITIES[group[0].symbol]
    units = usual if group[0].units is None else group[0].units
    if units not in (usual, "") and group[0].words:
        words = group[0].words
    names = [spoken(owner) if (owner := motion.name.rpartition("_")[0]) else "" for motion in group]
    values = {name: motion.values for name, motion in zip(names, group, strict=True)}
    return line_panels(time, labelled(f"{words}\n${letter}$", units), letter, values, bodies=called, clock=clock)


def _element_panels(time: np.ndarray, element: Element, clock: str) -> list[Panel]:
    angle = element.kind == "angle"
    values = element.values[:, :, None] if angle else element.values
    letter = _letter(element.name)
    units = element.units or ("rad" if angle else None)
    words = labelled(f"angle ${letter}$" if angle else f"${letter}$", units)
    return line_panels(time, words, letter, {"": values}, clock=clock)


def _named_panels(dataset: "xr.Dataset", names: Sequence[str]) -> list[Panel]:
    return [panel for name in names for panel in _named_panel(dataset, name)]


def _named_panel(dataset: "xr.Dataset", name: str) -> list[Panel]:
    """A variable of any shape: its last axis are components, those before it bodies; a matrix has rows and columns."""
    if name in ERRORS and name not in dataset:
        return _error_panels(dataset, name)
    variable = dataset[name]
    clock = _clock(variable)
    rows = variable.transpose(clock, ...)
    own = rows.dims[1:]
    if own[-2:] == ("axis", "body_axis") or (name.rpartition("_")[2] == "R" and len(own) > 1):
        marks = [f"{i + 1}{j + 1}" for i in range(rows.shape[-2]) for j in range(rows.shape[-1])]
    else:
        marks = [str(k + 1) for k in range(rows.shape[-1] if own and own != ("body",) else 1)]
    values = rows.to_numpy().astype(float).reshape(len(rows), -1, len(marks))
    words = str(variable.attrs.get("long_name", ""))
    symbol = name.rpartition("_")[2]
    letter = _QUANTITIES[symbol][1] if symbol in _QUANTITIES else _letter(name)
    label = words if words == name else f"{words}\n${letter}$".lstrip("\n")
    time = dataset[clock].to_numpy().astype(float)
    words, called = labelled(label, units_of(variable)), clock_label(dataset[clock])
    return line_panels(time, words, letter, {"": values}, marks, clock=called)


def _error_panels(dataset: "xr.Dataset", name: str) -> list[Panel]:
    error, time = ERRORS[name](dataset), dataset["time"].to_numpy().astype(float)
    if error is None:
        return []
    values, label = error
    clock = clock_label(dataset["time"])
    return [lambda ax: errors_over_time(time, {"": values}, label, xlabel=clock, ax=ax)]


def _clock(variable: "xr.DataArray") -> str:
    """The dimension of time that a variable has: that of the saved nodes, or of outputs with their own cadence."""
    return next((clock for clock in ("time", "output_time") if clock in variable.dims), "")


def _letter(name: str) -> str:
    greek = {"alpha", "beta", "gamma", "delta", "theta", "phi", "psi", "omega", "Omega", "mu", "nu", "xi", "Pi"}
    return rf"\{name}" if name in greek else rf"\mathrm{{{name.replace('_', '~')}}}"
