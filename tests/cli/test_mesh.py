"""`naiad mesh`: a surface from a file."""

import json

import numpy as np
import pytest
import trimesh

from naiad.hydro import Ellipsoid, Mesh, mass_properties
from naiad.trees import read_sdf
from tests.hydro.surfaces import ellipsoid

SHIFT = np.array([0.1, -0.02, 0.05])


@pytest.fixture
def hull(tmp_path):
    vertices, triangles = ellipsoid(2, 0.5, 0.3, 0.2)
    trimesh.Trimesh(1000.0 * (vertices + SHIFT), triangles).export(tmp_path / "hull.stl")
    trimesh.Trimesh(vertices, triangles[1:], process=False).export(tmp_path / "hole.stl")
    return Mesh(vertices + SHIFT, triangles)


def test_numbers_are_those_of_an_ellipsoid(naiad, hull, tmp_path):
    done = naiad("mesh", "hull.stl", "--unit", "mm", "--density", 1025, "--json", "--picture", "hull.png")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    exact = Ellipsoid((0.5, 0.3, 0.2)).placed(SHIFT).added_inertia(1025.0)
    assert np.linalg.norm(found["added"] - exact, 2) < 1.5 * found["added_error"] * np.linalg.norm(exact, 2)
    assert (found["triangles"], found["shells"], found["sharp_edges"]) == (320, 1, 0)
    assert found["volume"] == pytest.approx(hull.volume, rel=1e-6)
    assert (tmp_path / "hull.png").stat().st_size > 10_000


def test_what_is_written_as_sdf_is_read_again(naiad, hull, tmp_path):
    done = naiad("mesh", "hull.stl", "--unit", "mm", "--density", 1025, "--sdf")
    assert done.exit_code == 0, done.output
    text = f'<sdf version="1.11"><model name="m"><link name="hull">{done.stdout}</link></model></sdf>'
    (tmp_path / "hull.sdf").write_text(text)
    (link,) = read_sdf(tmp_path / "hull.sdf", water=1025.0).robot.links
    np.testing.assert_allclose(link.inertial.added, hull.added_inertia(1025.0), atol=1e-5 * 1025.0 * hull.volume)
    dry = mass_properties(hull.inertia(1025.0))
    assert link.inertial.mass == pytest.approx(dry.mass, rel=1e-6)
    np.testing.assert_allclose(link.inertial.centre, dry.centre, atol=1e-7)
    np.testing.assert_allclose(link.inertial.inertia, dry.inertia, atol=1e-5)


def test_it_is_simplified(naiad, hull):
    done = naiad("mesh", "hull.stl", "--unit", "mm", "--simplify", 100, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["triangles"] <= 100
    assert found["volume"] == pytest.approx(hull.volume, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("none.stl", "--unit", "mm"), "none.stl: there is no such file"),
        (("hole.stl", "--unit", "mm"), "hole.stl: The mesh is open: 3 edges"),
        (("hull.stl", "--unit", "yard"), "unit = 'yard'"),
        (("hull.stl", "--unit", "mm", "--simplify", "3"), "simplify = 3; expected 20 triangles or more"),
        (("hull.stl", "--unit", "mm", "--density", "-1"), "density = -1"),
        (("hull.stl", "--unit", "mm", "--picture", "hull.bmp"), "--picture hull.bmp"),
    ],
)
def test_mistakes_are_told_in_a_line(naiad, hull, tmp_path, arguments, says):
    before = {path.name for path in tmp_path.iterdir()}
    done = naiad("mesh", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == before
