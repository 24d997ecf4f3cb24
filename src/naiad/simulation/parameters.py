"""What a system and a method are made of, as far as a file can hold it: so that a run goes on with the same ones."""

import dataclasses
import functools
import hashlib
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem

LARGEST = 100  # elements of an array that is held by its values; a larger one is held by a digest
DEEPEST = 20


def parameters(system: LagrangianSystem, method: AbstractMethod) -> dict[str, Any]:
    """What a file holds of the system and the method, so that `load` knows them again."""
    return {"parameters": {"system": described(system), "method": described(method)}}


def described(thing: Any, depth: int = 0) -> Any:
    """The parameters of a thing in the types of JSON.

    Numbers, texts and arrays are held by their values; modules and functions by their names and what is in them
    (fields, closures, defaults), but not their code; anything else by the name of its class.
    """
    if isinstance(thing, jax.Array | np.ndarray | np.generic):
        return _array(np.asarray(thing))
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if depth > DEEPEST:
        return type(thing).__qualname__
    if isinstance(thing, Mapping):
        return {str(key): described(value, depth + 1) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [described(value, depth + 1) for value in thing]
    return {"is": _name(thing), **{key: described(value, depth + 1) for key, value in _parts(thing)}}


def difference(stored: Any, given: Any, name: str = "") -> tuple[str, str, str] | None:
    """The first parameter in which two descriptions differ: its name, and both values in words."""
    if isinstance(stored, dict) and isinstance(given, dict):
        for key in (*stored, *(key for key in given if key not in stored)):
            inner = f"{name}.{key}" if name and key != "is" else name if key == "is" else key
            found = difference(stored.get(key, "nothing"), given.get(key, "nothing"), inner)
            if found is not None:
                return found
        return None
    lists = isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given)
    if lists and any(isinstance(each, dict) for each in (*stored, *given)):
        pairs = enumerate(zip(stored, given, strict=True))
        return next(filter(None, (difference(*pair, f"{name}[{k}]") for k, pair in pairs)), None)
    return None if stored == given else (name, _words(stored), _words(given))


def _array(values: np.ndarray) -> Any:
    if values.size <= LARGEST and values.dtype.kind in "biuf":
        return values.tolist()
    return {"shape": list(values.shape), "sha256": hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()}


def _name(thing: Any) -> str:
    named = thing.func if isinstance(thing, functools.partial) else thing
    return getattr(named, "__qualname__", type(named).__qualname__)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What is in a thing, by name."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        yield from ((field.name, getattr(thing, field.name, None)) for field in dataclasses.fields(thing))
        yield from _constants(type(thing))
    elif isinstance(thing, functools.partial):
        yield from (("of", thing.func), ("args", thing.args), ("keywords", thing.keywords))
    elif isinstance(thing, types.MethodType):
        yield "self", thing.__self__
    elif inspect.isfunction(thing):
        cells = zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
        yield from ((name, _contents(cell)) for name, cell in cells)
        yield from ((name, value) for name, value in (thing.__kwdefaults__ or {}).items())
        if thing.__defaults__:
            yield "defaults", thing.__defaults__


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _constants(cls: type) -> Iterator[tuple[str, Any]]:
    """The numbers and arrays that a user's class has as plain attributes."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("naiad", "builtins", "abc"):
            continue
        for name, value in vars(base).items():
            number = isinstance(value, int | float | np.ndarray | np.generic | jax.Array)
            if number and not name.startswith("_") and name not in getattr(cls, "__dataclass_fields__", {}):
                yield name, value


def _words(value: Any) -> str:
    if isinstance(value, dict) and "sha256" in value:
        return f"an array of shape {tuple(value['shape'])} with the digest {value['sha256'][:12]}"
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
