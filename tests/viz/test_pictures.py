"""What a picture says of bodies, and what the page makes of it: shapes, places, names, joints, and what rests."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.errors import InputError
from naiad.mechanics import Picture, ellipsoid_of_inertia
from naiad.mechanics.inertia_shapes import inertia_shapes
from naiad.trees import Tree
from naiad.viz.animation import motion_page
from naiad.viz.bodies import spoken
from naiad.viz.overview import plot

TURN = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()


def drawn(dataset: xr.Dataset, **options) -> dict:
    page = motion_page(dataset, **options)
    return json.loads(page.partition('id="motion">')[2].partition("</script>")[0])


def inertia(axes, mass: float) -> np.ndarray:
    """That of a homogeneous ellipsoid."""
    return mass / 5.0 * np.diag(np.sum(np.square(axes)) - np.square(axes))


def moving(count: int = 1, **attributes) -> xr.Dataset:
    """Bodies that go round a circle of radius 1, 5 apart."""
    time = np.linspace(0.0, 6.0, 13)
    x = np.stack([np.cos(time), np.sin(time), 0 * time], 1)[:, None] + 5.0 * np.eye(3)[2] * np.arange(count)[:, None]
    R = Rotation.from_rotvec(np.outer(time, [0.0, 0.0, 0.2])).as_matrix()[:, None]
    variables = {
        "R": (("time", "body", "axis", "body_axis"), np.repeat(R, count, 1)),
        "x": (("time", "body", "axis"), x),
    }
    return xr.Dataset(variables, {"time": time}, attributes)


def test_the_ellipsoid_of_inertia_has_that_inertia():
    axes = np.array([0.7, 0.2, 0.4])
    np.testing.assert_allclose(ellipsoid_of_inertia(inertia(axes, 3.0), 3.0), axes)
    np.testing.assert_allclose(ellipsoid_of_inertia([2.0, 2.0, 1.0]), [3**-0.5, 3**-0.5, 1.0])
    rows = ellipsoid_of_inertia(TURN @ inertia(axes, 3.0) @ TURN.T, 3.0)
    np.testing.assert_allclose(rows.T @ rows, TURN @ np.diag(axes**2) @ TURN.T, atol=1e-12)
    flat = ellipsoid_of_inertia([1.0, 1.0, 5.0])  # no body has this
    assert flat.max() == 1.0
    assert flat.min() == 0.05


class Beads(nd.LagrangianSystem):
    """Two beads on a spring, which say what is to be drawn."""

    group = nd.Power(nd.Rn(3), 2)
    picture = Picture(
        down=(0.0, 0.0, 9.81), names=("upper", "lower"), shapes=[[0.1] * 3, [0.2] * 3], links=[(-1, 0), (0, 1)]
    )

    def lagrangian(self, q, v, t):
        gap = q[1] - q[0]
        return 0.5 * v @ v - 0.5 * gap @ gap - 0.5 * q[0] @ q[0] + 0.5 * (q[0, 2] + q[1, 2])


def test_an_own_system_says_what_is_drawn():
    beads = Beads()
    run = nd.simulate(beads, beads.state(q=[[0.3, 0.0, 1.0], [0.5, 0.0, 2.0]]), t1=2.0, dt=0.1)
    motion = drawn(run.dataset)
    assert [body["name"] for body in motion["bodies"]] == ["upper", "lower"]
    assert [body["axes"] for body in motion["bodies"]] == [[0.1] * 3, [0.2] * 3]
    assert motion["links"] == [{"second": 0}, {"second": 1, "first": 0}]
    assert motion["compass"][2] == [0.0, 0.0, -1.0]
    assert "note" not in motion
    lower = np.reshape(motion["bodies"][1]["x"], (-1, 3))
    np.testing.assert_allclose(lower, run.dataset["q"][:, 1] * [1.0, -1.0, -1.0], atol=1e-5)
    assert list(run.dataset["body"].to_numpy()) == ["upper", "lower"]


class Bobs(nd.LagrangianSystem):
    """Two pendulums beside each other, of which one sees the bobs and not the angles."""

    group = nd.Rn(2)
    picture = Picture(
        seen=lambda q, t: {"x": jnp.stack([jnp.sin(q), jnp.zeros(2), -jnp.cos(q)], axis=1)}, names=("left", "right")
    )

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + jnp.sum(jnp.cos(q))


def test_coordinates_are_no_body_where_positions_are_seen():
    bobs = Bobs()
    run = nd.simulate(bobs, bobs.state(q=(0.3, 1.5)), t1=2.0, dt=0.1)
    motion = drawn(run.dataset)
    assert [body["name"] for body in motion["bodies"]] == ["left", "right"]
    path = next(ax for ax in run.plot().axes if ax.name == "3d")
    curves = {line.get_label(): np.array(line.get_data_3d()) for line in path.lines}
    assert {"left", "right"} <= curves.keys()
    np.testing.assert_allclose(np.abs(curves["left"][0]).max(), np.sin(0.3), rtol=1e-6)
    np.testing.assert_allclose(np.abs(curves["right"][0]).max(), np.sin(1.5), rtol=1e-6)


class Top(nd.LagrangianSystem):
    """A heavy top of which nothing is said."""

    J: np.ndarray
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - R[2, 2] + 0.3 * Omega[0]


class Craft(nd.LagrangianSystem):
    """A body of mass 3 with its centre beside the origin of its frame."""

    J: np.ndarray
    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        v = xi[3:] + jnp.cross(xi[:3], jnp.array([0.1, 0.2, -0.4]))
        return 0.5 * xi[:3] @ self.J @ xi[:3] + 1.5 * v @ v


def test_bodies_of_which_only_the_lagrangian_is_known():
    top = Top(np.diag([2.0, 2.0, 1.0]))
    (axes,) = inertia_shapes(top, np.eye(3), 0.0) or ()
    np.testing.assert_allclose(axes, [3**-0.5, 3**-0.5, 1.0])
    axes = np.array([0.7, 0.2, 0.4])
    craft = Craft(inertia(axes, 3.0))
    (found,) = inertia_shapes(craft, craft.group.identity(), 0.0) or ()
    lengths = found if found.ndim == 1 else np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(np.sort(lengths), np.sort(axes))
    assert inertia_shapes(Beads(), np.zeros((2, 3)), 0.0) is None


def test_models_are_drawn_with_their_shapes():
    axes = (2.0, 0.5, 0.8)
    (rows,) = nd.models.KirchhoffBody.ellipsoid(axes, 1.0).picture.shapes
    np.testing.assert_allclose(rows, np.diag(axes))
    hull = nd.hydro.Ellipsoid(axes).placed(x=(0.1, 0.0, 0.2), R=TURN)
    body = nd.models.SubmergedBody.from_shape(hull, 1000.0, gravity=(0.0, 0.0, 9.81))
    np.testing.assert_array_equal(body.picture.down, [0.0, 0.0, 9.81])
    np.testing.assert_allclose(body.picture.centres, [[0.1, 0.0, 0.2]], atol=1e-12)
    (rows,) = body.picture.shapes
    np.testing.assert_allclose(rows.T @ rows, TURN @ np.diag(np.square(axes)) @ TURN.T, atol=1e-9)
    (shape,) = nd.models.RigidBody((2.0, 2.0, 1.0)).picture.shapes
    assert shape[0] == shape[1] < shape[2]
    masses = nd.models.PointMasses((1.0, 1e-3), names=("Sun", "Jupiter"))
    assert masses.picture.names == ("Sun", "Jupiter")
    with pytest.raises(InputError, match=r"names = .* a text for each of 2 masses"):
        nd.models.PointMasses((1.0, 1e-3), names=("Sun",))


def test_a_tree_is_drawn_with_its_joints_under_gravity():
    tree = Tree(
        (-1, 0, 0), J=np.tile(np.diag(inertia((0.5, 0.1, 0.2), 2.0)), (3, 1)), M=np.full((3, 3), 2.0), root="pinned",
        own=[(0.0, 0.0, 0.6), (-0.5, 0.0, 0.0), (0.4, 0.0, 0.0)],
        other=[(0.0, 0.0, 0.1), (0.5, 0.0, 0.0), (-0.5, 0.1, 0.0)],
    )  # fmt: skip
    weight = nd.forces.Weight((0.0, 0.0, 9.81), mass=2.0)
    picture = nd.models.ConnectedBodies(tree, weight=weight).picture
    np.testing.assert_allclose(picture.shapes, [(0.5, 0.1, 0.2)] * 3)
    motion = drawn(moving(3, **picture.attributes))
    assert motion["links"] == [
        {"second": 0, "joint": [0.0, 0.0, -0.1]},  # in space, where the third axis is down
        {"second": 1, "first": 0, "joint": [0.5, 0.0, 0.0]},
        {"second": 2, "first": 0, "joint": [-0.5, 0.1, 0.0]},
    ]
    given = nd.models.ConnectedBodies(tree, shapes=[(1.0, 2.0, 3.0)], overlap=True).picture
    np.testing.assert_array_equal(given.shapes, [(1.0, 2.0, 3.0)] * 3)
    assert given.down is None


def test_a_shape_lies_as_it_does_in_its_body():
    (body,) = drawn(moving(shapes=[(TURN * [0.3, 0.2, 0.1]).T], centres=[(0.0, 0.0, 0.5)]))["bodies"]
    np.testing.assert_allclose(body["axes"], [0.3, 0.2, 0.1], atol=1e-6)
    np.testing.assert_allclose(np.reshape(body["tilt"], (3, 3)).T, TURN, atol=1e-5)
    inside = TURN @ np.diag([0.3**-2, 0.2**-2, 0.1**-2]) @ TURN.T
    np.testing.assert_allclose(body["depths"], np.diag(inside) ** -0.5, rtol=1e-4)
    assert body["centre"] == [0.0, 0.0, 0.5]
    globe = drawn(moving(shapes=[(0.3, 0.3, 0.6)], centres=[(0.0, 0.0, 0.6)]).drop_vars("x"))["bodies"][0]
    np.testing.assert_allclose(globe["axes"], 0.66 / 1.2 * np.array([0.3, 0.3, 0.6]), rtol=1e-5)
    np.testing.assert_allclose(globe["centre"], [0.0, 0.0, 0.33], rtol=1e-5)


def test_places_that_are_outputs_are_drawn_beside_the_bodies():
    data = moving(2, shapes=[(0.3, 0.2, 0.1), (0.2, 0.2, 0.2)], bodies=["hull", "float"])
    data = data.assign(tip_x=(("time", "axis"), data["x"][:, 0].to_numpy() + 1.0))
    motion = drawn(data)
    assert [body["name"] for body in motion["bodies"]] == ["hull", "float", "tip"]
    assert [body.get("point", False) for body in motion["bodies"]] == [False, False, True]
    assert motion["bodies"][1]["axes"] == [0.2] * 3
    with pytest.raises(InputError, match="shapes has 3 entries; give one for each of 2 bodies"):
        drawn(moving(2, shapes=[(1, 1, 1)] * 3))


def test_what_is_not_to_scale_is_said():
    assert drawn(moving())["note"] == "Sizes are not to scale."
    motion = drawn(moving(shapes=[(2e-6, 1e-6, 1e-6)], bodies=["satellite"], fixed={"Earth": [0.9] * 3}))
    satellite, earth = motion["bodies"]
    assert max(satellite["axes"]) == pytest.approx(0.06, rel=0.01)  # of half the orbit
    assert satellite["axes"][0] == 2 * satellite["axes"][1]
    assert motion["note"] == "satellite: drawn 3e+04 times larger than to scale."
    assert (earth["name"], earth["axes"], earth["point"]) == ("Earth", [0.9] * 3, True)
    assert "x" not in earth
    exact = drawn(moving(), shapes=[(2e-6, 1e-6, 1e-6)])
    assert exact["bodies"][0]["axes"] == [2e-6, 1e-6, 1e-6]
    assert "note" not in drawn(moving(shapes=[(0.2, 0.1, 0.1)]))


def test_the_path_in_a_figure_has_the_bodies_and_what_rests(monkeypatch):
    seen = []
    monkeypatch.setattr("naiad.viz.paths.draw_ellipsoid", lambda ax, *solid, **_: seen.append(solid))
    data = moving(2, shapes=[(0.4, 0.2, 0.2), None], bodies=["hull", "float"], fixed={"Earth": [0.5] * 3})
    ax = plot(data, variables="path").axes[-1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["hull", "float", "Earth"]
    (R, centre, axes, _), (_, middle, planet, _) = seen
    np.testing.assert_allclose(R, data["R"][-1, 0], atol=1e-12)
    np.testing.assert_allclose(centre, data["x"][-1, 0])
    np.testing.assert_array_equal(axes, [0.4, 0.2, 0.2])
    np.testing.assert_array_equal([middle, planet], [np.zeros(3), [0.5] * 3])
    plot(data.assign_attrs(shapes=[(1e-3, 1e-3, 1e-3), None], fixed={}), variables="path")
    assert len(seen) == 2  # too small to be seen


@pytest.mark.parametrize(
    ("link", "message"),
    [((0,), "links has"), ((0, 3), "two of 2 bodies"), ((0, 0), "links has"), ((-1, 0, (1.0, 2.0)), "three numbers")],
)
def test_bad_links(link, message):
    with pytest.raises(InputError, match=message):
        drawn(moving(2, links=[link]))


def test_bad_centres():
    with pytest.raises(InputError, match=r"centres has shape \(1, 3\); expected three numbers for each of 2 bodies"):
        drawn(moving(2, shapes=[(1, 1, 1)] * 2, centres=[(0, 0, 0)]))


@pytest.mark.parametrize(
    ("name", "words"), [("hull_R", "hull"), ("R[2]", "body 2"), ("R", "R"), ("fin_x[1]", "fin 1"), ("R1", "body 1")]
)
def test_bodies_are_called_after_what_they_belong_to(name, words):
    assert spoken(name) == words
