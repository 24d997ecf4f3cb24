"""Where the links of a swimmer lie in space."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.compiler import execute_rows
from naiad.locomotion.links import Links
from naiad.locomotion.shapes import in_rows
from naiad.locomotion.swimmer import Swimmer
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def placed_links(swimmer: Swimmer, g: Any, shapes: Any) -> Any:
    """The poses of all links in space, [time, link, ...], from poses g of the base, stacked, and shapes in rows: as
    `placed_links(swimmer, motion.g, motion.theta)` of a `Reconstruction`."""
    return execute_rows(_in_space, swimmer.links, g, in_rows(swimmer.links.shape, shapes)[0], parameters=(0,))


def _in_space(links: Links, g: Any, theta: Any) -> Any:
    placed = [links.frame.compose(g, pose) for pose in links.poses(theta)]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *placed)
