"""The added inertia of a surface, refined until its error is small enough, and kept by its content."""

import hashlib
import io
from typing import NamedTuple

import numpy as np

from naiad.compiler.cache import default_cache
from naiad.compiler.fingerprint import Unfingerprintable
from naiad.compiler.fingerprint.modules import digest_of
from naiad.errors import InputError
from naiad.hydro.meshes import coarse, facets, galerkin, refinement
from naiad.hydro.meshes.surface import Surface
from naiad.hydro.meshes.telling import Solving, tell

LARGEST = 20_480
"""Triangles that are solved with; they take 3 GB."""

SHARE = 0.7
"""Of the error that is seen at vertices, this much is refined at."""

TIE = 1e-6
"""Errors that differ by less, relative, are refined together: which of them is larger is a matter of rounding."""


class Added(NamedTuple):
    """The inertia of a fluid of unit density about the origin, and what is known of it."""

    inertia: np.ndarray
    from_triangles: float
    """The error for the size of the triangles that the flow was solved on, relative."""
    from_facets: float
    """The error if the facets stand for a smooth surface, relative."""
    error: float
    """Both together."""
    triangles: int
    """How many the flow was solved on."""


def added(given: Surface, tolerance: float) -> Added:
    """From the cache, or solved and kept there."""
    cache = default_cache()
    key = None if cache is None else _key(given, tolerance)
    kept = None if cache is None or key is None else cache.load(key)
    if kept is not None:
        numbers = np.load(io.BytesIO(kept), allow_pickle=False)
        of_triangles, of_facets, both, count = map(float, numbers[36:])
        return Added(numbers[:36].reshape(6, 6), of_triangles, of_facets, both, int(count))
    found = _solved(given, tolerance)
    if cache is not None and key is not None:
        file = io.BytesIO()
        np.save(file, np.concatenate([found.inertia.ravel(), found[1:]]), allow_pickle=False)
        cache.store(key, file.getvalue())
    return found


def _key(given: Surface, tolerance: float) -> str | None:
    """The key of the cache: the surface, and the code that solves; None if that code is not known."""
    try:
        code = digest_of(frozenset({__name__}))
    except Unfingerprintable:
        return None
    key = hashlib.sha256(f"added inertia {code}".encode() + np.float64(tolerance).tobytes())
    key.update(given.vertices.tobytes())
    key.update(given.triangles.astype(np.int64).tobytes())
    return key.hexdigest()


def _solved(given: Surface, tolerance: float) -> Added:
    size = given.volume ** (1.0 / 3.0)
    scale = np.repeat([1.0 / size, 1.0], 3)
    surface, before = refinement.cut(given), None
    while True:
        if len(surface.triangles) > LARGEST:
            fewer = ", or simplify the mesh (`simplify=5000`)" if len(given.triangles) > LARGEST // 4 else ""
            raise InputError(
                f"The added inertia to tolerance = {tolerance:g} needs {len(surface.triangles)} triangles or more; "
                f"naiad solves with up to {LARGEST}. Give a larger tolerance{fewer}."
            )
        at = Solving(len(surface.triangles), 0.0, before, tolerance)
        system = galerkin.assemble(surface, lambda done, at=at: tell(at._replace(done=done)))
        tell(at._replace(done=1.0))
        M, psi = galerkin.solve(system)
        space = coarse.coarse_space(surface)
        fewer, psi_fewer = galerkin.solve(system, space)
        missing = (M - fewer) / (space.shape[0] / space.shape[1] - 1.0)
        bent = facets.unfaceted(given, surface, psi)
        of_triangles, of_facets, both = (_norm(K, scale) / _norm(M, scale) for K in (missing, bent, missing + bent))
        if of_triangles <= tolerance:
            return Added(M, of_triangles, of_facets, both, len(surface.triangles))
        before = of_triangles
        lost = np.diag(system.W) * np.sum(((psi - psi_fewer) * scale) ** 2, axis=1)
        chosen = lost >= (1.0 - TIE) * _least_of(lost, SHARE)
        ends, _ = surface.edges
        surface = refinement.flipped(refinement.refine(surface, chosen[ends[:, 0]] | chosen[ends[:, 1]]))


def _least_of(lost: np.ndarray, share: float) -> float:
    """The smallest of the largest numbers that make up this share of the sum."""
    falling = np.sort(lost)[::-1]
    total = np.cumsum(falling)
    return float(falling[np.searchsorted(total, share * total[-1])])


def _norm(K: np.ndarray, scale: np.ndarray) -> float:
    """The largest energy of a unit motion, turns measured by the speed at the cube root of the volume."""
    return float(np.linalg.norm(scale[:, None] * K * scale, 2))
