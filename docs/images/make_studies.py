"""Draws the pictures of docs/studies.md, the first figures of the studies themselves, all or those that are named.

python docs/images/make_studies.py [NAME ...]
"""

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

from naiad import studies
from naiad.studies.progress import Progress

GIVEN = {
    "fish-school": {"degree": 3, "steps": 12},
    "heavy-top": {"t1": 60},
    "poincare-section": {"orbits": 5, "t1": 2000},
    "rigid-body": {"Omega0": "0.01,1,0.01", "t1": 100},
    "underwater-vehicle": {"t1": 100},
}
"""Parameters that are not the defaults."""
FOLDER = Path(__file__).parent / "studies"
WIDTH, HEIGHT = 640, 400
COLOURS = 32


def main(names: Sequence[str] = (), folder: Path = FOLDER, given: Mapping[str, Any] = GIVEN) -> None:
    """Run, draw, and write small images."""
    folder.mkdir(exist_ok=True)
    for name in names or studies.STUDIES:
        findings = studies.find(name)(**given.get(name, {})).run(Progress())
        figure = next(iter(findings.figures.values()))()  # the first tells most
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=2 * WIDTH / max(figure.get_size_inches()), bbox_inches="tight", facecolor="white")
        pyplot.close(figure)
        image = Image.open(drawn).convert("RGB")
        image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        image.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)
        print(f"{name}: {(folder / f'{name}.png').stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
