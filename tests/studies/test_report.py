import base64
import re
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pytest

from naiad.errors import RunError
from naiad.studies import figures
from naiad.studies.figures import Image, draw
from naiad.studies.points import points_csv
from naiad.studies.progress import Progress
from naiad.studies.report import command, report
from naiad.studies.study import Findings
from tests.studies.pond import Pond


class Page(HTMLParser):
    """Collects the text and the links of a page, and checks that its tags are nested."""

    VOID = frozenset({"meta", "img"})

    def __init__(self, source: str):
        super().__init__()
        self.text, self.links, self._open = "", [], []
        self.feed(source)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def study():
    return Pond(dt=0.25, A="1,2;3,4")


def page(study, findings=None, pictures=()) -> Page:
    return Page(report(study, findings or study.run(Progress()), pictures, elapsed=1.25))


def test_the_page_says_everything(study):
    text = page(study).text
    for part in (
        "Ripples on a <small> pond.",
        "that spread & fade.",
        'Thales, "On water" (section 1 < 2)',
        "0.333333",
        "J <a ring>",
        "Rings are <round>.",
        "kg m^2",
        "1,2;3,4",
        "initial momentum",
        "naiad run pond -p 'A=1,2;3,4' -p dt=0.25",
        "1.25 s on",
        f"numpy {np.__version__}",
    ):
        assert part in text


def test_the_page_stands_alone(study, tmp_path):
    pictures = draw(study.run(Progress()).figures, tmp_path)
    image, *files = page(study, pictures=pictures).links
    assert image.startswith("data:image/svg+xml;base64,")
    assert files == ["wave_height.png", "wave_height.csv"]
    assert {path.name for path in tmp_path.iterdir()} == set(files)
    source = report(study, Findings({}), pictures, elapsed=0.0)
    assert not re.search(r"<script|<link|@import|url\(", source)


def test_names_cannot_break_the_page(study):
    nasty = '"><script>alert(1)</script>'
    parsed = page(study, Findings({nasty: nasty}, notes=nasty), [Image(nasty, "data:,")])
    assert parsed.text.count("<script>alert(1)</script>") == 4


def test_empty_parts_are_left_out(study):
    text = page(study, Findings({})).text
    for heading in ("Results", "Figures", "How to read it"):
        assert heading not in text
    assert "Parameters" in text


def test_the_command_repeats_the_defaults_silently():
    assert command(Pond()) == "naiad run pond"


def test_large_figures_are_embedded_as_png(study, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "LARGEST_SVG", 10)
    (picture,) = draw(study.run(Progress()).figures, tmp_path)
    png = (tmp_path / "wave_height.png").read_bytes()
    assert picture.title == "Wave height"
    assert picture.url == "data:image/png;base64," + base64.b64encode(png).decode()
    assert png.startswith(b"\x89PNG")
    assert plt.get_fignums() == []


def test_figure_names_stay_in_the_folder(study, tmp_path):
    make = study.run(Progress()).figures["wave_height"]
    draw({"../up & away": make}, tmp_path / ".")
    assert {path.name for path in tmp_path.iterdir()} == {"up-away.png", "up-away.csv"}


def test_the_page_opens_with_the_first_figure_and_names_what_lies_beside_it(study):
    pictures = [Image("first", "data:,1"), Image("second", "data:,2")]
    made = report(study, study.run(Progress()), pictures, 1.0, files=["result.zarr", "live.html", "first.png"])
    first, second = made.index("data:,1"), made.index("data:,2")
    assert first < made.index("<h2>Results</h2>") < made.index("<h2>Figures</h2>") < second
    assert Page(made).links == ["data:,1", "live.html", "result.zarr", "data:,2"]
    assert "live.html" not in page(study).text
    assert "<h1>Pond</h1>" in made
    assert "dt = 0.25 s" in Page(made).text


def test_the_points_of_a_figure_are_those_of_its_lines_and_scatters():
    from naiad import viz

    curve = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    figure = viz.errors_over_time([0.0, 1.0], {"a": [0.5, 0.25], "b": [1.0, np.nan]}, "size\n[m]")
    figure.axes[0].axhline(3.0)
    figure.axes[0].scatter([7.0, 8.0], [1.0, 2.0], label="dots")
    rows = points_csv(figure).splitlines()
    assert rows[0] == "panel,curve,x,y,z"
    assert rows[1:] == [
        "size [m],a,0,0.5",
        "size [m],a,1,0.25",
        "size [m],b,0,1",
        "size [m],dots,7,1",
        "size [m],dots,8,2",
    ]
    sphere = points_csv(viz.sphere_curve(curve, title="axis")).splitlines()[1:]
    assert [row.split(",")[2:] for row in sphere] == [[f"{value:.12g}" for value in point] for point in curve]
    assert points_csv(viz.new_figure()) == ""
    words = viz.new_figure()
    words.subplots().plot(["mass", "drag"], [2.0, 3.0], label="fitted")
    assert points_csv(words).splitlines()[1:] == [",fitted,0,2", ",fitted,1,3"]


def test_a_figure_whose_run_fails_says_so_and_the_others_are_drawn(study, tmp_path):
    def fails():
        raise RunError("the run stopped at t = 3 s")

    make = study.run(Progress()).figures["wave_height"]
    pictures = draw({"lost": fails, "kept": make}, tmp_path)
    assert [picture.name for picture in pictures] == ["lost", "kept"]
    text = base64.b64decode(pictures[0].url.partition("base64,")[2]).decode()
    assert "not drawn: the run stopped at t = 3 s" in text
