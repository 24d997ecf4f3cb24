"""Marks in the pages: `<!-- measured: ... -->` before a table or a paragraph says what makes its numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.docs.measured.numbers import NUMBER, Printed, is_decimal, numbers

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "gallery").glob("*.md"))]
HELD_ELSEWHERE = {"papers.md", "references.md", "audit.md"}
"""Pages without marks: `test_papers.py` holds the first, the next has names and years, `make audit` writes the last."""
MARK = re.compile(r"^<!-- (not measured|measured: [^>]+) -->$")
REFERENCE = re.compile(r"\(\d+\.\d+\)|\b(?:sections?|Figs?\.|Python|MuJoCo|CasADi|REBOUND|Apache)[\s-]\d+(?:\.\d+)+")
BENCHMARKS = "benchmarks/README.md"
Measures = Mapping[str, Any] | Sequence[Any]


class Block(NamedTuple):
    """Lines of a page without an empty one between them, what the mark before them says, and where they are."""

    page: Path
    mark: str
    start: int
    text: str

    @property
    def names(self) -> list[str]:
        """What makes the numbers: names of functions, tests or files."""
        return self.mark.removeprefix("measured: ").split(", ") if self.mark.startswith("measured: ") else []

    @property
    def is_table(self) -> bool:
        return self.text.startswith("|")

    def cells(self) -> list[Printed]:
        """The numbers of a table, row by row; those of its heads and of its first column are names."""
        found, start = [], 0
        for row, line in enumerate(self.text.splitlines(keepends=True)):
            edge = re.match(r"\|(?:\\\||[^|])*\|", line)
            if row > 1 and edge:
                found += [number for number in shifted(line, start) if number.start >= start + edge.end()]
            start += len(line)
        return found

    def has_decimals(self) -> bool:
        """Whether it has numbers with a point or an exponent, apart from those of chapters, figures and versions."""
        if self.is_table:
            return any(is_decimal(number) for number in self.cells())
        return any(is_decimal(number) for number in numbers(REFERENCE.sub("", self.text)))


def shifted(text: str, start: int) -> list[Printed]:
    return [Printed(text, start + first, start + last) for text, first, last in numbers(text)]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page outside code."""
    text = page.read_text(encoding="utf-8")
    bare = re.sub(r"^```.*?^```$", lambda code: re.sub(r"[^\n]", " ", code[0]), text, flags=re.MULTILINE | re.DOTALL)
    mark = ""
    for found in re.finditer(r"(?:^.*\S.*\n)+", bare, re.MULTILINE):
        marked = MARK.match(found[0].rstrip("\n"))
        if not marked:
            yield Block(page, mark, found.start(), found[0])
        mark = marked[1] if marked else ""


def section(name: str) -> str:
    """The text below a heading of the page of benchmarks, `benchmarks/README.md::Heading`; empty if it is not there."""
    text = (ROOT / BENCHMARKS).read_text(encoding="utf-8")
    heading = re.escape(name.partition("::")[2])
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def found_numbers(block: Block, measures: Measures) -> tuple[list[Printed], list[float]]:
    """The numbers of a block that are measured, and the values that were computed for them.

    Those of a table are given in its order. For a paragraph phrases of it are given with their values, `#` standing for
    each: {"turns it by # rad": 0.3}. It may go on in another line.
    """
    if not isinstance(measures, Mapping):
        return block.cells(), [float(value) for value in np.ravel(list(measures))]
    printed: list[Printed] = []
    values: list[float] = []
    for phrase, value in measures.items():
        number = f"({NUMBER.pattern})"
        pattern = number.join(r"\s+".join(map(re.escape, part.split(" "))) for part in phrase.split("#"))
        places = list(re.finditer(pattern, block.text))
        if len(places) != 1:
            raise AssertionError(f"{block.page.name} says {len(places)} times: {phrase}")
        groups = range(1, phrase.count("#") + 1)
        printed += [Printed(places[0][group], *places[0].span(group)) for group in groups]
        values += [float(each) for each in np.ravel(value)]
    order = np.argsort([number.start for number in printed], kind="stable")
    return [printed[k] for k in order], [values[k] for k in order] if len(values) == len(printed) else values
