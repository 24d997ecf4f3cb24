"""What is to be known of a mesh, in one table."""

from typing import NamedTuple

import numpy as np

from naiad.hydro.frames import moved
from naiad.hydro.meshes.added import Added
from naiad.hydro.meshes.surface import Surface


class MeshReport(NamedTuple):
    """A mesh in a fluid of a density; printed as a table."""

    triangles: int
    solved_on: int
    """The triangles that the flow was solved on."""
    sharp_edges: int
    shells: int
    """Closed surfaces that are not connected, without those of cavities."""
    size: tuple[float, float, float]
    """Of the box around it, in m."""
    volume: float
    area: float
    centre: tuple[float, float, float]
    ellipsoid: tuple[float, float, float]
    """Semi-axes of the ellipsoid of the same volume whose second moments are in the same proportion."""
    density: float
    added: np.ndarray
    """About the origin, angular first."""
    added_error: float
    """Relative; of it, what comes from the triangles and what from facets of a smooth body:"""
    from_triangles: float
    from_facets: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        about_centre = moved(self.added, x=-np.array(self.centre))
        counts = f"{self.sharp_edges} sharp edges, {self.shells} shell{'s' * (self.shells > 1)}"
        lines = [
            f"triangles        {self.triangles}, {counts}; flow solved on {self.solved_on}",
            f"size             {_numbers(self.size)} m",
            f"volume, area     {self.volume:.6g} m^3, {self.area:.6g} m^2",
            f"centre           {_numbers(self.centre, scale=max(self.size))} m",
            f"like an ellipsoid with semi-axes {_numbers(self.ellipsoid)} m",
            f"added inertia, to {self.added_error:.1g} (triangles {self.from_triangles:.1g}, facets of what is smooth "
            f"{self.from_facets:.1g}), in a fluid of {self.density:g} kg/m^3",
            "about its centre (Omega, v):",
            *(f"  {_numbers(row, width=11)}" for row in about_centre),
            *(f"note             {note}" for note in self.notes),
        ]
        return "\n".join(lines)


def report(centred: Surface, centre: np.ndarray, solved: Added, density: float, notes: tuple[str, ...]) -> MeshReport:
    """Everything, in SI units, of a surface about its centre."""
    axes = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.second_moment), 0.0))[::-1]
    scale = (centred.volume / (4.0 / 3.0 * np.pi * np.prod(axes))) ** (1.0 / 3.0)
    return MeshReport(
        triangles=len(centred.triangles),
        solved_on=solved.triangles,
        sharp_edges=int(centred.sharp.sum()),
        shells=centred.pieces.shape[1],
        size=_three(np.ptp(centred.vertices, axis=0)),
        volume=centred.volume,
        area=float(centred.areas.sum()),
        centre=_three(centre),
        ellipsoid=_three(scale * axes),
        density=density,
        added=density * moved(solved.inertia, x=centre),
        added_error=solved.error,
        from_triangles=solved.from_triangles,
        from_facets=solved.from_facets,
        notes=notes,
    )


def _three(values: np.ndarray) -> tuple[float, float, float]:
    a, b, c = map(float, values)
    return a, b, c


def _numbers(values: "np.ndarray | tuple[float, ...]", width: int = 0, scale: float | None = None) -> str:
    """With what is round-off beside `scale`, or the largest of them, as 0."""
    scale = float(np.max(np.abs(values))) if scale is None else scale
    shown = [0.0 if abs(value) < 1e-12 * scale else value for value in values]
    return " ".join(f"{value:{width}.5g}" for value in shown)
