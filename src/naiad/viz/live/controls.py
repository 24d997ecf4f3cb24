"""What a reader of a live page may change: sliders for fields of the system, for the initial state, for arguments of
functions that make them."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, State, join_rows, split_rows
from naiad.mechanics.labels import labels
from naiad.numerics import Module
from naiad.numerics.double import double

MOST = 12  # sliders of one control
ROUND_OFF = 1e-12  # a number below this part of the range of its slider is rounding
_WAY = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\[(\d+(?:,\s*\d+)*)\])?")


class Slider(NamedTuple):
    """A number that the reader of a page may change, between `low` and `high`; with `log` in even ratios.

    `value` is where it begins: if it is not given, what the system, the state, or the default of a function's argument
    has. Several numbers are a slider each. `label`, `unit` and `help`, a few words on what it is, are shown beside it.
    """

    low: float
    high: float
    value: Any = None
    unit: str = ""
    label: str = ""
    log: bool = False
    help: str = ""


Values = Mapping[str, Any]
"""By the names of the sliders, their numbers."""


class Model(NamedTuple):
    """What a page computes: its sliders by name, each with its `value`, and the function that makes the system and the
    initial state of values of them."""

    sliders: dict[str, Slider]
    build: Callable[[Values], tuple[LagrangianSystem, State]]

    @property
    def values(self) -> dict[str, np.ndarray]:
        """Where the sliders begin."""
        return {name: np.asarray(slider.value, float) for name, slider in self.sliders.items()}


def as_model(system: Any, state: Any, controls: Mapping[str, Any]) -> Model:
    """The model of a system and a state, or of functions of the sliders' names that make them."""
    makes, starts = _arguments("system", system, 0), _arguments("state", state, 1)
    start_of: Any = state
    ways: dict[str, _Change] = {}
    sliders = {}
    for name, given in controls.items():
        slider = as_slider(name, given)
        if name in makes | starts:
            sliders[name] = with_value(name, slider, (starts | makes)[name])
        else:
            ways[name] = change = _found(name, system, state, makes | starts)
            sliders[name] = with_value(name, slider._replace(unit=slider.unit or change.unit), change.now)
    for name, default in (makes | starts).items():
        if name not in sliders and default is None and name != "dt":
            raise InputError(f"live: no control for the argument {name}; give it one, or a default in the function.")

    @double
    def build(values: Values) -> tuple[LagrangianSystem, State]:
        made = system(**{name: values[name] for name in makes if name in values}) if makes or _made(system) else system
        for name, change in ways.items():
            made = change.of_system(made, values[name])
        if callable(state):
            return made, start_of(made, **{name: values[name] for name in starts if name in values})
        start = State(*state)
        held = [change.velocity for change in ways.values() if change.velocity is not None]
        if held:
            start = start._replace(mu=made.legendre(start.g, jnp.asarray(held[0]), 0.0))
        for name, change in ways.items():
            start = change.of_state(made, start, values[name])
        return made, start

    return Model(sliders, build)


def as_slider(name: str, given: Any) -> Slider:
    """A slider from (low, high), with what may follow, or as it is."""
    if not isinstance(given, Slider):
        if not isinstance(given, tuple | list) or not 2 <= len(given) <= len(Slider._fields):
            raise InputError(f"controls[{name!r}] = {given!r:.60}; expected (low, high), or a Slider.")
        given = Slider(*given)
    low, high = given.low, given.high
    numbers = all(isinstance(each, int | float | np.number) and np.isfinite(each) for each in (low, high))
    if not numbers or not low < high or (given.log and low <= 0):
        above = ", both above 0" if given.log else ""
        raise InputError(
            f"controls[{name!r}] goes from {low!r:.30} to {high!r:.30}; expected two finite numbers{above}, the lower "
            "one first."
        )
    return given._replace(low=float(low), high=float(high), log=bool(given.log))


def with_value(name: str, slider: Slider, default: Any) -> Slider:
    """The slider with where it begins; its range is widened where that lies outside. What is round-off of the range is
    zero."""
    given = default if slider.value is None else slider.value
    try:
        value = np.asarray(given, float)
    except (TypeError, ValueError):
        value = np.zeros(0)
    if value.ndim > 1 or not 1 <= value.size <= MOST or not np.all(np.isfinite(value)):
        raise InputError(
            f"controls[{name!r}] begins at {given!r:.60}; expected a finite number, or up to {MOST} of them (of a "
            "matrix name an element, as in 'J[0,0]')."
        )
    low, high = min(slider.low, float(value.min())), max(slider.high, float(value.max()))
    if slider.log and low <= 0:
        raise InputError(f"controls[{name!r}] begins at {given!r:.60}, and has even ratios; expected numbers above 0.")
    if not slider.log:
        value = np.where(np.abs(value) < ROUND_OFF * (high - low), 0.0, value)
        low, high = min(slider.low, float(value.min())), max(slider.high, float(value.max()))
    return slider._replace(low=low, high=high, value=value)


class _Change(NamedTuple):
    """How a number enters a system or a state that are given as they are: its present value, its unit."""

    now: Any
    unit: str
    of_system: Callable[[Any, Any], Any] = lambda system, value: system
    of_state: Callable[[Any, State, Any], State] = lambda system, state, value: state
    velocity: Any = None  # at the start, where this is a component of it: the others are held then, whatever the system


def _made(system: Any) -> bool:
    return callable(system) and not isinstance(system, LagrangianSystem)


def _arguments(what: str, function: Any, first: int) -> dict[str, Any]:
    """The names that a function takes after its `first` arguments, with their defaults; none of what is no function."""
    if isinstance(function, LagrangianSystem) or not callable(function):
        return {}
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        given = []
    named = [each for each in given if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    if len(named) != len(given) or len(named) < first:
        takes = "the system, and then controls by their names" if first else "controls by their names"
        raise InputError(f"live: {what} is a function of other arguments; expected one that takes {takes}.")
    return {each.name: None if each.default is each.empty else each.default for each in named[first:]}


def _found(name: str, system: Any, state: Any, arguments: Mapping[str, Any]) -> _Change:
    """What the name of a control means."""
    matched = _WAY.fullmatch(name)
    known = list(arguments)
    if isinstance(system, LagrangianSystem):
        fields = [field for field in system.__dataclass_fields__ if _is_number(getattr(system, field, None))]
        components = () if callable(state) else (part for kind in system.group.names for part in kind)
        known += [*fields, *components]
        if matched:
            way, index = matched[1].split("."), _index(matched[2])
            if way[0] in system.__dataclass_fields__:
                return _of_system(name, system, way, index)
            if not callable(state) and len(way) == 1:
                for kind in system.group.names:
                    if way[0] in kind:
                        return _of_state(name, system, State(*state), way[0], index)
    raise InputError(
        f"controls[{name!r}]: there is nothing of that name; there are {', '.join([*known, 'dt'])}. An element of an "
        "array is 'J[0,0]', a field of a field 'tree.mass'; anything else is an argument of a function that makes the "
        "system or the state."
    )


def _index(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(int(each) for each in text.split(","))


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int | np.ndarray | np.number | jax.Array) and not isinstance(value, bool)


def _element(name: str, array: Any, index: tuple[int, ...] | None) -> Any:
    try:
        return array if index is None else np.asarray(array)[index]
    except IndexError:
        raise InputError(f"controls[{name!r}]: there is no such element; the shape is {np.shape(array)}.") from None


def _placed(array: Any, index: tuple[int, ...] | None, value: Any) -> Any:
    """The array with a value in place of an element, or of all."""
    if index is None:
        return jnp.reshape(jnp.asarray(value, float), np.shape(array))
    where = np.zeros(np.shape(array), bool)
    where[index] = True
    return jnp.where(where, value, jnp.asarray(array, float))


def _of_system(name: str, system: LagrangianSystem, way: list[str], index: tuple[int, ...] | None) -> _Change:
    thing: Any = system
    for part in way:
        field = getattr(thing, "__dataclass_fields__", {}).get(part)
        if not isinstance(thing, Module) or field is None or field.metadata.get("static"):
            raise InputError(
                f"controls[{name!r}]: {part} is no field of {type(thing).__name__} that holds numbers; a number that "
                "others follow from is an argument of a function that makes the system."
            )
        thing = getattr(thing, part)
    if not _is_number(thing):
        raise InputError(f"controls[{name!r}] is {thing!r:.60}; expected a field that holds numbers.")

    def changed(module: Any, way: list[str], value: Any) -> Any:
        old = getattr(module, way[0])
        new = changed(old, way[1:], value) if len(way) > 1 else _placed(old, index, value)
        return module.replaced(**{way[0]: new})

    return _Change(_element(name, thing, index), "", of_system=lambda made, value: changed(made, way, value))


def _of_state(name: str, system: LagrangianSystem, state: State, part: str, index: tuple[int, ...] | None) -> _Change:
    """A component of the initial state: of the configuration, of the velocity there, or of the momentum."""
    group, about = system.group, labels(system)[part]
    if part in group.names.element:
        place = group.names.element.index(part)
        if about.words == "attitude":
            raise InputError(
                f"controls[{name!r}] is an attitude, whose numbers are not free; let the state be a function, as in "
                "lambda system, tilt: system.state(R=..., ...)."
            )
        now = jax.tree.leaves(state.g)[place]

        def moved(made: Any, start: State, value: Any) -> State:
            leaves, tree = jax.tree.flatten(start.g)
            leaves[place] = _placed(leaves[place], index, value)
            return start._replace(g=jax.tree.unflatten(tree, leaves))

        return _Change(_element(name, now, index), about.units, of_state=moved)
    fast = part in group.names.velocity
    place = (group.names.velocity if fast else group.names.momentum).index(part)
    mu = np.asarray(state.mu, float)
    vector = np.asarray(execute(_velocity, system, state, parameters=(0,))) if fast else mu

    def pushed(made: Any, start: State, value: Any) -> State:
        whole = made.velocity(start.g, start.mu, 0.0) if fast else start.mu
        parts = [jnp.asarray(whole)[..., places] for places in _places(group)]
        parts[place] = _placed(parts[place], index, value)
        joined = join_rows(group, parts)
        return start._replace(mu=made.legendre(start.g, joined, 0.0) if fast else joined)

    now = _element(name, split_rows(group, vector)[place], index)
    return _Change(now, about.units, of_state=pushed, velocity=vector if fast else None)


def _places(group: Any) -> list[np.ndarray]:
    """Where the components of a vector lie."""
    return [part.astype(int) for part in split_rows(group, np.arange(float(group.dim)))]


def _velocity(system: LagrangianSystem, state: State) -> Any:
    return system.velocity(state.g, state.mu, 0.0)
