"""Ensembles on the workers of a Dask scheduler."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client, LocalCluster  # pyright: ignore[reportMissingImports]

import naiad as nd
from naiad.ensembles import many
from naiad.errors import InputError
from tests.ensembles.comparison import same

BODY = nd.models.RigidBody(J=(1.1, 2.3, 3.0))
CASES = nd.sample(40, seed=3, spin=(0.9, 1.1), tilt=(0.0, 0.1))
STATES = CASES.build(lambda spin, tilt: BODY.state(Omega=(tilt, spin, 0.05)))
OPTIONS = {
    "t1": 300.005,
    "dt": 0.002,
    "save_every": 3000,
    "sections": {"y": nd.Section(lambda state, t: state.g[1, 1])},
}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(many, "LEAST_BLOCK", 4)
    monkeypatch.setattr(many, "LARGEST_BLOCK", 4)


def kill_one(client, alive):
    """A worker, as soon as it does something."""
    while alive.is_set():
        busy = [address for address, tasks in client.processing().items() if tasks]
        if busy:
            pid = client.run(os.getpid, workers=busy[:1])
            os.kill(next(iter(pid.values())), signal.SIGKILL)
            return
        time.sleep(0.01)


def test_the_result_is_that_of_one_process_also_when_a_worker_is_killed(client, tmp_path):
    alone = nd.simulate_many(BODY, STATES, cases=CASES, **OPTIONS)
    shared = nd.simulate_many(BODY, STATES, cases=CASES, out=tmp_path / "runs.zarr", client=client, **OPTIONS)
    same(shared, alone)
    assert len(alone.crossings["y"]["time"]) > 100
    alive = threading.Event()
    alive.set()
    killer = threading.Thread(target=kill_one, args=(client, alive))
    before = set(client.scheduler_info()["workers"])
    killer.start()
    again = nd.simulate_many(BODY, STATES, cases=CASES, out=tmp_path / "again.zarr", client=client, **OPTIONS)
    alive.clear()
    killer.join()
    same(again, alone)
    client.wait_for_workers(2, timeout=30)
    assert set(client.scheduler_info()["workers"]) != before


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


def test_bad_input(client, tmp_path):
    options = {"t1": 1.0, "dt": 0.1}
    with pytest.raises(InputError, match="give a place that they share as out="):
        nd.simulate_many(BODY, STATES, client=client, **options)
    with pytest.raises(InputError, match="client and scheduler are both given"):
        nd.simulate_many(BODY, STATES, client=client, scheduler="tcp://x", out=tmp_path / "a.zarr", **options)
    with pytest.raises(InputError, match=r"scheduler tcp://127.0.0.1:1: no scheduler answers there"):
        nd.simulate_many(BODY, STATES, scheduler="tcp://127.0.0.1:1", out=tmp_path / "b.zarr", **options)
    assert not os.listdir(tmp_path)


class Refusing(nd.LagrangianSystem):
    """Which cannot be sent."""

    law: object
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - self.law(q)  # pyright: ignore[reportCallIssue]


def test_a_system_that_cannot_be_sent(client, tmp_path):
    lock = threading.Lock()
    system = Refusing(law=lambda q: (q @ q) if lock is not None else 0.0)
    with pytest.raises(InputError, match=r"cannot be sent to the workers \(TypeError: .*lock"):
        nd.simulate_many(system, [system.state(q=[1.0])] * 2, t1=1.0, dt=0.1, out=tmp_path / "a.zarr", client=client)
