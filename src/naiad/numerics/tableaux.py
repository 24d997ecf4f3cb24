"""Butcher tableaux of explicit Runge-Kutta methods."""

from typing import NamedTuple


class Tableau(NamedTuple):
    """An explicit method: stages Y_i = y + h sum_{j<i} a_ij k_j, result y + h sum_i b_i k_i."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int

    @property
    def c(self) -> tuple[float, ...]:
        """The times of the stages."""
        return tuple(sum(row) for row in self.a)


TABLEAUX = {
    "euler": Tableau(((),), (1.0,), 1),
    "heun2": Tableau(((), (1.0,)), (0.5, 0.5), 2),
    "kutta3": Tableau(((), (0.5,), (-1.0, 2.0)), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0), 3),
    "rk4": Tableau(((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0), 4),
}
