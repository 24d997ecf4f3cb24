"""Bad trees of bodies are refused with a word of advice; ellipsoids that overlap are found."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import hydro
from naiad.models import ConnectedBodies, Weight
from naiad.studies.trees.three_ellipsoids import AXES, OTHER, OUTWARD, three_ellipsoids
from naiad.trees.overlap import contact, overlapping
from naiad.viz.motion import describe_motion
from tests.hydro.surfaces import box

I = np.eye(3)  # noqa: E741
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def two(axes=(1.0, 0.5, 0.5), parents=(-1, 0), **options):
    """Two ellipsoids end to end."""
    joints = {"own": ((0, 0, 0), (-1.1, 0, 0)), "other": ((0, 0, 0), (1.1, 0, 0))}
    return ConnectedBodies.ellipsoids(axes, parents, **(joints | options))


@pytest.mark.parametrize(
    ("axes_a", "R_a", "axes_b", "R_b", "apart"),
    [
        ((1, 1, 1), I, (2, 2, 2), I, (3.0, 0, 0)),
        (AXES[0], I, AXES[1], I, (13.0, 0, 0)),
        (AXES[0], I, AXES[1], QUARTER, (8.8, 0, 0)),
        (AXES[0], QUARTER, AXES[1], I, (0, 8.8, 0)),
    ],
)
def test_contact_is_one_where_ellipsoids_touch(axes_a, R_a, axes_b, R_b, apart):
    """Along a common axis they touch at the sum of the semi-axes; twice as far the contact function is four."""
    assert contact(axes_a, R_a, axes_b, R_b, apart) == pytest.approx(1.0, abs=1e-12)
    assert contact(axes_a, R_a, axes_b, R_b, 2.0 * np.asarray(apart)) == pytest.approx(4.0, abs=1e-11)


def test_contact_of_skew_ellipsoids_is_that_of_their_surfaces():
    """Points of one surface, scaled about both centres by the root of the contact function, only touch the other."""
    rng = np.random.default_rng(1)
    R_a, R_b = nd.SO3().random(rng), nd.SO3().random(rng)
    axes_a, axes_b, apart = np.array([2.0, 1.0, 0.5]), np.array([0.7, 1.5, 1.0]), np.array([1.0, 2.0, 0.5])
    scale = np.sqrt(contact(axes_a, R_a, axes_b, R_b, apart))
    ball = rng.standard_normal((200_000, 3))
    points = scale * (ball / np.linalg.norm(ball, axis=1, keepdims=True) * axes_a) @ R_a.T
    inside = np.sum((((points - apart) @ R_b) / (scale * axes_b)) ** 2, axis=1)
    assert 1.0 - 1e-9 < inside.min() < 1.001


def test_overlapping_pairs():
    axes, R = np.tile((1.0, 0.5, 0.5), (3, 1)), np.tile(I, (3, 1, 1))
    assert overlapping(axes, R, np.array([[0, 0, 0], [2.1, 0, 0], [0, 0.9, 0]])) == [(0, 2)]


def test_bodies_that_overlap_at_the_start_are_refused_unless_asked_for():
    printed = three_ellipsoids("printed")
    printed.state()
    with pytest.raises(nd.InputError, match=r"Bodies 0 and 1 overlap at the start \(3 such pairs\); move the joints"):
        printed.replaced(overlap=False).state()
    bodies = two()
    bodies.state()
    turns = ((0, 0, 0), (0, 0, 3.0))
    with pytest.raises(nd.InputError, match="Bodies 0 and 1 overlap"):
        bodies.joint_state(turns)
    assert two(overlap=True).joint_state(turns).g.R.shape == (2, 3, 3)


def bar(x, R=None, long=1.0):
    """A thin box about x, along its first axis."""
    return hydro.Mesh(*box(long, 0.1, 0.1), tolerance=0.5).placed(x=x, R=R)


@pytest.mark.parametrize(
    ("shapes", "overlap"),
    [
        ([hydro.Ellipsoid((0.5, 0.2, 0.1)), hydro.Sphere(0.3).placed(x=(0.0, 0.45, 0.0))], True),
        ([hydro.Ellipsoid((0.5, 0.2, 0.1)), hydro.Sphere(0.3).placed(x=(0.0, 0.55, 0.0))], False),
        ([bar((0, 0, 0)), bar((0, 0, 0.09), R=QUARTER)], True),  # across each other, no corner inside
        ([bar((0, 0, 0)), bar((0, 0, 0.11), R=QUARTER)], False),
        ([bar((0, 0, 0)), hydro.Sphere(0.3).placed(x=(0.0, 0.34, 0.0))], True),
        ([bar((0, 0, 0)), hydro.Sphere(0.3).placed(x=(0.0, 0.36, 0.0))], False),
        ([hydro.Sphere(0.5), bar((0.1, 0, 0), long=0.2)], True),  # one within the other
    ],
)
def test_bodies_of_any_shapes_that_overlap_are_refused(shapes, overlap):
    """Joined far away, so that only where they lie counts."""
    joint = {"own": [(0, 0, 0), (0, 0, 5.0)], "other": [(0, 0, 0), (0, 0, 5.0)], "fluid": 0.0}
    dry = hydro.rigid_inertia(1.0, (0.1, 0.1, 0.1))
    bodies = nd.models.ConnectedBodies.from_shapes(shapes, (-1, 0), dry=dry, **joint)
    if not overlap:
        bodies.state()
        return
    with pytest.raises(nd.InputError, match="Bodies 0 and 1 overlap at the start"):
        bodies.state()
    nd.models.ConnectedBodies.from_shapes(shapes, (-1, 0), dry=dry, overlap=True, **joint).state()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parents": (-1, -1)}, "2 roots"),
        ({"parents": (-1, 2)}, "there is no such body"),
        ({"parents": (-1, 1)}, "cycle"),
        ({"axes": (1.0, -0.5, 0.5)}, "expected three positive numbers"),
        ({"axes": (1.0, 0.0, 0.5)}, "expected three positive numbers"),
        ({"axes": "long"}, "expected three positive numbers"),
        ({"density": -1.0}, "density = -1.0; expected a finite number above 0"),
        ({"fluid": -1.0}, "fluid = -1.0; expected a finite number of at least 0"),
        ({"joints": "rope"}, "expected 'ball'"),
        ({"joints": "hinge"}, "no axis was given"),
        ({"own": ((0, 0, 0),)}, r"own has shape \(1, 3\)"),
        ({"stiffness": -1.0}, r"stiffness has the eigenvalue -1"),
        ({"damping": (1.0, 2.0, 3.0)}, r"damping has shape \(3,\); expected a number for all bodies, 2 of them"),
        ({"torque": 3.0}, r"torque = 3.0; expected a joint torque or a function"),
        ({"gravity": (0.0, -9.81)}, "gravity has shape"),
    ],
)
def test_bad_bodies(given, words):
    with pytest.raises(nd.InputError, match=words):
        two(**given)


def test_bad_inertia_and_weight():
    tree = {"own": OUTWARD, "other": OTHER}
    with pytest.raises(nd.InputError, match=r"J\[1\] is not positive definite"):
        nd.Tree((-1, 0, 0), ((1, 1, 1), (1, -1, 1), (1, 1, 1)), 1, **tree)
    with pytest.raises(nd.InputError, match=r"mass = -1.0; expected masses of at least 0"):
        Weight((0, 0, -9.81), -1.0)
    with pytest.raises(nd.InputError, match="not for 2 bodies"):
        ConnectedBodies(two().tree, weight=Weight((0, 0, -9.81), (1.0, 2.0, 3.0)))
    with pytest.raises(nd.InputError, match=r"expected \(2, 3\): a row for each body"):
        two().joint_state(((0, 0, 1),))


def test_dry_and_wet_ellipsoids():
    """Without fluid the inertia is the body's own; a sphere in water carries half of the water it displaces."""
    ball = (1.0, 1.0, 1.0)
    dry = two(ball, fluid=0.0, density=3.0)
    mass = 3.0 * 4.0 / 3.0 * np.pi
    np.testing.assert_allclose(dry.tree.M, mass * np.tile(I, (2, 1, 1)), rtol=1e-14)
    np.testing.assert_allclose(dry.tree.J, 0.4 * mass * np.tile(I, (2, 1, 1)), rtol=1e-14)
    wet = two(ball, fluid=2.0, density=3.0, gravity=(0, 0, -1))
    np.testing.assert_allclose(wet.tree.M[0], (mass + mass / 3.0) * I, rtol=1e-13, atol=1e-13)
    assert wet.weight is not None
    np.testing.assert_allclose(wet.weight.mass - wet.weight.displaced, mass / 3.0, rtol=1e-14)


def test_a_run_can_be_drawn():
    """The centres follow from the joints, and the dataset knows the shapes."""
    bodies = two(overlap=True)
    turns = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 1.0]])
    state = bodies.joint_state(turns, np.ones((2, 3)), x=(1.0, 2.0, 3.0))
    run = nd.simulate(bodies, state, t1=0.02, dt=0.01)
    drawable = run.dataset
    R, x = run.g.R, run.g.x
    centres = drawable["x"].to_numpy()
    np.testing.assert_allclose(centres[:, 0], x, atol=1e-15)
    joint = x + R[:, 0] @ (1.1, 0, 0)
    np.testing.assert_allclose(centres[:, 1] + R[:, 1] @ (-1.1, 0, 0), joint, atol=1e-14)
    assert drawable.attrs["shapes"] == [[1.0, 0.5, 0.5], [1.0, 0.5, 0.5]]
    assert drawable.attrs["run"] is None  # x is not the root's
    scene = describe_motion(drawable)
    assert [body["axes"] for body in scene["bodies"]] == [[1.0, 0.5, 0.5], [1.0, 0.5, 0.5]]
    np.testing.assert_allclose(np.reshape(scene["bodies"][1]["x"], (-1, 3)), centres[:, 1], rtol=1e-5)


def test_numbers_are_one_for_each_joint():
    tree = nd.Tree((-1, 0, 1), J=[(1.0, 1.0, 1.0)], M=1.0, own=np.zeros((3, 3)), other=np.zeros((3, 3)))
    bodies = nd.models.ConnectedBodies(tree, stiffness=[0, 60, 30])
    np.testing.assert_array_equal(bodies.stiffness, np.multiply.outer([0.0, 60.0, 30.0], np.eye(3)))
    with pytest.raises(nd.InputError, match=r"stiffness has shape \(4,\); expected a number for all bodies, 3 of them"):
        nd.models.ConnectedBodies(tree, stiffness=[0, 60, 30, 30])


THREE = {"own": np.zeros((3, 3)), "other": np.zeros((3, 3))}
A = np.array([1.0, 2.0, 3.0])
FULL = np.array([(2.0, 0.1, 0.2), (0.1, 3.0, 0.3), (0.2, 0.3, 4.0)])


def three(J=((1.0, 2.0, 2.5),), M=1.0):
    return nd.Tree((-1, 0, 0), J, M, **THREE)


@pytest.mark.parametrize(
    ("M", "expected"),
    [
        (5.0, [5.0 * I] * 3),
        ((200.0, 10.0, 5.0), [200.0 * I, 10.0 * I, 5.0 * I]),
        ([(200.0, 10.0, 5.0)], [np.diag((200.0, 10.0, 5.0))] * 3),
        ([(1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (7.0, 8.0, 9.0)], [np.diag(3 * i + A) for i in range(3)]),
        (np.diag((1.0, 2.0, 3.0)), [np.diag((1.0, 2.0, 3.0))] * 3),
        ([FULL], [FULL] * 3),
        ([FULL, I, 2.0 * FULL], [FULL, I, 2.0 * FULL]),
    ],
)  # fmt: skip
def test_numbers_are_masses_and_rows_are_diagonals(M, expected):
    np.testing.assert_array_equal(three(M=M).M, expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda: three(M=FULL),
        lambda: three(J=FULL),
        lambda: ConnectedBodies(three(), stiffness=I),
        lambda: ConnectedBodies(three(), damping=FULL),
        lambda: ConnectedBodies(three(), shapes=(1.0, 0.5, 0.2)),
        lambda: nd.models.InteractingBodies((1.0, 2.0, 3.0), FULL, nd.models.Gravity(), unphysical=True),
        lambda: nd.double(jax.eval_shape)(lambda M: three(M=M).M, FULL),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(make):
    with pytest.raises(nd.InputError, match="can be read in two ways"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: three(J=(1.0, 2.0, 2.5)),
        lambda: nd.Tree((-1, 0), [(1.0, 2.0, 2.5)], (1.0, 1.6, 1.4), own=np.zeros((2, 3)), other=np.zeros((2, 3))),
        lambda: ConnectedBodies(two().tree, stiffness=(1.0, 2.0, 3.0)),
        lambda: nd.models.InteractingBodies((1.0, 2.0), (1.0, 2.0, 2.5), nd.models.Gravity()),
        lambda: ConnectedBodies.from_shapes(hydro.Sphere(1.0), (-1,), own=I[:1], other=I[:1], fluid=1.0, dry=(1,) * 6),
    ],
)  # fmt: skip
def test_numbers_without_rows_are_no_diagonal(make):
    with pytest.raises(nd.InputError, match=r"has shape \(\d,\); expected .*(as in \[\(a, b, c\)\]|a 6 x 6 matrix)"):
        make()
