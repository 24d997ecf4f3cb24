"""Which way is up: the direction of gravity, as the attribute `down` of a dataset says."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import xarray as xr


class Vertical(NamedTuple):
    """The number of the axis of space that is drawn upright, and whether it points downwards."""

    axis: int = 2
    downwards: bool = False

    @classmethod
    def of(cls, down: ArrayLike | None) -> "Vertical":
        """The axis nearest to the direction of gravity; the third one, upwards, where there is no gravity in space."""
        direction = np.zeros(3) if down is None else np.asarray(down, float)
        if direction.shape != (3,) or not np.any(direction):
            return cls()
        axis = int(np.argmax(np.abs(direction[::-1])))  # of equals the last
        return cls(2 - axis, bool(direction[2 - axis] > 0))

    @property
    def upright(self) -> np.ndarray:
        """The rotation that takes space to one whose third axis points up."""
        turned = np.roll(np.eye(3), 2 - self.axis, axis=0)
        return np.diag([1.0, -1.0, -1.0]) @ turned if self.downwards else turned


def vertical(dataset: "xr.Dataset") -> Vertical:
    """That of a dataset."""
    return Vertical.of(dataset.attrs.get("down"))
