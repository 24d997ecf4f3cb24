"""Numbers as they are printed: how they are found in a text, when a value agrees with one, and how it replaces it."""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(
    r"(?:(?<![\w.^)])[-+−±]|(?<![\w.^]))(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d*)?(?:e[-+−]?\d+)?)(?![\w⁰¹²³⁴-⁹]|\.\d)"
)
ROUND_OFF = 1e-11
"""What is printed below this is rounding: a computed value has its order of magnitude, on any machine."""


class Printed(NamedTuple):
    """A number in a text, and where it stands."""

    text: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        return re.sub("[+±,]", "", self.text.replace("−", "-").replace("e+", "e"))

    @property
    def value(self) -> float:
        return float(self.plain)

    @property
    def places(self) -> int:
        """Digits after the point, of the mantissa."""
        return len(self.plain.partition("e")[0].partition(".")[2])

    @property
    def unit(self) -> float:
        """Half a unit of the last digit."""
        return 0.5 * 10.0 ** (int(self.plain.partition("e")[2] or 0) - self.places)

    def agrees(self, value: float, within: float | None = None) -> bool:
        """Whether a value is this one to the printed digits, or relatively `within` it."""
        if self.text[0] == "±":
            value = abs(value)
        if self.value == 0.0:
            return abs(value) < ROUND_OFF
        if abs(self.value) < ROUND_OFF:
            return 0.1 * abs(self.value) <= abs(value) <= 10.0 * abs(self.value)
        room = self.unit * (1.0 + 1e-6)
        return abs(value - self.value) <= (room if within is None else max(room, within * abs(self.value)))

    def refreshed(self, value: float) -> str:
        """A value, written as this one is."""
        if self.agrees(value):
            return self.text
        if "e" in self.plain:
            digits, _, exponent = f"{abs(value):.{self.places}e}".partition("e")
            written = f"{digits}e{int(exponent)}"
        else:
            written = f"{abs(value):{',' if ',' in self.text else ''}.{self.places}f}"
        minus = "−" if "−" in self.text or "-" not in self.text else "-"
        plus = self.text[0] if self.text[0] in "+±" else ""
        return (minus if value < 0.0 and math.isfinite(value) else plus) + written


def is_decimal(number: Printed) -> bool:
    """Whether it has digits after a point, or an exponent: what is measured mostly has."""
    return bool(re.search(r"\.\d|e", number.text))


def every_number(text: str) -> list[Printed]:
    """All numbers of a text, apart from those in names such as RK4."""
    return [Printed(found[0], *found.span()) for found in NUMBER.finditer(text)]


def numbers(text: str) -> list[Printed]:
    """Those that are not in code, links or citations."""
    return every_number(re.sub(r"`[^`]*`|\[[^\]]*\](?:\([^)]*\))?", lambda found: " " * len(found[0]), text))


def replaced(text: str, found: list[Printed], values: list[float]) -> str:
    """The text with these values in place of its numbers."""
    for number, value in reversed(list(zip(found, values, strict=True))):
        text = text[: number.start] + number.refreshed(value) + text[number.end :]
    return text
