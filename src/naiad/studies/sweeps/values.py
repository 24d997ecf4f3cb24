"""The values of one parameter in a sweep, as text: `cay,exp`, `0.1,0.05`, `0.1..0.001:7:log`, `1,2,3|2,2,3`.

Values are separated by commas; by `|` where a value may have commas itself (vectors, matrices, lists of names), and
anywhere else as well. A number may be a range: `LO..HI:N` are N numbers from LO to HI at equal distances, and
`LO..HI:N:log` at equal ratios. They are computed in decimals and rounded once, so that 0.1..0.4:4 has 0.3.
"""

import decimal
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from naiad.errors import InputError
from naiad.studies.kinds import Boolean, Integer, Kind, NameOr, Real
from naiad.studies.kinds import Text as Words
from naiad.studies.parameters import Parameter

LARGEST = 100_000
"""Values of a parameter, and rows of a sweep: each row is a file for a while."""

_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^:]+):(?P<count>[^:]+)(?P<log>:log)?")
_EXACTLY = decimal.Context(prec=60)
_ROUNDED = decimal.Context(prec=40)


def values(parameter: Parameter, text: str) -> tuple[Any, ...]:
    """The different values that a text stands for, in its order; InputError if one does not fit."""
    found = [parameter.read(each) for part in _parts(parameter, text) for each in _expanded(parameter, part)]
    written = [parameter.write(value) for value in found]
    if len(set(written)) < len(written):
        twice = next(each for each in written if written.count(each) > 1)
        raise InputError(f"{parameter.name}={text}: {twice} comes twice; give each value once")
    return tuple(found)


def _parts(parameter: Parameter, text: str) -> list[str]:
    if "|" in text:
        parts = text.split("|")
    elif _without_commas(parameter) or _names(parameter, text):
        parts = text.split(",")
    else:
        parts = [text]
    parts = [part.strip() for part in parts]
    if not all(parts):
        raise InputError(
            f"{parameter.name}={text}: a value is empty; expected {parameter.expected}, "
            f"or several of them with {'a comma' if _without_commas(parameter) else '|'} between"
        )
    return parts


def _without_commas(parameter: Parameter) -> bool:
    """Whether no value of this kind has a comma in it."""
    kind = parameter.kind.other if isinstance(parameter.kind, NameOr) else parameter.kind
    return isinstance(kind, Real | Integer | Boolean) or (isinstance(kind, Words) and bool(parameter.options.choices))


def _names(parameter: Parameter, text: str) -> bool:
    """Whether all between the commas are names, where a name may be given instead of a matrix."""
    known = {choice.casefold() for choice in parameter.options.choices}
    return isinstance(parameter.kind, NameOr) and all(part.strip().casefold() in known for part in text.split(","))


def _number(kind: Kind) -> bool:
    return isinstance(kind.other if isinstance(kind, NameOr) else kind, Real | Integer)


def _expanded(parameter: Parameter, part: str) -> Iterator[Any]:
    """The part itself, or the numbers of a range."""
    if ".." not in part or not _number(parameter.kind):
        yield part
        return
    given = f"{parameter.name}={part}"
    for value in _range(given, part):
        if not isinstance(parameter.kind, Integer):
            yield float(value)
        elif value == value.to_integral_value():
            yield int(value)
        else:
            raise InputError(
                f"{given}: it has {float(value):.6g}, and {parameter.name} takes whole numbers; "
                "choose another N, or give the values one by one"
            )


def _range(given: str, part: str) -> list[Decimal]:
    match = _RANGE.fullmatch(part)
    ends = [_decimal(match[name]) for name in ("low", "high")] if match else []
    if match is None or None in ends:
        raise InputError(f"{given}: expected LO..HI:N or LO..HI:N:log, such as 0.1..0.001:7:log")
    low, high = (end for end in ends if end is not None)
    count = int(match["count"]) if match["count"].strip().isdecimal() else 0
    if not 2 <= count <= LARGEST:
        raise InputError(f"{given}: N is {match['count'].strip()}; expected a whole number from 2 to {LARGEST}")
    if match["log"] and min(low, high) <= 0:
        raise InputError(f"{given}: equal ratios need ends above 0; leave :log out, or choose other ends")
    with decimal.localcontext(_EXACTLY):
        parts = [Decimal(k) / (count - 1) for k in range(count)]
        found = [low * (high / low) ** x if match["log"] else low + (high - low) * x for x in parts]
    return [low, *(_ROUNDED.plus(value) for value in found[1:-1]), high]


def _decimal(text: str) -> Decimal | None:
    """The number that a text is, if it is a finite one."""
    try:
        value = Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    return value if value.is_finite() else None
