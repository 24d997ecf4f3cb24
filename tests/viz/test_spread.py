"""The picture of an ensemble."""

import numpy as np
import pytest
import xarray as xr

from naiad.errors import InputError
from naiad.viz import plot_ensemble

RUNS, TIMES = 41, np.linspace(0.0, 2.0, 5)
SLOPES = np.linspace(-1.0, 1.0, RUNS)
SPREAD = xr.Dataset(
    {
        "x": (("run", "time", "axis"), SLOPES[:, None, None] * TIMES[:, None] * np.array([1.0, 2.0]), {"units": "m"}),
        "many": (("run", "time", "node"), np.zeros((RUNS, 5, 30))),
    },
    {"time": TIMES, "axis": ["x", "y"]},
)


def test_bands_hold_the_middle_of_all_runs():
    figure = plot_ensemble(SPREAD)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["x x", "x y"]
    for ax, factor in zip(figure.axes, (1.0, 2.0), strict=True):
        assert ax.get_xlabel() == "time [s]"
        assert "[m]" in ax.get_ylabel()
        for band, share in zip(ax.collections, (0.9, 0.5), strict=True):
            end = band.get_paths()[0].vertices
            assert end[:, 1].max() == pytest.approx(2.0 * factor * share)
        assert ax.lines[-1].get_ydata() == pytest.approx(np.zeros(5))


def test_runs_that_ended_early_are_left_out_of_later_bands():
    ended = SPREAD[["x"]].copy(deep=True)
    ended["x"][20:, 3:] = np.nan
    median = plot_ensemble(ended).axes[0].lines[-1].get_ydata()
    assert median[2] == pytest.approx(0.0)
    assert median[4] == pytest.approx(2.0 * np.median(SLOPES[:20]))


@pytest.mark.parametrize(
    ("variables", "says"), [("z", "'z' is not there"), ("many", "too many"), ((), "nothing to plot")]
)
def test_what_cannot_be_drawn_is_refused(variables, says):
    with pytest.raises(InputError, match=says):
        plot_ensemble(SPREAD, variables=variables)
