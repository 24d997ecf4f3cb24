"""Working memory for loops over many small bodies: one long row of numbers for each.

A loop that reads and writes rows in place costs the same for each of them, and its program does not grow with them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

Rows = Float[Array, "rows width"]
Row = Int[Array, ""] | int


class Place(NamedTuple):
    """Where a vector of R^3 or a 3 x 3 matrix lies in a row."""

    start: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return 3 ** len(self.shape)

    def read(self, rows: Rows, row: Row) -> Array:
        """The entry of a row."""
        piece = jax.lax.dynamic_slice(rows, (row, self.start), (1, self.size), allow_negative_indices=False)
        return piece.reshape(self.shape)

    def write(self, rows: Rows, row: Row, value: Array) -> Rows:
        """The rows with another entry in one of them."""
        piece = jnp.reshape(value, (1, self.size))
        return jax.lax.dynamic_update_slice(rows, piece, (row, self.start), allow_negative_indices=False)

    def add(self, rows: Rows, row: Row, value: Array) -> Rows:
        """The rows with something added to an entry of one of them."""
        return self.write(rows, row, self.read(rows, row) + value)


def places(*, vectors: str, matrices: str, start: int = 0) -> tuple[list[Place], int]:
    """Places side by side for vectors and matrices of these names, from a start on, and where they end."""
    found = []
    for names, shape in ((vectors, (3,)), (matrices, (3, 3))):
        for _ in names.split():
            found.append(Place(start, shape))
            start += found[-1].size
    return found, start
