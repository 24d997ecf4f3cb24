"""One row of a sweep: what a run of the study found, or why it failed."""

import dataclasses
import importlib
import json
import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from naiad.errors import NaiadError, RunWarning
from naiad.studies.progress import Progress
from naiad.studies.values import plain


class Task(NamedTuple):
    """What a process needs to run a row: where the study is ("module:Class"), and all parameters as texts."""

    study: str
    parameters: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Row:
    """What was found, with units; `error` is empty unless the run failed."""

    results: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    units: Mapping[str, str] = dataclasses.field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    def write(self) -> str:
        """JSON, with NaN and infinities as Python has them."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "Row":
        """The row that was written."""
        found = json.loads(text)
        return cls(**found | {"warnings": tuple(found["warnings"])})


def run_row(task: Task) -> Row:
    """Run the study once; whatever it raises is the error of its row."""
    started = time.perf_counter()
    try:
        row = _found(task)
    except NaiadError as error:
        row = Row(error=str(error))
    except Exception as error:
        row = Row(error=" ".join(f"{type(error).__name__}: {error}".split()))
    return dataclasses.replace(row, seconds=time.perf_counter() - started)


def _found(task: Task) -> Row:
    module, _, name = task.study.partition(":")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RunWarning)
        found = getattr(importlib.import_module(module), name)(**task.parameters).run(Progress())
    said = tuple(dict.fromkeys(str(each.message) for each in heard))
    return Row(plain(found.results, finite=False), plain(found.units), said)
