"""Numbers and names in XML files, with words that say where a mistake is."""

import math
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from naiad.errors import InputError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number of a robot file: not "4_2", which Python takes for 42, nor "nan" or "inf"."""
LEAST, MOST = 1e-15, 1e15
"""The sizes between which masses and lengths make sense; no number is larger."""


def parsed(path: str | os.PathLike[str], outermost: tuple[str, ...]) -> ElementTree.Element:
    """The outermost element of a file, one of these, or an `InputError`."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: there is no such file.")
    try:
        root = ElementTree.parse(file).getroot()
    except (ElementTree.ParseError, UnicodeDecodeError, LookupError, ValueError) as error:
        hint = "; expand xacro first" if "unbound prefix" in str(error) else ""
        raise InputError(f"{file}: it is not XML ({error}){hint}.") from None
    if root.tag not in outermost:
        raise InputError(f"{file}: its outermost element is <{root.tag}>; expected <{'> or <'.join(outermost)}>.")
    return root


def numbers(text: str | None, count: int, where: str, *, most: float = MOST) -> np.ndarray:
    """Return so many finite numbers from text; raise an `InputError` if it has others, or larger ones than `most`."""
    return np.array(_numbers(text, count, where, most))


def _numbers(text: str | None, count: int, where: str, most: float = MOST) -> list[float]:
    words = (text or "").split()
    values = [float(word) for word in words if NUMBER.fullmatch(word)]
    if not len(words) == len(values) == count or not all(map(math.isfinite, values)):
        raise InputError(f"{where} = {text!r}; expected {count} finite number{'s' * (count > 1)}.")
    if max(map(abs, values)) > most:
        raise InputError(f"{where} = {text!r}; expected numbers up to {most:g} in size.")
    return values


def number(text: str | None, where: str, *, least: float | None = None, most: float = MOST) -> float:
    """Return one finite number, not below `least` and not above `most` in size."""
    (value,) = _numbers(text, 1, where, most)
    if least is not None and value < least:
        raise InputError(f"{where} = {value:g}; expected at least {least:g}.")
    return value


def mass(text: str | None, where: str) -> float:
    """Return a mass, which is zero or has a size that a body can have."""
    value = number(text, where, least=0.0)
    if 0.0 < value < LEAST:
        raise InputError(f"{where} = {value:g}; expected 0, or at least {LEAST:g} kg.")
    return value


def lengths(text: str | None, count: int, where: str) -> tuple[float, ...]:
    """Return so many lengths, of a size that a body can have."""
    values = numbers(text, count, where)
    if np.any(values < LEAST):
        raise InputError(f"{where} = {text!r}; expected lengths above zero, from {LEAST:g} to {MOST:g} m.")
    return tuple(values.tolist())


def limit(text: str | None, where: str) -> float | None:
    """Return a limit of a joint; None where the text says that there is none."""
    if text is None or text.strip().lower() in ("inf", "+inf", "-inf"):
        return None
    value = number(text, where, most=math.inf)
    return value if abs(value) < MOST else None


def attribute(element: ElementTree.Element, name: str, where: str) -> str:
    """An attribute that must be there."""
    value = element.get(name)
    if value is None:
        raise InputError(f"{where}: <{element.tag}> has no {name!r}; give it one.")
    return value


def child(element: ElementTree.Element, name: str, where: str) -> ElementTree.Element:
    """An element inside that must be there."""
    found = element.find(name)
    if found is None:
        raise InputError(f"{where}: there is no <{name}> in its <{element.tag}>; give it one.")
    return found


def resolved(name: str, folder: Path, where: str) -> str:
    """The path of a file of a mesh: beside the description, or in a package (package://, model://) that a folder above
    or beside it has the name of."""
    for scheme in ("package://", "model://"):
        if name.startswith(scheme):
            package, _, rest = name.removeprefix(scheme).partition("/")
            above = [folder, *folder.parents]
            places = [each / rest for each in above if each.name == package] + [each / package / rest for each in above]
            for place in places:
                if place.is_file():
                    return str(place)
            raise InputError(
                f"{where}: mesh {name!r} is not found; expected a folder {package!r} with {rest!r} in it, above or "
                f"beside {folder}."
            )
    path = Path(name.removeprefix("file://"))
    return str(path if path.is_absolute() else folder / path)
