"""Draws the pictures of docs/studies.md with the studies themselves, all or those that are named.

python docs/images/make_studies.py [NAME ...]
"""

import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

from naiad import studies
from naiad.studies.progress import Progress

FIGURES = {
    "added-inertia": "inertia",
    "buoyant-vehicle": "trajectory",
    "connected-bodies": "snapshots",
    "crane": "snapshots",
    "curvature": "curvature",
    "eel": "shapes",
    "gait-optimiser": "loop",
    "heavy-top": "axis",
    "identify-vehicle": "residuals",
    "interacting-bodies": "exchange",
    "isothermal-rigid-body": "gibbs",
    "lumped-string": "motion",
    "mpc-docking": "controls",
    "oblate-earth": "node",
    "outer-solar-system": "orbits",
    "poincare-section": "section",
    "reorientation": "controls",
    "rigid-body": "overview",
    "rotor-spacecraft": "section",
    "sliding-disk": "velocities",
    "spatial-fish": "fish",
    "spherical-pendulum": "section",
    "streamlines": "streamlines",
    "string-pendulum": "snapshots",
    "swimmer-dynamics": "path",
    "tethered-satellite": "path",
    "three-link-fish": "fish",
    "underwater-vehicle": "overview",
    "vehicle-docking": "path",
    "work-precision": "work-precision",
}
"""One figure of each study."""
GIVEN = {
    "heavy-top": {"t1": 60},
    "poincare-section": {"orbits": 5, "t1": 2000},
    "rigid-body": {"Omega0": "0.01,1,0.01", "t1": 100},
    "underwater-vehicle": {"t1": 100},
}
"""Parameters that are not the defaults."""
FOLDER = Path(__file__).parent / "studies"
WIDTH, HEIGHT = 640, 400
COLOURS = 32


def main(names: list[str]) -> None:
    """Run, draw, and write small images."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or FIGURES:
        findings = studies.find(name)(**GIVEN.get(name, {})).run(Progress())
        figure = findings.figures[FIGURES[name]]()
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=2 * WIDTH / max(figure.get_size_inches()), bbox_inches="tight", facecolor="white")
        pyplot.close(figure)
        image = Image.open(drawn).convert("RGB")
        image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        image.quantize(COLOURS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
        print(f"{name}: {(FOLDER / f'{name}.png').stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
