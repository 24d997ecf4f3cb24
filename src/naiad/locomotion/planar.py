"""Swimmers of the plane: outlines joined by hinges."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.groups import SE2
from naiad.groups.se2 import PlanarPose
from naiad.hydro import AbstractCurve, Ellipse, PlanarBodies
from naiad.locomotion import checks
from naiad.locomotion.links import Links, order
from naiad.locomotion.swimmer import Swimmer, motion_of_links
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def planar_swimmer(
    curves: Sequence[AbstractCurve],
    parents: Sequence[int],
    *,
    own: Any,
    other: Any,
    fluid: float = 1.0,
    density: float | Sequence[float] = 0.0,
    coupled: bool = False,
    boundary: str = "nystrom",
    points: int | None = None,
    coupling: int | None = None,
) -> Swimmer:
    """Links with these outlines, joined by hinges, in a plane of fluid of density `fluid` [kg/m^2].

    `parents` names for each link the one it hangs on, -1 for the base; the hinge lies at `own` in the link's frame and
    at `other` in its parent's (rows (x, y); those of the base are not used). `density` [kg/m^2] is that of the links,
    one for all or one for each (0: massless). Each link meets the fluid as if it were alone, or all are `coupled`
    through it; `boundary`, `points` and `coupling` are those of `PlanarBodies`.
    """
    count = len(curves)
    if len(parents) != count:
        raise InputError(f"{count} outlines and {len(parents)} parents; expected one for each link.")
    order(parents)
    at, there = checks.points("own", own, count, 2), checks.points("other", other, count, 2)
    densities = checks.densities(density, count)
    dry = np.stack([rho * homogeneous(curve) for rho, curve in zip(densities, curves, strict=True)])
    links = Links(
        rest=PlanarPose._make([np.zeros(count), there - at]),
        screws=np.stack([np.ones(count), at[:, 1], -at[:, 0]], axis=1),
        frame=SE2(),
        parents=tuple(int(parent) for parent in parents),
    )
    options: dict[str, Any] = {"points": points, "boundary": boundary}
    if coupled:
        return Swimmer(links, dry, PlanarBodies(curves, fluid, coupling=coupling, **options))
    alone = {curve: PlanarBodies([curve], fluid, **options).added_inertia() for curve in set(curves)}
    return Swimmer(links, dry + np.stack([alone[curve] for curve in curves]))


@checked_throughout
def three_link_fish(
    a: float = 10.0, b: float = 1.0, c: float = 2.0, *, fluid: float = 1.0 / np.pi, density: float = 0.0, **options: Any
) -> Swimmer:
    """Three ellipses with semi-axes a and b, the hinges at c from their tips [kanso2005, section 7]: B1 before the
    middle one, B2 behind it, and B3, the base. `options` are those of `planar_swimmer`."""
    arm = np.array([a + c, 0.0])
    own, other = np.stack([-arm, arm, 0.0 * arm]), np.stack([arm, -arm, 0.0 * arm])
    options |= {"own": own, "other": other, "fluid": fluid, "density": density}
    return planar_swimmer([Ellipse(a, b)] * 3, (2, 2, -1), **options)


@checked_throughout
def link_poses(swimmer: Swimmer, shapes: Any, base: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    """(beta, x, y) of each link of a planar swimmer whose base lies at `base`, for one shape or for shapes in rows."""
    shapes, base = np.asarray(shapes, float), np.asarray(base, float)
    poses = execute_rows(motion_of_links, swimmer.links, np.atleast_2d(shapes), parameters=(0,))[1]
    beta, z = base[..., :1], (base[..., 1] + 1j * base[..., 2])[..., None]
    places = z + np.exp(1j * beta) * (poses[..., 1] + 1j * poses[..., 2])
    found = np.stack([poses[..., 0] + beta, places.real, places.imag], axis=-1)
    return found[0] if shapes.ndim == 1 else found


@checked_throughout
def link_velocities(swimmer: Swimmer, shapes: Any, velocities: Any) -> np.ndarray:
    """(Omega, v_x, v_y) of each link in its own frame, for velocities (xi, theta') at one shape or at shapes in rows
    [kanso2005, eq. (7.2)]."""
    shapes, v = np.asarray(shapes, float), np.asarray(velocities, float)
    B = execute_rows(motion_of_links, swimmer.links, np.atleast_2d(shapes), parameters=(0,))[0]
    found = np.einsum("sij,sj->si", B, np.atleast_2d(v)).reshape(len(B), swimmer.links.count, -1)
    return found[0] if shapes.ndim == 1 else found


def homogeneous(curve: AbstractCurve, points: int = 512) -> np.ndarray:
    """The inertia of the inside of a curve, of unit density, about the origin of its frame, for (Omega, v_x, v_y)."""
    z, dz, _ = curve.sample(points)
    turn, share = np.imag(np.conj(z) * dz), 2.0 * np.pi / points
    area, moment = 0.5 * share * np.sum(turn), 0.25 * share * np.sum(np.abs(z) ** 2 * turn)
    first = share * np.sum(z * turn) / 3.0  # the area times its centre
    return np.array([[moment, -first.imag, first.real], [-first.imag, area, 0.0], [first.real, 0.0, area]])
