"""What a notebook shows of a system, a run or an ensemble: a short table and a small picture, as HTML."""

import base64
import dataclasses
import html
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError, NaiadError
from naiad.numerics import double
from naiad.numerics.arguments import checked_throughout
from naiad.viz.conservation import energy_error
from naiad.viz.motion import describe_motion
from naiad.viz.sparkline import POINTS, sparkline
from naiad.viz.still import Still
from naiad.viz.thinning import evenly, thin

if TYPE_CHECKING:
    import xarray as xr

    from naiad.ensembles import Ensemble
    from naiad.mechanics import LagrangianSystem
    from naiad.simulation import Trajectory

SIZE = (260, 180)
COLOURS = 48
LONGEST, MOST_FIELDS, MOST_RUNS = 60, 16, 400
Rows = Iterable[tuple[str, str]]


@checked_throughout
def card(thing: Any) -> str:
    """What a notebook shows of a system, a `Trajectory` or an `Ensemble`. It is all in the text, some kilobytes. What
    cannot be drawn is left out, and a thing that cannot be shown at all is its plain text."""
    from naiad.ensembles import Ensemble
    from naiad.mechanics import LagrangianSystem
    from naiad.simulation import Trajectory

    shown = {Trajectory: _run, Ensemble: _ensemble, LagrangianSystem: _system}
    make = next((make for kind, make in shown.items() if isinstance(thing, kind)), None)
    if make is None:
        raise InputError(f"card: {type(thing).__name__} is no system, run or ensemble; give one of these")
    try:
        return make(thing)
    except Exception:  # a notebook shows something of a thing that is broken, too
        return f"<pre>{html.escape(_text(thing))}</pre>"


def assembled(title: str, rows: Rows, pictures: Iterable[str]) -> str:
    """A title, a table of names and values, and pictures that are HTML already."""
    body = "".join(
        f'<tr><td style="text-align:left;opacity:0.7;padding:1px 14px 1px 0">{html.escape(name)}</td>'
        f'<td style="text-align:left;padding:1px 0">{html.escape(value)}</td></tr>'
        for name, value in rows
    )
    table = f'<table style="border-collapse:collapse;font-size:0.9em"><tbody>{body}</tbody></table>'
    parts = "".join(f"<div>{each}</div>" for each in pictures if each)
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:8px 28px;align-items:flex-start">'
        f"<div><strong>{html.escape(title)}</strong>{table}</div>{parts}</div>"
    )


@double
def _system(system: "LagrangianSystem") -> str:
    fields = [field.name for field in dataclasses.fields(system) if field.name != "group"]
    rows = [("group", f"{_text(system.group)}, of dimension {system.group.dim}")]
    rows += [(name, value_in_words(getattr(system, name, None))) for name in fields[:MOST_FIELDS]]
    rows += [("", f"and {len(fields) - MOST_FIELDS} more")] if len(fields) > MOST_FIELDS else []
    return assembled(type(system).__name__, rows, [_pictured(lambda: _at_rest(system))])


def _run(run: "Trajectory") -> str:
    from naiad.mechanics import units_of

    units = units_of(run.system)
    rows = [
        ("system", type(run.system).__name__),
        ("method", f"{type(run.method).__name__}, dt = {units.of_time(run.attrs['dt'])}"),
        ("time", f"{float(run.t[0]):g} .. {units.of_time(run.attrs['t'])}"),
        ("steps", f"{run.attrs['steps']}, {len(run.t)} nodes saved"),
        ("outcome", run.outcome.name.lower()),
    ]
    error = _or_none(lambda: energy_error(run.dataset))
    curve = ""
    if error is not None:
        words = error[1].replace("\n", " ").replace("$", "")
        rows.append(("energy error", f"{np.nanmax(np.abs(error[0])):.3g} at most"))
        time, values = thin(run.t.to_numpy(), error[0], POINTS)
        curve = sparkline(time, [values], None, words)
    return assembled("Trajectory", rows, [_pictured(lambda: run.dataset), curve])


def _ensemble(ensemble: "Ensemble") -> str:
    from naiad.mechanics import units_of

    job = ensemble.job
    step = units_of(job.program.family.system).of_time(job.schedule.h)
    ends = ", ".join(f"{count} {outcome.name.lower()}" for outcome, count in ensemble.outcomes.items())
    rows = [
        ("system", type(job.program.family.system).__name__),
        ("method", f"{type(ensemble.method).__name__}, dt = {step}"),
        ("runs", f"{len(ensemble)}: {ends}"),
    ]
    columns = {} if ensemble.cases is None else ensemble.cases.columns
    for name, values in list(columns.items())[:MOST_FIELDS]:
        different = np.unique(values)
        few = len(different) <= 4 or values.dtype.kind not in "fiu"
        among = ", ".join(value_in_words(each) for each in different[:4])
        rows.append((name, among if few else f"{different[0]:.4g} .. {different[-1]:.4g}, {len(different)} values"))
    return assembled("Ensemble", rows, [_or_none(lambda: _spread(ensemble)) or ""])


def _spread(ensemble: "Ensemble") -> str:
    """The first number of the momentum over time: its median, and between what nine of ten runs lie."""
    name = ensemble.job.program.family.system.group.names.momentum[0]
    if name not in ensemble.arrays or not ensemble.job.schedule.uniform:
        return ""
    runs = evenly(len(ensemble), MOST_RUNS)
    every = ensemble.arrays[name][1]
    frames = evenly(every.shape[1], POINTS)
    some = np.stack([np.ravel(np.asarray(every[k]).reshape(every.shape[1], -1)[frames, 0]) for k in runs.tolist()])
    low, middle, high = np.nanquantile(some, (0.05, 0.5, 0.95), axis=0)
    words = f"{name}, first component: median and 5 to 95 per cent"
    return sparkline(ensemble.times("time")[frames], [middle], (low, high), words)


def value_in_words(value: Any) -> str:
    """A value of a field in a few characters."""
    if isinstance(value, bool | str) or value is None:
        text = str(value)
    elif isinstance(value, int | float):
        text = f"{value:.6g}"
    elif hasattr(value, "__array__"):
        array = np.asarray(value)
        short = array.size <= 9
        text = np.array2string(array, precision=4, separator=", ") if short else f"array of shape {array.shape}"
        text = " ".join(text.split())
    else:
        text = _text(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _at_rest(system: "LagrangianSystem") -> "xr.Dataset":
    """A dataset with one frame: the system at the identity of its group."""
    import jax
    import xarray as xr

    from naiad.mechanics import Picture
    from naiad.mechanics.components import identity
    from naiad.mechanics.inertia_shapes import inertia_shapes
    from naiad.mechanics.labels import along_time

    g, picture = identity(system.group), system.picture or Picture()
    if picture.shapes is None:
        picture = picture._replace(shapes=inertia_shapes(system, g, 0.0))
    arrays = dict(zip(system.group.names.element, (leaf[None] for leaf in jax.tree.leaves(g)), strict=True))
    frame = xr.Dataset(along_time(system, arrays), {"time": [0.0]}, picture.attributes)
    if picture.seen is None:
        return frame
    seen = {name: np.asarray(value)[None] for name, value in picture.seen(g, 0.0).items()}
    named = {name: (("time", *(f"{name}_{k}" for k in range(rows.ndim - 1))), rows) for name, rows in seen.items()}
    return frame.drop_vars([name for name in named if name in frame]).assign(named)


def _pictured(make: Any) -> str:
    """The last moment of a motion as a small image, if it can be drawn."""
    return _or_none(lambda: _image(describe_motion(make()))) or ""


def _image(motion: dict[str, Any]) -> str:
    from PIL.Image import Dither

    drawn = Still(motion, SIZE).at(motion["time"][-1]).quantize(COLOURS, dither=Dither.NONE)
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG", optimize=True)
    url = base64.b64encode(buffer.getvalue()).decode("ascii")
    width, height = SIZE
    return f'<img src="data:image/png;base64,{url}" width="{width}" height="{height}" alt="" style="border-radius:6px">'


def _or_none(make: Any) -> Any:
    try:
        return make()
    except (NaiadError, ArithmeticError, ValueError, TypeError, KeyError, AttributeError, NotImplementedError):
        return None


def _text(thing: Any) -> str:
    try:
        return repr(thing)
    except Exception:  # whatever a user's own class does there
        return type(thing).__name__
