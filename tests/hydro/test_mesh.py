"""Bodies given by triangles: known inertias, errors that are what is said, and what is no body."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import trimesh

import naiad as nd
from naiad import hydro
from naiad.hydro.meshes import added, coarse, facets, galerkin, refinement
from naiad.hydro.meshes.added import LARGEST
from naiad.hydro.meshes.sdf import inertial
from naiad.hydro.meshes.soundness import winding
from naiad.hydro.meshes.surface import Surface
from tests.hydro.surfaces import box, cylinder, ellipsoid, torus

CUBE = np.array([0.0392614899] * 3 + [0.638415713] * 3)
CYLINDER = np.array([0.80988452, 0.80988452, 0.0, 3.63981147, 3.63981147, 3.67794776])
TORUS = np.array([1.29306, 1.29306, 0.0, 1.33086, 1.33086, 3.31650])
"""From 192, 768, 3072 and 12288 triangles, whose errors fall by 4: to 1e-4."""


def relative_error(mesh, exact):
    scale = np.repeat([mesh.volume ** (-1.0 / 3.0), 1.0], 3)
    norm = [np.linalg.norm(scale[:, None] * K * scale, 2) for K in (mesh.added_inertia(1.0) - exact, exact)]
    return norm[0] / norm[1]


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (box(1.0, 1.0, 1.0), CUBE),
        (cylinder(24), CYLINDER),
        pytest.param(cylinder(64), CYLINDER, marks=pytest.mark.long),
        (ellipsoid(2, 2.0, 1.0, 0.5), None),
        (ellipsoid(2, 1.0, 1.0, 1.0), None),
        pytest.param(ellipsoid(3, 3.0, 1.0, 0.3), None, marks=pytest.mark.long),
        (torus(24, 16), TORUS),
        pytest.param(torus(48, 32), TORUS, marks=pytest.mark.long),
    ],
    ids=["cube", "cylinder 24", "cylinder 64", "ellipsoid", "sphere", "flat ellipsoid", "torus", "fine torus"],
)
def test_the_error_is_as_large_as_it_is_said_to_be(given, exact):
    mesh = hydro.Mesh(*given)
    if exact is None:
        exact = np.diag(hydro.Ellipsoid(tuple(mesh.vertices.max(axis=0))).added_inertia(1.0))
    error = relative_error(mesh, np.diag(exact))
    assert error / 3.0 < mesh.added_error < 3.0 * error
    assert mesh.solution.from_triangles < 1e-2


def bracket():
    """An L of 2 by 1.5, its arms 0.5 wide, 0.7 deep, about its centre: with an edge that turns inwards."""
    outline = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 0.5), (0.5, 0.5), (0.5, 1.5), (0.0, 1.5)])
    top = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)])
    i = np.arange(6)
    j = np.roll(i, -1)
    vertices = np.concatenate([np.column_stack([outline, np.full(6, z)]) for z in (0.0, 0.7)])
    vertices = vertices - np.array([0.75, 0.5, 0.35])
    sides = [np.stack(part, axis=1) for part in ((i, j, j + 6), (i, j + 6, i + 6))]
    return vertices, np.concatenate([top[:, ::-1], top + 6, *sides])


@pytest.mark.long
def test_the_error_of_a_bracket_is_as_large_as_it_is_said_to_be():
    exact = hydro.Mesh(*bracket(), tolerance=0.008)
    assert exact.volume == pytest.approx(1.05, rel=1e-12)
    for tolerance in (0.05, 0.03):
        mesh = hydro.Mesh(*bracket(), tolerance=tolerance)
        assert 1.0 / 3.0 < mesh.added_error / relative_error(mesh, exact.added_inertia(1.0)) < 3.0


def test_a_box_is_met_from_below_and_with_the_square_of_the_length():
    surface, found = refinement.cut(Surface.given(*box(1.0, 1.0, 1.0))), []
    for _ in range(2):
        found.append(np.diag(galerkin.solve(galerkin.assemble(surface))[0]))
        surface = refinement.refine(surface, np.ones(len(surface.edges[0]), dtype=bool))
    missing = CUBE - found
    assert np.all(missing > 0.0)
    assert np.all(missing[0] / missing[1] > 3.5)  # graded to the edges: 4, where even triangles have 2.52
    np.testing.assert_allclose(np.array(found) - np.array(found)[:, [1, 2, 0, 4, 5, 3]], 0.0, atol=1e-10)


def test_what_is_refined_is_not_chosen_by_rounding():
    """The sectors of a cylinder are alike; so is what is seen of the error in them, but for the last digits."""
    rng, (vertices, triangles) = np.random.default_rng(0), cylinder(24)
    meshes = [hydro.Mesh(vertices * (1.0 + 1e-15 * rng.standard_normal(vertices.shape)), triangles) for _ in range(3)]
    assert len({mesh.solution.triangles for mesh in meshes}) == 1
    for mesh in meshes[1:]:
        np.testing.assert_allclose(mesh.added_inertia(1.0), meshes[0].added_inertia(1.0), atol=1e-5)


def test_translations_by_another_formula():
    """The flow outside together with the rigid one inside is that of a double layer alone: H W^-1 H - V."""
    surface = Surface.given(*ellipsoid(2, 1.0, 0.7, 0.5))
    system = galerkin.assemble(surface)
    H = surface.normal_velocities[:, 3:]
    psi = np.linalg.lstsq(system.W, H, rcond=1e-10)[0]
    M, _ = galerkin.solve(system)
    np.testing.assert_allclose(M[3:, 3:], H.T @ psi - surface.volume * np.eye(3), atol=1e-9)


def test_a_part_of_an_ellipsoid_that_does_not_touch_is_there_too():
    """Two spheres of radius 1, 3 apart, moving together along and across the line through them."""
    vertices, triangles = ellipsoid(2, 1.0, 1.0, 1.0)
    both = (
        np.concatenate([vertices - [1.5, 0, 0], vertices - [-1.5, 0, 0]]),
        np.concatenate([triangles, triangles + len(vertices)]),
    )
    mesh = hydro.Mesh(*both)
    assert mesh.notes == ("2 separate pieces, which move as one body",)
    found = np.diag(mesh.added_inertia(1.0))[3:]
    single = np.diag(hydro.Mesh(vertices, triangles).added_inertia(1.0))[3]
    exact = 2.0 * np.array([2.10670483 - 0.23339113, 2.09780740 + 0.11646307]) / (2.0 * np.pi / 3.0)
    np.testing.assert_allclose(found[:2] / single, exact, rtol=5e-3)


def test_moved_turned_and_scaled():
    vertices, triangles = ellipsoid(1, 1.0, 0.7, 0.4)
    vertices = vertices + 0.1 * np.sin(3.0 * vertices[:, [1, 2, 0]])
    mesh = hydro.Mesh(vertices, triangles)
    angle = 0.7
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    x = np.array([3.0, -2.0, 1.0])
    there = hydro.Mesh(2.0 * (vertices @ R.T + x), triangles)
    scale = np.repeat([2.0**2.5, 2.0**1.5], 3)
    placed = mesh.placed(x, R)
    for ours, theirs in (
        (placed.added_inertia(3.0), there.added_inertia(3.0)),
        (placed.inertia(3.0), there.inertia(3.0)),
    ):
        np.testing.assert_allclose(scale[:, None] * ours * scale, theirs, rtol=0, atol=1e-9 * np.max(np.abs(theirs)))
    assert there.volume == pytest.approx(8.0 * mesh.volume, rel=1e-12)
    np.testing.assert_allclose(there.centre, 2.0 * placed.centre, atol=1e-12)
    assert np.min(np.linalg.eigvalsh(mesh.added_inertia(1.0))) > 0.0


def test_volume_centre_and_inertia_of_a_box():
    vertices, triangles = box(1.0, 2.0, 3.0)
    mesh = hydro.Mesh(vertices - [-0.5, -1.0, -1.5], triangles)
    assert mesh.volume == pytest.approx(6.0, rel=1e-14)
    np.testing.assert_allclose(mesh.centre, (0.5, 1.0, 1.5), rtol=1e-14)
    about = hydro.moved(mesh.inertia(2.0), x=-mesh.centre)
    np.testing.assert_allclose(about, np.diag([13.0, 10.0, 5.0, 12.0, 12.0, 12.0]), atol=1e-12)


@pytest.mark.parametrize("layers", [1, 7, -7])
def test_the_winding_is_the_sum_of_all_solid_angles(layers):
    """Also where the surface goes round several times, and where a point is a vertex or lies in the plane of a side."""
    vertices, triangles = cylinder(24)
    surface = Surface.given(vertices, np.concatenate([triangles[:, :: np.sign(layers)]] * abs(layers)))
    points = np.concatenate(
        [np.random.default_rng(0).normal(size=(60, 3)), vertices, surface.centroids[:96], [[1e4, 3.0, -2.0]]]
    )
    r = surface.corners - points[:, None, None]
    a, b, c = np.moveaxis(r, 2, 0)
    lengths = np.linalg.norm(r, axis=3)
    products = np.stack([np.sum(p * q, axis=2) for p, q in ((b, c), (c, a), (a, b))], axis=2)
    triple, product = np.sum(a * np.cross(b, c), axis=2), lengths.prod(axis=2)
    angles = np.arctan2(triple, product + np.sum(products * lengths, axis=2))
    angles[np.abs(triple) <= 1e-12 * product] = 0.0
    np.testing.assert_allclose(winding(surface, points), angles.sum(axis=1) / (2.0 * np.pi), atol=1e-13)
    assert winding(surface, np.zeros((1, 3)) + 1e-3)[0] == pytest.approx(layers, abs=1e-13)


def test_pairs_in_blocks_are_pairs_in_one(monkeypatch):
    """Every pair is there once, whichever block it is in and whichever thread treats it."""
    from naiad.hydro.meshes import pairs

    surface, found = refinement.cut(Surface.given(*box(1.0, 0.7, 0.4))), []
    for block in (len(surface.triangles), 37):
        for module in (galerkin, pairs):
            monkeypatch.setattr(module, "BLOCK", block)
        found.append(galerkin.assemble(surface))
    for one, other in zip(*(system[:3] for system in found), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14 * np.abs(one).max())


def test_cutting_leaves_the_body_alone():
    given = Surface.given(*cylinder(40, 0.5, 6.0))
    fine = refinement.cut(given)
    assert fine.volume == pytest.approx(given.volume, rel=1e-13)
    assert fine.areas.sum() == pytest.approx(given.areas.sum(), rel=1e-13)
    slender = np.linalg.norm(np.roll(fine.corners, 1, axis=1) - fine.corners, axis=2).max(axis=1) ** 2 / fine.areas
    before = np.linalg.norm(np.roll(given.corners, 1, axis=1) - given.corners, axis=2).max(axis=1) ** 2 / given.areas
    assert slender.max() < 0.5 * before.max()
    np.testing.assert_allclose(np.abs(winding(fine, given.vertices.mean(axis=0)[None])), 1.0, atol=1e-12)
    origin = facets.located(given, fine)
    share = facets.barycentric(given, origin, fine.centroids)
    assert share.min() > -1e-9
    np.testing.assert_allclose(np.einsum("tk,tki->ti", share, given.corners[origin]), fine.centroids, atol=1e-12)


def test_the_height_of_a_sphere_above_its_facets():
    given = Surface.given(*ellipsoid(3, 1.0, 1.0, 1.0))
    middles = 0.5 * (given.corners + np.roll(given.corners, 1, axis=1))
    height = np.mean(1.0 - np.linalg.norm(middles, axis=2), axis=1)
    np.testing.assert_allclose(facets.rise(given, given), height, rtol=0.05)
    assert np.all(facets.rise(Surface.given(*box(1, 1, 1)), Surface.given(*box(1, 1, 1))) == 0.0)


def test_functions_on_fewer_vertices_are_linear_between_them():
    flat = refinement.cut(Surface.given(*box(1.0, 1.0, 1.0)))
    flat = refinement.refine(flat, np.ones(len(flat.edges[0]), dtype=bool))
    space = coarse.coarse_space(flat)
    assert 3.0 < space.shape[0] / space.shape[1] < 5.0
    np.testing.assert_allclose(space @ np.ones(space.shape[1]), 1.0, atol=1e-14)
    nodes = flat.vertices[np.asarray((space == 1.0).argmax(axis=0)).ravel()]
    inside = np.abs(flat.vertices).min(axis=1) < 0.2
    assert np.median(np.linalg.norm(space @ nodes - flat.vertices, axis=1)[inside]) < 0.05


GOOD = ellipsoid(2, 1.0, 1.0, 1.0)
COUNT = len(GOOD[0])


def two(shift, size=1.0, turned=False):
    vertices, triangles = GOOD
    second = (triangles[:, ::-1] if turned else triangles) + COUNT
    return np.concatenate([vertices, size * vertices + shift]), np.concatenate([triangles, second])


def one_turned():
    vertices, triangles = GOOD
    return vertices, np.concatenate([triangles[:5], triangles[5:6, ::-1], triangles[6:]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((GOOD[0], GOOD[1][3:]), r"open: \d edges with one triangle only, at triangles .* Fill the holes"),
        (one_turned(), r"face opposite ways, at triangles 2, 5, 14, 245 .*turn them"),
        (two((0.9, 0.0, 0.0), 0.8), r"passes through itself: \d+ triangles inside another part, as triangles .* unite"),
        (two((0.0, 0.0, 0.0), 0.5), "passes through itself: 320 triangles"),
        (two((0.9, 0.0, 0.0), 0.8, turned=True), r"passes through itself: \d+ triangles"),
        (two((0.0, 0.0, 0.0)), "no surface: 480 edges have more than two triangles"),
        ((GOOD[0][:, :2], GOOD[1]), r"vertices of shape \(162, 2\); expected rows of three finite numbers"),
        ((np.full((8, 3), np.nan), box(1, 1, 1)[1]), "8 of 8 vertices are not finite numbers, the first .* vertex 0 "),
        ((GOOD[0], GOOD[1] + 1), "numbers of vertices, 0 to 161"),
        ((GOOD[0], 1.0 * GOOD[1]), "type float64; expected rows of three whole numbers"),
        ((np.zeros((8, 3)), box(1, 1, 1)[1]), "no triangle with an area"),
        ((*GOOD, 2.0), "tolerance = 2.0; expected a relative error from 1e-4 to 0.5"),
        ((*GOOD, -1.0), "tolerance = -1.0"),
    ],
)
def test_what_is_no_body_is_told(given, message):
    with pytest.raises(nd.InputError, match=message):
        hydro.Mesh(*given)


def test_what_is_mended_is_told():
    vertices, triangles = GOOD
    exact = hydro.Mesh(vertices, triangles).volume
    soup = vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    for given, notes in (
        (soup, ()),
        ((vertices, triangles[:, ::-1]), ("inside out: turned over",)),
        (two((0.0, 0.0, 0.0), 0.5, turned=True), ("1 cavity left out: no water gets there",)),
        ((vertices, np.concatenate([triangles, [(0, 0, 1)]])), ("1 triangle without area left out",)),
        ((vertices + 1e7, triangles), ()),
    ):
        mesh = hydro.Mesh(*given)
        assert mesh.notes == notes
        assert mesh.volume == pytest.approx(exact, rel=1e-7)


def test_more_triangles_than_can_be_solved_with(monkeypatch):
    monkeypatch.setattr(added, "LARGEST", 500)
    monkeypatch.setattr(added, "default_cache", lambda: None)  # which may know the answer
    mesh = hydro.Mesh(*box(1.0, 1.0, 1.0), tolerance=2e-3)
    says = r"to tolerance = 0.002 needs \d+ triangles or more; naiad solves with up to 500. Give a larger tolerance.$"
    with pytest.raises(nd.InputError, match=says):
        mesh.added_inertia(1.0)
    with pytest.raises(nd.InputError, match="tolerance, or simplify the mesh"):
        hydro.Mesh(*ellipsoid(3, 1.0, 1.0, 1.0)).added_inertia(1.0)
    assert LARGEST > 10_000


def test_what_was_solved_is_kept(monkeypatch):
    first = hydro.Mesh(*ellipsoid(1, 1.0, 0.9, 0.8)).solution
    monkeypatch.setattr(galerkin, "assemble", None)
    again = hydro.Mesh(*ellipsoid(1, 1.0, 0.9, 0.8)).solution
    np.testing.assert_array_equal(first.inertia, again.inertia)
    assert first[1:] == again[1:]
    with pytest.raises(TypeError):  # another tolerance is another problem
        _ = hydro.Mesh(*ellipsoid(1, 1.0, 0.9, 0.8), tolerance=0.011).solution


def test_a_mesh_is_solved_again_when_the_code_that_solves_has_changed(monkeypatch):
    surface = Surface.given(*ellipsoid(1, 1.0, 0.9, 0.8))
    before = added._key(surface, 0.01)
    monkeypatch.setattr(added, "digest_of", lambda names: f"another of {sorted(names)}")
    assert before != added._key(surface, 0.01) is not None


DIGITS = {"obj": {"digits": 16}}


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "glb"])
def test_files(tmp_path, kind):
    vertices, triangles = ellipsoid(1, 0.3, 0.2, 0.1)
    trimesh.Trimesh(1000.0 * vertices, triangles).export(tmp_path / f"hull.{kind}")
    mesh = hydro.Mesh.read(tmp_path / f"hull.{kind}", unit="mm")
    assert mesh.volume == pytest.approx(hydro.Mesh(vertices, triangles).volume, rel=1e-5)
    fewer = hydro.Mesh.read(tmp_path / f"hull.{kind}", unit="mm", simplify=40)
    assert len(fewer.triangles) <= 40
    assert fewer.volume == pytest.approx(mesh.volume, rel=1e-9)
    trimesh.Trimesh(1e-9 * vertices, triangles, process=False).export(tmp_path / f"dust.{kind}", **DIGITS.get(kind, {}))
    dust = hydro.Mesh.read(tmp_path / f"dust.{kind}", unit="m")  # whatever the size, vertices are told apart
    assert dust.volume == pytest.approx(1e-27 * hydro.Mesh(vertices, triangles).volume, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "unit", "message"),
    [
        ("none.stl", "mm", "there is no such file"),
        ("hull.step", "mm", "a file of kind '.step'; expected .stl"),
        ("hull.stl", "km", "unit = 'km'; expected what the numbers of the file are in: m, cm"),
        ("broken.stl", "mm", "100 bytes; a binary STL has 84 bytes for its 0 triangles"),
        ("hole.stl", "mm", "hole.stl: The mesh is open"),
        ("nan.stl", "mm", r"nan.stl: \d+ of 240 vertices are not finite numbers"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, unit, message):
    (tmp_path / "hull.step").write_text("solid")
    (tmp_path / "hull.stl").write_bytes(b"")
    (tmp_path / "broken.stl").write_bytes(b"\x00" * 100)
    vertices, triangles = ellipsoid(1, 3.0, 2.0, 1.0)
    trimesh.Trimesh(vertices, triangles[1:], process=False).export(tmp_path / "hole.stl")
    trimesh.Trimesh(
        np.where(np.arange(len(vertices))[:, None] == 3, np.nan, vertices), triangles, process=False
    ).export(tmp_path / "nan.stl")
    with pytest.raises(nd.InputError, match=message):
        hydro.Mesh.read(tmp_path / name, unit=unit)


def test_a_report_and_an_sdf_that_others_read():
    vertices, triangles = ellipsoid(2, 0.5, 0.3, 0.2)
    mesh = hydro.Mesh(vertices - [-0.1, 0.0, 0.0], triangles)
    found = mesh.report(1025.0)
    np.testing.assert_allclose(found.ellipsoid, (0.5, 0.3, 0.2), rtol=0.02)
    assert re.search(r"added inertia, to 0\.0\d \(triangles", str(found))
    assert (found.triangles, found.solved_on, found.sharp_edges, found.shells) == (320, 320, 0, 1)
    assert "320, 0 sharp edges, 1 shell; flow solved on 320" in str(found)
    root = ET.fromstring(inertial(mesh, 1025.0, mass=100.0))
    assert root.findtext("mass") == "100"
    assert float(root.findtext("pose", "").split()[0]) == pytest.approx(0.1, rel=1e-9)
    added = mesh.added_inertia(1025.0)  # about the origin of the link, as SDF says
    assert float(root.findtext("fluid_added_mass/xx", "")) == pytest.approx(added[3, 3], rel=1e-9)
    assert float(root.findtext("fluid_added_mass/qq", "")) == pytest.approx(added[1, 1], rel=1e-9)
    assert float(root.findtext("fluid_added_mass/xq", "")) == pytest.approx(added[1, 3], abs=1e-9)
    assert float(root.findtext("inertia/izz", "")) == pytest.approx(100.0 * (0.5**2 + 0.3**2) / 5.0, rel=0.04)


def test_a_vehicle_with_a_hull_from_a_mesh_moves_as_one_with_its_inertia():
    hull = hydro.Mesh(*ellipsoid(2, 0.5, 0.3, 0.2))
    body = nd.models.KirchhoffBody.from_shape(hull, 1000.0)
    run = nd.simulate(body, body.state(Omega=(0.3, 0.1, 0.2), v=(0.5, 0.0, 0.1)), t1=2.0, dt=0.01)
    energy = 0.5 * np.einsum(
        "i,ij,j->",
        xi := np.array([0.3, 0.1, 0.2, 0.5, 0.0, 0.1]),
        hull.inertia(1000.0) + hull.added_inertia(1000.0),
        xi,
    )
    assert float(body.energy(run.final)) == pytest.approx(energy, rel=1e-4)


def test_it_tells_how_far_it_is(monkeypatch):
    from naiad.hydro.meshes.telling import telling

    monkeypatch.setattr(added, "default_cache", lambda: None)
    told = []
    with telling(told.append):
        mesh = hydro.Mesh(*box(1.0, 0.7, 0.5), tolerance=0.02)
        error = mesh.solution.from_triangles
    assert told[0].error is None
    assert told[0].done == 0.0
    assert told[-1].done == 1.0
    assert told[-1].triangles == mesh.solution.triangles
    rounds = [each for each in told if each.done == 1.0]
    assert len(rounds) > 1
    assert [each.triangles for each in rounds] == sorted({each.triangles for each in rounds})
    assert rounds[-1].error > 0.02 >= error
    assert str(rounds[-1]).startswith(f"solving for the flow on {mesh.solution.triangles} triangles: 100 %; error ")
