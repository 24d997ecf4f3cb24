"""Sweeps: what a text of values stands for, the grid, rows and their failures, the table and the figures."""

import csv
import io as text_io
import itertools
import math
import os
import random
import sys
import types
from fractions import Fraction

import numpy as np
import pytest

from naiad import io, studies
from naiad.errors import InputError, NaiadError
from naiad.studies.figures import Image
from naiad.studies.sweeps import cluster
from naiad.studies.sweeps.cluster import AHEAD, run_on
from naiad.studies.sweeps.kept import keep, kept
from naiad.studies.sweeps.report import SHOWN, command, report
from naiad.studies.sweeps.row import Row, Task, run_row
from naiad.studies.sweeps.sweep import Sweep, read_sweep, write_sweep
from naiad.studies.sweeps.table import Table
from naiad.studies.sweeps.values import LARGEST, values
from naiad.studies.sweeps.workers import Crew, Share, run_with
from naiad.viz.sweeps import sweep_figures
from tests.studies.test_report import Page
from tests.studies.tide import Tide

TARGET = "tests.studies.tide:Tide"


def read(name, text):
    return values(Tide.parameters[name], text)


def swept(*assignments, seeds=None):
    return Sweep.of(Tide, Tide.assigned(assignments), seeds)


def tasks(sweep):
    return {number: Task(TARGET, each) for number, each in enumerate(sweep.rows())}


def table(sweep):
    return Table.of(sweep, [run_row(task) for task in tasks(sweep).values()])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("depth", "0.1..0.4:4", (0.1, 0.2, 0.3, 0.4)),
        ("depth", "0.1..0.001:3:log", (0.1, 0.01, 0.001)),
        ("depth", "1e-3..1e3:7:log", (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)),
        ("depth", "5, 0.1 .. 0.3 : 3, 7", (5.0, 0.1, 0.2, 0.3, 7.0)),
        ("depth", "2", (2.0,)),
        ("depth", "1|2", (1.0, 2.0)),
        ("count", "4..16:4", (4, 8, 12, 16)),
        ("count", "16..4:4", (16, 12, 8, 4)),
        ("count", "1..1000:4:log", (1, 10, 100, 1000)),
        ("count", f"0..{2**60}:3", (0, 2**59, 2**60)),
        ("moon", "new,FULL", ("new", "full")),
        ("calm", "yes,no", (True, False)),
        ("drag", "some,0..1:3", ("some", 0.0, 0.5, 1.0)),
        ("gait", "slow,fast", ("slow", "fast")),
        ("boats", "a|b,c", (("a",), ("b", "c"))),
    ],
)
def test_what_a_text_stands_for(name, text, expected):
    found = read(name, text)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_values_that_have_commas_have_bars_between():
    np.testing.assert_array_equal(read("J", "1,2,3|2,2,3"), [[1, 2, 3], [2, 2, 3]])
    np.testing.assert_array_equal(read("J", "1,2,3"), [[1, 2, 3]])
    none, wind = read("wind", "none|1,2")
    assert none is None
    np.testing.assert_array_equal(wind, [1, 2])
    slow, matrix = read("gait", "slow|1,0;0,2")
    assert slow == "slow"
    np.testing.assert_array_equal(matrix, [[1, 0], [0, 2]])


def test_ranges_are_those_of_another_evaluation():
    """Random texts, evaluated with fractions (and, at equal ratios, with integer powers)."""
    draw = random.Random(5)
    for _ in range(300):
        pieces, expected = [], []
        for _ in range(draw.randint(1, 3)):
            n, log = draw.randint(2, 9), draw.random() < 0.5
            if log:
                base, exponent = Fraction(draw.randint(2, 50), 10), draw.randint(1, 3)
                low = Fraction(draw.randint(1, 10**6), 10 ** draw.randint(0, 6))
                numbers = [low * base ** (k * exponent) for k in range(n)]
            else:
                low, step = (Fraction(draw.randint(1, 10**6), 10 ** draw.randint(0, 6)) for _ in range(2))
                numbers = [low + k * step for k in range(n)]
            numbers = numbers[:: draw.choice((1, -1))]
            ends = [
                f"{each.numerator}" if each.denominator == 1 else _decimal(each) for each in (numbers[0], numbers[-1])
            ]
            pieces.append(f"{ends[0]}..{ends[1]}:{n}{':log' if log else ''}")
            expected += numbers
        if len(set(map(float, expected))) < len(expected):
            continue
        found = read("depth", ",".join(pieces))
        assert found == tuple(map(float, expected)), pieces


def _decimal(value):
    """A fraction whose denominator divides a power of ten, with all digits."""
    places = next(k for k in itertools.count() if 10**k % value.denominator == 0)
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("depth", "0.1..0.01", "depth=0.1..0.01: expected LO..HI:N or LO..HI:N:log, such as 0.1..0.001:7:log"),
        ("depth", "a..1:3", "expected LO..HI:N"),
        ("depth", "inf..1:3", "expected LO..HI:N"),
        ("depth", "1..2:3:lin", "expected LO..HI:N"),
        ("depth", "1..2:1", "N is 1; expected a whole number from 2"),
        ("depth", "1..2:2.5", "N is 2.5; expected a whole number from 2"),
        ("depth", f"1..2:{LARGEST + 1}", f"from 2 to {LARGEST}"),
        ("depth", "-1..1:3:log", "equal ratios need ends above 0"),
        ("depth", "0..1:3:log", "equal ratios need ends above 0"),
        ("depth", "-1..1:3", "depth=-1.0: expected a finite number above 0 (in m)"),
        ("depth", "1,,2", "depth=1,,2: a value is empty"),
        ("depth", "", "depth=: a value is empty"),
        ("depth", "1,2,1.0", "1 comes twice; give each value once"),
        ("depth", "1..1:3", "1 comes twice"),
        ("count", "4..16:3,1..2:3", "it has 1.5, and count takes whole numbers"),
        ("count", "1..10:3:log", "it has 3.16228, and count takes whole numbers"),
        ("moon", "full,blue", "moon=blue: expected one of full, new, half"),
        ("J", "1,2,3|1,2", "J=1,2: expected 3 positive numbers"),
        ("J", "1,2,3|", "a value is empty; expected 3 positive numbers"),
        ("calm", "1..2:3", "calm=1..2:3: expected true or false"),
    ],
)
def test_bad_values_are_told(name, text, message):
    with pytest.raises(InputError) as caught:
        read(name, text)
    assert message in str(caught.value)


def test_the_last_varies_first_and_the_seed_is_last():
    sweep = swept("seed=5", "moon=new,full", "calm=true", "depth=1,2", seeds=2)
    assert list(sweep.swept) == ["moon", "depth", "seed"]
    assert [tuple(each.values()) for each in sweep.combinations()] == [
        (moon, depth, seed) for moon in ("new", "full") for depth in (1.0, 2.0) for seed in (5, 6)
    ]
    assert (sweep.shape, len(sweep)) == ((2, 2, 2), 8)
    assert sweep.fixed["calm"] is True
    assert set(sweep.fixed) | set(sweep.swept) == set(Tide.parameters)
    first = next(sweep.rows())
    assert (first["moon"], first["depth"], first["seed"], first["calm"]) == ("new", "1", "5", "true")
    assert list(swept("depth=1,2", seeds=1).swept) == ["depth", "seed"]


@pytest.mark.parametrize(
    ("assignments", "seeds", "message"),
    [
        (["depht=1,2"], None, "tide has no parameter depht; did you mean depth?"),
        (["depth=1"], None, "no parameter has several values; give some, such as -p moon=full,new"),
        (
            ["depth=1,2", "calm=true,false", "wind=1,2"],
            None,
            "the row depth=1, calm=true: calm=true and a wind are both",
        ),
        (["depth=1..2:400", "count=1..400:400"], None, f"the sweep has 160000 rows, and at most {LARGEST} can be"),
        (["depth=1,2"], 0, "--seeds 0: expected a whole number from 1"),
        (["seed=1,2"], 3, "--seeds 3 and several values of seed are both given"),
        (["depth=1,2", "depth=3"], None, "depth is given twice"),
    ],
)
def test_bad_sweeps_are_told(assignments, seeds, message):
    with pytest.raises(InputError) as caught:
        swept(*assignments, seeds=seeds)
    assert message in str(caught.value)


def test_a_study_without_a_seed_has_no_seeds():
    with pytest.raises(InputError, match="--seeds 2: rigid-body has no parameter seed"):
        Sweep.of(studies.find("rigid-body"), {"dt": "0.1,0.2"}, 2)


def test_a_file_repeats_a_sweep(tmp_path, monkeypatch):
    monkeypatch.setitem(studies.STUDIES, "tide", TARGET)
    given = ["J=1,2,3|2,2,3", "depth=0.1..0.001:5:log", "wind=1,2", "drag=0.3", "boats=a,b"]
    sweep = swept(*given, seeds=3)
    file = tmp_path / "sweep.toml"
    file.write_text(write_sweep(sweep))
    again = read_sweep(file)
    assert write_sweep(again) == write_sweep(sweep)
    assert list(again.rows()) == list(sweep.rows())
    assert len(read_sweep(file, "tide", ["depth=1", "moon=full,new"])) == 2 * 2 * 3
    assert command(sweep) == (
        "naiad sweep tide -p 'J=1,2,3|2,2,3' -p depth=0.1..0.001:5:log -p seed=0..2:3 -p wind=1,2 -p drag=0.3 "
        "-p boats=a,b"
    )


def test_a_row_is_kept_bit_by_bit(tmp_path):
    row = Row({"x": 0.1 + 0.2, "n": math.nan, "i": -math.inf, "v": [1e-300, None]}, {"x": "m"}, ("small",), "", 1 / 3)
    (tmp_path / ".rows").mkdir()
    keep(row, 7, tmp_path)
    (tmp_path / ".rows" / "8.json").write_text('{"resu')
    (tmp_path / ".rows" / ".9.json.0123").write_text("{}")
    found = kept(tmp_path)
    assert list(found) == [7]
    assert repr(found[7]) == repr(row)


def test_what_a_row_raises_is_its_error():
    def ran(**given):
        return run_row(Task(TARGET, given))

    assert ran(fail="run").error == "the tide does not turn; reduce depth"
    assert ran(fail="crash").error == "KeyError: 'moon'"
    assert ran(depth="-1").error.startswith("depth=-1: expected a finite number above 0")
    warned = ran(fail="warn")
    assert (warned.error, warned.warnings, warned.units) == (
        "",
        ("the bay is shallow",),
        {"height": "m", "levels": "m"},
    )


def test_tasks_are_shared_out():
    share = Share({k: k for k in range(5)}, 2)
    assert [share.take(1)[0], share.take(0)[0], share.take(0)[0]] == [2, 0, 1]
    assert [share.take(0)[0], share.take(1)[0], share.take(1)] == [4, 3, None]


def test_rows_do_not_depend_on_the_processes_and_one_serves_many():
    sweep = swept("fail=warn", "depth=0.1..0.7:5:log", "moon=full,new")
    found = {workers: dict(run_with(workers)(tasks(sweep))) for workers in (1, 2)}
    pids = {workers: {row.results.pop("pid") for row in rows.values()} for workers, rows in found.items()}
    assert len(pids[1]) == 1
    assert len(pids[2]) == 2
    assert {n: repr(row.results) for n, row in found[1].items()} == {
        n: repr(row.results) for n, row in found[2].items()
    }


def test_a_row_that_ends_its_process_is_an_error_and_the_others_go_on():
    sweep = swept("fail=no,killed,exit", "moon=full,new")
    rows = dict(run_with(1)(tasks(sweep)))
    how = "the process that ran it was ended"
    errors = [row.error for _, row in sorted(rows.items())]
    assert errors == ["", "", *[f"{how} by SIGKILL"] * 2, *[f"{how} with code 3"] * 2]
    assert rows[1].results["height"] == 2.0


def test_the_table_has_a_line_for_each_row():
    found = table(swept("fail=no,run", "depth=0.5,0.1", "boats=a,b"))
    lines = list(csv.DictReader(text_io.StringIO(found.csv())))
    assert [(line["fail"], line["depth"]) for line in lines] == [
        ("no", "0.5"),
        ("no", "0.1"),
        ("run", "0.5"),
        ("run", "0.1"),
    ]
    assert list(lines[0]) == [
        "fail", "depth", "height", "energy_error_max", "waves", "calm_sea", "name", "nothing", "unknown", "constant",
        "found_depth", "by_boat.a", "by_boat.b", "pid", "seconds", "warning", "error",
    ]  # fmt: skip
    assert (lines[1]["height"], lines[1]["calm_sea"], lines[1]["unknown"]) == (repr(0.1**2), "false", "nan")
    assert (lines[1]["nothing"], lines[1]["found_depth"], lines[1]["error"]) == ("", "0.2", "")
    assert (lines[2]["height"], lines[2]["error"]) == ("", "the tide does not turn; reduce depth")
    assert found.failed == 2


def test_the_arrays_are_over_the_swept_parameters(tmp_path):
    found = table(swept("moon=full,new", "count=1,2,3", "J=1,2,3|2,2,3", seeds=2))
    io.write(found.dataset(), tmp_path / "table.zarr")
    read = io.read(tmp_path / "table.zarr")
    assert dict(read.sizes) == {"moon": 2, "count": 3, "J": 2, "seed": 2, "levels_dim_0": 3}
    assert read["J"].to_numpy().tolist() == ["1,2,3", "2,2,3"]
    assert read["height"].attrs == {"units": "m"}
    assert float(read["height"].sel(moon="new", count=2, J="2,2,3", seed=1)) == 2.1
    assert (read["waves"].dtype.kind, read["calm_sea"].dtype.kind, read["name"].dtype.kind) == ("i", "b", "U")
    np.testing.assert_array_equal(read["levels"].sel(moon="full", count=2, J="1,2,3", seed=0), [0.0, 1.0, np.nan])
    assert np.isnan(read["nothing"]).all()
    assert read.attrs["study_parameters"]["depth"] == 1.0
    failed = table(swept("fail=no,run")).dataset()
    assert np.isnan(failed["waves"].to_numpy()).tolist() == [False, True]
    assert failed["error"].to_numpy().tolist() == ["", "the tide does not turn; reduce depth"]


def drawn(*assignments, seeds=None):
    made = sweep_figures(table(swept(*assignments, seeds=seeds)).dataset())
    (figure,) = (make() for make in made.values())
    axes = {ax.get_title(loc="left"): ax for ax in figure.axes if ax.get_title(loc="left")}
    return figure, axes


def test_a_number_gives_lines_whose_slope_can_be_read():
    figure, axes = drawn("moon=full,new", "depth=0.1..0.001:5:log")
    assert list(axes) == ["energy_error_max", "height", "found_depth", "by_boat.a"]  # no constant, errors first
    ax = axes["energy_error_max"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines) == ["full", "new", "_slope 2"]
    for label, factor in (("full", 1e-3), ("new", 2e-3)):
        x, y = lines[label].get_data()
        np.testing.assert_allclose(y, factor * x**2)
    x, y = lines["_slope 2"].get_data()
    np.testing.assert_allclose(np.diff(np.log(y)) / np.diff(np.log(x)), 2.0)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["full", "new"]
    assert ax.get_xlabel() == "depth [m]"


def test_seeds_are_a_band():
    _, axes = drawn("depth=1..3:3", seeds=3)
    ax = axes["height"]
    (line,), (band,) = ax.lines, ax.collections
    np.testing.assert_allclose(line.get_ydata(), [1.1, 4.1, 9.1])
    path = band.get_paths()[0].vertices
    assert (path[:, 1].min(), path[:, 1].max()) == pytest.approx((1.0, 9.2))
    assert ax.get_xscale() == "linear"


def test_two_numbers_give_a_map():
    _, axes = drawn("depth=1,2,4", "count=1..4:4", "moon=full,new")
    assert [name for name in axes if name.startswith("height")] == ["height, full", "height, new"]
    ax = axes["height, new"]
    (mesh,) = ax.collections
    np.testing.assert_allclose(mesh.get_array(), [[2.0] * 4, [8.0] * 4, [32.0] * 4])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("count", "depth [m]", "log")
    assert ax.get_ylim()[0] == pytest.approx(2**-0.5)


def test_words_give_points_with_a_bar_for_the_seeds():
    _, axes = drawn("moon=full,new,half", "calm=true,false", seeds=2)
    ax = axes["height"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["full", "new", "half"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [1.05, 2.05, 3.05])
    np.testing.assert_allclose(ax.collections[0].get_segments()[1][:, 0], [2.0, 2.1])


def test_without_scalars_that_vary_vectors_are_drawn():
    found = table(swept("count=3", "depth=1,2")).dataset()
    assert list(sweep_figures(found[["levels", "constant", "error"]]))
    assert not sweep_figures(found[["constant", "error"]])


def test_a_report_says_what_was_swept_and_found():
    found = table(swept("fail=no,run", "depth=1..40:40"))
    page = report(found, [Image("results", "data:image/png;base64,")], 1.0)
    text = Page(page).text
    assert "Water that comes & goes." in text
    assert "1..40:40" in text
    assert f"The first {SHOWN} of 80 rows" in text
    assert 'href="table.csv"' in page
    assert "40 failed" in text
    assert "the tide does not turn; reduce depth" in text
    assert "naiad sweep tide -p fail=no,run -p depth=1..40:40" in text
    assert "constant" in text.partition("The same in all rows")[2]


class Future:
    """What a scheduler promises, kept at once; a lost one keeps nothing."""

    def __init__(self, key, task, lost):
        self.key, self.status, self._task = key, "cancelled" if lost else "finished", task

    def result(self):
        return run_row(self._task).write()


class Completed:
    """The futures that are done, the last first; others are added on the way."""

    def __init__(self, futures, loop):
        self.add, self._left = futures.append, futures

    def __iter__(self):
        while self._left:
            yield self._left.pop()


class Client:
    """A scheduler with one worker of two threads, in this process, which may be lost after some tasks."""

    last, workers, version, after = None, 1, None, math.inf

    def __init__(self, address, timeout, set_as_default):
        if address == "tcp://nowhere:1":
            raise OSError("Timed out")
        Client.last, self.sent, self.loop = self, 0, None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def wait_for_workers(self, count, timeout):
        if self.workers < count:
            raise TimeoutError

    def run(self, function, on_error):
        return {"worker": self.version or function()}

    def nthreads(self):
        return {"worker": 2}

    def submit(self, function, task, pure):
        self.sent += 1
        return Future(f"key-{self.sent}", task, self.sent > self.after)


@pytest.fixture
def scheduler(monkeypatch):
    """A stand-in for Dask's distributed, which the tests do without."""
    modules = {
        "distributed": {"Client": Client, "as_completed": Completed},
        "distributed.comm": {"parse_address": lambda address: address.split("://")},
        "distributed.comm.registry": {"get_backend": {"tcp": None}.__getitem__},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    return monkeypatch


def test_a_scheduler_gets_a_few_rows_ahead_and_gives_them_all(scheduler):
    wanted = tasks(swept("depth=1..30:30"))
    with run_on("tcp://here:1") as run:
        found = run(wanted)
        number, row = next(found)
        assert Client.last.sent == AHEAD * 2
        rows = {number: row, **dict(found)}
    assert sorted(rows) == list(range(30))
    assert all(rows[number].results["height"] == (number + 1.0) ** 2 for number in range(30))


@pytest.mark.parametrize(
    ("address", "changes", "message"),
    [
        ("tcp://nowhere:1", {}, "--scheduler tcp://nowhere:1: no scheduler answers there (Timed out); start one"),
        ("tcp://here:1", {"workers": 0}, "it has no workers; start some with `dask worker tcp://here:1`"),
        ("tcp://here:1", {"version": "9.9"}, "its workers have naiad 9.9, and this is"),
        ("tcp://here:1", {"version": ImportError("no naiad")}, "its workers cannot use naiad (no naiad)"),
        ("tcp://here:1", {"after": 3}, "the scheduler at tcp://here:1 was lost"),
    ],
)
def test_a_scheduler_that_cannot_is_told(scheduler, address, changes, message):
    for name, value in changes.items():
        scheduler.setattr(Client, name, value)
    with pytest.raises(NaiadError) as caught, run_on(address) as run:
        dict(run(tasks(swept("depth=1..9:9"))))
    assert message in str(caught.value)


def test_without_dask_a_scheduler_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"distributed is not installed; pip install 'naiad\[cluster\]'"), run_on("x"):
        pytest.fail("it went on")


def test_a_task_of_a_scheduler_is_run_in_a_process(monkeypatch):
    crew = Crew()
    monkeypatch.setattr(cluster, "_CREW", crew)
    row = Row.read(cluster.run_in_process(Task(TARGET, {"fail": "warn"})))
    crew.close()
    assert row.results["pid"] not in (0, os.getpid())
