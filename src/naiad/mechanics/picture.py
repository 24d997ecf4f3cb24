"""What a drawing of a system shows beyond its state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naiad.errors import InputError
from naiad.mechanics.state import Scalar
from naiad.numerics.arguments import checked_throughout

_THINNEST = 0.05


class Picture(NamedTuple):
    """What a system may give as its `picture`, for the dataset of a run that `naiad.viz` draws.

    - `down`: the direction of gravity in space, drawn downwards (if not given, against the third axis);
    - `shapes`: for each body the semi-axes of an ellipsoid [m], along its axes or as three vectors in rows, or None
      (see `ellipsoid_of_inertia`); or a mesh: a mapping of `axes`, such an ellipsoid, `vertices` about its middle and
      `triangles`; only proportions count for a body without a position;
    - `seen(g, t)`: more variables along time, by name; one with the name of a component of g takes its place;
    - `names`: what its bodies are called, in their order;
    - `centres`: where the middle of each shape lies in the frame of its body (its origin if not given): a top that
      spins about the origin has it above there;
    - `links`: what is joined, as (first, second) or (first, second, joint): numbers of bodies, -1 as the first for
      space, and where the joint lies in the frame of the first;
    - `fixed`: semi-axes [m] of what rests at the origin of space, by name, such as a planet.
    """

    down: Any = None
    shapes: Any = None
    seen: Callable[[Any, Scalar], dict[str, Any]] | None = None
    names: Sequence[str] | None = None
    centres: Any = None
    links: Sequence[Sequence[Any]] | None = None
    fixed: Mapping[str, Any] | None = None

    @property
    def attributes(self) -> dict[str, Any]:
        """What is said of the whole motion, as plain lists for the attributes of a dataset."""
        given = {
            "down": self.down,
            "shapes": self.shapes,
            "bodies": self.names,
            "centres": self.centres,
            "links": self.links,
            "fixed": self.fixed,
        }
        return {name: _plain(value) for name, value in given.items() if value is not None}


@checked_throughout
def ellipsoid_of_inertia(J: ArrayLike, mass: float | None = None) -> np.ndarray:
    """The semi-axes of the homogeneous ellipsoid with the inertia J about its centre: a^2 = 5 (J_2 + J_3 - J_1)/(2 m).

    Along the axes of the body if J is diagonal, else as three vectors in rows; the largest is 1 if no mass is given,
    and none is below a twentieth of it, so that a J that no body has is drawn too.
    """
    J = np.asarray(J, float)
    if J.shape not in ((3,), (3, 3)) or not np.all(np.isfinite(J)) or not np.trace(np.atleast_2d(J)) > 0:
        raise InputError(f"J has shape {J.shape}; expected three moments of inertia above 0, or a 3 x 3 matrix.")
    if mass is not None and not mass > 0:
        raise InputError(f"mass = {mass!r}; expected a number above 0.")
    J = np.diag(J) if J.ndim == 1 else 0.5 * (J + J.T)
    diagonal = (np.abs(J - np.diag(np.diag(J))) <= 1e-12 * np.trace(J)).all()
    moments, axes = (np.diag(J), np.eye(3)) if diagonal else np.linalg.eigh(J)
    squares = 0.5 * moments.sum() - moments
    squares = np.maximum(squares, _THINNEST**2 * squares.max())
    lengths = np.sqrt(squares / squares.max() if mass is None else 5.0 * squares / mass)
    return lengths if diagonal else lengths[:, None] * axes.T


def _plain(value: Any) -> Any:
    """As lists of numbers, which every file can hold."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return np.asarray(value).tolist()
