"""Dry inertia: the mass, its centre and its moments, as one matrix, and back."""

from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.hydro.frames import Inertia, hat, moved
from naiad.numerics import check_double
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import check_moments, positive, vector


class MassProperties(NamedTuple):
    """The mass of a rigid body, its centre in the body frame, and its inertia tensor about that centre."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray


@checked_throughout
def rigid_inertia(mass: float, inertia: Any, centre: Any = None) -> Inertia:
    """The matrix of a rigid body about the origin of its frame, for its mass, its inertia about the centre of mass and
    that centre: m |v + Omega x c|^2 / 2 + Omega . J Omega / 2 = xi . K xi / 2.

    `inertia` is three moments or a symmetric 3 x 3 matrix, and K is 6 x 6; in the plane it is one number, and K is
    3 x 3. Mass and inertia may be zero, as those of a light shell are.
    """
    mass = positive("mass", mass, zero=True)
    check_double("inertia", inertia)
    J = np.asarray(inertia, dtype=float)
    if J.ndim == 0:
        moment = positive("inertia", inertia, zero=True)
        return moved(np.diag([moment, mass, mass]), x=None if centre is None else vector("centre", centre, 2))
    J = np.diag(J) if J.shape == (3,) else J
    if J.shape != (3, 3) or not np.isfinite(J).all() or np.abs(J - J.T).max() > 1e-12 * np.abs(J).max():
        raise InputError(
            f"inertia = {inertia!r}; expected three moments or a symmetric 3 x 3 matrix (or one number, in the plane)."
        )
    lowest = float(np.linalg.eigvalsh(J)[0])
    if lowest < -1e-12 * np.max(np.abs(J)):
        raise InputError(f"inertia has the eigenvalue {lowest:.6g}; a moment of inertia is never negative.")
    check_moments("inertia", J)
    K = np.zeros((6, 6))
    K[:3, :3], K[3:, 3:] = J, mass * np.eye(3)
    return moved(K, x=None if centre is None else vector("centre", centre))


@checked_throughout
def mass_properties(K: Any) -> MassProperties:
    """The mass, centre and inertia of a 6 x 6 dry inertia, such as a sum of those of parts; or an `InputError`."""
    check_double("The dry inertia", K)
    K = np.asarray(K, dtype=float)
    if K.shape != (6, 6) or not np.isfinite(K).all():
        raise InputError(f"A dry inertia of shape {K.shape}; expected a 6 x 6 matrix of finite numbers.")
    mass = float(K[3, 3])
    moment = np.array([K[2, 4], K[0, 5], K[1, 3]])  # m hat(c) is the upper right block
    centre = moment / mass if mass > 0 else np.zeros(3)
    inertia = K[:3, :3] + mass * hat(centre) @ hat(centre)
    inertia = 0.5 * (inertia + inertia.T)
    if np.abs(whole(mass, centre, inertia) - K).max() > 1e-10 * np.abs(K).max():
        raise InputError(
            "This 6 x 6 matrix is not that of a rigid body, [[J - m c^ c^, m c^], [-m c^, m I]] with c^ = hat(c); "
            "make one with rigid_inertia(mass, inertia, centre), and keep added inertia apart."
        )
    return MassProperties(mass, centre, inertia)


def whole(mass: float, centre: np.ndarray, inertia: np.ndarray) -> Inertia:
    """The matrix of these mass properties, which are not checked: [[J - m c^ c^, m c^], [-m c^, m I]]."""
    c, K = hat(centre), np.diag([0.0, 0.0, 0.0, mass, mass, mass])
    K[:3, :3], K[:3, 3:], K[3:, :3] = inertia - mass * (c @ c), mass * c, -mass * c
    return K
