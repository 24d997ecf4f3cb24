"""Pages, each made once, and a browser to look at them."""

import pytest

import naiad as nd
from benchmarks.javascript import chromium_path
from naiad.studies.bodies.spherical_pendulum import on_section
from tests.viz.live.chromium import Chromium
from tests.viz.live.modules import PageText
from tests.viz.live.systems import CONTROLS, DT, METHODS, PENDULUM, PLOT, TOP, Puck, put, tilted

MISSING = (
    "Chromium is not here, so that no live page was opened: install it (Debian, Ubuntu: the package chromium), or say "
    "where it is, CHROMIUM=/path/to/chromium"
)


@pytest.fixture(scope="session")
def top_file(tmp_path_factory):
    """A heavy top by two methods."""
    path = tmp_path_factory.mktemp("live") / "top.html"
    return nd.live(TOP, tilted, path, controls=CONTROLS, methods=METHODS, dt=DT)


@pytest.fixture(scope="session")
def top_page(top_file) -> PageText:
    return PageText(top_file.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def pendulum_file(tmp_path_factory):
    """A pendulum with a section to paint."""
    path = tmp_path_factory.mktemp("live") / "pendulum.html"

    def start(system, energy=0.3):
        return on_section(system, energy, 0.2, 0.0)

    return nd.live(PENDULUM, start, path, controls={"energy": (0.1, 1.0)}, dt=0.05, section=PLOT)


@pytest.fixture(scope="session")
def puck_file(tmp_path_factory):
    """A puck that is put where one clicks."""
    path, puck = tmp_path_factory.mktemp("live") / "puck.html", Puck(2.0)
    state = puck.state(v=(1.0, 0.5))
    reach = {"reach": nd.Slider(1.0, 20.0, 10.0)}
    return nd.live(lambda reach: puck, lambda system: state, path, controls=reach, dt=0.01, span=5.0, touch=put)


@pytest.fixture(scope="session")
def browser():
    """Chromium, where it is found."""
    path = chromium_path()
    if path is None:
        pytest.skip(MISSING)
    with Chromium(path) as found:
        yield found
