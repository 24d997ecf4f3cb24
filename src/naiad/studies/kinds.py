"""The kinds of value that a parameter may have: how each is read from text or Python, checked, and written back.

`parse` reads a text, `convert` takes what `parse` gives or what a Python caller gives and returns the canonical value,
`write` is the inverse of `parse`. All raise ValueError or TypeError without a message: the parameter knows what to say.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

Size = int | tuple[int, int] | None

YES, NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


class Kind(ABC):
    """One kind of value; stateless, so that a type annotation can carry it."""

    @abstractmethod
    def what(self, size: Size, choices: Mapping[str, str]) -> str:
        """What is expected, in words that fit after "expected"."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """The Python value of a text such as `1,2,3`."""

    @abstractmethod
    def convert(self, value: Any, size: Size, choices: Mapping[str, str]) -> Any:
        """The canonical, immutable form of a Python value."""

    def write(self, value: Any) -> str:
        """The text that `parse` reads back to the same value."""
        return str(value)


class Real(Kind):
    """A finite real number, kept as a Python float."""

    def what(self, size, choices):
        return "a finite number"

    def parse(self, text):
        return float(text)

    def convert(self, value, size, choices):
        return float(_finite(value, (0,)))

    def write(self, value):
        return _digits(value)


class Integer(Kind):
    """A whole number; `1e4` is one."""

    def what(self, size, choices):
        return "a whole number"

    def parse(self, text):
        try:
            return int(text)
        except ValueError:
            return float(text)

    def convert(self, value, size, choices):
        if isinstance(value, bool | np.bool_):
            raise TypeError
        if isinstance(value, float | np.floating):
            if not value.is_integer():
                raise ValueError
            return int(value)
        return operator.index(value)


class Boolean(Kind):
    """True or false."""

    def what(self, size, choices):
        return "true or false"

    def parse(self, text):
        if text.lower() not in YES | NO:
            raise ValueError
        return text.lower() in YES

    def convert(self, value, size, choices):
        if not isinstance(value, bool | np.bool_):
            raise TypeError
        return bool(value)

    def write(self, value):
        return "true" if value else "false"


class Text(Kind):
    """A text; where there are choices, one of them in any case."""

    def what(self, size, choices):
        return f"one of {', '.join(choices)}" if choices else "a text"

    def parse(self, text):
        return text

    def convert(self, value, size, choices):
        return _chosen(value, choices)


class NameList(Kind):
    """Different names separated by commas, kept as a tuple."""

    def what(self, size, choices):
        return f"different names out of {', '.join(choices)}" if choices else "different names separated by commas"

    def parse(self, text):
        return tuple(name.strip() for name in text.split(","))

    def convert(self, value, size, choices):
        names = tuple(_chosen(name, choices) for name in ([value] if isinstance(value, str) else value))
        if not names or not all(names) or len(set(names)) < len(names):
            raise ValueError
        return names

    def write(self, value):
        return ",".join(value)


class Numbers(Kind):
    """A vector, a matrix, or either: a read-only float64 array with one of the allowed numbers of axes."""

    def __init__(self, *axes: int):
        self.axes = axes

    def what(self, size, choices):
        if self.axes == (1,):
            return f"{'' if size is None else f'{size} '}finite number{'' if size == 1 else 's'} separated by commas"
        shape = f"{size[0]} x {size[1]} " if isinstance(size, tuple) else ""
        return f"a {shape}matrix of finite numbers with entries separated by commas and rows by semicolons"

    def parse(self, text):
        rows = [[float(entry) for entry in row.split(",")] for row in text.split(";")]
        return rows[0] if len(rows) == 1 and 1 in self.axes else rows

    def convert(self, value, size, choices):
        array = _finite(value, (0, *self.axes))
        if array.ndim == 0:
            array = array.reshape((1,) * min(self.axes))
        if array.size == 0 or not self._fits(array, size):
            raise ValueError
        array = self._tidied(array)
        array.flags.writeable = False
        return array

    def _fits(self, array: np.ndarray, size: Size) -> bool:
        return size is None or array.shape == (size if isinstance(size, tuple) else (size,))

    def _tidied(self, array: np.ndarray) -> np.ndarray:
        return array

    def write(self, value):
        return ";".join(",".join(map(_digits, row)) for row in np.atleast_2d(value).tolist())


class SymmetricPositive(Numbers):
    """An inertia: a symmetric positive definite matrix, or its diagonal alone; a friction may be `semidefinite`."""

    def __init__(self, *, semidefinite: bool = False):
        super().__init__(1, 2)
        self.semidefinite = semidefinite

    def what(self, size, choices):
        entries, shape = ("", "") if size is None else (f"{size} ", f"{size} x {size} ")
        signs, definite = ("not negative", "semidefinite") if self.semidefinite else ("positive", "definite")
        return (
            f"{entries}{signs} numbers separated by commas (a diagonal), "
            f"or a symmetric positive {definite} {shape}matrix with rows separated by semicolons"
        )

    def _fits(self, array, size):
        if size is not None and array.shape not in {(size,), (size, size)}:
            return False
        if array.ndim == 1:
            return self._positive(array)
        if array.shape[0] != array.shape[1] or np.max(np.abs(array - array.T)) > 1e-12 * np.max(np.abs(array)):
            return False
        return self._positive(np.linalg.eigvalsh(array))

    def _positive(self, values: np.ndarray) -> bool:
        return bool(np.all(values >= -1e-12 * np.max(np.abs(values)) if self.semidefinite else values > 0))

    def _tidied(self, array):
        """Exactly symmetric: an inertia that was computed may miss that by rounding."""
        return array if array.ndim == 1 else (array + array.T) / 2


class NameOr(Kind):
    """One of the choices by its name, or a value of another kind."""

    def __init__(self, other: Kind):
        self.other = other

    def what(self, size, choices):
        return f"one of {', '.join(choices)}, or {self.other.what(size, {})}"

    def parse(self, text):
        try:
            return self.other.parse(text)
        except ValueError:
            return text

    def convert(self, value, size, choices):
        return _chosen(value, choices) if isinstance(value, str) else self.other.convert(value, size, {})

    def write(self, value):
        return value if isinstance(value, str) else self.other.write(value)


def _digits(value: float) -> str:
    """The fewest digits that are read back to the same number."""
    return repr(value).removesuffix(".0")


def _finite(value: Any, axes: tuple[int, ...]) -> np.ndarray:
    """A copy of real numbers as float64, if they are finite and have one of the allowed numbers of axes."""
    array = np.array(value)
    if array.dtype.kind not in "iuf" or array.ndim not in axes or not np.all(np.isfinite(array)):
        raise ValueError
    return array.astype(np.float64)


def _chosen(value: Any, choices: Mapping[str, str]) -> str:
    """The choice that a text means: as it is written, or else whatever its case."""
    if not isinstance(value, str):
        raise TypeError
    if not choices or value in choices:
        return value
    alike = [choice for choice in choices if choice.casefold() == value.casefold()]
    if len(alike) != 1:
        raise ValueError
    return alike[0]
