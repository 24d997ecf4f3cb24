"""Runs that outlive their process: killed, terminated, out of disk, they go on as if nothing had happened."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.io import places
from naiad.io import writer as limits
from naiad.io.store import committed
from naiad.simulation import checkpoint, drive
from naiad.simulation.parameters import parameters
from tests.power_cut import PowerCut
from tests.simulation.killed_runs import contents, go_on

ROOT = Path(__file__).parents[2]
BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))
METHOD = nd.Variational()


def first_momentum(state, t):
    return state.mu[0]


def every_step(state, t):
    """Changes its sign in every step."""
    return jnp.cos(100 * jnp.pi * t + 0.5)


PARTS = {
    "outputs": {"first": first_momentum},
    "monitors": {"energy": BODY.energy},
    "sections": {"first": nd.Section(first_momentum), "every": nd.Section(every_step, direction=0)},
}
OPTIONS = {"t1": 20.004, "dt": 0.01, "method": METHOD, "save_every": 7, "output_every": 3, "progress": False} | PARTS


class StoppedError(Exception):
    pass


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Every piece is committed, and there are many."""
    monkeypatch.setattr(limits, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(drive, "next_budget", lambda budget, taken, seconds: 150)
    monkeypatch.setattr(drive, "BUDGETS", {})
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def whole_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run.zarr"
    nd.simulate(BODY, START, **OPTIONS, out=path)
    return path


@pytest.fixture(scope="module")
def whole(whole_path):
    return contents(whole_path)


def stop_after(share):
    def stop(fraction):
        if fraction > share:
            raise StoppedError

    return stop


def stopped(path, share, **options):
    """A run that an exception ends on its way."""
    with pytest.raises(StoppedError):
        nd.simulate(BODY, START, **(OPTIONS | options | {"progress": stop_after(share)}), out=path)
    assert not path.exists()
    return path.with_name(path.name + ".partial")


def resumed(path, system=BODY, method=METHOD, **options):
    return nd.resume(path, system, method, **(PARTS | {"progress": False} | options))


def killed(folder, kills, seed):
    command = [sys.executable, "-m", "tests.simulation.killed_runs", str(folder), str(kills), str(seed)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_killed_at_any_moment(tmp_path, monkeypatch):
    monkeypatch.undo()  # pieces as large as ever: there are many steps
    found = killed(tmp_path, 15, 20)
    assert found["kills"] >= 15
    assert found["later"] >= 4  # of runs that had been resumed before
    assert 0.3 < found["terminated"][0] < 0.7
    assert 0.8 < found["terminated"][1] < 1.0
    assert committed(tmp_path / "left.zarr.partial")[0]["node"] > 0
    # in another process than the one that was killed, in which the same code has another name
    go_on("noisy", tmp_path / "left.zarr.partial")
    assert contents(tmp_path / "left.zarr") == contents(tmp_path / "noisy.zarr")


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_a_hundred_times(tmp_path, seed):
    assert killed(tmp_path, 100, seed)["later"] >= 25


@pytest.mark.parametrize(
    ("name", "share"), [("run.zarr", 0.0), ("run.zarr.partial", 0.5), ("run.zarr", 0.7), ("run.zarr", 0.97)]
)
def test_either_name_is_understood(tmp_path, whole, name, share):
    stopped(tmp_path / "run.zarr", share)
    run = resumed(tmp_path / name)
    assert run.outcome is nd.Outcome.COMPLETED
    assert os.listdir(tmp_path) == ["run.zarr"]
    assert contents(tmp_path / "run.zarr") == whole


def test_a_run_that_was_not_yet_renamed_is(tmp_path, whole):
    nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr")
    (tmp_path / "run.zarr").rename(tmp_path / "run.zarr.partial")
    resumed(tmp_path / "run.zarr")
    assert contents(tmp_path / "run.zarr") == whole


def test_what_is_finished_is_returned_as_it_is(tmp_path, whole):
    nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr")
    for t1 in (None, 20.004, 2.0):
        run = resumed(tmp_path / "run.zarr", t1=t1)
        assert (run.outcome, run.attrs["t"]) == (nd.Outcome.COMPLETED, 20.004)
    assert contents(tmp_path / "run.zarr") == whole
    with pytest.raises(nd.InputError, match=r"ended with a shorter step at t = 20\.004, which a longer run would not"):
        resumed(tmp_path / "run.zarr", t1=40.0)


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("out", [None, "longer.zarr"])
def test_a_finished_run_goes_on_to_a_later_end(tmp_path, saved, out):
    options, path = OPTIONS | {"t1": 12.0}, tmp_path / "run.zarr"
    if saved:
        nd.simulate(BODY, START, **options).save(path)
    else:
        nd.simulate(BODY, START, **options, out=path)
    before = contents(path)
    longer = resumed(path, t1=20.004, out=None if out is None else tmp_path / out)
    memory = nd.simulate(BODY, START, **OPTIONS)
    for name, values in memory.record.variables.items():
        np.testing.assert_array_equal(longer.record[name], values, err_msg=str(name))
    assert {name: longer.attrs[name] for name in memory.attrs} == memory.attrs
    assert (contents(path) == before) == (out is not None)
    assert sorted(os.listdir(tmp_path)) == sorted(filter(None, ["run.zarr", out]))


def test_an_interrupted_run_goes_on(tmp_path, whole_path):
    def interrupt(fraction):
        if fraction > 0.5:
            os.kill(os.getpid(), signal.SIGINT)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run = nd.simulate(BODY, START, **OPTIONS | {"progress": interrupt}, out=tmp_path / "run.zarr")
    finally:
        signal.signal(signal.SIGINT, usual)
    assert run.outcome is nd.Outcome.INTERRUPTED
    assert resumed(tmp_path / "run.zarr").outcome is nd.Outcome.COMPLETED
    assert nd.io.read(tmp_path / "run.zarr").identical(nd.io.read(whole_path))


def test_another_end_may_be_given(tmp_path):
    stopped(tmp_path / "run.zarr", 0.2)
    resumed(tmp_path / "run.zarr", t1=18.0)
    nd.simulate(BODY, START, **OPTIONS | {"t1": 18.0}, out=tmp_path / "other.zarr")
    run, other = (nd.io.read(tmp_path / name) for name in ("run.zarr", "other.zarr"))
    assert run.identical(other)
    partial = stopped(tmp_path / "next.zarr", 0.5)
    with pytest.raises(nd.InputError, match=r"t1 = 1 lies before t = [\d.]+, to which .* has come; give a later t1"):
        resumed(partial, t1=1.0)


def test_what_is_at_the_place_is_replaced_only_if_that_was_meant(tmp_path, whole):
    path = tmp_path / "run.zarr"
    nd.simulate(BODY, START, **OPTIONS | {"t1": 1.0}, out=path)
    old = shutil.copytree(path, tmp_path / "old.zarr")
    with pytest.raises(StoppedError):
        nd.simulate(BODY, START, **OPTIONS | {"progress": stop_after(0.5)}, out=path, overwrite=True)
    assert contents(path) == contents(old)
    resumed(path)
    assert contents(path) == whole
    path.rename(tmp_path / "run.zarr.partial")
    old.rename(path)
    with pytest.raises(nd.InputError, match=r"run\.zarr exists; choose another name, or pass overwrite=True"):
        resumed(path)
    resumed(path, overwrite=True)
    assert contents(path) == whole


def test_a_second_process_is_refused(tmp_path, whole):
    stopped(tmp_path / "run.zarr", 0.2)
    refusals = []

    def also(fraction):
        if not refusals:
            with pytest.raises(nd.InputError) as refused:
                resumed(tmp_path / "run.zarr")
            refusals.append(str(refused.value))

    resumed(tmp_path / "run.zarr", progress=also)
    assert f"another run is writing to {tmp_path}/run.zarr.partial now (process {os.getpid()} on " in refusals[0]
    assert contents(tmp_path / "run.zarr") == whole


@pytest.mark.parametrize("files", [0, 31, 43, 60, 78, 95])
def test_a_full_disk_is_told_and_survived(tmp_path, monkeypatch, whole, files):
    """The first file that cannot be written is any of a page: rows, their description, or the root."""
    put, left = places.put, iter(range(files))

    def full(path, *contents, **options):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        put(path, *contents, **options)

    partial = tmp_path / "run.zarr.partial"
    with monkeypatch.context() as patch:
        patch.setattr(places, "put", full)
        with pytest.raises(nd.RunError) as told:
            nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr")
    what = f"what was written before is at {partial}" if partial.exists() else "nothing was left behind"
    assert str(told.value) == (
        f"cannot write {tmp_path}/run.zarr: No space left on device; {what}; free some space or choose another disk"
    )
    assert partial.exists() or files < 40
    if partial.exists():
        resumed(tmp_path / "run.zarr")
        assert contents(tmp_path / "run.zarr") == whole


def test_a_power_cut_takes_nothing_that_was_committed(tmp_path, monkeypatch):
    disk, commit = PowerCut(monkeypatch), limits.Writer._commit

    def committed(writer):
        commit(writer)
        disk.check(writer._folder)

    def begun(fraction):
        disk.faults += ["the store may lose its name"] if tmp_path in disk.names else []

    monkeypatch.setattr(limits.Writer, "_commit", committed)
    nd.simulate(BODY, START, **OPTIONS | {"progress": begun}, out=tmp_path / "run.zarr")
    assert disk.commits > 5
    assert disk.faults == []
    assert disk.names == set()


def class_from(source):
    scope = {"nd": nd, "jnp": jnp, "__name__": __name__}
    exec(source, scope)
    return scope["Top"]


TOP = """
class Top(nd.LagrangianSystem):
    group = nd.SO3()
    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ Omega - {height} * R[2, 2]
"""


def test_changed_code_does_not_go_on(tmp_path):
    old, new = (class_from(TOP.format(height=height))() for height in (1.0, 1.001))
    options = {"t1": 5.0, "dt": 0.01, "method": METHOD, "progress": False}
    path = tmp_path / "top.zarr"
    nd.simulate(old, old.state(Omega=(0.1, 0.2, 3.0)), **options, out=path)
    path.rename(tmp_path / "top.zarr.partial")
    with pytest.raises(nd.InputError, match=r"top\.zarr was made with other code of the system; give what it was made"):
        nd.resume(path, new, METHOD)
    same = class_from("\n\n" + TOP.format(height="1.0").replace("group", "'A docstring.'\n    group"))()
    assert nd.resume(path, same, METHOD).outcome is nd.Outcome.COMPLETED


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"system": nd.models.RigidBody(J=(1.0, 2.0, 2.5))}, r"with the system with J = .* was given"),
        ({"method": nd.RK4()}, "with the method Variational, but RK4 was given"),
        ({"system": None}, r"was made with the system RigidBody and .*give both: resume\(path, system, method\)"),
        ({"outputs": {}}, "has the outputs first, but none were given; give what it was made with"),
        ({"outputs": PARTS["outputs"] | {"more": BODY.energy}}, "has the outputs first, but first, more were given"),
        ({"monitors": {"power": BODY.energy}}, "has the monitors energy, but power were given"),
        ({"sections": {}}, "has the sections every, first, but none were given"),
        ({"outputs": {"first": lambda state, t: state.mu[1]}}, "was made with other code of the output 'first'"),
        ({"monitors": {"energy": first_momentum}}, "was made with other code of the monitor 'energy'"),
        (
            {"sections": PARTS["sections"] | {"first": nd.Section(first_momentum, -1)}},
            "was made with other code of the section 'first'",
        ),
        ({"save_every": 8}, "save_every = 8, but .* has save_every = 7; leave it out"),
        ({"output_every": 1}, "output_every = 1, but .* has output_every = 3; leave it out"),
        ({"out": "other.zarr"}, "is not finished, and goes on where it is; leave `out` out"),
        ({"noise": nd.Noise(1)}, "noise is given, but Variational takes none"),
    ],
)
def test_what_differs_is_refused_and_the_run_stays(tmp_path, given, message):
    stopped(tmp_path / "run.zarr", 0.1, t1=5.0)
    before = contents(tmp_path / "run.zarr.partial")
    with pytest.raises(nd.InputError, match=message):
        resumed(tmp_path / "run.zarr", **given)
    assert contents(tmp_path / "run.zarr.partial") == before
    resumed(tmp_path / "run.zarr", save_every=7)  # nobody holds it


def test_what_is_under_the_code_may_change_with_a_warning(tmp_path, monkeypatch, whole):
    stopped(tmp_path / "run.zarr", 0.3)
    now = checkpoint._surroundings()
    monkeypatch.setattr(checkpoint, "_surroundings", lambda: now | {"jax": "99.1"})
    with pytest.warns(nd.RunWarning, match=rf"was begun with jax {now['jax']} \(now 99\.1\): the last digits may not"):
        resumed(tmp_path / "run.zarr")
    assert contents(tmp_path / "run.zarr") == whole


def test_noise_that_was_given_is_given_again(tmp_path):
    body = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), (0.3, 0.4, 0.5), 0.5, kappa=0.7)
    method, rows = nd.StochasticVariational(), nd.Noise(3).increments(1000, 3, 0.02)
    options = {"t1": 20.0, "dt": 0.02, "method": method, "noise": rows}
    state = body.state(Omega=(0.1, 0.2, 0.3))
    nd.simulate(body, state, **options, out=tmp_path / "whole.zarr")
    with pytest.raises(StoppedError):
        nd.simulate(body, state, **options, out=tmp_path / "run.zarr", progress=stop_after(0.4))
    with pytest.raises(nd.InputError, match="give noise="):
        nd.resume(tmp_path / "run.zarr", body, method)
    with pytest.raises(nd.InputError, match="was made with other noise; give what it was made with, from its first"):
        nd.resume(tmp_path / "run.zarr", body, method, noise=rows[::-1])
    nd.resume(tmp_path / "run.zarr", body, method, noise=rows, progress=False)
    assert contents(tmp_path / "run.zarr") == contents(tmp_path / "whole.zarr")


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(nd.InputError, match=r"run\.zarr does not exist"):
        resumed(tmp_path / "run.zarr")
    run = nd.simulate(BODY, START, **OPTIONS | {"t1": 1.0})
    nd.io.write(run.dataset, tmp_path / "study.zarr")
    with pytest.raises(nd.InputError, match="holds arrays, but not one run that could be gone on with"):
        resumed(tmp_path / "study.zarr")
    older = run.record.drop_attrs(deep=False).assign_attrs({k: v for k, v in run.attrs.items() if k != "checkpoint"})
    nd.io.write(older.assign_attrs(parameters(BODY, METHOD)), tmp_path / "old.zarr")
    with pytest.raises(nd.InputError, match="written by an older naiad, and cannot be gone on with in its file"):
        resumed(tmp_path / "old.zarr")
    with pytest.raises(nd.InputError, match="a trajectory has its system and method; give it, and t1"):
        nd.resume(run)
