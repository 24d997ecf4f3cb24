"""Swimmers of space: bodies joined by hinges, ball joints and welds, each alone in the fluid or all coupled by it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.groups import SE3
from naiad.groups.se3 import Pose
from naiad.hydro import AbstractShape, SpatialBodies
from naiad.locomotion import checks
from naiad.locomotion.links import KINDS, Links, order
from naiad.locomotion.swimmer import Swimmer
from naiad.mechanics import identity
from naiad.numerics.arguments import checked_throughout
from naiad.trees import Tree
from naiad.trees.checks import attitudes, unit_rows

FLOPPY = 1e-12
"""The smallest eigenvalue of K, scaled to a diagonal of ones, that counts as an inertia."""


@checked_throughout
def spatial_swimmer(
    shapes: Sequence[AbstractShape],
    parents: Sequence[int],
    *,
    own: Any,
    other: Any,
    axis: Any = None,
    joints: str | Sequence[str] = "hinge",
    rest: Any = None,
    fluid: float = 1.0,
    density: float | Sequence[float] = 0.0,
    coupled: bool = False,
    degree: int = 8,
    points: int | None = None,
) -> Swimmer:
    """Links with these shapes in a fluid of density `fluid` [kg/m^3] (0: none), each as if it were alone in it, or all
    `coupled` through it; `degree` and `points` are those of `SpatialBodies`.

    `parents` names for each link the one it hangs on, -1 for the base; the joint lies at `own` in the link's frame and
    at `other` in its parent's (rows (x, y, z); those of the base are not used). `joints` is "hinge", "ball" or "weld",
    one word for all or one for each link; a hinge turns about `axis` in the link's frame (one for all or one a link).
    `rest` are the attitudes of the links in their parents' frames where all angles are zero (the identity if not
    given). `density` [kg/m^3] is that of the links, one for all or one for each (0: massless).
    """
    count = len(shapes)
    if len(parents) != count:
        raise InputError(f"{count} shapes and {len(parents)} parents; expected one for each link.")
    flat = [i for i, shape in enumerate(shapes) if not isinstance(shape, AbstractShape) or len(shape.centre) != 3]
    if flat:
        raise InputError(f"shapes[{flat[0]}] = {shapes[flat[0]]!r}; expected a shape of space, such as an Ellipsoid.")
    base = order(parents)[0]
    kinds = _kinds(joints, count)
    hinges = [i for i in range(count) if i != base and kinds[i] == "hinge"]
    links = spatial_links(
        parents,
        kinds,
        own=checks.points("own", own, count, 3),
        other=checks.points("other", other, count, 3),
        axis=unit_rows("axis", axis, count, hinges),
        rest=attitudes("rest", rest, count),
    )
    densities = checks.densities(density, count)
    if not coupled:
        return _checked(Swimmer(links, _inertias(shapes, fluid, densities)))
    around = SpatialBodies(shapes, fluid, degree=degree, points=points)
    return _checked(Swimmer(links, _inertias(shapes, 0.0, densities), around))


@checked_throughout
def swimmer_of(tree: Tree) -> Swimmer:
    """The swimmer of a tree of bodies with a free root, its base: poses relative to the root in place of attitudes in
    space, and the joints as they are. The inertias of the tree include the fluid's."""
    if tree.pinned:
        raise InputError("The root of the tree is pinned; a swimmer is free: expected root='free'.")
    own = np.zeros((tree.count, 6, 6))
    own[:, :3, :3], own[:, 3:, 3:] = tree.J, tree.M
    if tree.D is not None:
        own[:, :3, 3:] = own[:, 3:, :3] = tree.D
    kinds = ("weld", *tree.joints[1:])
    parts = {name: np.asarray(getattr(tree, name)) for name in ("own", "other", "axis", "rest")}
    return _checked(Swimmer(spatial_links(tree.parents, kinds, **parts), own))


def spatial_links(
    parents: Sequence[int],
    kinds: Sequence[str],
    *,
    own: np.ndarray,
    other: np.ndarray,
    axis: np.ndarray,
    rest: np.ndarray,
) -> Links:
    """The links of checked parts: at rest, own and other coincide; a hinge's screw is (n, own x n)."""
    return Links(
        rest=Pose._make([rest, other - np.einsum("nij,nj->ni", rest, own)]),
        screws=np.concatenate([axis, np.cross(own, axis)], axis=1),
        frame=SE3(),
        parents=tuple(int(parent) for parent in parents),
        kinds=tuple(kinds),
        points=own if "ball" in kinds else None,
    )


def _inertias(shapes: Sequence[AbstractShape], fluid: float, densities: np.ndarray) -> np.ndarray:
    """The inertia of each link, its own and the fluid's."""
    if not (np.isfinite(fluid) and fluid >= 0.0):
        raise InputError(f"fluid = {fluid!r}; expected the density of the fluid, a number of at least 0.")
    whole = np.zeros((len(shapes), 6, 6))
    for each, shape, rho in zip(whole, shapes, densities, strict=True):
        if rho:
            each += shape.inertia(float(rho))
        if fluid:
            each += shape.added_inertia(fluid)
    return whole


def _kinds(joints: str | Sequence[str], count: int) -> tuple[str, ...]:
    kinds = (joints,) * count if isinstance(joints, str) else tuple(joints)
    if len(kinds) != count or any(kind not in KINDS for kind in kinds):
        raise InputError(
            f"joints = {joints!r}; expected one of {', '.join(map(repr, KINDS))} for all links, or one for each of "
            f"{count} (the base's is not used)."
        )
    return kinds


def _checked(swimmer: Swimmer) -> Swimmer:
    """The swimmer, or an `InputError` if it has no shape to change, or moves that cost nothing."""
    if not swimmer.links.hinged and not swimmer.links.balls:
        raise InputError("No joint lets a link move; expected a hinge or a ball joint (or take a SubmergedBody).")
    K = swimmer.inertias(identity(swimmer.links.shape))[0]
    size = np.sqrt(np.maximum(np.diag(K), np.finfo(float).tiny))
    if np.linalg.eigvalsh(K / np.outer(size, size))[0] < FLOPPY:
        raise InputError(
            "At rest the swimmer has a motion without kinetic energy, as massless spheroids in a line that turn about "
            "it; give the links a density, or three different axes."
        )
    return swimmer
