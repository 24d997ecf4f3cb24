"""The dipoles of all bodies at known poses: W psi = H xi, by factors of W."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro.spatial.kernel import energies
from naiad.hydro.spatial.pairs import Coupled
from naiad.hydro.spatial.sheet import AbstractSheet


def factorised(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], right: list[Any]) -> list[Any]:
    """psi for right sides in columns, a block a body."""
    if not between:
        return [sheet.inverse @ each for sheet, each in zip(sheets, right, strict=True)]
    psi = _positive(_matrix(sheets, between), np.concatenate(right))
    return np.split(psi, np.cumsum([len(sheet.W) for sheet in sheets])[:-1])


def _matrix(sheets: Sequence[AbstractSheet], between: Sequence[Coupled]) -> np.ndarray:
    ends = np.cumsum([len(sheet.W) for sheet in sheets])
    parts = [slice(end - len(sheet.W), end) for end, sheet in zip(ends, sheets, strict=True)]
    W = np.zeros((ends[-1], ends[-1]))
    for sheet, part in zip(sheets, parts, strict=True):
        W[part, part] = sheet.W
    for pair, at, G in between:
        block = pair.share * pair.sign * energies(sheets[pair.first], sheets[pair.second], at, G, np)
        i, j = parts[pair.first], parts[pair.second]
        W[i, j] += block
        W[j, i] += block.T
    return W


def _positive(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    import scipy.linalg

    try:
        factor = scipy.linalg.cho_factor(W, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise InputError("The bodies are too near each other for the functions on them; move them apart.") from error
    return scipy.linalg.cho_solve(factor, b, check_finite=False)
