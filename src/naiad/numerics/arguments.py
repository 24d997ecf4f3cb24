"""Arguments checked at the door, by the annotations of the function that takes them."""

import builtins
import collections.abc
import difflib
import functools
import inspect
import math
import numbers
import os
import re
import reprlib
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, Union

import jax
import numpy as np
from jax import core
from numpy.typing import ArrayLike

from naiad.errors import InputError, NaiadError
from naiad.numerics.double import double

F = TypeVar("F", bound=Callable[..., Any])

LONGEST = 1000  # elements of a sequence that are looked at one by one

_ARRAYS, _TRACED = (np.ndarray, jax.Array), (core.Tracer, jax.ShapeDtypeStruct)


def checked(function: F, owner: str | None = None) -> F:
    """Refuse, by an `InputError` that names the argument, what is missing, unknown, or of another kind than annotated.

    What JAX traces passes for a number or an array; `Any` says nothing. A class gives its name as the `owner` of its
    constructor. Behind the door everything is in double precision.
    """
    door, inside = Door(function, owner), double(function)

    @functools.wraps(function)
    def at_the_door(*args: Any, **kwargs: Any) -> Any:
        door.check(args, kwargs)
        return inside(*args, **kwargs)

    return typing.cast("F", at_the_door)


def checked_throughout(function: F, owner: str | None = None) -> F:
    """The same for a function that only computes with its arguments: whatever fails in it, one of them has caused."""
    door, inside = Door(function, owner), double(function)

    @functools.wraps(function)
    def at_the_door(*args: Any, **kwargs: Any) -> Any:
        door.check(args, kwargs)
        try:
            return inside(*args, **kwargs)
        except NaiadError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise InputError(f"{door.name}({door.given(args, kwargs)}): {error}") from error

    return typing.cast("F", at_the_door)


class Door:
    """What a function takes."""

    def __init__(self, function: Callable[..., Any], owner: str | None = None):
        self.name = owner or getattr(function, "__name__", repr(function))
        self._function = function
        self._plans: dict[tuple[Any, ...], list[tuple[str, int | str, Any, Kind]]] = {}

    def __reduce__(self) -> Any:
        """Without what it remembers of calls."""
        return Door, (self._function, self.name)

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The arguments in a few words each."""
        named = self._signature.bind(*args, **kwargs).arguments
        return ", ".join(f"{name}={shown(value)}" for name, value in named.items() if name not in ("self", "cls"))

    def check(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an `InputError` for the first argument that does not fit."""
        form = (len(args), *kwargs)
        plan = self._plans.get(form)
        if plan is None:
            plan = self._plans[form] = self._planned(len(args), list(kwargs))
        for label, place, default, kind in plan:
            value = kwargs[place] if isinstance(place, str) else args[place]
            if value is not default and not kind.fits(value):
                raise InputError(f"{self.name}: {label} = {shown(value)}; expected {kind.words}.{_remedy(value, kind)}")

    def _planned(self, count: int, names: list[str]) -> "list[tuple[str, int | str, Any, Kind]]":
        """Of a call with so many arguments by place, and some by name: what is looked at, where it is in the call, its
        default, and the kind that it must be of. It is the same for every such call, and takes longer than the rest."""
        signature = self._signature
        try:
            bound = signature.bind(*range(count), **{name: name for name in names})
        except TypeError as error:
            known = list(signature.parameters.items())
            if not set(names) <= {name for name, _ in known}:  # it is none of those that are there already
                known = [(name, each) for name, each in known[count:] if name not in names]
            known = [(name, each) for name, each in known if name not in ("self", "cls")]
            takes = ", ".join(f"{name}=" * (each.kind is each.KEYWORD_ONLY) or name for name, each in known)
            raise InputError(f"{self.name}: {error}; it takes {takes or 'nothing else'}.") from None
        plan = []
        for name, place in bound.arguments.items():
            parameter, kind = signature.parameters[name], self._kinds[name]
            many = {parameter.VAR_POSITIONAL: enumerate, parameter.VAR_KEYWORD: dict.items}.get(parameter.kind)
            places = [(name, place)] if many is None else [(f"{name}[{key!r}]", each) for key, each in many(place)]
            if kind is not ANYTHING:
                plan += [(label, each, parameter.default, kind) for label, each in places]
        return plan

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @functools.cached_property
    def _kinds(self) -> "dict[str, Kind]":
        scope = getattr(inspect.unwrap(self._function), "__globals__", {})
        return {
            name: kind_of(_resolved(parameter.annotation, scope))
            for name, parameter in self._signature.parameters.items()
        }


class Kind(NamedTuple):
    """Whether a value is of a kind, and the words for that kind."""

    fits: Callable[[Any], bool]
    words: str
    classes: tuple[type, ...] = ()


ANYTHING = Kind(lambda _: True, "anything")


def kind_of(annotation: Any) -> Kind:
    """The kind of value that an annotation asks for."""
    if isinstance(annotation, _Named):
        return Kind(lambda x: any(c.__name__ == annotation.name for c in type(x).__mro__), _article(annotation.name))
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is ArrayLike:
        return Kind(_is_numeric, "an array of numbers")
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin in (Union, types.UnionType):
        kinds = [kind_of(each) for each in inner]
        if ANYTHING in kinds:
            return ANYTHING
        words = list(dict.fromkeys(kind.words for kind in kinds))
        classes = tuple(each for kind in kinds for each in kind.classes)
        return Kind(lambda x: any(kind.fits(x) for kind in kinds), " or ".join(words), classes)
    if origin is Literal:
        return Kind(lambda x: isinstance(x, str | int) and x in inner, f"one of {', '.join(map(repr, inner))}")
    if hasattr(annotation, "dim_str"):  # of jaxtyping
        return _array_kind(annotation.dim_str)
    if origin is collections.abc.Callable or annotation is collections.abc.Callable:
        return Kind(lambda x: callable(x) and not isinstance(x, type), "a function")
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return Kind(lambda x: isinstance(x, tuple | list) and len(x) == len(inner), f"{len(inner)} values")
    if origin in (tuple, list, collections.abc.Sequence):
        return _sequence_kind(kind_of(inner[0]) if inner else ANYTHING)
    if origin in (dict, collections.abc.Mapping):
        return _mapping_kind(kind_of(inner[1]) if inner else ANYTHING)
    cls = origin or annotation
    if isinstance(cls, type) and cls is not object and not getattr(cls, "_is_protocol", False):
        return Kind(_of_class(cls), _article(cls.__name__), (cls,))
    return ANYTHING


def _of_class(cls: type) -> Callable[[Any], bool]:
    """isinstance(x, cls), which takes long for an abstract class, but not of a type that was seen before."""
    seen: set[type] = set()

    def fits(x: Any) -> bool:
        if type(x) in seen:
            return True
        if issubclass(type(x), cls):
            seen.add(type(x))
        return isinstance(x, cls)

    return fits


def shown(value: Any) -> str:
    """What was given, in a few words."""
    try:
        text = " ".join(_SHORT.repr(value).split())
    except Exception:  # a repr may be anybody's code
        text = f"a {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:97]}..."


def _remedy(value: Any, kind: Kind) -> str:
    """What to give instead of a class, or of the name of one."""
    if isinstance(value, type):
        return f" Give an instance of it: {value.__name__}(...)."
    if not isinstance(value, str) or not kind.classes:
        return ""
    known = {cls.__name__.lower(): cls for each in kind.classes for cls in _public_subclasses(each)}
    near = difflib.get_close_matches(re.sub(r"\W|_", "", value.lower()), known, n=1, cutoff=0.7)
    return f" Give an instance: {_called(known[near[0]])}." if near else ""


def _public_subclasses(cls: type) -> list[type]:
    """The classes of naiad that can be made of a kind."""
    found = [each for sub in cls.__subclasses__() for each in _public_subclasses(sub)]
    own = cls.__module__.startswith("naiad.") and not cls.__name__.startswith("_") and not inspect.isabstract(cls)
    return [cls, *found] if own else found


def _called(cls: type) -> str:
    """How a class of naiad is called by its users."""
    home = "nd" if getattr(sys.modules["naiad"], cls.__name__, None) is cls else ".".join(cls.__module__.split(".")[:2])
    return f"{home}.{cls.__name__}({'' if _needs_nothing(cls) else '...'})"


def _needs_nothing(cls: type) -> bool:
    parameters = inspect.signature(cls).parameters.values()
    return all(
        each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters
    )


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    """An annotation that was written as text, read in its module; one that cannot be read says nothing."""
    if annotation is inspect.Parameter.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    return eval(annotation, {**vars(builtins), **scope}, _Later({**vars(builtins), **scope}))


class _Later(dict[str, Any]):
    """Names of a module, where those that only type checkers import stand for themselves."""

    def __missing__(self, name: str) -> Any:
        return _Named(name)


class _Named:
    """A class that is known by its name alone, since nobody has imported it."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, name: str) -> "_Named":
        return _Named(name)

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007

    def __call__(self) -> None:
        """So that `typing.Union` takes it for a type."""


def _is_traced(x: Any) -> bool:
    return isinstance(x, _TRACED)


def _is_number(x: Any) -> bool:
    if type(x) is float:  # as nearly all are: the rest takes longer
        return not math.isnan(x)
    if isinstance(x, _ARRAYS) and not _is_traced(x):
        return x.ndim == 0 and np.dtype(x.dtype).kind in "iuf" and not np.isnan(np.asarray(x, float))
    if isinstance(x, numbers.Real) and not isinstance(x, bool):
        return not math.isnan(x)
    return _is_traced(x)


def _is_whole(x: Any) -> bool:
    if isinstance(x, _ARRAYS) and not _is_traced(x):
        return x.ndim == 0 and np.dtype(x.dtype).kind in "iu"
    return (isinstance(x, int | np.integer) and not isinstance(x, bool)) or _is_traced(x)


def _shape(x: Any) -> tuple[int, ...] | None:
    """The shape of an array of numbers, or of what can be made into one; None if it is none."""
    if isinstance(x, (*_ARRAYS, jax.ShapeDtypeStruct)):
        return tuple(x.shape) if np.dtype(x.dtype).kind in "biufc" else None
    try:
        array = np.asarray(x)
    except jax.errors.TracerArrayConversionError:
        return np.shape(x)
    except Exception:  # what a sequence is made of may be anybody's code
        return None
    return array.shape if array.dtype.kind in "biufc" else None


def _is_numeric(x: Any) -> bool:
    return _shape(x) is not None


def _array_kind(dims: str) -> Kind:
    names = dims.split()
    lengths = [int(name) if name.isdigit() else None for name in names]
    free = any(name.startswith(("*", "...")) for name in names)

    def fits(x: Any) -> bool:
        shape = _shape(x)
        if shape is None or free:
            return shape is not None
        return len(shape) == len(names) and all(n is None or n == m for n, m in zip(lengths, shape, strict=True))

    return Kind(fits, f"an array of numbers of shape ({', '.join(names)})" if names else "a number")


def _sequence_kind(element: Kind) -> Kind:
    def fits(x: Any) -> bool:
        if not isinstance(x, collections.abc.Sequence | np.ndarray | jax.Array) or isinstance(x, str | bytes):
            return False
        return getattr(x, "ndim", 1) > 0 and all(element.fits(each) for each in x[:LONGEST])

    return Kind(fits, "a sequence" if element is ANYTHING else f"a sequence, each of them {element.words}")


def _mapping_kind(element: Kind) -> Kind:
    def fits(x: Any) -> bool:
        return isinstance(x, collections.abc.Mapping) and all(element.fits(each) for each in x.values())

    return Kind(fits, "a dict" if element is ANYTHING else f"a dict, each value of it {element.words}")


def _article(name: str) -> str:
    """AbstractPairPotential is "a pair potential"; other classes keep their names."""
    if name.startswith("Abstract"):
        name = " ".join(re.findall(r"[A-Z][a-z]*", name)[1:]).lower()
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80

_PLAIN: dict[Any, Kind] = {
    Any: ANYTHING,
    None: Kind(lambda x: x is None, "None"),
    type(None): Kind(lambda x: x is None, "None"),
    float: Kind(_is_number, "a number"),
    int: Kind(_is_whole, "a whole number"),
    bool: Kind(lambda x: isinstance(x, bool | np.bool_), "True or False"),
    str: Kind(lambda x: isinstance(x, str), "a text"),
    os.PathLike: Kind(lambda x: isinstance(x, os.PathLike), "a path"),
    np.ndarray: Kind(_is_numeric, "an array of numbers"),
    jax.Array: Kind(_is_numeric, "an array of numbers"),
}


def required_arguments(function: Callable[..., Any]) -> int:
    """The number of positional arguments of a user's function that have no default."""
    return sum(
        each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in inspect.signature(function).parameters.values()
    )
