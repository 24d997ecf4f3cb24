"""How far apart bodies are for their nodes: flux that should be none, and bodies that overlap."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.hydro.boundary import Boundary, Level
from naiad.hydro.coupling import pairs, seen
from naiad.hydro.crossing import FINE, overlap
from naiad.hydro.nystrom import Points

WANTED, ACCEPTED, UNRESOLVED = 1e-14, 1e-12, 1e-3


def flux_errors(levels: Sequence[Level], poses: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n n"]:
    """For each pair the largest flux through body i of a unit source at a node of body j, by the trapezoidal rule.

    It is 0 outside, 1 inside. The error of the rule falls like exp(-c N), as that of all that bodies do to each other.
    """
    found = np.zeros((len(levels), len(levels)))
    for i, j in pairs(len(levels)):
        if isinstance(levels[i].sources, Points):
            z, _ = seen(levels[j], poses[j], poses[i], np)
            turns = levels[i].sources.velocity(z) @ levels[i].normal
            found[i, j] = np.max(np.abs(turns.real))
    return found


def levels_for(boundaries: Sequence[Boundary], poses: Float[np.ndarray, "n 3"]) -> list[Level]:
    """For each body the fewest nodes at which its flux errors are at round-off, guessed from those at the fewest of
    all; all nodes where the guess was wrong."""
    coarsest = [each.levels[0] for each in boundaries]
    errors = np.max(flux_errors(coarsest, poses), axis=1)
    levels = [_enough(each, error) for each, error in zip(boundaries, errors, strict=True)]
    errors = np.max(flux_errors(levels, poses), axis=1)
    short = errors > ACCEPTED
    if np.any(short):
        levels = [each.finest if short[k] else levels[k] for k, each in enumerate(boundaries)]
        check_apart(boundaries, levels, poses)
    elif not all(isinstance(level.sources, Points) for level in levels):
        check_apart(boundaries, levels, poses)
    return levels


def check_apart(
    boundaries: Sequence[Boundary], levels: Sequence[Level], poses: Float[np.ndarray, "n 3"]
) -> Float[np.ndarray, "n n"]:
    """The flux errors, or an `InputError` for bodies that touch or overlap, or are too near for their nodes."""
    errors = flux_errors(levels, poses)
    for i, j in pairs(len(levels)):
        smooth = isinstance(levels[i].sources, Points)
        if smooth and errors[i, j] < UNRESOLVED:
            continue
        one, other = (_placed(boundaries[k], poses[k], FINE if smooth else levels[k].size) for k in (i, j))
        if overlap(one, other):
            raise InputError(f"Bodies {i + 1} and {j + 1} touch or overlap at these poses; move them apart.")
        if smooth:
            raise InputError(
                f"Bodies {i + 1} and {j + 1} are too near each other for {levels[i].size} points on body {i + 1} (flux "
                f"error {errors[i, j]:.2g}); give more points, or move them apart."
            )
    return errors


def _enough(boundary: Boundary, error: float) -> Level:
    """The first level whose error is as wanted, if errors fall exponentially."""
    rate = -math.log(min(max(error, 1e-16), 1.0)) / boundary.levels[0].size
    enough = [level for level in boundary.levels if rate * level.size >= -math.log(WANTED)]
    return (enough or boundary.levels[-1:])[0]


def _placed(boundary: Boundary, pose: np.ndarray, nodes: int) -> np.ndarray:
    return np.exp(1j * pose[0]) * boundary.curve.sample(nodes).z + complex(*pose[1:])
