"""Typed, documented parameters of a study.

    class Spin(Study, name="spin"):
        J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="principal moments of inertia")
        dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
        Pi0: Vector | None = parameter(None, size=3, help="initial momentum (or give Omega0)")

An annotation is one of `float int bool str Names Vector Matrix Inertia Friction NameOrNumber NameOrMatrix`, or one of
these `| None`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, get_args

import numpy as np

from naiad.errors import InputError
from naiad.numerics.checks import namespace
from naiad.studies.kinds import Boolean, Integer, Kind, NameList, NameOr, Numbers, Real, Size, SymmetricPositive, Text
from naiad.studies.matches import did_you_mean

Names = Annotated[tuple[str, ...], NameList()]
Vector = Annotated[np.ndarray, Numbers(1)]
Matrix = Annotated[np.ndarray, Numbers(2)]
Inertia = Annotated[np.ndarray, SymmetricPositive()]
Friction = Annotated[np.ndarray, SymmetricPositive(semidefinite=True)]
NameOrNumber = Annotated[str | float, NameOr(Real())]
NameOrMatrix = Annotated[str | np.ndarray, NameOr(Numbers(2))]

_PLAIN: dict[Any, Kind] = {float: Real(), int: Integer(), bool: Boolean(), str: Text()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What `parameter` was told: help, unit and limits. Limits hold for every number of a vector or a matrix."""

    help: str
    unit: str = ""
    choices: Mapping[str, str] = dataclasses.field(default_factory=dict)
    size: Size = None
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None


def parameter(default: Any, **options: Any) -> Any:
    """Declare a parameter of a study, with its default and the fields of `Options` by keyword.

    `size` is the length of a vector, the order of an inertia, or (rows, columns) of a matrix; `choices` maps each name
    to what it means.
    """
    return dataclasses.field(default=default, metadata={"options": Options(**options)})


class Block:
    """Parameters: a study has its own, and may inherit, besides, blocks that it shares with others."""

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(init=False, frozen=True, eq=False)(cls)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter: its name, the kind of its values, its default and its options."""

    name: str
    kind: Kind
    optional: bool
    default: Any
    options: Options

    @classmethod
    def of(cls, field: dataclasses.Field, annotation: Any) -> "Parameter":
        """The parameter that a field of a study declares; its default is checked like any other value."""
        if "options" not in field.metadata:
            raise TypeError(
                f"{field.name} is a plain field: declare it as {field.name}: TYPE = parameter(DEFAULT, help=...)"
            )
        kind, optional = _kind(field.name, annotation)
        draft = cls(field.name, kind, optional, None, field.metadata["options"])
        return dataclasses.replace(draft, default=draft.read(field.default))

    @property
    def expected(self) -> str:
        """What may be given, in words."""
        o = self.options
        bounds = [
            f"{words} {bound:g}"
            for words, bound in (
                ("above", o.above),
                ("at least", o.at_least),
                ("below", o.below),
                ("at most", o.at_most),
            )
            if bound is not None
        ]
        text = self.kind.what(o.size, o.choices)
        if bounds:
            text += f"{', each' if isinstance(self.kind, Numbers) else ''} {' and '.join(bounds)}"
        if o.unit:
            text += f" (in {o.unit})"
        return f"{text}, or none" if self.optional else text

    def read(self, value: Any) -> Any:
        """The canonical value of a text or a Python value; InputError if it is not what is expected."""
        if value is None or (isinstance(value, str) and value.strip().lower() == "none" and self.optional):
            if self.optional:
                return None
            raise self._refusal(value)
        try:
            given = self.kind.parse(value.strip()) if isinstance(value, str) else value
            read = self.kind.convert(given, self.options.size, self.options.choices)
        except (TypeError, ValueError, OverflowError):
            raise self._refusal(value) from None
        if not self._within_bounds(read):
            raise self._refusal(value)
        return read

    def write(self, value: Any) -> str:
        """The text that `read` takes back to the same value."""
        return "none" if value is None else self.kind.write(value)

    def _within_bounds(self, value: Any) -> bool:
        if isinstance(value, str):
            return True
        o = self.options
        tests = ((o.above, np.greater), (o.at_least, np.greater_equal), (o.below, np.less), (o.at_most, np.less_equal))
        return all(bound is None or bool(np.all(test(value, bound))) for bound, test in tests)

    def _refusal(self, value: Any) -> InputError:
        given = " ".join((value if isinstance(value, str) else repr(value)).split())
        given = given if len(given) <= 60 else given[:57] + "..."
        meant = did_you_mean(given, self.options.choices)
        remedy = "or leave it out" if self.default is None else f"for example -p {self.name}={self.write(self.default)}"
        return InputError(f"{self.name}={given}: expected {self.expected}; {meant}{remedy}")


def as_matrix(inertia: np.ndarray) -> np.ndarray:
    """The matrix of an `Inertia` or a `Friction` that was given as a matrix or as its diagonal."""
    return namespace(inertia).diag(inertia) if inertia.ndim == 1 else inertia


def _kind(name: str, annotation: Any) -> tuple[Kind, bool]:
    """The kind that an annotation stands for, and whether None is allowed."""
    optional = type(None) in get_args(annotation)
    if optional:
        (annotation,) = (part for part in get_args(annotation) if part is not type(None))
    if annotation in _PLAIN:
        return _PLAIN[annotation], optional
    kinds = [part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Kind)]
    if len(kinds) != 1:
        raise TypeError(
            f"{name}: {annotation} is not for a parameter; "
            "use float, int, bool, str, Names, Vector, Matrix, Inertia, Friction, NameOrNumber or NameOrMatrix"
        )
    return kinds[0], optional
