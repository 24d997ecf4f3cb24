"""What a system says of the joints between its bodies."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float


class Joints(NamedTuple):
    """What a system may give as its `joints`, for `run.joints()`: for each body the kind of its joint and its parent,
    the axes of hinges in the frames of the bodies, and `motion(g, xi)`: the turns from rest as matrices, and the
    angular velocities relative to the parents in the frames of the bodies."""

    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    axes: Float[Array | np.ndarray, "N 3"]
    motion: Callable[[Any, Float[Array, " n"]], tuple[Float[Array, "N 3 3"], Float[Array, "N 3"]]]
