"""The units in which a system's numbers are, for labels, axes, tables, pages and prints."""

import functools
import re
from typing import Any

from naiad.errors import InputError
from naiad.numerics import Module, static

_POWERS = {
    "kg": (1, 0, 0),
    "m": (0, 1, 0),
    "s": (0, 0, 1),
    "N": (1, 1, -2),
    "J": (1, 2, -2),
    "W": (1, 2, -3),
    "Pa": (1, -1, -2),
}  # of mass, length, time


class Units(Module):
    """The names of the units in which a system's lengths, times and masses are; nothing is converted.

    `Units(length="AU", time="day", mass="Msun")` shows velocities in AU/day and energies in Msun AU^2/day^2. An empty
    name is left out: `Units(length="", time="", mass="")` is for numbers without units, as with G = 1. Angles stay in
    rad.
    """

    length: str = static(default="m")
    time: str = static(default="s")
    mass: str = static(default="kg")

    def __init__(self, *, length: str = "m", time: str = "s", mass: str = "kg"):
        for kind, name in (("length", length), ("time", time), ("mass", mass)):
            if re.search(r"[\s/^\[\]]", name):
                raise InputError(f"Units: {kind} = {name!r}; expected the name of one unit, such as 'AU', or ''.")
        self.length, self.time, self.mass = length, time, mass

    def named(self, unit: str) -> str:
        """Return a unit that is written in those of SI ("kg m^2/s", "J") in these units; other words stay."""
        return unit if self == SI else _named(self, unit)

    def of_time(self, value: float, digits: str = "g") -> str:
        """A time with its unit, as text."""
        return f"{value:{digits}} {self.time}".rstrip()


SI = Units()


def units_of(system: Any) -> Units:
    """The units of a system."""
    if not isinstance(system.units, Units):
        raise InputError(
            f"{type(system).__name__}.units is {system.units!r:.60}; expected naiad.Units(length=..., time=..., "
            "mass=...)."
        )
    return system.units


@functools.lru_cache
def _named(units: Units, unit: str) -> str:
    parts = unit.split("/")
    factors = [(factor, 1 if k == 0 else -1) for k, part in enumerate(parts) for factor in part.split()]
    powers: dict[str, int] = {}
    for factor, sign in factors:
        symbol, _, power = factor.partition("^")
        if not re.fullmatch(r"-?\d+", power or "1"):
            return unit
        names = zip((units.mass, units.length, units.time), _POWERS.get(symbol, ()), strict=False)
        for name, each in names if symbol in _POWERS else ((symbol, 1),):
            powers[name] = powers.get(name, 0) + sign * each * int(power or 1)
    kept = {name: n for name, n in powers.items() if name not in ("", "1")}
    above = " ".join(_power(name, n) for name, n in kept.items() if n > 0)
    below = " ".join(_power(name, -n) for name, n in kept.items() if n < 0)
    if not below:
        return "1" if unit == "1" else above
    return f"{above or '1'}/{below}"


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"
