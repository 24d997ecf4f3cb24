"""The functions that compute the numbers of the pages, by the names in their marks."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from naiad import studies
from naiad.studies.progress import Progress
from tests.docs.measured.pages import Measures


class Measure(NamedTuple):
    """Computes the numbers of one block of a page."""

    compute: Callable[[], Measures]
    quick: bool
    within: float | Mapping[int, float] | None

    def tolerance(self, place: int) -> float | None:
        """The relative one of the number at a place, from 0; None for its printed digits."""
        return self.within.get(place) if isinstance(self.within, Mapping) else self.within


MEASURES: dict[str, Measure] = {}


def measured(
    name: str, *, quick: bool = False, within: float | Mapping[int, float] | None = None
) -> Callable[..., Any]:
    """Register a function under a name.

    Those that are `quick`, below a second, are run by `make test`. `within` is a relative tolerance for numbers that
    depend on rounding, all or those at some places; without it they are compared to their printed digits.
    """

    def register(compute: Callable[[], Measures]) -> Callable[[], Measures]:
        assert name not in MEASURES, name
        MEASURES[name] = Measure(compute, quick, within)
        return compute

    return register


@functools.cache
def results(study: str, *assignments: str) -> dict[str, Any]:
    """What a study reports, with parameters as on the command line."""
    return dict(studies.find(study).parse(assignments).run(Progress()).results)
