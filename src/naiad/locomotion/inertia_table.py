"""The fluid's inertia as a series in the angles."""

import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics import ChebyshevSeries, Module


class InertiaTable(Module):
    """The fluid's inertia in the coordinates (xi, theta') as a series of the angles in a box; NaN outside of it.

    `series` gives the entries on and above the diagonal, row by row. `error` is the largest found at shapes other than
    those that the series was made from, that of an entry ij relative to sqrt(K_ii K_jj).
    """

    series: ChebyshevSeries
    error: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of terms for each angle."""
        return tuple(self.series.coefficients.shape[:-1])

    def __call__(self, theta: Float[Array, " m"]) -> Float[Array, "n n"]:
        entries = self.series(theta)
        n = int(np.sqrt(2 * entries.shape[0]))
        return entries[_places(n)]

    def check(self, shapes: Float[np.ndarray, "s m"]) -> None:
        """Raise an `InputError` for shapes outside of the box."""
        low, high = np.asarray(self.series.low), np.asarray(self.series.high)
        outside = ~np.all((low <= shapes) & (shapes <= high), axis=1)
        if np.any(outside):
            raise InputError(
                f"The shape {shapes[outside][0].tolist()} is outside of the table, which goes from {low.tolist()} to "
                f"{high.tolist()} rad; make one for a larger box with `tabulated`."
            )


def _places(n: int) -> np.ndarray:
    """Where each entry of a symmetric matrix is among those on and above the diagonal."""
    places = np.zeros((n, n), int)
    upper = np.triu_indices(n)
    places[upper] = places.T[upper] = np.arange(len(upper[0]))
    return places
