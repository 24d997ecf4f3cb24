"""Numerics that know nothing of mechanics: precision, series, small linear algebra, Newton, coefficients of methods."""

from naiad.numerics.chebyshev import ChebyshevSeries, chebyshev_points
from naiad.numerics.checks import check_rotations
from naiad.numerics.composition import COMPOSITIONS
from naiad.numerics.double import check_double, double
from naiad.numerics.extrapolation import History, extrapolate, history, remember
from naiad.numerics.linalg import inverse, is_definite, semidefinite_root, solve, solve_in_loops, solver, transpose
from naiad.numerics.module import Module, static
from naiad.numerics.newton import Newton, Root
from naiad.numerics.series import (
    dexp_inv_coefficient,
    rotation_angle_ratio,
    stumpff,
    stumpff_below,
    times_stumpff_below,
)
from naiad.numerics.splittings import SPLITTINGS
from naiad.numerics.structure import AbstractStructure, Chain, Dense, Sparse
from naiad.numerics.tableaux import PARTITIONED, TABLEAUX, PartitionedTableau, Tableau, partitioned_tableau
from naiad.numerics.vectors import cross, hat, hat_times, inverse3, outer, quarter_turn, reciprocal_root, times_hat, vee

__all__ = [
    "COMPOSITIONS",
    "PARTITIONED",
    "SPLITTINGS",
    "TABLEAUX",
    "AbstractStructure",
    "Chain",
    "ChebyshevSeries",
    "Dense",
    "History",
    "Module",
    "Newton",
    "PartitionedTableau",
    "Root",
    "Sparse",
    "Tableau",
    "chebyshev_points",
    "check_double",
    "check_rotations",
    "cross",
    "dexp_inv_coefficient",
    "double",
    "extrapolate",
    "hat",
    "hat_times",
    "history",
    "inverse",
    "inverse3",
    "is_definite",
    "outer",
    "partitioned_tableau",
    "quarter_turn",
    "reciprocal_root",
    "remember",
    "rotation_angle_ratio",
    "semidefinite_root",
    "solve",
    "solve_in_loops",
    "solver",
    "static",
    "stumpff",
    "stumpff_below",
    "times_hat",
    "times_stumpff_below",
    "transpose",
    "vee",
]
