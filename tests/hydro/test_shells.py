"""Meshes of several shells, and meshes of fewer triangles."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad import hydro
from naiad.hydro.meshes import refinement
from naiad.hydro.meshes.simplify import simplified
from naiad.hydro.meshes.surface import Surface
from tests.hydro.surfaces import box, ellipsoid
from tests.hydro.test_mesh import GOOD


def inside_out(mesh):
    return mesh[0], mesh[1][:, ::-1]


def several(*meshes):
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes[:-1])])
    triangles = [t + start for (_, t), start in zip(meshes, starts, strict=True)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(triangles)


def test_shells_that_are_inside_out_are_told_from_cavities():
    v, t = GOOD
    one = hydro.Mesh(v, t).volume
    aside, inner, core = (v + np.array([5.0, 0.0, 0.0]), t), (0.6 * v, t), (0.3 * v, t)
    turned, cavity = "inside out: turned over", "1 cavity left out: no water gets there"
    for given, volume, notes in (
        (
            several(GOOD, inside_out(aside)),
            2.0,
            (f"1 of 2 shells {turned}", "2 separate pieces, which move as one body"),
        ),
        (several(inside_out(GOOD), inner), 1.0, (turned, cavity)),
        (several(GOOD, inside_out(inner), core), 1.0, (cavity, "1 shell inside of cavities left out")),
        (
            several(GOOD, inside_out(inner), inside_out(aside)),
            2.0,
            (f"1 of 3 shells {turned}", cavity, "2 separate pieces, which move as one body"),
        ),
    ):
        mesh = hydro.Mesh(*given)
        assert mesh.notes == notes
        assert mesh.volume == pytest.approx(volume * one, rel=1e-12)
        assert mesh.surface.pieces.shape[1] == volume


def test_sheets_that_cannot_be_told_apart_are_refused_in_one_line():
    corners, faces = box(1.0, 1.0, 1.0)
    mesh = hydro.Mesh(*several((corners, faces), (corners + np.array([1.0 + 1e-6, 0.0, 0.0]), faces)))
    with pytest.raises(nd.InputError, match=r"so near each other, that two sheets .* Join parts") as said:
        mesh.added_inertia(1.0)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(("most", "error"), [(320, 6e-3), (80, 2e-2)])
def test_fewer_triangles_of_the_same_volume(most, error):
    vertices, triangles = ellipsoid(3, 2.0, 1.0, 0.5)
    R = Rotation.from_rotvec((0.3, -1.1, 0.7)).as_matrix()
    given = hydro.Mesh(vertices @ R.T + [30.0, -20.0, 10.0], triangles)
    simple = given.simplified(most)
    assert len(simple.triangles) <= most
    assert simple.notes == ()
    assert simple.volume == pytest.approx(given.volume, rel=1e-11)
    np.testing.assert_allclose(simple.centre, given.centre, atol=2e-3)
    scale = (given.volume / (4.0 / 3.0 * np.pi)) ** (1.0 / 3.0)
    exact = hydro.Ellipsoid((2.0 * scale, scale, 0.5 * scale)).placed(R=R).added_inertia(1.0)
    found = hydro.moved(simple.added_inertia(1.0), x=-simple.centre)
    assert np.linalg.norm(found - exact, 2) < error * np.linalg.norm(exact, 2)
    assert given.simplified(5000) is given


def test_what_is_simplified_keeps_its_edges_its_pieces_and_its_cavities():
    fine = Surface.given(*box(2.0, 1.0, 0.5))
    for _ in range(3):
        fine = refinement.split(fine, np.ones(len(fine.edges[0]), dtype=bool), np.full(len(fine.edges[0]), 0.5))
    simple = hydro.Mesh(fine.vertices, fine.triangles).simplified(40)
    assert len(simple.triangles) <= 40
    np.testing.assert_allclose(np.ptp(simple.vertices, axis=0), (2.0, 1.0, 0.5), atol=1e-5)
    assert simple.volume == pytest.approx(1.0, rel=1e-12)
    v, t = GOOD
    three = several(GOOD, inside_out((0.6 * v, t)), (0.5 * v + np.array([4.0, 0.0, 0.0]), t))
    fewer = simplified(Surface.given(*three), 300)
    mesh = hydro.Mesh(fewer.vertices, fewer.triangles)
    assert mesh.notes == ("1 cavity left out: no water gets there", "2 separate pieces, which move as one body")
    assert mesh.volume == pytest.approx(1.125 * hydro.Mesh(v, t).volume, rel=1e-12)
    with pytest.raises(nd.InputError, match="cannot be simplified to 20 triangles without folds, only to 60"):
        simplified(Surface.given(*three), 20)
    with pytest.raises(nd.InputError, match="simplify = 4; expected 20 triangles or more"):
        hydro.Mesh(v, t).simplified(4)
