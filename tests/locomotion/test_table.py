"""The inertia as a series: as accurate as it says, with its slopes, inside of its box."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute
from naiad.locomotion import FORWARD, curvature, net_motion, planar_swimmer, tabulated, three_link_fish

FISH = three_link_fish(density=0.1, coupled=True)


@pytest.fixture(scope="module")
def table():
    return tabulated(FISH, (-1.02, -1.01), (1.01, 1.02))


def test_inertia_and_slopes(table):
    shapes = np.random.default_rng(5).uniform(-1.0, 1.0, (8, 2))
    exact, found = FISH.inertias_with_slopes(shapes), table.inertias_with_slopes(shapes)
    scale = np.sqrt(np.einsum("sii,sjj->sij", exact.K, exact.K))
    assert np.max(np.abs(found.K - exact.K) / scale) < 1e-10
    assert np.max(np.abs(found.slopes - exact.slopes) / scale[:, None]) < 3e-9
    K = nd.double(table.fluid)(shapes[0])
    np.testing.assert_array_equal(K, np.transpose(K))
    assert table.fluid.error < 1e-10
    assert max(table.fluid.sizes) < 20
    np.testing.assert_allclose(curvature(table, shapes), curvature(FISH, shapes), rtol=0, atol=1e-5)


def test_net_motion_of_independent_codes_compiled():
    table = tabulated(three_link_fish(coupled=True), -1.01, 1.01)
    found = execute(net_motion, table, FORWARD, parameters=(0,), engine="compiled")
    np.testing.assert_allclose([found.beta, *found.x], (0.0, 44.131286513, -17.668303620), rtol=0, atol=1e-8)


def test_tolerance_is_kept_by_few_terms():
    rough = tabulated(FISH, -1.01, 1.01, tolerance=1e-4)
    assert 1e-8 < rough.fluid.error < 1e-4
    assert max(rough.fluid.sizes) < 11


@pytest.mark.long
def test_three_angles():
    """Four short links in a row: a series in three variables."""
    curve = nd.hydro.Ellipse(2.0, 0.5)
    arm = np.array([[3.0, 0.0]])
    own, other = np.repeat(-arm, 4, 0), np.repeat(arm, 4, 0)
    chain = planar_swimmer([curve] * 4, (-1, 0, 1, 2), own=own, other=other, coupled=True, density=0.5)
    fractions = []
    table = tabulated(chain, -0.3, 0.3, tolerance=1e-8, progress=fractions.append)
    shapes = np.random.default_rng(5).uniform(-0.3, 0.3, (8, 3))
    exact = chain.inertias(shapes)
    scale = np.sqrt(np.einsum("sii,sjj->sij", exact, exact))
    assert np.max(np.abs(table.inertias(shapes) - exact) / scale) < 1e-8
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_one_angle():
    curve, arm = nd.hydro.Ellipse(2.0, 0.5), np.array([[3.0, 0.0], [3.0, 0.0]])
    pair = planar_swimmer([curve] * 2, (-1, 0), own=-arm, other=arm, coupled=True)
    table = tabulated(pair, -1.2, 1.2)
    shapes = np.linspace(-1.2, 1.2, 7)[:, None]
    np.testing.assert_allclose(table.inertias(shapes), pair.inertias(shapes), rtol=1e-9, atol=1e-9)


def test_outside_of_the_box(table):
    with pytest.raises(nd.InputError, match="outside of the table"):
        table.inertias([[0.0, 0.0], [0.0, 1.5]])
    with jax.enable_x64(True):
        assert np.all(np.isnan(table.fluid(np.array([1.2, 0.0]))))


def test_what_is_no_box():
    with pytest.raises(nd.InputError, match=r"shape \[.*\] rad of the box: Bodies . and . touch or overlap"):
        tabulated(FISH, -2.5, 2.5)
    with pytest.raises(nd.InputError, match="first below the second"):
        tabulated(FISH, 1.0, -1.0)
    with pytest.raises(nd.InputError, match="one for each of 2"):
        tabulated(FISH, (-1.0, -1.0, -1.0), 1.0)
    with pytest.raises(nd.InputError, match="tolerance"):
        tabulated(FISH, -1.0, 1.0, tolerance=1e-15)


def test_links_alone_need_no_table():
    fish = three_link_fish()
    assert tabulated(fish, -1.0, 1.0) is fish
