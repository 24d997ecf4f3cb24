"""Bodies that are meshes, in pages, images and figures."""

import json

import numpy as np
import pytest
from PIL import Image

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Assembly, Ellipsoid, Mesh, Sphere
from naiad.hydro.facets import ellipsoid_facets, thinned
from naiad.viz.film import Film
from naiad.viz.motion import describe_motion
from naiad.viz.snapshots import snapshots
from naiad.viz.still import Still
from tests.hydro.surfaces import box, ellipsoid


def volume(facets):
    corners = np.array(facets.vertices)[np.array(facets.triangles)]
    return np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0


def thrown(shape=None):
    """A box that is thrown; its added inertia is that of an ellipsoid, so that nothing need be solved."""
    shape = Mesh(*box(1.0, 0.4, 0.2)) if shape is None else shape
    stand_in = Ellipsoid((0.5, 0.2, 0.1))
    from naiad.models.solid_shape import solid_of

    body = nd.models.KirchhoffBody.from_shape(stand_in, 1000.0).replaced(solid=solid_of(shape))
    return nd.simulate(body, body.state(Omega=(0.2, 0.1, 0.5), v=(1.0, 0.0, 0.0)), t1=1.0, dt=0.05)


def test_a_mesh_becomes_simpler_and_keeps_its_shape():
    vertices, triangles = ellipsoid(4, 2.0, 1.0, 0.5)
    simple = thinned(vertices, triangles, 600)
    assert 250 < len(simple.triangles) <= 600 < len(triangles)
    assert volume(simple) == pytest.approx(4 / 3 * np.pi, rel=0.05)
    radius = np.linalg.norm(np.array(simple.vertices) / (2.0, 1.0, 0.5), axis=1)
    assert np.all((radius > 0.8) & (radius < 1.15))
    few = Mesh(*box(1.0, 2.0, 3.0))
    assert len(few.facets(600).triangles) == 12


def test_edges_stay_sharp():
    from naiad.hydro.meshes.refinement import split
    from naiad.hydro.meshes.surface import Surface

    surface = Surface.given(*box(1.0, 1.0, 1.0))
    for _ in range(4):
        every = np.ones(len(surface.edges[0]), dtype=bool)
        surface = split(surface, every, 0.5 * every)
    simple = thinned(surface.vertices, surface.triangles, 500)
    assert len(simple.triangles) <= 500 < len(surface.triangles)
    assert volume(simple) == pytest.approx(1.0, rel=1e-3)
    assert np.abs(np.array(simple.vertices)).max() == pytest.approx(0.5, abs=1e-4)


def test_parts_are_drawn_together():
    whole = Assembly(Mesh(*box(1.0, 0.5, 0.5)), Sphere(0.2).placed(x=(0.9, 0.0, 0.0)))
    facets = whole.facets(600)
    assert facets is not None
    assert volume(facets) == pytest.approx(0.25 + 4 / 3 * np.pi * 0.2**3, rel=0.03)
    assert np.array(facets.vertices).max(axis=0)[0] == pytest.approx(1.1, abs=0.01)
    assert Ellipsoid((1.0, 1.0, 2.0)).facets(600) is None
    turned = ellipsoid_facets(np.diag([1.0, 2.0, -3.0]), np.zeros(3), 600)
    assert volume(turned) == pytest.approx(8 * np.pi, rel=0.05)


def test_a_page_holds_the_mesh(tmp_path):
    run = thrown()
    (described,) = describe_motion(run.dataset)["bodies"]
    assert len(described["mesh"]["triangles"]) == 36
    vertices = np.reshape(described["mesh"]["vertices"], (-1, 3))
    assert np.allclose(np.ptp(vertices, axis=0), (1.0, 0.4, 0.2))
    page = run.animate(tmp_path / "box.html").read_text()
    assert "drawMesh" in page
    assert json.dumps(described["mesh"]["triangles"], separators=(",", ":")) in page


def test_an_image_shows_its_corners():
    """A box seen from the side of its longest edges fills more of its frame than the ellipsoid of its inertia."""
    run = thrown()
    drawn = Still(describe_motion(run.dataset), (320, 240)).at(0.0)
    plain = run.dataset.assign_attrs(shapes=[run.dataset.attrs["shapes"][0]["axes"]])
    ellipsoid_ = Still(describe_motion(plain), (320, 240)).at(0.0)

    def inked(image: Image.Image) -> int:
        return int((np.asarray(image.convert("L")) < 170).sum())

    assert inked(drawn) > 1.05 * inked(ellipsoid_)


def test_films_figures_and_pages_that_compute_draw_it(tmp_path):
    run = thrown()
    film = tmp_path / "box.gif"
    run.animate(film, size=(160, 120), fps=5, seconds=0.6)
    assert film.stat().st_size > 1000
    assert Film is not None
    assert len(snapshots(run.dataset, moments=3).axes[0].collections) == 3
    run.plot()


def test_a_mesh_that_is_none_is_refused():
    run = thrown()
    broken = {"axes": [1.0, 1.0, 1.0], "vertices": [[0.0, 0.0, 0.0]], "triangles": [[0, 1, 2]]}
    with pytest.raises(InputError, match="a mesh that is none"):
        describe_motion(run.dataset.assign_attrs(shapes=[broken]))


def test_a_vehicle_takes_a_shape_without_coupling_about_its_centre_of_gravity():
    shape = Ellipsoid((0.8, 0.3, 0.2)).placed(x=(0.1, 0.0, 0.0))
    dry = nd.hydro.rigid_inertia(150.0, (5.0, 12.0, 13.0), (0.1, 0.0, 0.0))
    vehicle = nd.models.BuoyantVehicle.from_shape(shape, 1000.0, dry)
    K = Ellipsoid((0.8, 0.3, 0.2)).added_inertia(1000.0)
    assert np.allclose(vehicle.added_mass, K[3:, 3:])
    assert np.allclose(vehicle.J, np.diag([5.0, 12.0, 13.0]) + K[:3, :3])
    assert vehicle.buoyancy == pytest.approx(1000.0 * shape.volume * 9.81)
    assert np.allclose(vehicle.r, 0.0, atol=1e-12)
    assert vehicle.picture.shapes is not None
    lower = nd.hydro.rigid_inertia(150.0, (5.0, 12.0, 13.0), (0.1, 0.0, 0.05))
    with pytest.raises(InputError, match="couples turn and motion"):
        nd.models.BuoyantVehicle.from_shape(shape, 1000.0, lower)
