"""Long runs: what was appended is what is read, whatever ends the process."""

import contextlib
import errno
import itertools
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr
import zarr

from naiad.errors import InputError, RunError
from naiad.io import Writer, layout, read, write, writer


def rows(start: int, stop: int, crossings: int = 0, **attrs) -> xr.Dataset:
    """Rows start..stop of a made-up run whose values tell which row they are."""
    k = np.arange(start, stop)
    return xr.Dataset(
        {
            "R": (("time", "i", "j"), np.sin(np.multiply.outer(k, np.arange(1.0, 10.0))).reshape(-1, 3, 3)),
            "energy": ("time", np.cos(k), {"units": "J"}),
            "section": (("crossing", "k"), np.arange(crossings * 2.0).reshape(crossings, 2) + start),
            "J": ("i", [1.0, 2.0, 3.0]),
        },
        coords={"time": ("time", 0.1 * k, {"units": "s"}), "axis": ("i", ["x", "y", "z"])},
        attrs=attrs,
    )


def test_pieces_equal_the_whole(tmp_path):
    bounds = [0, 1, 1, 4, 500, 501]
    with Writer(tmp_path / "a.zarr") as out:
        for start, stop in itertools.pairwise(bounds):
            out.append(rows(start, stop))
    assert os.listdir(tmp_path) == ["a.zarr"]
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 501))


def test_chunks_do_not_follow_the_appends(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_ROWS", 64)
    with Writer(tmp_path / "a.zarr") as out:
        for k in range(300):
            out.append(rows(k, k + 1))
            if k % 7 == 0:
                out.flush()
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    assert group["energy"].chunks == (64,)
    assert len(list((tmp_path / "a.zarr" / "energy" / "c").iterdir())) == 5
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 300))


def test_small_appends_gather_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    out = Writer(tmp_path / "a.zarr")
    out.append(rows(0, 2))
    out.append(rows(2, 4))
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 2
    out.flush()
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 4
    monkeypatch.setattr(writer, "BUFFER_BYTES", 1000)
    out.append(rows(4, 5))
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 4
    out.append(rows(5, 30))
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 30
    out.close()
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 30))


def test_a_second_without_flush_is_enough(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    out = Writer(tmp_path / "a.zarr")
    for k in range(10):
        out.append(rows(k, k + 1))
        now[0] += 0.3
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 9  # at 0, 1.2, 2.4


def test_crossings_grow_on_their_own(tmp_path):
    with Writer(tmp_path / "a.zarr") as out:
        out.append(rows(0, 3).drop_dims("crossing"))
        out.append(rows(3, 3, crossings=2).drop_dims("time"))
        out.append(rows(3, 5, crossings=0))
        out.append(rows(5, 6, crossings=1))
    back = read(tmp_path / "a.zarr")
    xr.testing.assert_identical(back.drop_dims("crossing"), rows(0, 6).drop_dims("crossing"))
    np.testing.assert_array_equal(back["section"], [[3, 4], [5, 6], [5, 6]])


def test_growth_along_any_axis_and_text(tmp_path):
    whole = xr.Dataset(
        {"a": (("k", "time"), np.arange(20.0).reshape(2, 10)), "s": ("time", np.array([*"abcdefghi", "long"]))}
    )
    with Writer(tmp_path / "a.zarr") as out:
        out.append(whole.isel(time=slice(3)))
        out.flush()
        out.append(whole.isel(time=slice(3, 10)))
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), whole)


def test_attributes_add_up_and_late_constants_are_welcome(tmp_path):
    with Writer(tmp_path / "a.zarr") as out:
        out.append(rows(0, 3, system="top", steps=3))
        out.append(rows(3, 4, steps=4).assign(carry=("i", [1.0, 2.0, 3.0])))
    back = read(tmp_path / "a.zarr")
    assert back.attrs == {"system": "top", "steps": 4}
    np.testing.assert_array_equal(back["carry"], [1, 2, 3])


def test_the_callers_arrays_may_be_reused(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 1e9)
    buffer = np.zeros(2)
    with Writer(tmp_path / "a.zarr") as out:
        for k in range(3):
            buffer[:] = k
            out.append(xr.Dataset({"a": ("time", buffer)}))
    np.testing.assert_array_equal(read(tmp_path / "a.zarr")["a"], [0, 0, 1, 1, 2, 2])


def test_nothing_appended(tmp_path):
    Writer(tmp_path / "a.zarr").close()
    assert not read(tmp_path / "a.zarr").variables


def test_an_exception_keeps_the_data(tmp_path):
    out = Writer(tmp_path / "a.zarr")

    def run():
        with out:
            out.append(rows(0, 3))
            out.append(rows(3, 7))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert os.listdir(tmp_path) == ["a.zarr.partial"]
    xr.testing.assert_identical(read(tmp_path / "a.zarr.partial"), rows(0, 7))
    with pytest.raises(InputError, match=r"interrupted: what it wrote is at .*a\.zarr\.partial"):
        read(tmp_path / "a.zarr")
    with pytest.raises(InputError, match="is closed"):
        out.append(rows(7, 8))


KILLED = """
import sys, time
sys.path[:0] = sys.argv[3:]
from test_writer import rows
from naiad.io import Writer, writer
writer.FLUSH_SECONDS = float(sys.argv[2])
out = Writer(sys.argv[1])
print("ready", flush=True)
k = 0
while True:
    out.append(rows(k, k + 5, crossings=k % 3, step=k))
    k += 5
    print(k, flush=True)
"""


@pytest.mark.parametrize(("flush_seconds", "wait"), [("0", 0.0), ("0", 0.05), ("0", 0.21), ("0.02", 0.3)])
def test_a_killed_process_leaves_a_readable_store(tmp_path, flush_seconds, wait):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a.zarr"), flush_seconds, *sys.path]
    command.insert(6, os.path.dirname(__file__))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        appended = int(process.stdout.readline())
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        appended = max([appended, *(int(line) for line in process.stdout if line.endswith("\n"))])
    assert process.returncode == -signal.SIGKILL
    back = read(tmp_path / "a.zarr.partial")
    n = back.sizes["time"]
    assert n > 0
    assert n % 5 == 0
    if flush_seconds == "0":
        assert n in (appended, appended + 5)
    xr.testing.assert_identical(back.drop_dims("crossing"), rows(0, n, step=n - 5).drop_dims("crossing"))
    assert back.sizes["crossing"] == sum(k % 3 for k in range(0, n, 5))


@pytest.mark.parametrize("survivors", range(0, 14))
def test_a_full_disk_keeps_what_was_committed(tmp_path, monkeypatch, fail_after, survivors):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 0.0)
    full = OSError(errno.ENOSPC, "No space left on device")

    def run():
        with Writer(tmp_path / "a.zarr") as out:
            out.append(rows(0, 3, crossings=1))
            with fail_after(survivors, full):
                for k in range(3, 30):
                    out.append(rows(k, k + 1))

    with pytest.raises(RunError, match=r"No space left.*is at .*a\.zarr\.partial"):
        run()
    back = read(tmp_path / "a.zarr.partial")
    assert back.sizes["time"] >= 3
    assert back.sizes["crossing"] == 1
    xr.testing.assert_identical(back.drop_dims("crossing"), rows(0, back.sizes["time"]).drop_dims("crossing"))


def test_a_failed_flush_can_be_repeated(tmp_path, monkeypatch, fail_after):
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 0.0)
    full = OSError(errno.ENOSPC, "No space left on device")
    with Writer(tmp_path / "a.zarr") as out:
        for k, survivors in enumerate([0, 2, 3, 5, 7]):
            with fail_after(survivors, full), pytest.raises(RunError):
                out.append(rows(k, k + 1))
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 5))


def test_a_disk_that_stays_full_shows_the_first_error(tmp_path, fail_after):
    full = OSError(errno.ENOSPC, "No space left on device")

    def run():
        with fail_after(9, full), Writer(tmp_path / "a.zarr") as out:
            for k in range(30):
                out.append(rows(k, k + 1))
                out.flush()

    with pytest.raises(RunError, match="No space left"):
        run()
    assert read(tmp_path / "a.zarr.partial").sizes.get("time", 0) < 30


def test_an_older_store_stays_until_the_end(tmp_path):
    path = tmp_path / "a.zarr"
    write(rows(0, 2), path)
    with pytest.raises(InputError, match="overwrite=True"):
        Writer(path)
    with Writer(path, overwrite=True) as out:
        out.append(rows(0, 9))
        assert read(path).sizes["time"] == 2
    assert read(path).sizes["time"] == 9
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_an_interrupted_run_is_not_discarded_unasked(tmp_path):
    Writer(tmp_path / "a.zarr").append(rows(0, 3))
    with pytest.raises(InputError, match="interrupted run"):
        Writer(tmp_path / "a.zarr")
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 3
    with Writer(tmp_path / "a.zarr", overwrite=True) as out:
        out.append(rows(0, 1))
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_what_is_not_ours_stays(tmp_path):
    (tmp_path / "a.zarr.partial").write_text("mine")
    with pytest.raises(InputError, match="in the way"):
        Writer(tmp_path / "a.zarr", overwrite=True)
    (tmp_path / "b.zarr").mkdir()
    with pytest.raises(InputError, match="not a naiad store"):
        Writer(tmp_path / "b.zarr", overwrite=True)
    with pytest.raises(InputError, match=r"cannot write /proc/a\.zarr"):
        Writer("/proc/a.zarr")


def test_a_place_taken_meanwhile_is_respected(tmp_path):
    out = Writer(tmp_path / "a.zarr")
    out.append(rows(0, 3))
    write(rows(0, 1), tmp_path / "a.zarr")
    with pytest.raises(InputError, match=r"a\.zarr exists"):
        out.close()
    assert read(tmp_path / "a.zarr").sizes["time"] == 1
    assert read(tmp_path / "a.zarr.partial").sizes["time"] == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop_vars("energy"), "'energy' was in earlier rows along time"),
        (lambda d: d.assign(new=("time", [1.0])), "'new' was not in earlier rows along time"),
        (lambda d: d.assign(energy=d["energy"].astype("f4")), r"was float64 \(time\) and is now float32 \(time\)"),
        (lambda d: d.assign(R=(("time", "i"), np.zeros((1, 3)))), r"was float64 \(time, i=3, j=3\)"),
        (lambda d: d.assign(J=("i", [1.0, 2.0, 4.0])), "'J' has no growing dimension"),
        (lambda d: d.assign(both=(("time", "crossing"), np.zeros((1, 0)))), "both time and crossing"),
        (lambda d: d.assign(energy=("time", np.array([None]))), "dtype object"),
    ],
)
def test_a_change_of_kind_is_refused_and_spoils_nothing(tmp_path, change, message):
    with Writer(tmp_path / "a.zarr") as out:
        out.append(rows(0, 3))
        with pytest.raises(InputError, match=message):
            out.append(change(rows(3, 4)))
        out.append(rows(3, 5))
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 5))


@pytest.mark.parametrize("row", [3, 70, 128, 130])
def test_a_row_that_another_program_wrote_is_damage(tmp_path, monkeypatch, row):
    """In full chunks and in the last one, of a run that goes on, that was ended, and that is finished."""
    monkeypatch.setattr(layout, "CHUNK_ROWS", 64)
    path = tmp_path / "a.zarr"
    out = Writer(path)
    for k in range(0, 131, 10):
        out.append(rows(k, min(k + 10, 131)))
        out.flush()
    xr.testing.assert_identical(read(tmp_path / "a.zarr.partial"), rows(0, 131))

    def changed(place, value):
        array = zarr.open_group(place, mode="r+", use_consolidated=False)["energy"]
        before = float(array[row])
        array[row] = value
        return before

    before = changed(tmp_path / "a.zarr.partial", np.nan)
    with pytest.raises(InputError, match=r"energy.* (was|were) changed after naiad wrote (it|them)"):
        read(tmp_path / "a.zarr.partial")
    changed(tmp_path / "a.zarr.partial", before)
    out.close()
    xr.testing.assert_identical(read(path), rows(0, 131))
    changed(path, np.nan)
    with pytest.raises(
        InputError, match=r"a\.zarr is damaged \(a chunk, energy/c/\d, was changed after naiad wrote it\)"
    ):
        read(path)


def test_what_an_ended_process_left_is_checked_when_it_is_gone_on_with(tmp_path, monkeypatch):
    """Rows of the last chunk that were committed; those beyond may be anything."""
    monkeypatch.setattr(layout, "CHUNK_ROWS", 64)
    partial = tmp_path / "a.zarr.partial"
    with contextlib.suppress(ZeroDivisionError), Writer(tmp_path / "a.zarr") as out:
        out.append(rows(0, 100))
        raise ZeroDivisionError
    array = zarr.open_group(partial, mode="r+", use_consolidated=False)["energy"]
    array.resize((110,))
    array[100:] = np.nan  # written and not committed
    right, array[99] = float(array[99]), np.nan
    with pytest.raises(InputError, match="rows of energy were changed after naiad wrote them"):
        Writer.reopened(tmp_path / "a.zarr")
    array[99] = right
    with Writer.reopened(tmp_path / "a.zarr") as out:
        out.keep({"time": 90})
        out.append(rows(90, 150))
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 150))


def test_rows_that_are_dropped_are_gone_before_others_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_ROWS", 64)
    out = Writer(tmp_path / "a.zarr")
    out.append(rows(0, 150))
    out.flush()
    out.keep({"time": 70})
    xr.testing.assert_identical(read(tmp_path / "a.zarr.partial"), rows(0, 70))
    out.append(rows(70, 75))
    out.close()
    xr.testing.assert_identical(read(tmp_path / "a.zarr"), rows(0, 75))
