"""The variational step of a string, in O(N): sweeps from the guide way to the end and back."""

from naiad.integrators.string.quadrature import StringQuadrature
from naiad.integrators.string.variational import StringVariational

__all__ = ["StringQuadrature", "StringVariational"]
