"""`live`: a page that computes the motion as it shows it."""

import base64
import html
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.backends.wasm.module import loader
from naiad.errors import InputError, RunWarning
from naiad.files import whole_file
from naiad.integrators import AbstractMethod, check_method, default_method
from naiad.integrators.method import refuse_variable
from naiad.mechanics import LagrangianSystem, State, has_symmetry, keeps_energy, units_of
from naiad.mechanics.functions import explained, with_system
from naiad.mechanics.labels import labels
from naiad.numerics.arguments import checked
from naiad.numerics.double import double
from naiad.simulation import Outcome, Trajectory, observables, simulate
from naiad.simulation.energy_scale import sum_of_parts
from naiad.viz.animation import resource
from naiad.viz.live.controls import Model, Slider, as_model, as_slider, with_value
from naiad.viz.live.program import Recipe
from naiad.viz.live.scene import flattened, scene
from naiad.viz.live.sections import SectionPlot

SCRIPTS = ("motion.js", "scene.js", "mesh.js", "flow.js", "strings.js", "links.js", "view.js")
OWN = (
    "live-history.js",
    "live-engine.js",
    "live-plots.js",
    "live-section.js",
    "live-touch.js",
    "live-controls.js",
    "live.js",
)
STEPS = 2000  # that the camera and the speed fit, where nothing is said
ENDS = (Outcome.NEWTON_FAILED, Outcome.NOT_FINITE, Outcome.EVENT, Outcome.LIMIT)
FINER = 10.0  # the range of the step, from its value


class Page(type(Path())):  # ty: ignore[unsupported-base]
    """The path of a live page; a notebook shows the page itself."""

    def _repr_html_(self) -> str:
        text = html.escape(Path(self).read_text(encoding="utf-8"))
        style = "width: 100%; height: 620px; border: 0"
        return f'<iframe sandbox="allow-scripts allow-downloads" style="{style}" srcdoc="{text}"></iframe>'


@checked
@explained
def live(
    system: LagrangianSystem | Callable[..., Any],
    state: State | Callable[..., Any],
    path: str | os.PathLike[str],
    *,
    controls: Mapping[str, Any] | None = None,
    method: AbstractMethod | None = None,
    methods: Mapping[str, AbstractMethod] | None = None,
    dt: float,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    units: Mapping[str, str] | None = None,
    section: SectionPlot | None = None,
    title: str | None = None,
    touch: Callable[..., Any] | None = None,
    span: float | None = None,
    time_unit: str | None = None,
) -> Path:
    """Write a web page to the HTML file `path` that computes the motion of `system` from `state` for as long as one
    watches, and return the path, which a notebook shows as the page. It needs nothing else: the steps are in it, as
    WebAssembly.

    - `controls`: sliders by name, each (low, high) or a `Slider`: fields of the system (`"mgl"`, an element
      `"J[2,2]"`, a field of a field `"tree.M[0,1,1]"`), components of the initial state (`"Omega[0]"`, `"x"`, `"p"`)
      and `"dt"`. What several numbers follow from is an argument of a function: `system` may be a function of controls,
      by their names, and `state` one of the system and controls:
      `lambda top, tilt: top.state(R=(0.0, tilt, 0.0), Omega=(0.0, 0.0, 8.0))`.
    - `method`: the integrator (that which fits the system, if not given), or `methods`: several by name, side by side.
    - `dt`: the step; functions may take it by this name.
    - `outputs`: functions f(state, t) or f(system, state, t), which are drawn over time; the energy and the momentum
      of a symmetry are drawn anyway.
    - `units`: the units of outputs by their names; those with the name of a component have its unit anyway.
    - `section`: a `SectionPlot`, which fills point by point.
    - `touch`: what a click in the scene of a plane motion does: `touch(system, state, x, y)`, which may take controls
      by their names after these, is the state with which the motion goes on; NaN where nothing is to be done.
    - `span`: how much time the camera and the first speed fit.
    - `time_unit`: the unit of time in which the page counts, if not that of the system's `units`.

    An existing file is replaced once the new one is whole.
    """
    path = Path(path)
    if not path.is_dir() and path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a live page is one web page; name it {path.with_suffix('.html')}.")
    given = dict(controls or {})
    step = given.pop("dt", None)
    text = live_page(
        as_model(system, state, given),
        step=step,
        method=method,
        methods=methods,
        dt=dt,
        outputs=outputs,
        units=units,
        section=section,
        title=title,
        touch=touch,
        span=span,
        time_unit=time_unit,
    )
    with whole_file(path) as file:
        file.write_text(text, encoding="utf-8")
    return Page(path)


def live_page(model: Model, *, title: str | None = None, subtitle: str = "", **options: Any) -> str:
    """The page of a model as text; the options are those of `live`, and `step`, the slider of dt."""
    plan = as_plan(model, **options)
    name = title or _spoken(type(plan.system).__name__)
    parts = {
        "title": html.escape(name),
        "style": "\n".join(map(resource, ("motion.css", "live.css"))),
        "loader": loader(),
        "script": "\n".join(map(resource, (*SCRIPTS, *OWN))),
        "subtitle": html.escape(subtitle),
        "data": json.dumps(plan.described(), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], resource("live.html"))


class Plan(NamedTuple):
    """A page before it is made: the model, the system and the state with which it begins, the methods by name."""

    model: Model
    system: LagrangianSystem
    state: Any
    methods: dict[str, AbstractMethod]
    dt: Slider
    outputs: dict[str, Callable[..., Any]]
    units: dict[str, str]
    section: SectionPlot | None
    touch: Callable[..., Any] | None
    span: float
    time_unit: str

    def described(self) -> dict[str, Any]:
        """All that the page's script is given."""
        trials = {name: self._trial(method) for name, method in self.methods.items()}
        stage = scene({name: run.dataset for name, run in trials.items()}, self.system)
        functions = {f"output{k}": function for k, function in enumerate(self.outputs.values())}
        functions |= {"energy": observables.energy, "poses": stage.poses}
        if has_symmetry(self.system):
            functions["momentum"] = observables.noether
        made = []
        for name, method in self.methods.items():
            recipe = Recipe(self.model, method, _split(functions, self), self.section, self.touch)
            module = recipe.module(0.0, float(self.dt.value))
            made.append(
                {
                    "name": name,
                    "symmetric": bool(method.symmetric(self.system)),
                    "failures": {int(each): each.told(self.system, method) for each in ENDS},
                    "code": base64.b64encode(module.bytes).decode(),
                    "description": module.description,
                }
            )
        about = {
            "methods": made,
            "sliders": [_slider(name, slider) for name, slider in self.model.sliders.items()],
            "dt": _slider("dt", self.dt),
            "unit": self.time_unit,
            "columns": self._columns(),
            "series": self._series(next(iter(trials.values()))),
            "touch": self.touch is not None,
        }
        if self.touch is not None and not stage.described["planar"]:
            raise InputError("live: touch is for motions in a plane; this one is in space.")
        if self.section is not None:
            about["section"] = {
                "labels": list(self.section.labels),
                "paint": self.section.start is not None,
                "orbits": [list(map(float, each)) for each in self.section.orbits],
                "frame": None if self.section.frame is None else list(map(float, self.section.frame)),
            }
        return stage.described | {"span": self.span, "live": about}

    def _trial(self, method: AbstractMethod) -> Trajectory:
        """A motion by a method, to which the camera is fitted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            h = float(self.dt.value)
            return simulate(self.system, self.state, t1=self.span, dt=h, method=method, progress=False)

    def _columns(self) -> list[str]:
        """The names of the numbers of a state, for tables."""
        names, group = self.system.group.names, self.system.group
        leaves = [
            (name, np.shape(leaf)) for name, leaf in zip(names.element, jax.tree.leaves(self.state.g), strict=True)
        ]
        return [name + each for name, shape in leaves for each in flattened(shape)] + [
            f"mu[{k}]" for k in range(group.dim)
        ]

    def _series(self, trial: Trajectory) -> list[dict[str, Any]]:
        """What is drawn over time; the scale of the energy is that of a motion from the start."""
        kept = keeps_energy(self.system)
        words = "energy error" if kept else "energy"
        found: list[dict[str, Any]] = [{"key": "energy", "name": words, "error": kept, "parts": [""]}]
        if not kept:
            found[0]["unit"] = units_of(self.system).named("J")
        else:
            found[0]["scale"] = sum_of_parts(trial.energy.to_numpy(), trial.mu.to_numpy(), trial.xi.to_numpy())
        if "scale" in trial.energy.attrs:
            found[0]["name"] += ", of kinetic + range of potential"
        known = {name: label.units for name, label in labels(self.system).items()} | self.units
        if has_symmetry(self.system):
            count = np.size(_shape(observables.noether, self))
            parts = flattened((count,)) if count > 1 else [""]
            found.append({"key": "momentum", "name": "momentum error", "error": True, "parts": parts})
        for k, (name, function) in enumerate(self.outputs.items()):
            shape = np.shape(_shape(function, self))
            found.append({"key": f"output{k}", "name": name, "error": False, "parts": flattened(shape)})
            found[-1] |= {"unit": known[name]} if known.get(name) else {}
        return found


def as_plan(
    model: Model,
    *,
    dt: float,
    step: Any = None,
    method: AbstractMethod | None = None,
    methods: Mapping[str, AbstractMethod] | None = None,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    units: Mapping[str, str] | None = None,
    section: SectionPlot | None = None,
    touch: Callable[..., Any] | None = None,
    span: float | None = None,
    time_unit: str | None = None,
) -> Plan:
    """What `live` was given, checked."""
    if not (math.isfinite(dt) and dt > 0):
        raise InputError(f"dt = {dt!r}; expected a step above 0.")
    if span is not None and not (math.isfinite(span) and span > 0):
        raise InputError(f"span = {span!r}; expected a time above 0.")
    if method is not None and methods is not None:
        raise InputError("live: both method and methods are given; give one method, or several by name.")
    plain, start = double(model.build)(model.values | {"dt": np.asarray(dt)})
    if not isinstance(plain, LagrangianSystem):
        raise InputError(f"live: system is {plain!r:.60}; expected a LagrangianSystem, or a function that makes one.")
    start = plain.state(g=start[0], mu=start[1])
    time_unit = units_of(plain).time if time_unit is None else time_unit
    steps = as_slider("dt", (dt / FINER, dt * FINER, None, time_unit, "", True) if step is None else step)
    steps = with_value("dt", steps._replace(unit=steps.unit or time_unit, label=steps.label or "step"), dt)
    chosen = dict(methods) if methods else {"": method or default_method(plain)}
    for each in chosen.values():
        refuse_variable(each, "live")
        check_method(each, plain)
    drawn, named = dict(outputs or {}), dict(units or {})
    for name in named.keys() - drawn.keys():
        raise InputError(f"live: units has {name!r}; expected names of outputs: {', '.join(drawn) or 'none'}.")
    long = STEPS * dt if span is None else float(span)
    return Plan(model, plain, start, chosen, steps, drawn, named, section, touch, long, time_unit)


def _split(functions: Mapping[str, Callable[..., Any]], plan: Plan) -> dict[str, Callable[..., Any]]:
    """The functions that give several arrays as one for each."""
    split: dict[str, Callable[..., Any]] = {}
    for name, function in functions.items():
        shapes = _shape(function, plan)
        if not isinstance(shapes, dict):
            split[name] = function
            continue
        for key in shapes:
            split[key] = lambda system, state, t, function=function, key=key: function(system, state, t)[key]
    return split


def _shape(function: Callable[..., Any], plan: Plan) -> Any:
    """What a function of the system's motion gives, as zeros."""
    with jax.enable_x64(True):
        shapes = jax.eval_shape(with_system(function, plan.system), plan.state, 0.0)
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape), shapes)


def _slider(name: str, slider: Slider) -> dict[str, Any]:
    value = np.asarray(slider.value, float)
    about = {"name": name, "label": slider.label or name, "unit": slider.unit, "log": slider.log, "help": slider.help}
    return about | {
        "low": slider.low,
        "high": slider.high,
        "value": value.reshape(-1).tolist(),
        "parts": flattened(value.shape),
    }


def _spoken(name: str) -> str:
    """The name of a class in words."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
    return words[:1].upper() + words[1:]
