"""Numbers in comments beside `print`: what an example says that it prints, it prints."""

import io
import re
import sys
import tokenize

from tests.docs.measured.numbers import ROUND_OFF, every_number

ROUGHLY = 0.25
"""How far off a number may be that is said to be about, or near, something, relatively."""


class Recorder:
    """Stands for `print` and keeps what was printed, by the line of the call."""

    def __init__(self):
        self.lines: dict[int, str] = {}

    def __call__(self, *values, **options):
        line = sys._getframe(1).f_lineno
        self.lines[line] = self.lines.get(line, "") + " ".join(map(str, values)) + "\n"


def comments(code: str, first: int) -> dict[int, str]:
    """Comments by the line, of which the first of the code has this number."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return {token.start[0] + first - 1: token.string for token in tokens if token.type == tokenize.COMMENT}


def unsaid(comment: str, output: str) -> list[str]:
    """The numbers of a comment that are not in the output, in its order.

    What follows a number and a colon or a semicolon is an explanation. What is rounding is at most ten times as large.
    """
    said = re.match(r"[^\d]*[^:;]*", comment)
    roughly = ROUGHLY if re.search(r"\b(about|near)\b", comment) else None
    rest, missing = iter(every_number(output)), []
    for number in every_number(said[0] if said else ""):
        small, most = 0.0 < abs(number.value) < ROUND_OFF, 10.0 * abs(number.value)
        if not any(abs(each.value) <= most if small else number.agrees(each.value, roughly) for each in rest):
            missing.append(number.text)
    return missing
