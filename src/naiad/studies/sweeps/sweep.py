"""A sweep: a study, the parameters that stay, and those that take several values; every combination is a row."""

import itertools
import json
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naiad.errors import InputError
from naiad.studies import provenance
from naiad.studies.config import read_toml
from naiad.studies.study import Study
from naiad.studies.sweeps.values import LARGEST, values
from naiad.studies.values import plain

SEED = "seed"


@dataclass(frozen=True)
class Sweep:
    """The rows are in the order of the swept parameters, of which the last varies first; a seed is always last.

    `texts` has what was given for each swept parameter, `swept` the values that it stands for, `fixed` all others.
    """

    study: type[Study]
    texts: Mapping[str, str]
    swept: Mapping[str, tuple[Any, ...]]
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, study: type[Study], given: Mapping[str, Any], seeds: int | None = None) -> "Sweep":
        """The sweep over the parameters that are given as texts with several values; all its rows are checked."""
        for key in given:
            if key not in study.parameters:
                raise InputError(study.unknown(key))
        texts = {key: text for key, text in given.items() if isinstance(text, str)} | _seeds(study, given, seeds)
        swept = {key: values(study.parameters[key], text) for key, text in texts.items()}
        swept = {key: each for key, each in swept.items() if len(each) > 1 or (key == SEED and seeds)}
        if SEED in swept:
            swept[SEED] = swept.pop(SEED)
        if not swept:
            raise InputError(
                f"sweep {study.name}: no parameter has several values; give some, such as "
                f"-p {_example(study)}, or do one run with `naiad run`"
            )
        rows = math.prod(map(len, swept.values()))
        if rows > LARGEST:
            raise InputError(f"the sweep has {rows} rows, and at most {LARGEST} can be; sweep over fewer values")
        made = cls(study, {key: texts[key] for key in swept}, swept, {})
        first = made._checked({key: value for key, value in given.items() if key not in swept})
        return cls(study, made.texts, swept, {key: each for key, each in first.items() if key not in swept})

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each swept parameter has."""
        return tuple(map(len, self.swept.values()))

    def combinations(self) -> Iterator[dict[str, Any]]:
        """The swept parameters of each row."""
        return (dict(zip(self.swept, each, strict=True)) for each in itertools.product(*self.swept.values()))

    def rows(self) -> Iterator[dict[str, str]]:
        """All parameters of each row, as texts that the study takes."""
        fixed = {key: self.study.parameters[key].write(value) for key, value in self.fixed.items()}
        return (fixed | self.written(each) for each in self.combinations())

    def written(self, combination: Mapping[str, Any]) -> dict[str, str]:
        """The swept parameters of a row as texts."""
        return {key: self.study.parameters[key].write(value) for key, value in combination.items()}

    def _checked(self, fixed: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters of the first row, once every row is one that the study takes."""
        first: dict[str, Any] = {}
        for combination in self.combinations():
            try:
                study = self.study(**{**fixed, **combination})
            except InputError as error:
                row = ", ".join(f"{key}={text}" for key, text in self.written(combination).items())
                raise InputError(f"the row {row}: {error}") from error
            first = first or study.values()
        return first


def read_sweep(path: Path, name: str | None = None, assignments: Iterable[str] = (), seeds: int | None = None) -> Sweep:
    """The sweep that a file describes, a `sweep.toml` or a `study.toml`, with other values for some parameters."""
    study, given = read_toml(path, name, tables=("parameters", "sweep"))
    return Sweep.of(study, {**given, **study.assigned(assignments)}, seeds)


def write_sweep(sweep: Sweep) -> str:
    """The file that repeats a sweep."""
    fixed = {key: plain(value) for key, value in sweep.fixed.items() if value is not None}
    return "\n".join(
        [
            f"study = {_toml(sweep.study.name)}",
            f"naiad = {_toml(provenance.version())}",
            "\n[parameters]",
            *(f"{key} = {_toml(value)}" for key, value in fixed.items()),
            "\n[sweep]",
            *(f"{key} = {_toml(text)}" for key, text in sweep.texts.items()),
            "",
        ]
    )


def begun_with(path: Path) -> str:
    """The version of naiad with which a sweep was begun."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("naiad", ""))


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _seeds(study: type[Study], given: Mapping[str, Any], seeds: int | None) -> dict[str, str]:
    """The seeds from the one that is given, or from 0."""
    if seeds is None:
        return {}
    if SEED not in study.parameters:
        raise InputError(
            f"--seeds {seeds}: {study.name} has no parameter {SEED}, so that all its runs are the same; leave it out"
        )
    if not 1 <= seeds <= LARGEST:
        raise InputError(f"--seeds {seeds}: expected a whole number from 1 to {LARGEST}")
    start, *more = values(study.parameters[SEED], str(given.get(SEED, 0)))
    if more:
        raise InputError(f"--seeds {seeds} and several values of {SEED} are both given; give one of them")
    return {SEED: f"{start}..{start + seeds - 1}:{seeds}" if seeds > 1 else str(start)}


def _example(study: type[Study]) -> str:
    """Two values for the first parameter of this study with a choice, or else two numbers for the first."""
    for each in study.parameters.values():
        if len(each.options.choices) > 1:
            return f"{each.name}={','.join([*each.options.choices][:2])}"
    return f"{next(iter(study.parameters))}=1..2:3"
