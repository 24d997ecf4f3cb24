"""The pieces for studies."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from naiad.viz import (
    PALETTE,
    convergence,
    ellipsoid_snapshots,
    errors_over_time,
    house,
    new_figure,
    section_scatter,
    sphere_curve,
)
from naiad.viz.style import colours
from naiad.viz.thinning import evenly, thin


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_errors_over_time():
    time = np.linspace(0.0, 10.0, 11)
    figure = errors_over_time(time, {"a": time, "b": -time}, "error [J]", title="Energy")
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("time [s]", "error [J]", "Energy")
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), -time)
    assert texts(ax) == ["a", "b"]
    figure.canvas.draw()


def test_errors_on_a_logarithmic_scale():
    (ax,) = errors_over_time([0.0, 1.0, 2.0], {"a": [0.0, -1e-3, 1e-2]}, "error", log=True).axes
    assert ax.get_yscale() == "log"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.0, 1e-3, 1e-2])


def test_convergence_has_lines_of_the_given_slopes():
    h = 0.1 * 2.0 ** -np.arange(5)
    figure = convergence(h, {"second": 3 * h**2, "fourth": 7 * h**4}, (2, 4))
    (ax,) = figure.axes
    data = {str(line.get_label()): np.asarray(line.get_ydata()) for line in ax.lines}
    np.testing.assert_array_equal(data["second"], 3 * h**2)
    for order, error in ((2, 3 * h**2), (4, 7 * h**4)):
        line = data[f"_order {order}"]
        np.testing.assert_allclose(np.diff(np.log(line)) / np.diff(np.log(h)), order)
        assert (line < error).all()
        assert (line > 0.3 * error).all()
    assert texts(ax) == ["second", "fourth"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert {text.get_text() for text in ax.texts} == {"order 2", "order 4"}
    figure.canvas.draw()


def test_convergence_without_positive_errors():
    figure = convergence([0.1, 0.05], {"exact": [0.0, 0.0], "lost": [np.nan, 1e-3]}, (2,))
    assert [line.get_label() for line in figure.axes[0].lines] == ["exact", "lost"]
    figure.canvas.draw()


@pytest.mark.parametrize("radius", [1.0, 5.0])
def test_sphere_curve(radius):
    angle = np.linspace(0.0, 2 * np.pi, 100)
    points = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    figure = sphere_curve({"equator": points}, title="A circle")
    (ax,) = figure.axes
    assert ax.name == "3d"
    front = next(line for line in ax.lines if line.get_label() == "equator")
    behind = [line for line in ax.lines if line.get_label() == "_behind"][-1]
    front, behind = (np.array(line.get_data_3d()) for line in (front, behind))
    np.testing.assert_array_equal(np.where(np.isnan(front), behind, front), points.T)
    assert ax.get_zlim()[1] == pytest.approx(1.05 * radius)
    figure.canvas.draw()
    sphere_curve(points).canvas.draw()


def test_section_scatter():
    x, y = np.arange(6.0), np.arange(6.0) ** 2
    figure = section_scatter(x, y, xlabel="$q$", ylabel="$p$", groups=[7, 7, 9, 9, 11, 11])
    (ax,) = figure.axes
    (dots,) = ax.collections
    np.testing.assert_array_equal(dots.get_offsets(), np.stack([x, y], 1))
    assert len(np.unique(dots.get_facecolor(), axis=0)) == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$q$", "$p$")
    figure.canvas.draw()
    section_scatter([], []).canvas.draw()


def test_ellipsoid_snapshots_are_to_one_scale_and_hold_the_bodies():
    axes = np.array([[3.0, 1.0, 0.5], [1.0, 1.0, 1.0]])
    centres = np.array([[[0, 0, 0], [5, 0, 0]], [[10, 0, 0], [10, 2, 0]]], float)
    figure = ellipsoid_snapshots(np.tile(np.eye(3), (2, 2, 1, 1)), centres, axes, ["first", "second"])
    assert [ax.get_title() for ax in figure.axes] == ["first", "second"]
    for ax, centre in zip(figure.axes, ((2.5, 0, 0), (10, 1, 0)), strict=True):
        assert len(ax.collections) == 2
        limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
        np.testing.assert_allclose(limits.mean(1), centre, atol=1e-12)
        np.testing.assert_allclose(np.ptp(limits, axis=1), np.ptp(limits[0]))
        assert np.ptp(limits[0]) >= 5.0 + 3.0


def test_ellipsoids_keep_their_colour_on_the_dark_side():
    turns = np.stack([np.eye(3), Rotation.from_rotvec([1.0, 2.0, 0.5]).as_matrix()])
    figure = ellipsoid_snapshots(turns[None], np.zeros((1, 2, 3)), np.full((2, 3), [5.0, 0.5, 0.5]), ["now"])
    for body, colour in zip(figure.axes[0].collections, PALETTE, strict=False):
        shades = np.asarray(body.get_facecolor())[:, :3]
        np.testing.assert_allclose(shades.min(0), 0.72 * np.array(to_rgb(colour)), atol=1e-9)
        assert np.ptp(shades, axis=0).min() > 0.2  # and there is a light side


def test_ellipsoids_under_gravity_along_the_third_axis_are_drawn_upright():
    R, x = np.eye(3)[None, None], np.zeros((1, 1, 3))
    (ax,) = ellipsoid_snapshots(R, x, np.ones((1, 3)), ["now"], down=(0.0, 0.0, 9.81)).axes
    assert ax.zaxis_inverted()
    assert ax.yaxis_inverted()


def test_pieces_draw_into_given_axes():
    with house():
        figure = new_figure(8.0, 4.0)
        left, right = figure.subplots(1, 2)
    assert errors_over_time([0.0, 1.0], {"a": [0.0, 1.0]}, "e", ax=left) is figure
    assert convergence([0.1, 0.2], {"a": [0.1, 0.2]}, ax=right) is figure
    assert len(left.lines) == len(right.lines) == 1
    assert isinstance(figure, Figure)


def test_colours_are_distinct():
    for count in (1, 3, 8, 9, 40):
        assert len(set(colours(count))) == count
    assert colours(2) == PALETTE[:2]


def test_thinning_keeps_short_lines_and_extremes():
    time = np.arange(1000.0)
    values = np.random.default_rng(0).normal(size=1000)
    values[77], values[400] = 50.0, np.nan
    assert thin(time, values)[1] is values
    t, v = thin(time, values, 100)
    assert len(t) <= 130
    assert (np.nanmax(v), np.nanmin(v)) == (50.0, np.nanmin(values))
    assert (t[0], t[-1]) == (0.0, 999.0)
    assert (np.diff(t) > 0).all()


@pytest.mark.parametrize(("count", "limit"), [(1, 5), (5, 5), (10, 3), (2001, 2000), (10**6, 2000)])
def test_evenly(count, limit):
    chosen = evenly(count, limit)
    assert (chosen[0], chosen[-1]) == (0, count - 1)
    assert len(chosen) == min(count, limit)


def test_matplotlib_is_loaded_late():
    command = "import sys, naiad.viz; assert not [m for m in sys.modules if m.startswith('matplotlib')]"
    subprocess.run([sys.executable, "-c", command], check=True, env={"PYTHONPATH": ":".join(sys.path)})
