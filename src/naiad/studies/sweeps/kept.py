"""The rows of a sweep on disk: each is a small file, until the table is made of them."""

from pathlib import Path

from naiad.files import whole_file
from naiad.studies.sweeps import ROWS
from naiad.studies.sweeps.row import Row


def keep(row: Row, number: int, folder: Path) -> None:
    """Write a row to its file, whole or not at all."""
    with whole_file(folder / ROWS / f"{number}.json") as file:
        file.write_text(row.write(), encoding="utf-8")


def kept(folder: Path) -> dict[int, Row]:
    """The rows that are there, by their numbers; one that cannot be read is not there."""
    found = {}
    for path in sorted((folder / ROWS).glob("[0-9]*.json")):
        try:
            found[int(path.stem)] = Row.read(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, KeyError):
            continue
    return found
