"""Every picture that a page shows is made by a script, and every script still draws."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET

import pytest
from PIL import Image

from naiad import studies
from tests.docs import layers
from tests.docs.measured.pages import PAGES, ROOT

IMAGES = ROOT / "docs" / "images"
SHOWN = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
SMALL = {
    "argon-cluster": {"starts": 4, "periods": 1, "t1": 1.0, "methods": "verlet"},
    "buoyant-vehicle": {"t1": 1.0},
    "connected-bodies": {"t1": 0.5},
    "crane": {"elements": 2, "dt": 0.05, "shapers": "plain,zv"},
    "eel": {"N": 3, "t1": 0.5},
    "falling-plate": {"t1": 0.1, "grid": 2},
    "fish-vortices": {"count": 2, "steps": 32},
    "fish-school": {"fish": 2, "degree": 2, "steps": 8},
    "gait-energy": {"distance": 1.0},
    "gait-optimiser": {"harmonics": 1, "starts": 1},
    "heavy-top": {"t1": 1.0},
    "identify-vehicle": {"t1": 3.0, "steps": 30},
    "interacting-bodies": {"N": 2, "t1": 1.0},
    "isothermal-rigid-body": {"t1": 50.0},
    "light-body": {"t1": 0.2},
    "lumped-string": {"elements": 3, "t1": 0.1},
    "mesh-vehicle": {"t1": 0.2, "tolerance": 0.5},
    "mpc-docking": {"samples": 5, "steps": 10},
    "near-wall": {"degree": 3, "t1": 0.1},
    "oblate-earth": {"t1": 6000.0},
    "outer-solar-system": {"t1": 2000.0},
    "passing-spheres": {"degree": 3, "t1": 0.2},
    "poincare-section": {"orbits": 2, "t1": 100.0},
    "reorientation": {"steps": 8, "order": 2},
    "rotor-spacecraft": {"t1": 1.0, "orbits": 2, "section_t1": 100.0, "compare": "flv"},
    "sliding-disk": {"t1": 50.0},
    "smooth-fish": {"points": 128},
    "spatial-fish": {"widths": "2,5,10"},
    "spherical-pendulum": {"orbits": 2, "t1": 50.0},
    "string-pendulum": {"elements": 3, "t1": 0.1},
    "swing-up": {"steps": 8, "order": 2},
    "swimmer-dynamics": {"t1": 1.0, "hydro": "decoupled"},
    "swimming-robot": {"t1": 0.5},
    "tethered-satellite": {"l1": 600.0, "fade": 400.0, "elements": 3, "dt": 2.0, "orbits": 1.0},
    "underwater-vehicle": {"t1": 1.0},
    "variable-steps": {"steps": 100, "periods": 2, "methods": "constant,reversible"},
    "vehicle-docking": {"steps": 8, "order": 2},
    "vortex-body": {"t1": 0.5},
    "work-precision": {"t1": 1.0, "methods": "cay,rk4"},
}
"""Parameters with which a study takes little time."""


def script(name):
    """A script of docs/images as a module."""
    spec = importlib.util.spec_from_file_location(name, IMAGES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its classes are looked for
    spec.loader.exec_module(module)
    return module


def origins():
    """The pictures that are made, each with what makes it."""
    from benchmarks import mujoco_body

    made = {IMAGES / "readme.png": "make_readme", IMAGES / "mesh.png": "make_mesh", layers.PICTURE: "tests.docs.layers"}
    made |= {IMAGES / f"{name}.png": "make_pages" for name in script("make_pages").PICTURES}
    made |= {IMAGES / "studies" / f"{name}.png": "make_studies" for name in studies.STUDIES}
    return made | {
        mujoco_body.IMAGE: "benchmarks.mujoco_body",
        IMAGES / "transcriptions.png": "benchmarks.transcriptions",
    }


def is_picture(path):
    """Whether a file can be read, and has more than one colour, or something drawn."""
    if path.suffix == ".svg":
        return len(list(ET.parse(path).getroot())) > 1
    with Image.open(path) as image:
        colours = image.convert("RGB").resize((64, 64)).getcolors(64 * 64)
    return min(image.size) > 50 and len(colours) > 2


def test_every_picture_of_a_page_is_made_by_a_script():
    made = origins()
    shown = {
        (page.parent / place).resolve()
        for page in PAGES
        for place in SHOWN.findall(page.read_text(encoding="utf-8"))
        if "://" not in place
    }
    assert len(shown) > 40
    assert not sorted(str(path.relative_to(ROOT)) for path in shown - made.keys())
    assert not sorted(str(path.relative_to(ROOT)) for path in made.keys() - shown)
    assert not [str(path) for path in sorted(shown) if not is_picture(path)]


def test_no_picture_is_left_that_nothing_makes():
    there = {path for path in IMAGES.rglob("*") if path.suffix in {".png", ".svg", ".jpg", ".gif"}}
    assert not sorted(str(path.relative_to(ROOT)) for path in there - origins().keys())


def test_what_is_no_picture_is_found(tmp_path):
    (tmp_path / "empty.png").write_bytes(b"")
    with pytest.raises(OSError, match="cannot identify"):
        is_picture(tmp_path / "empty.png")
    Image.new("RGB", (100, 100), "white").save(tmp_path / "white.png")
    assert not is_picture(tmp_path / "white.png")


@pytest.mark.long
@pytest.mark.parametrize("name", list(studies.STUDIES))
def test_a_study_draws_its_picture(name, tmp_path):
    script("make_studies").main([name], tmp_path, SMALL)
    assert is_picture(tmp_path / f"{name}.png")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::naiad.errors.RunWarning")  # the steps of the README's picture are long
@pytest.mark.parametrize("name", ["make_readme", "make_mesh"])
def test_a_script_draws_its_picture(name, tmp_path):
    script(name).main(tmp_path)
    assert is_picture(tmp_path / f"{name.removeprefix('make_')}.png")


@pytest.mark.long
@pytest.mark.parametrize("name", script("make_pages").PICTURES)
def test_a_page_has_its_picture(name, tmp_path):
    script("make_pages").main([name], tmp_path, {"harmonics": 1, "starts": 1} if name == "gait-loops" else {})
    assert is_picture(tmp_path / f"{name}.png")


@pytest.mark.long
def test_the_picture_beside_mujoco(tmp_path):
    mujoco_body = pytest.importorskip("benchmarks.mujoco_body")
    pytest.importorskip("mujoco")
    mujoco_body.draw(mujoco_body.measure(), tmp_path / "mujoco.png")
    assert is_picture(tmp_path / "mujoco.png")


@pytest.mark.long
def test_the_picture_of_transcriptions(tmp_path):
    from benchmarks import transcriptions

    transcriptions.main(str(tmp_path / "transcriptions.png"))
    assert is_picture(tmp_path / "transcriptions.png")
