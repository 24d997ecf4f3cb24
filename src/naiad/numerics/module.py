"""Classes that are data: immutable, and trees of arrays for JAX."""

import abc
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

import jax
import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked, checked_throughout
from naiad.numerics.double import check_double, double

_OF_NUMBERS = (np.ndarray, np.generic, jax.Array, list, tuple)


def static(**about: Any) -> Any:
    """A field of a `Module` that is part of the code, not an array in it; takes what `dataclasses.field` takes."""
    return dataclasses.field(**about, metadata={"static": True})


@dataclass_transform(eq_default=False, field_specifiers=(static, dataclasses.field))
class Module(abc.ABC):
    """A frozen dataclass whose fields are the branches of a tree for JAX, unless they are `static`.

    A subclass needs no decorator. Its public methods, properties and calls compute in double precision whatever the
    caller's setting. It may have a constructor of its own; each field is given once. What constructors are given is
    checked by its annotation, and must be in double precision. A class that does nothing without certain attributes
    names them in `needs`: fields, properties or plain attributes of the subclass.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        for name, value in list(vars(cls).items()):
            if inspect.isfunction(value) and (name == "__call__" or not name.startswith("_")):
                setattr(cls, name, double(value))
            elif isinstance(value, property) and value.fget and not name.startswith("_"):
                setattr(cls, name, value.getter(double(value.fget)))
            elif isinstance(value, classmethod) and not name.startswith("_"):
                setattr(cls, name, classmethod(checked(value.__func__, f"{cls.__qualname__}.{name}")))
        adds_fields = any("ClassVar" not in str(kind) for kind in vars(cls).get("__annotations__", {}).values())
        dataclasses.dataclass(init=adds_fields, eq=False)(cls)
        if "__init__" in vars(cls):
            door = checked_throughout if cls.__module__.startswith("naiad.") else checked
            setattr(cls, "__init__", door(cls.__init__, cls.__qualname__))  # noqa: B010
        _register(cls)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls.__abstractmethods__:
            raise InputError(
                f"{cls.__qualname__} lacks {', '.join(sorted(cls.__abstractmethods__))}; give the class that."
            )
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise InputError(f"{cls.__qualname__}() takes no arguments; {len(args) + len(kwargs)} were given.")
        for name in cls.needs:
            if name not in _names(cls) and not hasattr(cls, name):
                raise InputError(f"{cls.__qualname__} has no `{name}`; give the class one.")
        for name, value in (*enumerate(args, 1), *kwargs.items()):
            if isinstance(value, _OF_NUMBERS):
                check_double(f"{cls.__qualname__}: {name if isinstance(name, str) else f'argument {name}'}", value)
        return super().__new__(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        own = vars(self)
        if name in own or name not in _names(type(self)):
            raise dataclasses.FrozenInstanceError(f"{type(self).__qualname__}.{name} cannot be set; make a new one.")
        own[name] = value

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"{type(self).__qualname__}.{name} cannot be deleted.")

    def __hash__(self) -> int:
        if not vars(self):  # as most groups and methods, which are keys of what was compiled
            return hash(type(self))
        leaves, tree = jax.tree.flatten(self)
        return hash((tree, tuple(leaves)))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        if not (vars(self) or vars(other)):
            return True
        (mine, tree), (its, its_tree) = jax.tree.flatten(self), jax.tree.flatten(other)
        return tree == its_tree and all(map(_same, mine, its))

    def replaced(self, **values: Any) -> Self:
        """The same with other values in these fields."""
        cls = type(self)
        for name in values:
            if isinstance(getattr(cls, name, None), property):
                raise InputError(f"{cls.__qualname__}.{name} is a property; it must be a field, so that it can vary.")
        return cls.unchecked(**{**vars(self), **values})

    @classmethod
    def unchecked(cls, **fields: Any) -> Self:
        """The module with these fields, all of them, from code that knows them to fit: nothing is looked at."""
        new = object.__new__(cls)
        vars(new).update(fields)
        return new


@functools.cache
def _names(cls: type[Module]) -> frozenset[str]:
    """The names of the fields."""
    return frozenset(field.name for field in dataclasses.fields(cls))


def _register(cls: type[Module]) -> None:
    """The fields are looked up when the first module is taken apart: a class that comes from another process by
    cloudpickle gets them after it is made."""
    known: list[_Fields] = []

    def fields() -> _Fields:
        if not known:
            known.append(_Fields.of(cls))
        return known[0]

    def flatten(module: Module) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return (known[0] if known else fields()).parts(module)

    def flatten_with_keys(module: Module) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        children, values = flatten(module)
        keys = map(jax.tree_util.GetAttrKey, fields().branches)
        return tuple(zip(keys, children, strict=True)), values

    def unflatten(values: tuple[Any, ...], children: Iterable[Any]) -> Module:
        branches, constants, _ = fields()
        new = object.__new__(cls)
        vars(new).update(zip(branches, children, strict=True), **dict(zip(constants, values, strict=True)))
        return new

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)


class _Fields(NamedTuple):
    """The names of the fields of a class, and how to get the values of both kinds."""

    branches: tuple[str, ...]
    constants: tuple[str, ...]
    parts: Callable[[Any], tuple[tuple[Any, ...], tuple[Any, ...]]]

    @classmethod
    def of(cls, kind: type[Module]) -> "_Fields":
        """Of a class."""
        fields = dataclasses.fields(kind)
        branches = tuple(field.name for field in fields if not field.metadata.get("static"))
        constants = tuple(field.name for field in fields if field.metadata.get("static"))
        # written out, since a loop over names takes twice as long
        wanted = ("".join(f"module.{name}, " for name in names) for names in (branches, constants))
        written = f"lambda module: ({', '.join(f'({each})' for each in wanted)})"
        return cls(branches, constants, eval(written))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray | jax.Array):
        return np.array_equal(one, other)
    return bool(one == other)
