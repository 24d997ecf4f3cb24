"""Ensembles in object stores, by fsspec: the same as in memory, and one owner at a time."""

import os
import platform
import subprocess
import sys

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import naiad as nd
from naiad.ensembles import Mean, many
from naiad.errors import InputError, RunError
from tests.ensembles.comparison import same
from tests.ensembles.test_store import BODIES, CASES, METHOD, STATES, finishes

SECTIONS = {"y": nd.Section(lambda state, t: state.g[1, 1])}
OPTIONS = {"t1": 2.0, "dt": 0.01, "save_every": 5, "sections": SECTIONS, "method": METHOD, "cases": CASES}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(many, "LEAST_BLOCK", 8)
    monkeypatch.setattr(many, "LARGEST_BLOCK", 8)


@pytest.fixture(params=["memory", "file"])
def url(request, tmp_path):
    yield f"file://{tmp_path}/deep/runs.zarr" if request.param == "file" else "memory://deep/runs.zarr"
    MemoryFileSystem.store.clear()


def stopped_after(count):
    """A progress that interrupts when it has been told so often."""
    left = iter(range(count))

    def progress(fraction):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return progress


def test_objects_are_what_is_in_memory(url):
    memory = nd.simulate_many(BODIES, STATES, **OPTIONS)
    same(nd.simulate_many(BODIES, STATES, out=url, **OPTIONS), memory)
    loaded = nd.load_many(url, BODIES, METHOD, sections=SECTIONS)
    same(loaded, memory)
    assert loaded.record.identical(memory.record)
    np.testing.assert_array_equal(loaded[7].energy, memory[7].energy)
    with pytest.raises(InputError, match=r"deep/runs\.zarr exists; choose another name, or pass overwrite=True"):
        nd.simulate_many(BODIES, STATES, out=url, **OPTIONS)
    reduce = {"mean": Mean("Pi")}
    few = nd.simulate_many(BODIES, STATES, out=url, overwrite=True, reduce=reduce, **OPTIONS)
    assert few.reduced.identical(nd.simulate_many(BODIES, STATES, reduce=reduce, **OPTIONS).reduced)
    with fsspec.open(f"{url}/zarr.json") as root:
        assert root.read()
    fs, path = fsspec.url_to_fs(url)
    assert {name.removeprefix(f"{path}/").partition("/")[0] for name in fs.find(path)}.isdisjoint(
        {".blocks", ".owner", "R"}
    )


def test_an_interrupted_one_goes_on(url):
    with pytest.raises(RunError, match=r"what was computed is at .*deep/runs\.zarr: nd\.resume_many goes on"):
        nd.simulate_many(BODIES, STATES, out=url, progress=stopped_after(3), **OPTIONS)
    with pytest.raises(InputError, match="it was interrupted, and nd"):
        nd.load_many(url, BODIES, METHOD, sections=SECTIONS)
    with pytest.raises(InputError, match="holds what an interrupted ensemble wrote"):
        nd.simulate_many(BODIES, STATES, out=url, **OPTIONS)
    memory = nd.simulate_many(BODIES, STATES, **OPTIONS)
    same(nd.resume_many(url, BODIES, METHOD, sections=SECTIONS), memory)
    same(nd.resume_many(url, BODIES, METHOD, sections=SECTIONS), memory)


def test_kills(tmp_path):
    url, rng = f"file://{tmp_path}/runs.zarr", np.random.default_rng(2)
    memory = nd.simulate_many(BODIES, STATES, **OPTIONS)

    def work():
        try:
            nd.resume_many(url, BODIES, METHOD, sections=SECTIONS, progress=False)
        except InputError:  # it was killed before there was anything
            nd.simulate_many(BODIES, STATES, out=url, progress=False, **OPTIONS)

    for _ in range(6):
        finishes(work, rng.uniform(0.05, 0.3))
    work()
    same(nd.load_many(url, BODIES, METHOD, sections=SECTIONS), memory)


def test_one_owner(url):
    refused = []

    def second(fraction):
        if not refused:
            for use in (
                lambda: nd.simulate_many(BODIES, STATES, out=url, overwrite=True, **OPTIONS),
                lambda: nd.resume_many(url, BODIES, METHOD, sections=SECTIONS),
            ):
                with pytest.raises(
                    InputError, match=rf"another run is writing to .*process {os.getpid()} on .*; if it"
                ):
                    use()
            refused.append(fraction)

    nd.simulate_many(BODIES, STATES, out=url, progress=second, **OPTIONS)
    assert refused


def test_the_mark_of_another_machine_is_respected_and_that_of_a_dead_process_is_not(url):
    with pytest.raises(RunError):
        nd.simulate_many(BODIES, STATES, out=url, progress=stopped_after(1), **OPTIONS)
    fs, path = fsspec.url_to_fs(url)
    fs.pipe_file(f"{path}/.owner", b"process 1 on elsewhere")
    with pytest.raises(InputError, match=r"process 1 on elsewhere; if it has ended, remove .*runs.zarr/\.owner"):
        nd.resume_many(url, BODIES, METHOD, sections=SECTIONS)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    fs.pipe_file(f"{path}/.owner", f"process {ended.pid} on {platform.node()}".encode())
    same(nd.resume_many(url, BODIES, METHOD, sections=SECTIONS), nd.simulate_many(BODIES, STATES, **OPTIONS))


class Unreachable(MemoryFileSystem):
    """Which nobody may read."""

    protocol = "unreachable"

    def cat_file(self, path, start=None, end=None, **kwargs):
        raise RuntimeError("no credentials")


def test_bad_input(url, monkeypatch):
    fs, path = fsspec.url_to_fs(url, auto_mkdir=True)
    fs.pipe_file(f"{path}/letter.txt", b"not yours")
    with pytest.raises(InputError, match="is in the way and is not a naiad store"):
        nd.simulate_many(BODIES, STATES, out=url, overwrite=True, **OPTIONS)
    assert fs.find(path) == [f"{path}/letter.txt"]
    with pytest.raises(InputError, match="is not an ensemble that naiad wrote"):
        nd.load_many(url, BODIES, METHOD, sections=SECTIONS)
    with pytest.raises(InputError, match=r"Protocol not known: nowhere.*pip install 'naiad\[objects\]'"):
        nd.simulate_many(BODIES, STATES, out="nowhere://runs", **OPTIONS)
    fsspec.register_implementation("unreachable", Unreachable, clobber=True)
    with pytest.raises(InputError, match=r"unreachable://runs cannot be reached \(RuntimeError: no credentials\)"):
        nd.simulate_many(BODIES, STATES, out="unreachable://runs", **OPTIONS)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"pip install 'naiad\[objects\]'"):
        nd.simulate_many(BODIES, STATES, out=url, **OPTIONS)
