"""The view fits the motion."""

import numpy as np
import pytest

from naiad.viz.camera import DISTANCE, LOW, STEEP, USUAL_PITCH, fitting_view, screen_axes

RNG = np.random.default_rng(3)


def seen(points, sizes, radius, view):
    """Where balls are in the picture, relative to its half sides: the least and the greatest."""
    toward, right, up = screen_axes(view.yaw, view.pitch)
    local = points - view.centre
    near = DISTANCE * radius / (DISTANCE * radius - local @ toward)
    places = np.stack([local @ right, local @ up], 1) * near[:, None]
    reach = sizes[:, None] * near[:, None]
    return (places - reach).min(0) / view.span, (places + reach).max(0) / view.span


MOTIONS = {
    "cloud": RNG.normal(size=(300, 3)),
    "long path": np.stack([np.linspace(0, 100, 300), 0.3 * RNG.normal(size=300), 0.2 * RNG.normal(size=300)], 1),
    "flat orbit": np.stack([np.cos(np.arange(300)), np.sin(np.arange(300)), 0.02 * np.arange(300) / 300], 1) * 30,
    "hanging string": np.stack([0.1 * RNG.normal(size=300), 0.1 * RNG.normal(size=300), -np.linspace(0, 9, 300)], 1),
    "one place": np.array([[5.0, -3.0, 2.0]]),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_all_of_the_motion_fills_the_view(name):
    points = MOTIONS[name]
    sizes = np.full(len(points), 0.05)
    radius = np.linalg.norm(np.ptp(points, axis=0)) / 2 + 0.05
    low, high = seen(points, sizes, radius, fitting_view(points, sizes, radius))
    np.testing.assert_allclose(low, -1.0, atol=0.06)
    np.testing.assert_allclose(high, 1.0, atol=0.06)


@pytest.mark.parametrize("heading", np.deg2rad([0.0, 40.0, 90.0, 135.0, 170.0]))
def test_a_long_path_lies_across_the_view(heading):
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    points = np.linspace(-50, 50, 101)[:, None] * along
    view = fitting_view(points, np.full(101, 0.5), 50.0)
    right = screen_axes(view.yaw, view.pitch)[1]
    assert abs(right @ along) >= np.cos(np.deg2rad(20.1))


def test_what_is_flat_is_seen_from_above_and_what_is_upright_from_the_side():
    size = np.full(300, 0.01)
    assert fitting_view(MOTIONS["flat orbit"], size, 30.0).pitch == pytest.approx(STEEP)
    assert fitting_view(MOTIONS["cloud"], size, 3.0).pitch == pytest.approx(USUAL_PITCH, abs=0.02)
    swing = np.stack([np.sin(np.arange(300)), 0 * np.arange(300), np.cos(np.arange(300))], 1)
    assert fitting_view(swing, size, 1.0).pitch == pytest.approx(LOW, abs=0.01)
    assert fitting_view(swing, size, 1.0, planar=True)[:2] == (-np.pi / 2, np.pi / 2)
