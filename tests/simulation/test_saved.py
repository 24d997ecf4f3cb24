"""Saved runs: only what was written, by the same system and method, is gone on with."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import naiad as nd
from naiad import io, studies
from naiad.io import layout
from naiad.numerics import Module
from naiad.simulation.parameters import LARGEST, described, difference
from naiad.studies.progress import Progress

ROOT = Path(__file__).parents[2]
BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))
METHOD = nd.Variational()
OPTIONS = {"t1": 2.0, "dt": 0.01, "save_every": 10, "monitors": {"energy": BODY.energy}}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "run.zarr"
    return path, nd.simulate(BODY, START, **OPTIONS, out=path)


def edited(path, change, reseal=False):
    """Change the attributes of a store; with `reseal` as if naiad had written them so."""
    root = path / "zarr.json"
    node = json.loads(root.read_text())
    change(node["attributes"])
    if reseal:
        guarded = {name: value for name, value in node["attributes"].items() if name != "naiad_checksum"}
        node["attributes"]["naiad_checksum"] = layout.digest(guarded)
    root.write_text(json.dumps(node))


@pytest.fixture
def copied(saved, tmp_path):
    return Path(shutil.copytree(saved[0], tmp_path / "run.zarr"))


def test_other_parameters_are_refused_by_name(saved):
    path, _ = saved
    message = r"with the system with J = \[\[1\.0, 0\.0, 0\.0\].*, but \[\[4\.0, 0\.0, 0\.0\].* was given"
    with pytest.raises(nd.InputError, match=message):
        nd.load(path, nd.models.RigidBody(J=(4.0, 2.0, 3.0)), METHOD)
    loose = nd.Variational(newton=nd.Newton(max_iterations=3))
    with pytest.raises(nd.InputError, match=r"the method with newton\.max_iterations = \d+, but 3 was given"):
        nd.load(path, BODY, loose)
    with pytest.raises(nd.InputError, match=r"the method with retraction = Cayley, but Exponential was given"):
        nd.load(path, BODY, nd.Variational(nd.Exponential()))


class Spring(Module):
    stiffness: np.ndarray
    law: object

    def __call__(self, x):
        return self.law(x)


def spring(k, law):
    return Spring(np.asarray(k), law)


def power(p):
    return lambda x: x**p


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        (spring(1.0, None), spring(2.0, None), "stiffness"),
        (spring(1.0, power(2)), spring(1.0, power(3)), "law.p"),
        (spring(np.zeros(LARGEST + 1), None), spring(np.eye(1, LARGEST + 1)[0], None), "stiffness.sha256"),
        (spring(1.0, nd.SO3()), spring(1.0, nd.SE3()), "law"),
        (spring(1.0, [power(2), 1.0]), spring(1.0, [power(3), 1.0]), "law[0].p"),
        (spring(1.0, power(2).__call__), spring(1.0, None), "law"),
    ],
)
def test_what_differs_is_found(one, other, name):
    stored = json.loads(json.dumps(described(one)))
    assert difference(stored, described(one)) is None
    assert difference(stored, described(other))[0] == name


def test_constants_of_a_users_class_count():
    def top(height):
        class Top(nd.LagrangianSystem):
            group = nd.SO3()
            mgl = height

            def lagrangian(self, R, Omega, t):
                return 0.5 * Omega @ Omega - self.mgl * R[2, 2]

        return Top()

    assert difference(described(top(1.0)), described(top(1.0))) is None
    assert difference(described(top(1.0)), described(top(2.0))) == ("mgl", "1.0", "2.0")


def test_a_run_without_its_code_says_what_it_needs(saved):
    with pytest.raises(nd.InputError, match=r"the system RigidBody and the method Variational\(.*give both"):
        nd.load(saved[0])


def test_the_method_that_fits_need_not_be_given(tmp_path):
    top = nd.models.RigidBody(J=(1.0, 1.0, 0.5))
    start = top.state(Omega=(0.1, 0.2, 3.0))
    run = nd.simulate(top, start, t1=0.5, dt=0.1, out=tmp_path / "top.zarr")
    assert nd.load(tmp_path / "top.zarr", top).method == run.method
    whole = nd.simulate(top, start, t1=1.0, dt=0.1)
    np.testing.assert_array_equal(nd.resume(tmp_path / "top.zarr", top, t1=1.0).final.mu, whole.final.mu)
    nd.simulate(top, start, t1=0.5, dt=0.1, method=nd.RK4(), out=tmp_path / "other.zarr")
    with pytest.raises(nd.InputError, match="was made with the method"):
        nd.load(tmp_path / "other.zarr", top)
    many = nd.simulate_many(top, [start, start], t1=0.5, dt=0.1, out=tmp_path / "many.zarr")
    same = nd.load_many(tmp_path / "many.zarr", top)
    np.testing.assert_array_equal(same.dataset["Pi"], many.dataset["Pi"])


def test_the_result_of_a_study_goes_on(tmp_path):
    study = studies.find("rigid-body")(t1=1.0)
    findings = study.run(Progress())
    assert findings.dataset is not None
    io.write(findings.dataset(), tmp_path / "result.zarr")
    run = nd.load(tmp_path / "result.zarr", nd.models.RigidBody(study.J), METHOD)
    assert run.outcome is nd.Outcome.COMPLETED
    longer, whole = nd.resume(run, t1=1.5), studies.find("rigid-body")(t1=1.5).run(Progress())
    np.testing.assert_array_equal(longer.final.mu, whole.results["Pi"])
    io.write(run.record[["Pi"]].drop_attrs(), tmp_path / "rows.zarr")
    with pytest.raises(nd.InputError, match=r"holds arrays, but not one run .*naiad\.io\.read reads the arrays"):
        nd.load(tmp_path / "rows.zarr", BODY, METHOD)


def test_a_second_run_on_one_output_is_refused(tmp_path):
    refusals = []

    def also(fraction):
        if not refusals:
            with pytest.raises(nd.InputError) as refused:
                nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr", overwrite=True)
            refusals.append(str(refused.value))

    first = nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr", overwrite=True, progress=also)
    assert f"another run is writing to {tmp_path}/run.zarr.partial now (process {os.getpid()} on " in refusals[0]
    assert os.listdir(tmp_path) == ["run.zarr"]
    np.testing.assert_array_equal(first.states.mu, nd.simulate(BODY, START, **OPTIONS).states.mu)


LONG = """
import resource, sys
import naiad as nd
if int(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
print("ready", flush=True)
nd.simulate(body, body.state(Pi=(0.7, 0.8, -1.5)), t1=1e6, dt=0.01, save_every=100, out=sys.argv[1], progress=False)
"""


def long_run(path, file_size=0):
    command = [sys.executable, "-c", LONG, str(path), str(file_size)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def goes_on_as_if_it_had_not_stopped(partial):
    left = nd.load(partial, BODY, METHOD)
    assert left.outcome is nd.Outcome.UNFINISHED
    assert "killed, or its disk was full" in left.ending
    assert "of 1e+06 s" in repr(left)
    assert left.attrs["t1"] == 1e6
    assert left.attrs["t"] < 1e6
    assert left.statistics["steps"] == left.attrs["node"] == round(left.attrs["t"] / 0.01)
    end = left.attrs["t"] + 1.0
    whole = nd.simulate(BODY, START, t1=end, dt=0.01, save_every=100)
    np.testing.assert_array_equal(left.states.mu, whole.states.mu[: len(left.t)])
    np.testing.assert_array_equal(nd.resume(left, t1=end).final.mu, whole.final.mu)
    return left


def committed_rows(partial):
    return json.loads((partial / "zarr.json").read_text())["attributes"]["naiad_layout"]["lengths"]["time"]


@pytest.mark.parametrize("rows", [1, 2])
def test_a_killed_run_says_that_it_did_not_end(tmp_path, rows):
    process, partial = long_run(tmp_path / "run.zarr"), tmp_path / "run.zarr.partial"
    while not partial.exists() or committed_rows(partial) < rows:
        time.sleep(0.01)
        assert process.poll() is None
    with pytest.raises(nd.InputError, match=rf"another run is writing .*\(process {process.pid} on"):
        nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr", overwrite=True)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    left = goes_on_as_if_it_had_not_stopped(partial)
    assert len(left.t) >= rows
    with pytest.raises(nd.InputError, match="holds what an interrupted run wrote"):
        nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr")
    nd.simulate(BODY, START, **OPTIONS, out=tmp_path / "run.zarr", overwrite=True)
    assert os.listdir(tmp_path) == ["run.zarr"]


def test_a_full_disk_says_that_the_run_did_not_end(tmp_path):
    process = long_run(tmp_path / "run.zarr", 100_000)
    _, errors = process.communicate(timeout=100)
    assert "cannot write" in errors
    assert "File too large; what was written before is at" in errors
    goes_on_as_if_it_had_not_stopped(tmp_path / "run.zarr.partial")
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY  # of this process


@pytest.mark.parametrize("name", ["outcome", "t", "steps", "system", "carry", "monitors", "noise", "naiad_layout"])
@pytest.mark.parametrize("reseal", [True, False])
def test_a_missing_attribute_is_damage(copied, name, reseal):
    edited(copied, lambda attributes: attributes.pop(name), reseal)
    with pytest.raises(nd.InputError, match=r"is damaged|holds arrays, but not one run"):
        nd.load(copied, BODY, METHOD)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("dt", "0.01", r"dt is '0\.01'; expected a finite number above 0"),
        ("dt", float("nan"), r"dt is nan; expected"),
        ("dt", -1.0, r"dt is -1\.0; expected"),
        ("t", None, r"t is None; expected a finite number"),
        ("node", 1.5, r"node is 1\.5; expected a whole number"),
        ("steps", 10**6, r"more steps than nodes"),
        ("outcome", "FINE", r"outcome is 'FINE'; expected one of COMPLETED"),
        ("carry", [1.0], r"its carry is not one of Variational"),
        ("carry", "x", r"carry is 'x'; expected a list"),
        ("noise", {"seed": "-1", "used": 0}, r"noise is .*; expected a seed"),
        ("monitors", {"energy": [1.0]}, r"monitors is .*; expected 7 numbers"),
        ("reconstruct", "no", r"reconstruct is 'no'; expected true or false"),
        ("naiad_format", -1, r"its format is -1"),
        ("naiad_format", True, r"its format is True"),
    ],
)
def test_an_attribute_that_cannot_be_is_refused(copied, name, value, words):
    edited(copied, lambda attributes: attributes.update({name: value}), reseal=True)
    with pytest.raises(nd.InputError, match=rf"is damaged \(.*{words}"):
        nd.load(copied, BODY, METHOD)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a["carry"][0][0].__setitem__(0, 0.5),
        lambda a: a["naiad_layout"]["lengths"].update(time=-3),
        lambda a: a["naiad_layout"]["lengths"].update(time=10**15),
        lambda a: a["parameters"]["system"].update(J=[[9.0, 0, 0], [0, 2.0, 0], [0, 0, 3.0]]),
        lambda a: a.update(naiad_format=1),
        lambda a: a.update(dt=0.02),
    ],
)
def test_an_edit_is_seen(copied, change):
    edited(copied, change)
    with pytest.raises(nd.InputError, match="its attributes were changed after naiad wrote them"):
        nd.load(copied, BODY, METHOD)


@pytest.mark.parametrize(("key", "value"), [("shape", [20, 3]), ("shape", [21, 4]), ("fill_value", 1.0)])
def test_an_edit_of_an_array_is_seen(copied, key, value):
    node = json.loads((copied / "Pi" / "zarr.json").read_text())
    (copied / "Pi" / "zarr.json").write_text(json.dumps(node | {key: value}))
    with pytest.raises(nd.InputError, match="is damaged"):
        np.array(nd.load(copied, BODY, METHOD).states.mu)


@pytest.mark.parametrize("rows", [40, 10**12])
def test_what_lies_beyond_the_committed_rows_does_not_count(copied, saved, rows):
    for name in ("Pi", "R", "time"):
        node = json.loads((copied / name / "zarr.json").read_text())
        (copied / name / "zarr.json").write_text(json.dumps(node | {"shape": [rows, *node["shape"][1:]]}))
    np.testing.assert_array_equal(nd.load(copied, BODY, METHOD).states.mu, saved[1].states.mu)
    if rows == 40:
        np.testing.assert_array_equal(io.open_lazily(copied)["Pi"], saved[1].states.mu)
    else:
        with pytest.raises(nd.InputError, match="does not fit into memory, or is damaged"):
            io.open_lazily(copied)


def as_format_1(attributes):
    for name in ("naiad_checksum", "parameters", "t1"):
        del attributes[name]
    del attributes["statistics"]["turn_max"]
    del attributes["naiad_layout"]["arrays"]
    attributes["naiad_format"] = 1


def test_a_run_of_the_first_format_loads_with_a_warning(copied, saved):
    edited(copied, as_format_1)
    with pytest.warns(nd.RunWarning, match="written by an older naiad, without the parameters"):
        old = nd.load(copied, BODY, METHOD)
    np.testing.assert_array_equal(nd.resume(old, t1=3.0).final.mu, nd.resume(saved[1], t1=3.0).final.mu)
    with pytest.raises(nd.InputError, match=r"made with the method Variational\(.*, but RK4"):
        nd.load(copied, BODY, nd.RK4())


JUNK = [
    None,
    -1,
    0,
    1,
    10**12,
    2.5,
    1e300,
    float("nan"),
    float("-inf"),
    "x",
    "",
    [],
    {},
    [[]],
    True,
    {"a": 1},
    "C" * 999,
]


def somewhere(rng, node):
    """A container within a tree of JSON, and a key of it."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return None
        key = keys[rng.integers(len(keys))]
        inner = node[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
            node = inner
            continue
        return node, key


def spoil(rng, path, reseal):
    """One change of a store: of its JSON, of bytes, or of files."""
    files = sorted(each for each in path.rglob("*") if each.is_file())
    chosen = files[rng.integers(len(files))]
    if reseal or (chosen.name == "zarr.json" and rng.random() < 0.7):
        chosen = path / "zarr.json" if reseal else chosen
        node = json.loads(chosen.read_text())
        found = somewhere(rng, node["attributes"] if reseal else node)
        if found is not None:
            holder, key = found
            if rng.random() < 0.3:
                del holder[key]
            else:
                holder[key] = JUNK[rng.integers(len(JUNK))]
        chosen.write_text(json.dumps(node))
        if reseal:
            edited(path, lambda attributes: None, reseal=True)
        return
    content = bytearray(chosen.read_bytes())
    match rng.integers(5):
        case 0:
            chosen.unlink()
        case 1:
            chosen.write_bytes(content[: rng.integers(len(content) + 1)])
        case 2:
            content[rng.integers(len(content))] ^= 1 << rng.integers(8)
            chosen.write_bytes(content)
        case 3:
            chosen.write_bytes(rng.bytes(len(content)))
        case 4:
            chosen.unlink()
            chosen.mkdir()


def fuzzed(saved, tmp_path, seed):
    path, run = saved
    rng = np.random.default_rng(seed)
    copy, reseal = tmp_path / f"{seed}.zarr", bool(rng.random() < 0.4)
    shutil.copytree(path, copy)
    spoil(rng, copy, reseal)
    try:
        loaded = nd.load(copy, BODY, METHOD)
        onward = nd.resume(loaded, t1=2.05, progress=False)
    except nd.InputError:
        return False
    finally:
        shutil.rmtree(copy)
    if not reseal:
        np.testing.assert_array_equal(loaded.states.mu, run.states.mu)
        np.testing.assert_array_equal(loaded.g, run.g)
        assert loaded.attrs == run.attrs
        np.testing.assert_array_equal(onward.final.mu, nd.resume(run, t1=2.05).final.mu)
    return True


@pytest.mark.filterwarnings("ignore::naiad.errors.RunWarning")
def test_a_spoiled_file_is_refused_or_right(saved, tmp_path):
    refused = sum(not fuzzed(saved, tmp_path, seed) for seed in range(150))
    assert 60 < refused < 150


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::naiad.errors.RunWarning")
def test_many_spoiled_files_are_refused_or_right(saved, tmp_path):
    for seed in range(1000, 3000):
        fuzzed(saved, tmp_path, seed)
