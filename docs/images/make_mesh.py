"""The picture of a mesh: a hull of revolution, such as a vehicle has.

Run it from anywhere: python docs/images/make_mesh.py
"""

from pathlib import Path

import matplotlib
import numpy as np

from naiad import hydro
from naiad.viz.surfaces import mesh_picture

matplotlib.use("Agg")

AROUND, ALONG = 28, 30


def hull(length: float = 1.6, radius: float = 0.16) -> hydro.Mesh:
    """Round at the nose, straight, and tapered to the stern."""
    s = 0.5 * (1.0 - np.cos(np.pi * np.arange(1, ALONG) / ALONG))
    nose, tail = np.minimum(s / 0.18, 1.0), np.clip((s - 0.6) / 0.4, 0.0, 1.0)
    r = radius * np.sqrt(1.0 - (1.0 - nose) ** 2) * (1.0 - tail**2)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = np.stack(
        np.broadcast_arrays(-length * s[:, None], r[:, None] * np.cos(angle), r[:, None] * np.sin(angle)), axis=-1
    )
    vertices = np.concatenate([rings.reshape(-1, 3), [(0.0, 0.0, 0.0), (-length, 0.0, 0.0)]])
    i = np.arange(AROUND)
    j, front, back, last = (i + 1) % AROUND, len(vertices) - 2, len(vertices) - 1, AROUND * (ALONG - 2)
    parts = [
        np.stack([i, j, np.full(AROUND, front)], axis=1),
        np.stack([last + j, last + i, np.full(AROUND, back)], axis=1),
    ]
    for first in range(0, last, AROUND):
        a, b, c, d = first + i, first + j, first + AROUND + i, first + AROUND + j
        parts += [np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)]
    return hydro.Mesh(vertices, np.concatenate(parts))


def main(folder: Path = Path(__file__).parent) -> None:
    """Solve and draw."""
    body = hull()
    print(body.report(1025.0))
    mesh_picture(body).savefig(folder / "mesh.png", dpi=110)


if __name__ == "__main__":
    main()
