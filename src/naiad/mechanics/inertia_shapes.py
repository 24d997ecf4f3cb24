"""The shapes of bodies of which only the Lagrangian is known: ellipsoids with their inertia."""

from typing import Any

import jax
import numpy as np

from naiad.compiler import execute_rows
from naiad.mechanics.components import identity, split_rows
from naiad.mechanics.picture import ellipsoid_of_inertia
from naiad.mechanics.state import Scalar
from naiad.mechanics.system import LagrangianSystem

MOST = 24


def inertia_shapes(system: LagrangianSystem, g: Any, t: Scalar) -> list[np.ndarray] | None:
    """The semi-axes of an ellipsoid for each body that turns in space, from the inertia d2 ell/d xi2 at g; [m] where
    each has a place too, else proportions. None where bodies cannot be told from each other, or are too many."""
    group = system.group
    turns, places = [], []
    for leaf, columns in zip(
        jax.tree.leaves(identity(group)), split_rows(group, np.arange(group.dim, dtype=float)), strict=True
    ):
        rows = np.asarray(columns, int).reshape(-1, 3) if np.shape(columns)[-1:] == (3,) else None
        if rows is not None and (leaf.shape[-2:] == (3, 3) or leaf.shape[-1:] == (4,)):
            turns.append(rows)
        elif rows is not None and leaf.shape[-1:] == (3,):
            places.append(rows)
        elif leaf.shape == () or leaf.shape[-2:] == (2, 2):
            return None
    if not turns or group.dim > MOST:
        return None
    bodies, homes = np.concatenate(turns), np.concatenate([*places, np.zeros((0, 3), int)])
    if len(homes) not in (0, len(bodies)):
        return None
    K = _inertia(system, g, t)
    shapes = []
    for k, own in enumerate(bodies):
        J, mass = K[np.ix_(own, own)], None
        if len(homes):
            M, S = K[np.ix_(homes[k], homes[k])], K[np.ix_(own, homes[k])]
            if not np.linalg.det(M) > 0:
                return None
            J, mass = J - S @ np.linalg.solve(M, S.T), float(np.trace(M)) / 3.0
        if not (np.isfinite(J).all() and np.linalg.eigvalsh(J)[0] > 0):
            return None
        shapes.append(ellipsoid_of_inertia(J, mass))
    return shapes


def _inertia(system: LagrangianSystem, g: Any, t: Scalar) -> np.ndarray:
    """d2 ell/d xi2 from values of ell, which is quadratic in xi: no derivative need be compiled for a picture."""
    n = system.group.dim
    first, second = np.triu_indices(n)
    rows = np.concatenate([np.zeros((1, n)), np.eye(n), np.eye(n)[first] + np.eye(n)[second]])
    along = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (len(rows), *np.shape(leaf))), g)
    values = execute_rows(_lagrangian, system, along, rows, np.full(len(rows), t), parameters=(0,))
    zero, each, pairs = values[0], values[1 : n + 1], values[n + 1 :]
    K = np.zeros((n, n))
    K[first, second] = K[second, first] = pairs - each[first] - each[second] + zero
    return K


def _lagrangian(system: LagrangianSystem, g: Any, xi: Any, t: Scalar) -> Any:
    return system.lagrangian(g, xi, t)
