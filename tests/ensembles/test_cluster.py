"""Ensembles on the workers of a Dask scheduler."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
from distributed import Client, LocalCluster

import naiad as nd
from naiad.ensembles import Each, Mean, Quantiles, Variance, many
from naiad.errors import InputError, RunError
from tests.ensembles.comparison import same

BODY = nd.models.RigidBody(J=(1.1, 2.3, 3.0))
CASES = nd.sample(40, seed=3, spin=(0.9, 1.1), tilt=(0.0, 0.1))
STATES = CASES.build(lambda spin, tilt: BODY.state(Omega=(tilt, spin, 0.05)))
OPTIONS = {
    "t1": 150.005,
    "dt": 0.002,
    "save_every": 1500,
    "sections": {"y": nd.Section(lambda state, t: state.g[1, 1])},
}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(many, "LEAST_BLOCK", 4)
    monkeypatch.setattr(many, "LARGEST_BLOCK", 4)


REDUCE = {
    "mean": Mean("Pi"),
    "spread": Variance("energy", times=True),
    "middle": Quantiles("Pi", [0.25, 0.5]),
    "last": Each(lambda times, states: states.mu[-1]),
}


def test_the_result_is_that_of_one_process(client, tmp_path):
    alone = nd.simulate_many(BODY, STATES, cases=CASES, **OPTIONS)
    shared = nd.simulate_many(BODY, STATES, cases=CASES, out=tmp_path / "runs.zarr", client=client, **OPTIONS)
    same(shared, alone)
    assert len(alone.crossings["y"]["time"]) > 100


def test_statistics_and_objects(client, tmp_path):
    options = OPTIONS | {"t1": 2.0, "save_every": 100, "cases": CASES}
    alone = nd.simulate_many(BODY, STATES, **options)
    url = f"file://{tmp_path}/objects/runs.zarr"
    same(nd.simulate_many(BODY, STATES, out=url, client=client, **options), alone)
    few = nd.simulate_many(BODY, STATES, reduce=REDUCE, **options)
    shared = nd.simulate_many(BODY, STATES, reduce=REDUCE, client=client, **options)
    stored = nd.simulate_many(BODY, STATES, reduce=REDUCE, out=url, overwrite=True, client=client, **options)
    for other in (shared, stored):
        assert other.reduced.identical(few.reduced)
        same(other, few)
    with pytest.raises(RunError, match=r"another place than this process sees at memory://runs.zarr; give one that"):
        nd.simulate_many(BODY, STATES, out="memory://runs.zarr", client=client, **options)


@contextlib.contextmanager
def killed_workers(address, job, kills, seconds):
    """Workers of a scheduler that are killed at random moments; gives a list that gets a line for each."""
    script, killed = Path(__file__).with_name("worker_nursery.py"), []
    command = [sys.executable, script, address, job, "2", str(kills), str(seconds), "5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        listener = threading.Thread(target=lambda: killed.extend(nursery.stdout))
        listener.start()
        try:
            yield killed
        finally:
            nursery.stdin.close()
            listener.join()


@pytest.mark.parametrize("kills", [12, pytest.param(100, marks=pytest.mark.long)])
def test_workers_are_killed_at_any_moment(tmp_path, monkeypatch, kills):
    monkeypatch.setattr("naiad.ensembles.cluster.TIMEOUT", 60.0)  # that there may be no worker on a busy machine
    options = {"t1": 60.005, "dt": 0.002, "save_every": 300, "sections": OPTIONS["sections"]}
    method = nd.Variational()
    alone = nd.simulate_many(BODY, STATES, method=method, cases=CASES, **options)
    (tmp_path / "job").write_bytes(cloudpickle.dumps(alone.job.part(0, 4)))

    def go_on(path, client):
        with contextlib.suppress(RunError):  # where a block was lost too often for Dask: the next one goes on with it
            if path.with_name(path.name + ".partial").is_dir():
                nd.resume_many(path, BODY, method, sections=options["sections"], client=client)
            else:
                nd.simulate_many(BODY, STATES, method=method, cases=CASES, out=path, client=client, **options)

    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        killed_workers(cluster.scheduler_address, tmp_path / "job", kills, 0.3) as killed,
    ):
        number = 0
        while len(killed) < kills:
            path = tmp_path / f"runs{number}.zarr"
            while not path.is_dir():
                go_on(path, client)
            same(nd.load_many(path, BODY, method, sections=options["sections"]), alone)
            number += 1
    assert len(killed) == kills


def test_a_class_that_workers_cannot_import_goes_with_the_task(client, tmp_path):
    class Mass(nd.LagrangianSystem):
        m: float
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * self.m * v @ v - 0.5 * q @ q

    systems = [Mass(m=m) for m in np.linspace(1.0, 2.0, 6)]
    state = systems[0].state(q=[1.0])
    shared = nd.simulate_many(systems, state, t1=1.0, dt=0.01, out=tmp_path / "runs.zarr", client=client)
    same(shared, nd.simulate_many(systems, state, t1=1.0, dt=0.01))


def test_bad_input(client, tmp_path, monkeypatch):
    monkeypatch.setattr("naiad.ensembles.cluster.TIMEOUT", 0.5)
    options = {"t1": 1.0, "dt": 0.1}
    with pytest.raises(InputError, match="give a place that they share as out="):
        nd.simulate_many(BODY, STATES, client=client, **options)
    with pytest.raises(InputError, match="client and scheduler are both given"):
        nd.simulate_many(BODY, STATES, client=client, scheduler="tcp://x", out=tmp_path / "a.zarr", **options)
    with pytest.raises(InputError, match=r"scheduler tcp://127.0.0.1:1: no scheduler answers there"):
        nd.simulate_many(BODY, STATES, scheduler="tcp://127.0.0.1:1", out=tmp_path / "b.zarr", **options)
    assert not os.listdir(tmp_path)

    def interrupt(fraction):
        raise KeyboardInterrupt

    method = nd.Variational()
    with pytest.raises(RunError, match="the ensemble was interrupted"):
        nd.simulate_many(BODY, STATES, method=method, out=tmp_path / "c.zarr", progress=interrupt, **options)
    with pytest.raises(InputError, match=r"scheduler tcp://127.0.0.1:1: no scheduler answers there"):
        nd.resume_many(tmp_path / "c.zarr", BODY, method, scheduler="tcp://127.0.0.1:1")


class Refusing(nd.LagrangianSystem):
    """Which cannot be sent."""

    law: object
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - self.law(q)


def test_a_system_that_cannot_be_sent(client, tmp_path):
    lock = threading.Lock()
    system = Refusing(law=lambda q: (q @ q) if lock is not None else 0.0)
    with pytest.raises(InputError, match=r"cannot be sent to the workers \(TypeError: .*lock"):
        nd.simulate_many(system, [system.state(q=[1.0])] * 2, t1=1.0, dt=0.1, out=tmp_path / "a.zarr", client=client)
