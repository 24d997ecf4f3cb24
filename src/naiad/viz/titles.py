"""What a picture is of, in words."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from naiad.viz.roles import units_of

if TYPE_CHECKING:
    import xarray as xr

NAMES = {"earth": "Earth", "mpc": "MPC", "poincare": "Poincaré"}
HYPHENATED = ("three-link", "work-precision")


class Titles(NamedTuple):
    """What is shown, and by which method."""

    title: str
    subtitle: str = ""


def titles(dataset: "xr.Dataset") -> Titles:
    """Those of a dataset: the study that it is of, or the system, with the method and the step of the run."""
    run = dataset.attrs.get("run")
    run = run if isinstance(run, Mapping) else {}
    name = dataset.attrs.get("study") or run.get("system")
    shown = how(run.get("method"), run.get("dt"), time_unit(dataset))
    return Titles(in_words(str(name)) if name else "Motion", shown)


def time_unit(dataset: "xr.Dataset") -> str:
    """The unit of the times of a dataset, s where nothing is known of them."""
    known = units_of(dataset["time"]) if "time" in dataset.coords else None
    return "s" if known is None else known


def how(method: object, dt: object, unit: str = "s") -> str:
    """A method, by the first word of its description, and a step with its unit."""
    parts = [str(method).partition("(")[0]] if method else []
    return ", ".join([*parts, *([f"dt = {dt:g} {unit}".strip()] if isinstance(dt, int | float) else [])])


def in_words(name: str) -> str:
    """A name as a title: `heavy-top`, `heavy_top` and `HeavyTop` become Heavy top."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", name)
    words = re.sub(r"[\s_-]+", " ", parted).strip().split(" ")
    lowered = [words[0], *(word if len(word) > 1 and word.isupper() else word.lower() for word in words[1:])]
    text = " ".join(NAMES.get(word, word) for word in lowered)
    for word in HYPHENATED:
        text = text.replace(word.replace("-", " "), word)
    return text[:1].upper() + text[1:]
