"""The live page of a study: what it computes, and which of the study's parameters are sliders."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.viz.live import SectionPlot, Slider
from naiad.viz.live.controls import Model, as_slider, with_value
from naiad.viz.live.page import live_page

if TYPE_CHECKING:
    from naiad.studies.study import Study


class LivePage(NamedTuple):
    """What a study shows live.

    `build` makes the system and the initial state of a study whose parameters may be numbers that JAX traces: those of
    the sliders. `sliders` has a range (low, high) by the name of a parameter, which gives bounds, unit and meaning, or
    a `Slider` for what is none. Parameters that are not given (None), or are matrices, have no slider. `methods` are
    integrators by what they are called, `note` is said below the title, the rest is that of `naiad.live`.
    """

    build: Callable[[Any], tuple[LagrangianSystem, State]]
    sliders: Mapping[str, tuple[float, float] | Slider]
    methods: Mapping[str, AbstractMethod]
    dt: float
    span: float
    outputs: Mapping[str, Callable[..., Any]] | None = None
    units: Mapping[str, str] | None = None
    section: SectionPlot | None = None
    time_unit: str = "s"
    step: tuple[float, float] | None = None
    touch: Callable[..., Any] | None = None
    note: str = ""


def study_page(study: "Study", beside: "Study | None" = None) -> str:
    """The live page of a study as text; `beside`, a study that differs in its method, adds that method."""
    page = study.live()
    sliders = {name: slider for name, given in page.sliders.items() if (slider := _slider(study, name, given))}
    methods = dict(page.methods) | ({} if beside is None else dict(beside.live().methods))
    told = [f"{key} = {text}" for key, text in study.changed().items() if key not in (*sliders, "dt", "t1", "method")]
    return live_page(
        Model(sliders, lambda values: page.build(with_parameters(study, values))),
        title=study.summary().rstrip("."),
        subtitle="  ·  ".join([*filter(None, [page.note]), *(methods if len(methods) == 1 else ()), *told]),
        methods=methods,
        dt=page.dt,
        step=None if page.step is None else Slider(*page.step, unit=page.time_unit, log=True),
        outputs=page.outputs,
        units=page.units,
        section=page.section,
        touch=page.touch,
        span=page.span,
        time_unit=page.time_unit,
    )


def with_parameters(study: "Study", values: Mapping[str, Any]) -> "Study":
    """A study like this with other values, which are not looked at: JAX may trace them."""
    new = object.__new__(type(study))
    for name in study.parameters:
        object.__setattr__(new, name, values.get(name, getattr(study, name)))
    for name in values.keys() - study.parameters.keys():
        object.__setattr__(new, name, values[name])
    return new


def _slider(study: "Study", name: str, given: Any) -> Slider | None:
    """The slider of a parameter, within the bounds that it has."""
    if name not in study.parameters:
        return with_value(name, as_slider(name, given), None)
    value, options = getattr(study, name), study.parameters[name].options
    value = given.value if value is None and isinstance(given, Slider) else value
    if value is None or isinstance(value, str) or np.ndim(value) > 1:
        return None
    slider = as_slider(name, given)
    bounds = [each for each in (options.at_least, options.above) if each is not None]
    tops = [each for each in (options.at_most, options.below) if each is not None]
    low, high = max(slider.low, *bounds, -np.inf), min(slider.high, *tops, np.inf)
    if options.above is not None and low <= options.above:
        raise InputError(f"{study.name}: the slider of {name} begins at {low:g}, which {name} must be above.")
    words: dict[str, Any] = {
        "unit": options.unit,
        "help": slider.help or re.split(r": | \(", options.help)[0],
        "label": slider.label or name,
    }
    return with_value(name, slider._replace(low=float(low), high=float(high), **words), value)
