"""What a drawing of a system shows beyond its state."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from naiad.mechanics.state import Scalar


class Picture(NamedTuple):
    """What a system may give as its `picture`, for the dataset of a run that `naiad.viz` draws.

    - `down`: the direction of gravity in space, drawn downwards (if not given, against the third axis);
    - `shapes`: the semi-axes of its bodies [m], in rows;
    - `names`: what its bodies are called, in their order;
    - `seen(g, t)`: more variables along time, by name; one with the name of a component of g takes its place.
    """

    down: Any = None
    shapes: Any = None
    seen: Callable[[Any, Scalar], dict[str, Any]] | None = None
    names: Sequence[str] | None = None
