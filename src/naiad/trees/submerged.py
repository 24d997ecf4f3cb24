"""Bodies of given shapes in a fluid, or dry, as connected bodies need them: a tree, weights and what to draw."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.forces.weight import Weight
from naiad.hydro import AbstractShape, mass_properties
from naiad.models.solid_shape import DRAWN, Solid, solid_of
from naiad.trees.tree import Tree

MOST_DRAWN = 4000
"""Triangles of all bodies in a picture, at most, unless there are very many bodies."""


class Water(NamedTuple):
    """What the fluid is to a body: its added inertia, 6 x 6, the mass that is displaced and its centre, all in the
    frame of the body."""

    added: np.ndarray
    displaced: float
    centre: np.ndarray


class Submerged(NamedTuple):
    """The parts of connected bodies."""

    tree: Tree
    weight: Weight | None
    solids: tuple[Solid | None, ...]


NO_WATER = Water(np.zeros((6, 6)), 0.0, np.zeros(3))


def water_around(shape: AbstractShape, density: float) -> Water:
    """Of a shape in a fluid of this density."""
    return Water(shape.added_inertia(density), shape.displaced_mass(density), np.asarray(shape.centre, float))


def submerged(
    parents: Sequence[int],
    dry: np.ndarray,
    around: Sequence[Water],
    shapes: Sequence[AbstractShape | None],
    *,
    gravity: Any,
    **about: Any,
) -> Submerged:
    """Of dry inertias, 6 x 6, what the water is to each body, and shapes to draw, all in the frames of the bodies;
    `about` is the rest of a `Tree`."""
    tree = Tree.of_inertias(parents, dry + np.stack([each.added for each in around]), **about)
    at = np.asarray(tree.at)
    weight = None
    if gravity is not None:
        masses = [mass_properties(each) for each in dry]
        weight = Weight(
            gravity,
            np.array([each.mass for each in masses]),
            np.array([each.displaced for each in around]),
            np.stack([each.centre for each in around]) - at,
            np.stack([each.centre for each in masses]) - at,
        )
    most = min(DRAWN, max(40, MOST_DRAWN // len(at)))
    different = {id(shape): shape for shape in shapes}
    drawn = {key: None if shape is None else solid_of(shape, most) for key, shape in different.items()}
    solids = []
    for shape, c in zip(shapes, at, strict=True):
        solid = drawn[id(shape)]
        solids.append(None if solid is None else solid.replaced(centre=solid.centre - c))
    return Submerged(tree, weight, tuple(solids))


def checked_shapes(shapes: Any, count: int) -> list[AbstractShape]:
    """A shape of space for each body, one for all if only one is given, or an `InputError`."""
    given = [shapes] * count if isinstance(shapes, AbstractShape) else list(shapes)
    for i, shape in enumerate(given):
        if not isinstance(shape, AbstractShape) or len(shape.centre) != 3:
            raise InputError(f"shapes[{i}] = {shape!r}; expected a shape of space, such as an Ellipsoid or a Mesh.")
    if len(given) != count:
        raise InputError(f"shapes has {len(given)} entries; expected one for all, or one for each of {count} bodies.")
    return given
