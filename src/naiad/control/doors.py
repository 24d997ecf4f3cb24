"""What a user gives for an optimal control problem, checked: one line for each mistake."""

import functools
import operator
from collections.abc import Callable, Hashable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from naiad.control.actuation import Directions
from naiad.control.transcription import AbstractTranscription, GaussSteps, VariationalSteps
from naiad.errors import InputError
from naiad.integrators import VPRK, AbstractMethod, Variational, check_method
from naiad.mechanics import LagrangianSystem, State, check_state
from naiad.mechanics.features import EVERY, refuse_features
from naiad.numerics import double
from naiad.numerics.checks import floats

ORDERS = {2: None, 4: "gauss2", 6: "gauss3"}
MOST_KNOWN = 64  # states that are known to be sound
_SOUND: set[Any] = set()


def transcription(system: LagrangianSystem, order: int, method: AbstractMethod | None) -> AbstractTranscription:
    """The steps of an order, or of a method."""
    if method is None and order not in ORDERS:
        raise InputError(f"order = {order!r}; expected one of {', '.join(map(str, ORDERS))}, or give a method.")
    steps = None if method is not None else _steps(order)
    method = method if steps is None else steps.method
    if not isinstance(method, Variational | VPRK):
        raise InputError(f"method = {type(method).__name__}(...); control takes Variational(...) or VPRK(...).")
    remedy = "Leave it out; of a tree with hinges and welds, take JointSpace(tree)."
    refuse_features("an optimal control problem", EVERY - {"constraint", "noise"}, system, remedy)
    check_method(method, system)
    if steps is not None:
        return steps
    return VariationalSteps(method) if isinstance(method, Variational) else GaussSteps(method)


@functools.cache
def _steps(order: int) -> VariationalSteps | GaussSteps:
    return VariationalSteps(Variational()) if order == 2 else GaussSteps(VPRK(ORDERS[order]))


def end_states(system: LagrangianSystem, **states: State) -> list[State]:
    """States at which a motion may begin or end, as NumPy arrays, by their names."""
    return [_sound(system, name, state) for name, state in states.items()]


def _sound(system: LagrangianSystem, name: str, state: State) -> State:
    """One of them, which is looked at once as long as its numbers are the same."""
    everything, tree = jax.tree.flatten((system, state))
    known = (tree, *map(contents, everything))
    if known in _SOUND:
        return state
    try:
        found = jax.tree.map(np.asarray, check_state(system, state, 0.0))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    if all(map(operator.is_, jax.tree.leaves(found), jax.tree.leaves(state))):
        if len(_SOUND) >= MOST_KNOWN:
            _SOUND.clear()
        _SOUND.add(known)
    return found


def contents(leaf: Any) -> Any:
    """Something hashable that is the same for equal leaves only."""
    if isinstance(leaf, np.ndarray):
        return leaf.shape, leaf.dtype.str, leaf.tobytes()
    return (type(leaf), leaf) if isinstance(leaf, Hashable) else object()


def force_map(system: LagrangianSystem, actuation: Any, controls: int | None) -> tuple[Callable[..., Any], int]:
    """The map push(g, u, t) and the number of controls."""
    n = system.group.dim
    if actuation is None or not callable(actuation):
        actuation = _all_directions(n) if actuation is None else Directions(actuation)
    if isinstance(actuation, Directions):
        if actuation.B.shape[0] != n:
            raise InputError(
                f"actuation has {actuation.B.shape[0]} rows; expected {n}, a force for each of the "
                f"{', '.join(system.group.names.momentum)} of {type(system).__name__}."
            )
        if controls not in (None, actuation.B.shape[1]):
            raise InputError(
                f"controls = {controls}, but actuation has {actuation.B.shape[1]} columns, one for each control."
            )
        return actuation, actuation.B.shape[1]
    if controls is None or controls < 1:
        raise InputError(f"controls = {controls!r}; a force map that is a function needs controls=, at least 1.")
    shaped("actuation", actuation, _arguments(system, controls, "g u t"), (n,))
    return actuation, controls


@functools.cache
def _all_directions(n: int) -> Directions:
    return Directions(np.eye(n))


@double
def _arguments(system: LagrangianSystem, controls: int, names: str, parameters: int = 0) -> dict[str, Any]:
    """What a function of these names is called with, as shapes."""
    n = system.group.dim
    g: Any = jax.eval_shape(system.group.identity)
    shapes: tuple[Any, ...] = ((n,), (controls,), (parameters,), ())
    xi, u, theta, t = (cast("Any", jax.ShapeDtypeStruct(shape, float)) for shape in shapes)
    known = {"g": g, "xi": xi, "u": u, "t": t, "state": State(g, xi), "theta": theta}
    return {name: known[name] for name in names.split()}


@double
def shaped(name: str, function: Any, arguments: dict[str, Any], shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of what a function gives, which must be `shape`, or a vector where that is None."""
    called = f"it is called as {name}({', '.join(arguments)})"
    if not callable(function):
        raise InputError(f"{name} = {function!r}; expected a function: {called}.")
    kinds: list[type] = []

    def traced(*args: Any) -> Any:
        value = function(*args)
        kinds.append(type(value))
        return jnp.asarray(value)

    try:
        given = jax.eval_shape(traced, *arguments.values())
    except Exception as error:
        raise InputError(f"{name} failed: {_words(error)}; {called}.") from None
    if issubclass(kinds[-1], list | tuple):
        raise InputError(f"{name} gives a {kinds[-1].__name__}; expected an array: jnp.stack([...]); {called}.")
    fits = given.shape == shape if shape is not None else len(given.shape) == 1
    if not fits or given.dtype != np.float64:
        wanted = {(): "one real number", None: "a vector"}.get(shape, f"an array of shape {shape}")
        raise InputError(f"{name} gives {given.dtype}{list(given.shape)}; expected {wanted}; {called}.")
    return given.shape


@double
def parameters(
    system: LagrangianSystem, model: Any, theta: Any, bounds: Any, begin: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unknown parameters of a system and of where it begins: where to begin with them, and their bounds."""
    if theta is None:
        if model is not None or begin is not None or bounds is not None:
            raise InputError(
                "model, theta_bounds and a start that is a function need theta=, the parameters to begin with."
            )
        return np.zeros(0), np.zeros(0), np.zeros(0)
    values = np.atleast_1d(floats("theta", theta))
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(f"theta = {theta!r}; expected a vector of finite numbers.")
    low, high = limits("theta_bounds", bounds, values.size)
    for k in np.flatnonzero(~((low < values) & (values < high))):
        raise InputError(f"theta[{k}] = {values[k]:g} is not between its bounds {low[k]:g} and {high[k]:g}.")
    if model is not None:
        made = _called("model(system, theta)", lambda: model(system, jnp.asarray(values)))
        if not isinstance(made, LagrangianSystem) or made.group.dim != system.group.dim:
            raise InputError(
                f"model(system, theta) gives {type(made).__name__}; expected a system on {type(system.group).__name__}."
            )
    if begin is not None:
        end_states(system, start=_called("start(theta)", lambda: begin(jnp.asarray(values))))
    return values, low, high


def _called(name: str, function: Callable[[], Any]) -> Any:
    """What a function of the user gives."""
    try:
        return function()
    except Exception as error:
        raise InputError(f"{name} failed: {_words(error)}") from None


def _words(error: Exception) -> str:
    """The first line of an error, after its class."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


def functions(
    system: LagrangianSystem, controls: int, parameters: int, cost: Any, path: Any, end_cost: Any, ending: Any
) -> tuple[int, int]:
    """Check the functions of a problem; the number of inequalities, and of conditions of the end besides the goal."""
    inequalities = conditions = 0
    along, at_end = "g xi u t", "state t theta" if parameters else "state t"
    if cost is not None:
        shaped("cost", cost, _arguments(system, controls, along), ())
    if path is not None:
        (inequalities,) = shaped("path", path, _arguments(system, controls, along), None)
    if end_cost is not None:
        shaped("end_cost", end_cost, _arguments(system, controls, at_end, parameters), ())
    if ending is not None:
        (conditions,) = shaped("ending", ending, _arguments(system, controls, at_end, parameters), None)
    return inequalities, conditions


def limits(name: str, bounds: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of `count` numbers, from one number b (meaning -b to b) or a pair."""
    if bounds is None:
        return np.full(count, -np.inf), np.full(count, np.inf)
    if isinstance(bounds, tuple | list) and len(bounds) == 2:
        pair = [floats(name, each) for each in bounds]
    else:
        pair = [-floats(name, bounds), floats(name, bounds)]
    if any(each.shape not in ((), (count,)) or np.isnan(each).any() or not each.size for each in pair):
        raise InputError(
            f"{name} = {bounds!r}; expected a number b (for -b to b), or lower and upper: a number each, or {count}."
        )
    lower, upper = (np.broadcast_to(each, count).astype(float) for each in pair)
    if count == 2 and isinstance(bounds, tuple | list) and not pair[0].ndim and 0.0 < lower[0] < upper[1]:
        a, b = lower[0], upper[1]
        raise InputError(
            f"{name} = {bounds!r} of two numbers can be read in two ways: both are from {a:g} to {b:g}, or up to "
            f"{a:g} and {b:g} in size. Give (({a:g}, {a:g}), ({b:g}, {b:g})), or ((-{a:g}, -{b:g}), ({a:g}, {b:g}))."
        )
    for k in np.flatnonzero(~(lower < upper)):
        raise InputError(
            f"{name}: the lower bound {lower[k]:g} of number {k} is not below the upper one, {upper[k]:g}; "
            "give room between them."
        )
    return lower, upper
