"""What joins the bodies of a motion: lines from body to joint to body."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.errors import InputError


def describe_links(
    links: Sequence[Sequence[Any]] | None, shown: list[int], count: int, S: np.ndarray
) -> dict[str, Any]:
    """Links (first, second) or (first, second, joint) between bodies that are shown, as {"links": ...} with the numbers
    that they have there; -1 is space, turned by S. See `naiad.mechanics.Picture`."""
    described = []
    for link in links or ():
        first, second, joint = _checked(link, count)
        if second not in shown or (first >= 0 and first not in shown):
            continue
        one: dict[str, Any] = {"second": shown.index(second)}
        one |= {"first": shown.index(first)} if first >= 0 else {}
        if joint is not None:
            one["joint"] = (joint if first >= 0 else S @ joint).tolist()
        described.append(one)
    return {"links": described} if described else {}


def _checked(link: Sequence[Any], count: int) -> tuple[int, int, np.ndarray | None]:
    good = len(link) in (2, 3) and -1 <= link[0] < count and 0 <= link[1] < count and link[0] != link[1]
    joint = np.asarray(link[2], float) if good and len(link) == 3 else None
    if not good or (joint is not None and (joint.shape != (3,) or not np.isfinite(joint).all())):
        raise InputError(
            f"links has {link!r}; a link is (first, second) or (first, second, joint): numbers of two of {count} "
            "bodies (-1 for space as the first), and three numbers in the frame of the first"
        )
    return int(link[0]), int(link[1]), joint
