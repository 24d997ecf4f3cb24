"""Draws the pictures of pages that show figures of a study or of a sweep beside those of docs/studies.md.

python docs/images/make_pages.py [NAME ...]
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from PIL import Image

from naiad import studies
from naiad.studies.progress import Progress

FIGURES = {
    "gait-loops": ("gait-optimiser", "loop", {"harmonics": 5}),
    "boundary-convergence": ("added-inertia", "convergence", {}),
}
"""The study, which of its figures, and parameters that are not the defaults."""
SWEEP = ("rigid-body", "-p", "method=cay,exp,compose4,rk4", "-p", "dt=0.1..0.01:5:log")
"""The first sweep of docs/command-line.md."""
PICTURES = (*FIGURES, "sweep")
HERE = Path(__file__).parent
COLOURS = 64


def figure(name: str, path: Path, given: Mapping[str, object]) -> None:
    """One figure of a study."""
    study, which, parameters = FIGURES[name]
    drawn = studies.find(study)(**{**parameters, **given}).run(Progress()).figures[which]()
    drawn.savefig(path, dpi=110)
    pyplot.close(drawn)


def sweep(path: Path) -> None:
    """The figure that a sweep writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sweep"
        subprocess.run([sys.executable, "-m", "naiad", "sweep", *SWEEP, "--out", out, "--workers", "1"], check=True)
        Image.open(out / "results.png").convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path)


def main(names: Sequence[str] = (), folder: Path = HERE, given: Mapping[str, object] | None = None) -> None:
    """All, or those that are named, into a folder; `given` are other parameters of the studies."""
    for name in names or PICTURES:
        path = folder / f"{name}.png"
        if name == "sweep":
            sweep(path)
        else:
            figure(name, path, given or {})


if __name__ == "__main__":
    main(sys.argv[1:])
