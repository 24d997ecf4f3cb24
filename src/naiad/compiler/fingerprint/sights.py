"""Looks at places whose contents may change while a process runs: the same contents, the same code."""

import operator
import types
from collections.abc import Callable, Collection, Iterable
from typing import Any

ABSENT = object()
Slot = types.MemberDescriptorType
Sight = tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...]]
"""A look at a place whose contents may change, and what it gave."""


def is_unchanged(sights: Iterable[Sight]) -> bool:
    """Whether all places hold the very same things."""
    for look, seen in sights:
        now = look()
        if len(now) != len(seen) or not all(map(operator.is_, now, seen)):
            return False
    return True


def parts_of_instance(thing: Any, slots: Collection[Slot]) -> tuple[Any, ...]:
    """Attributes, slots and items."""
    attributes = getattr(thing, "__dict__", {}).values()
    items = thing if isinstance(thing, list | set | dict) else ()
    values = thing.values() if isinstance(thing, dict) else ()
    return (*attributes, *(slot_of(thing, part) for part in slots), *items, *values)


def slot_of(thing: Any, slot: Slot) -> Any:
    """What a slot holds, or `ABSENT`."""
    try:
        return slot.__get__(thing)
    except AttributeError:
        return ABSENT


def parts_of_function(function: types.FunctionType, names: Collection[str]) -> tuple[Any, ...]:
    """What a function is made of, and the globals that it names."""
    return (
        function.__code__, function.__defaults__, function.__kwdefaults__, *vars(function).values(),
        *map(contents_of, function.__closure__ or ()), *map(function.__globals__.get, names),
    )  # fmt: skip


def contents_of(cell: types.CellType) -> Any:
    """What a cell holds, or `ABSENT`."""
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT
