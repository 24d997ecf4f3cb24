import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.work_figure import slope
from naiad.studies.vehicles.work_precision import Row, WorkPrecision, ranking


def test_rows_have_the_errors_of_the_methods_orders():
    findings = WorkPrecision(methods="cay,rk4,compose6", dts="0.4,0.2,0.1,0.05").run(Progress())
    rows = findings.results["rows"]
    assert [set(row) for row in rows] == [{"method", "dt", "error", "seconds", "steps"}] * 12
    for name, order in (("cay", 2), ("rk4", 4), ("compose6", 6)):
        own = [row for row in rows if row["method"] == name]
        assert [row["steps"] for row in own] == [25, 50, 100, 200]
        assert own[2]["error"] / own[3]["error"] == pytest.approx(2.0**order, rel=0.1)
        assert 2.5 < own[3]["seconds"] / own[0]["seconds"] < 20.0  # eight times the steps
    assert findings.results["fastest"]["1e-10"] is None or findings.results["fastest"]["1e-10"] == "compose6"
    assert "For an error of 0.01 the fastest are `" in findings.notes


def test_the_error_is_that_of_the_known_motion():
    """CAY at h = 0.01 against the exact momentum, and R, which is off by more."""
    (row,) = WorkPrecision(methods="cay", dts="0.01").run(Progress()).results["rows"]
    exact = np.array([-0.601679461673720, 1.073278762298076, -1.366036062408285])
    found = np.array([-0.6017715025617, 1.0730676874051, -1.3661613363552])
    momentum = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert momentum <= row["error"] < 2.0 * momentum


def test_the_vehicle_and_what_does_not_fit_it():
    rows = WorkPrecision(system="kirchhoff", methods="exp", dts="0.1,0.05").run(Progress()).results["rows"]
    assert rows[0]["error"] / rows[1]["error"] == pytest.approx(4.0, rel=0.05)
    with pytest.raises(InputError, match="Newmark was given SE3"):
        WorkPrecision(system="kirchhoff", methods="cay,new")
    with pytest.raises(InputError, match=r"a step of 20 s, longer than t1 = 10 s"):
        WorkPrecision(dts="20")


def test_a_run_without_a_root_has_no_error():
    (row,) = WorkPrecision(methods="skew", dts="0.5").run(Progress()).results["rows"]
    assert np.isnan(row["error"])


def test_methods_are_ranked_by_the_time_to_an_accuracy():
    rows = [Row("a", 1.0, 1e-1, 1.0, 1), Row("a", 0.1, 1e-3, 100.0, 10)]
    rows += [Row("b", 1.0, 1e-4, 5.0, 1), Row("c", 1.0, float("nan"), 0.1, 1)]
    assert ranking(rows, 1e-2) == [("b", 5.0), ("a", pytest.approx(10.0))]
    assert ranking(rows, 1e-3) == [("b", 5.0), ("a", 100.0)]
    assert ranking(rows, 1e-6) == []


def test_the_slope_of_a_curve_is_the_order():
    seconds = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert slope(1e-3 * seconds**-4.0, seconds) == pytest.approx(4.0)
    assert slope(np.full(5, np.nan), seconds) == np.inf
