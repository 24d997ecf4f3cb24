"""Ensembles on disk: the same as in memory, bit for bit, also after kills at any moment."""

import errno
import functools
import os
import pickle
import shutil
import signal
import time
import traceback
import warnings

import numpy as np
import pytest
import zarr

import naiad as nd
from naiad.ensembles import Mean, Variance, many, store
from naiad.errors import InputError, RunError
from naiad.io import places
from tests.ensembles.comparison import same
from tests.power_cut import PowerCut

CASES = nd.sample(30, seed=3, J=(2.1, 2.9), spin=(0.9, 1.1))
BODIES = CASES.build(lambda J: nd.models.RigidBody(J=(1.1, J, 3.0)))
STATES = CASES.build(lambda J, spin: nd.models.RigidBody(J=(1.1, J, 3.0)).state(Omega=(0.1, spin, 0.05)))
METHOD = nd.Variational()
FUNCTIONS = {
    "sections": {"y": nd.Section(lambda state, t: state.g[1, 1], 0)},
    "monitors": {"energy": lambda system, state, t: system.energy(state, t)},
    "outputs": {"pointing": lambda state, t: state.g[:, 1]},
}
OPTIONS = {
    "t1": 40.005,
    "dt": 0.01,
    "save_every": 50,
    "output_every": 70,
    "method": METHOD,
    "cases": CASES,
    **FUNCTIONS,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(many, "LEAST_BLOCK", 8)
    monkeypatch.setattr(many, "LARGEST_BLOCK", 8)


@functools.cache
def memory():
    return nd.simulate_many(BODIES, STATES, **OPTIONS)


def test_what_is_on_disk_is_what_is_in_memory(tmp_path):
    memory = nd.simulate_many(BODIES, STATES, **OPTIONS)
    disk = nd.simulate_many(BODIES, STATES, out=tmp_path / "runs.zarr", **OPTIONS)
    same(disk, memory)
    assert len(memory.crossings["y"]["time"]) > 30
    assert disk.record.load().identical(memory.record)
    np.testing.assert_array_equal(disk.energy, memory.energy)
    for k in (0, 17, 29):
        assert disk[k].attrs == memory[k].attrs
        np.testing.assert_array_equal(disk[k].crossings["y"]["time"], memory[k].crossings["y"]["time"])
    loaded = nd.load_many(tmp_path / "runs.zarr", BODIES, METHOD, **FUNCTIONS)
    same(loaded, memory)
    assert loaded.cases is not None
    np.testing.assert_array_equal(loaded.cases["spin"], CASES["spin"])
    assert os.listdir(tmp_path) == ["runs.zarr"]
    plain = nd.io.read(tmp_path / "runs.zarr")
    np.testing.assert_array_equal(plain["Pi"], memory.record["Pi"])
    assert plain["Pi"].attrs["units"] == "kg m^2/s"
    np.testing.assert_array_equal(plain["J"], CASES["J"])


def spoilt(path, name):
    """A number that another program writes into an array of a store, with a checksum of its own."""
    array = zarr.open_group(path, mode="r+", use_consolidated=False)[name]
    array[(-1,) * array.ndim] = 77 if array.dtype.kind in "iu" else np.nan


def test_a_number_that_another_program_wrote_is_damage(tmp_path):
    """In what is along time, in what is not, in crossings, and in what the runs have of their own."""
    memory = nd.simulate_many(BODIES, STATES, out=tmp_path / "whole.zarr", **OPTIONS)
    for name in ("Pi", "pointing", "monitor_energy", "node", "crossing_time", "job/npz"):
        path = tmp_path / f"{name.replace('/', '-')}.zarr"
        shutil.copytree(tmp_path / "whole.zarr", path)
        spoilt(path, name)
        with pytest.raises(InputError, match=rf"\.zarr is damaged \(a chunk, {name}/c.*, was changed"):
            same(nd.load_many(path, BODIES, METHOD, **FUNCTIONS), memory)


def test_noise_and_steps_of_their_own(tmp_path):
    disks = [nd.models.SlidingDisk(m, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7) for m in (1.0, 1.3, 1.6)]
    method, rows = nd.StochasticVariational(), np.random.default_rng(1).standard_normal((100, 2)) * 0.1
    options = {"t1": [1.0, 2.005, 1.0], "dt": [0.02, 0.01, 0.01], "noise": [nd.Noise(3), nd.Noise(2**100), rows]}
    memory = nd.simulate_many(disks, disks[0].state(), method=method, **options)
    disk = nd.simulate_many(disks, disks[0].state(), method=method, out=tmp_path / "runs.zarr", **options)
    same(disk, memory)
    loaded = nd.load_many(tmp_path / "runs.zarr", disks, method)
    same(loaded, memory)
    assert loaded[1].attrs == memory[1].attrs
    assert loaded.record["t"].identical(memory.record["t"])


def finishes(work, seconds):
    """Whether a child process does the work before it is killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads that do not go along
        child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


@pytest.mark.parametrize("kills", [12, pytest.param(100, marks=pytest.mark.long)])
def test_an_ensemble_survives_kills_at_any_moment(tmp_path, monkeypatch, kills):
    monkeypatch.setattr(store, "HALFWAY_SECONDS", 0.0)
    memory = nd.simulate_many(BODIES, STATES, **OPTIONS)
    path = tmp_path / "whole.zarr"
    started = time.perf_counter()
    nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    duration = time.perf_counter() - started
    rng, count, number = np.random.default_rng(8), 0, 0
    while count < kills:
        path = tmp_path / f"runs{number}.zarr"

        def work(path=path):
            if path.with_name(path.name + ".partial").is_dir():
                nd.resume_many(path, BODIES, METHOD, progress=False, **FUNCTIONS)
            elif not path.is_dir():
                nd.simulate_many(BODIES, STATES, out=path, progress=False, **OPTIONS)

        while count < kills and not path.is_dir():
            finishes(work, rng.uniform(0.0, duration))
            count += 1
        work()
        same(nd.load_many(path, BODIES, METHOD, **FUNCTIONS), memory)
        number += 1


def test_a_power_cut_takes_no_block_that_was_told_to_be_there(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "HALFWAY_SECONDS", 0.0)
    disk = PowerCut(monkeypatch)
    nd.simulate_many(BODIES, STATES, out=tmp_path / "runs.zarr", **OPTIONS)
    assert disk.commits >= 5  # of four blocks and the root
    assert disk.faults == []
    assert disk.names == set()


@pytest.mark.parametrize("files", [0, 3, 11, 16, 20, 24, 40])
def test_a_full_disk_is_told_and_survived(tmp_path, monkeypatch, files):
    put, left = places.put, iter(range(files))

    def full(path, *contents, **options):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        put(path, *contents, **options)

    path = tmp_path / "runs.zarr"
    with monkeypatch.context() as patch:
        patch.setattr(places, "put", full)
        with pytest.raises(RunError, match="No space left on device"):
            nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    if path.with_name("runs.zarr.partial").exists():
        nd.resume_many(path, BODIES, METHOD, **FUNCTIONS)
    else:
        assert files < 11
        nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    same(nd.load_many(path, BODIES, METHOD, **FUNCTIONS), memory())


def interrupted(fraction):
    raise KeyboardInterrupt


def test_an_interrupt_is_gone_on_with(tmp_path):
    heard = []

    def interrupt(fraction):
        heard.append(fraction)
        if len(heard) == 3:
            raise KeyboardInterrupt

    path = tmp_path / "runs.zarr"
    with pytest.raises(RunError, match=r"the ensemble was interrupted; what was computed is at .*runs.zarr.partial"):
        nd.simulate_many(BODIES, STATES, out=path, progress=interrupt, **OPTIONS)
    assert list((tmp_path / "runs.zarr.partial").glob(".blocks/*.halfway*.npz"))
    with pytest.raises(InputError, match=r"holds what an interrupted ensemble wrote; go on with"):
        nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    same(nd.resume_many(path, BODIES, METHOD, **FUNCTIONS), nd.simulate_many(BODIES, STATES, **OPTIONS))
    same(nd.resume_many(path, BODIES, METHOD, **FUNCTIONS), nd.load_many(path, BODIES, METHOD, **FUNCTIONS))


def test_one_that_was_to_replace_another_does_when_it_goes_on(tmp_path):
    path = tmp_path / "runs.zarr"
    nd.simulate_many(BODIES[:3], STATES[:3], t1=1.0, dt=0.1, out=path)
    with pytest.raises(RunError, match="interrupted"):
        nd.simulate_many(BODIES, STATES, out=path, overwrite=True, progress=interrupted, **OPTIONS)
    old = nd.load_many(path, BODIES[:3], METHOD)
    assert len(old) == 3
    same(pickle.loads(pickle.dumps(old)), old)
    same(nd.resume_many(path, BODIES, METHOD, **FUNCTIONS), memory())


def test_two_at_one_place(tmp_path):
    path = tmp_path / "runs.zarr"
    refused = []

    def second(fraction):
        if not refused:
            with pytest.raises(InputError, match="another run is writing to"):
                nd.simulate_many(BODIES, STATES, out=path, overwrite=True, **OPTIONS)
            with pytest.raises(InputError, match="another run is writing to"):
                nd.resume_many(path, BODIES, METHOD, **FUNCTIONS)
            refused.append(fraction)

    nd.simulate_many(BODIES, STATES, out=path, progress=second, **OPTIONS)
    assert refused


def other_energy(system, state, t):
    return 2.0 * system.energy(state, t)


def test_other_code_is_refused(tmp_path):
    path, half = tmp_path / "runs.zarr", tmp_path / "half.zarr"
    reduce = {"momentum": Mean(lambda state, t: state.mu @ state.mu)}
    nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    with pytest.raises(RunError, match="interrupted"):
        nd.simulate_many(BODIES, STATES, out=half, progress=interrupted, reduce=reduce, **OPTIONS)
    for kind, name, function in (
        ("monitors", "energy", other_energy),
        ("outputs", "pointing", lambda state, t: state.g[:, 0]),
        ("sections", "y", nd.Section(lambda state, t: state.g[0, 1], 0)),
    ):
        changed = FUNCTIONS | {kind: {name: function}}
        for use, place in ((nd.load_many, path), (nd.resume_many, half)):
            more = {"reduce": reduce} if place == half else {}
            with pytest.raises(InputError, match=f"was made with other code of the {kind[:-1]} '{name}'"):
                use(place, BODIES, METHOD, **more, **changed)
    for statistics, match in (
        (
            {"momentum": Mean(lambda state, t: state.mu @ state.g[0])},
            "was made with other code of the statistic 'momentum'",
        ),
        ({"momentum": Mean("Pi")}, "made with the statistics with momentum.of = .*, but Pi was given"),
        (
            {"momentum": Variance(reduce["momentum"].of)},
            "made with the statistics with momentum = Mean, but Variance was given",
        ),
        (None, "made with the statistics with momentum = .*, but nothing was given"),
    ):
        with pytest.raises(InputError, match=match):
            nd.resume_many(half, BODIES, METHOD, reduce=statistics, **FUNCTIONS)
    few = nd.resume_many(half, BODIES, METHOD, reduce=reduce, **FUNCTIONS)
    assert few.reduced.identical(nd.simulate_many(BODIES, STATES, reduce=reduce, **OPTIONS).reduced)


def test_bad_input(tmp_path):
    path = tmp_path / "runs.zarr"
    nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    with pytest.raises(InputError, match="exists; choose another name, or pass overwrite=True"):
        nd.simulate_many(BODIES, STATES, out=path, **OPTIONS)
    others = [nd.models.RigidBody(J=(1.1, 2.5 + 0.01 * k, 3.0)) for k in range(30)]
    for systems, match in ((others, r"was made with the system with J ="), (BODIES[:1] + others[1:], "other numbers")):
        with pytest.raises(InputError, match=match):
            nd.load_many(path, systems, METHOD, **FUNCTIONS)
    with pytest.raises(InputError, match="was made with the method"):
        nd.load_many(path, BODIES, nd.Variational(retraction=nd.Exponential()), **FUNCTIONS)
    with pytest.raises(InputError, match=r"made with outputs named \['pointing'\], but \[\] were given"):
        nd.load_many(path, BODIES, METHOD, **FUNCTIONS | {"outputs": {}})
    with pytest.raises(InputError, match="does not exist, and no ensemble was begun there"):
        nd.resume_many(tmp_path / "none.zarr", BODIES, METHOD)
    nd.simulate(BODIES[0], STATES[0], t1=1.0, dt=0.1, out=tmp_path / "one.zarr")
    with pytest.raises(InputError, match="is not an ensemble that naiad wrote"):
        nd.load_many(tmp_path / "one.zarr", BODIES, METHOD)
    with pytest.raises(InputError, match=r"not as \.csv"):
        nd.simulate_many(BODIES, STATES, out=tmp_path / "runs.csv", **OPTIONS)
