"""Runs that are written while they go on: by a second thread, in large pieces, in order, and with its errors."""

import threading

import numpy as np
import pytest

import naiad as nd
from naiad import io
from naiad.io import writer as limits

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
STATE = BODY.state(Omega=(0.7, 0.4, -0.5))
NODES = 100_000


class Pages:
    """What a writer is given, by which thread; the page with the number `bad` cannot be written."""

    def __init__(self, monkeypatch, bad: int | None = None):
        self.rows: list[int] = []
        self.threads: list[str] = []
        append = io.Writer.append

        def noted(writer, dataset):
            self.threads.append(threading.current_thread().name)
            self.rows.append(dataset.sizes["time"])
            if len(self.rows) - 1 == bad:
                raise nd.RunError("cannot write: No space left on device")
            append(writer, dataset)

        monkeypatch.setattr(io.Writer, "append", noted)


def run(path):
    return nd.simulate(BODY, STATE, t1=0.01 * NODES, dt=0.01, save_every=1, out=path)


def test_pages_are_large_and_hold_every_node(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "BUFFER_BYTES", 4 * 2**20)
    monkeypatch.setattr(limits, "FLUSH_SECONDS", 1e9)
    pages = Pages(monkeypatch)
    kept = run(tmp_path / "run.zarr")
    assert pages.threads[0] == "MainThread"
    assert pages.rows[0] == 1  # a run that is killed at once has a beginning
    assert set(pages.threads[1:]) == {"naiad-pages"}
    assert sum(pages.rows) == NODES + 1
    assert min(pages.rows[1:-1]) > 2**22 / (8 * 13) - 1  # 13 numbers a node
    np.testing.assert_array_equal(kept.t, 0.01 * np.arange(NODES + 1))
    memory = nd.simulate(BODY, STATE, t1=0.01 * NODES, dt=0.01, save_every=1)
    np.testing.assert_array_equal(kept.mu, memory.mu)
    np.testing.assert_array_equal(kept.g, memory.g)


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_an_error_of_the_thread_is_that_of_the_run(tmp_path, monkeypatch, bad):
    monkeypatch.setattr(limits, "BUFFER_BYTES", 2 * 2**20)
    pages = Pages(monkeypatch, bad)
    with pytest.raises(nd.RunError, match="No space left on device"):
        run(tmp_path / "run.zarr")
    assert len(pages.rows) == bad + 1  # nothing after what is missing
    if bad == 0:
        assert not list(tmp_path.iterdir())  # what has no beginning is not there
    else:
        kept = io.read(tmp_path / "run.zarr.partial")["time"]
        np.testing.assert_array_equal(kept, 0.01 * np.arange(sum(pages.rows[:bad])))
    assert not [thread for thread in threading.enumerate() if thread.name == "naiad-pages"]


def test_an_error_of_the_run_keeps_what_was_computed(tmp_path):
    def stop(fraction):
        if fraction > 0.5:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        nd.simulate(BODY, STATE, t1=0.01 * NODES, dt=0.01, save_every=1, out=tmp_path / "run.zarr", progress=stop)
    kept = io.read(tmp_path / "run.zarr.partial")
    assert kept.sizes["time"] > NODES / 2
    np.testing.assert_array_equal(kept["time"], 0.01 * np.arange(kept.sizes["time"]))
