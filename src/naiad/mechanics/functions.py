"""Mistakes in the functions that a user wrote, said in one line: which function, where in the file, and what to do."""

import functools
import inspect
import pathlib
import sysconfig
import traceback
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from naiad.errors import InputError, NaiadError
from naiad.mechanics.state import State
from naiad.numerics import double

F = TypeVar("F", bound=Callable[..., Any])

_LIBRARIES = [pathlib.Path(__file__).parents[1], *map(pathlib.Path, map(sysconfig.get_path, ("purelib", "stdlib")))]
_REMEDIES = {
    jax.errors.TracerBoolConversionError: "a Python branch (if, while, and, or) on a value that is known only when the "
    "motion is computed; write jnp.where(condition, a, b), or jax.lax.cond",
    jax.errors.TracerArrayConversionError: "a NumPy function was given a value that is known only when the motion is "
    "computed; take the function of the same name in jax.numpy",
    jax.errors.TracerIntegerConversionError: "an index or a length that is known only when the motion is computed; "
    "index a jax.numpy array with it, or take a fixed number",
    jax.errors.NonConcreteBooleanIndexError: "an array is indexed by a condition, so that its length is known only "
    "when the motion is computed; write jnp.where(condition, array, 0)",
    jax.errors.ConcretizationTypeError: "a Python number is asked for (float, int, len, range) where the value is "
    "known only when the motion is computed; leave it an array, and use functions of jax.numpy",
}


def explained(function: F) -> F:
    """Where a function of a system or of a run fails, and one of the functions that a user wrote is why, say so.

    The frames of naiad and of JAX between the call and that function are left out. Nothing is looked at unless it
    fails; what no function explains is raised as it is.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            refused = error
            if not isinstance(error, NaiadError) or error.__cause__ is not None:
                system = _first_system((*args, *kwargs.values()))
                mistake = None if system is None else _first_mistake(system, kwargs, differentiated=True)
                if mistake is None:
                    raise
                refused = InputError(mistake)
            elif not isinstance(error, InputError):
                raise
        vars(refused).pop("__notes__", None)  # JAX's, on frames that are not shown
        raise refused.with_traceback(None)  # the frames of naiad and of JAX tell a user nothing

    return typing.cast("F", called)


def _first_system(given: Iterable[Any]) -> Any:
    """The first system among arguments: itself, in a sequence, or that of a trajectory."""
    firsts = (each[0] if isinstance(each, list | tuple) and each else each for each in given)
    systems = (getattr(each, "system", each) for each in firsts)
    return next((system for system in systems if hasattr(system, "lagrangian")), None)


def check_functions(system: Any, observing: dict[str, Any]) -> None:
    """Raise an `InputError` unless the functions of a system, and the outputs, monitors and sections of a run, give
    what they should: a force that is one number where two are expected would be added to both."""
    mistake = _first_mistake(system, observing, differentiated=False)
    if mistake is not None:
        raise InputError(mistake)


def with_system(function: Callable[..., Any], system: Any) -> Callable[..., Any]:
    """A function of state and time, of one that may take the system before them."""
    return functools.partial(function, system) if takes_system(function) else function


def takes_system(function: Callable[..., Any]) -> bool:
    """Whether a function takes three arguments: system, state and time."""
    if type(function) is types.FunctionType and not vars(function):  # as nearly all are: the rest takes longer
        return function.__code__.co_argcount - len(function.__defaults__ or ()) == 3
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is each.empty for each in given) == 3


def mistake_of(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """What is wrong with a function that a user wrote, if it fails with arguments of these shapes."""
    return _Written(name, function, arguments).mistake()


class _Written(NamedTuple):
    """A function, what it is called with, and the shape of what it should give, if that is known."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    shape: tuple[int, ...] | None = None

    def mistake(self) -> str | None:
        """What is wrong with it, if anything is."""
        try:
            given = jax.eval_shape(self.function, *self.arguments.values())
        except Exception as error:
            return f"{self.name}{_place(error) or _definition(self.function)}: {self._words(error)}."
        if self.shape is None:
            return None
        where = _definition(self.function)
        wanted = f"an array of shape {self.shape}" if self.shape else "one real number"
        if not hasattr(given, "dtype"):
            return f"{self.name}{where} gives {given!r}; expected {wanted}: is its `return` missing?"
        if not jnp.issubdtype(given.dtype, jnp.floating):
            return f"{self.name}{where} gives {given.dtype}; expected real numbers (float64)."
        if given.shape != self.shape and (given.shape, self.shape) != ((), (1,)):
            return f"{self.name}{where} gives an array of shape {given.shape}; expected {wanted}."
        return None

    def _words(self, error: Exception) -> str:
        for kind, words in _REMEDIES.items():
            if isinstance(error, kind):
                return words
        try:
            inspect.signature(self.function).bind(*self.arguments)
        except (TypeError, ValueError):
            return f"{error}; it is called with ({', '.join(self.arguments)})"
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0].rstrip('.')}"


@double
def _first_mistake(system: Any, observing: dict[str, Any], *, differentiated: bool) -> str | None:
    return next(filter(None, (each.mistake() for each in _functions(system, observing, differentiated))), None)


def _functions(system: Any, observing: dict[str, Any], differentiated: bool) -> Iterator[_Written]:
    """The functions of a system, and those that observe its motion."""
    kind, n = type(system).__name__, system.group.dim
    g, xi, t = jax.eval_shape(lambda: (system.group.identity(), jnp.zeros(n), jnp.zeros(())))
    at = {"g": g, "xi": xi, "t": t}
    yield _Written(f"{kind}.lagrangian", system.lagrangian, at, ())
    if differentiated:
        slopes = jax.grad(system.lagrangian, argnums=(0, 1))
        yield _Written(f"The derivative of {kind}.lagrangian", jax.jacfwd(slopes, argnums=1), at)
    if system.force is not None:
        yield _Written(f"{kind}.force", system.force, at, (n,))
    for name in ("constraint", "dissipation", "diffusion"):
        if callable(getattr(system, name, None)):
            yield _Written(f"{kind}.{name}", getattr(system, name), {"g": g, "t": t})
    if system.symmetry is not None:
        s = jax.ShapeDtypeStruct((system.symmetry_dim,), xi.dtype)
        yield _Written(f"{kind}.symmetry", system.symmetry, {"s": s, "g": g})
    for option, shape in (("outputs", None), ("monitors", ()), ("sections", ())):
        for name, each in (observing.get(option) or {}).items():
            arguments = {"state": State(g, xi), "t": t}
            observed = with_system(getattr(each, "function", each), system)
            yield _Written(f"{option}[{name!r}]", observed, arguments, shape)


def _place(error: Exception) -> str:
    """The line at which a user's own code was when it failed, if it was there."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not any(pathlib.Path(frame.filename).is_relative_to(library) for library in _LIBRARIES):
            return f" ({frame.filename}, line {frame.lineno}: {frame.line or '?'})"
    return ""


def _definition(function: Callable[..., Any]) -> str:
    """Where a function is written, if it is a user's."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or any(pathlib.Path(code.co_filename).is_relative_to(library) for library in _LIBRARIES):
        return ""
    return f" ({code.co_filename}, line {code.co_firstlineno})"
