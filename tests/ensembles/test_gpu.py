"""Ensembles on GPUs that are made up: what comes back is what comes back from the processor."""

import numpy as np
import pytest

import naiad as nd
from naiad.compiler import compiled as compiling
from naiad.compiler import device as placing
from naiad.compiler.backends.cuda import kernel
from naiad.ensembles import block as blocks
from naiad.ensembles import drive
from naiad.errors import DeviceError, InputError, RunError, RunWarning
from tests.compiler.host_cuda import COMPILER, HostCUDA, HostDevice

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C++")
VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))


@pytest.fixture
def devices(monkeypatch):
    """Two devices."""
    from naiad.compiler import engine

    made = HostDevice(0), HostDevice(1)
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    monkeypatch.setattr(compiling, "gpu_backend", lambda remember: HostCUDA(host=made))
    monkeypatch.setattr(kernel, "SHARE", 16)
    engine._compiled.cache_clear()
    placing._warn.cache_clear()
    yield made
    engine._compiled.cache_clear()


def starts(count):
    momenta = np.array([2.0, -0.4, -0.9]) + 0.1 * np.random.default_rng(5).standard_normal((count, 3))
    return [VEHICLE.state(Pi=Pi, p=(4.4, -0.2, -1.1)) for Pi in momenta]


def energy(state, t):
    return VEHICLE.energy(state, t)


def near(one, other, tolerance=1e-11):
    """Ensembles that differ by round-off."""
    for known in ("arrays", "met"):
        mine, its = getattr(one, known), getattr(other, known)
        assert set(mine) == set(its)
        for name, (dims, values) in mine.items():
            assert dims == its[name][0]
            a, b = np.asarray(values), np.asarray(its[name][1])
            assert (a.shape, a.dtype) == (b.shape, b.dtype), name
            size = np.max(np.abs(a[np.isfinite(a)]), initial=1.0) if a.dtype == float else 0.0
            np.testing.assert_allclose(b, a, rtol=0.0, atol=tolerance * size, err_msg=name)


def test_the_state_stays_there_between_chunks(devices):
    """Saved nodes, outputs at a cadence of their own, crossings, monitors; a shorter last step; some chunks."""
    options = {
        "t1": 60.03, "dt": 0.1, "method": nd.Splitting(2, "top"), "reconstruct": False, "save_every": 7,
        "sections": {"p_z": nd.Section(lambda s, t: s.mu[5], 0)}, "monitors": {"energy": energy},
        "outputs": {"first": lambda s, t: s.mu[0] + t}, "output_every": 3,
    }  # fmt: skip
    here, there = (nd.simulate_many(VEHICLE, starts(37), device=device, **options) for device in ("cpu", "gpu"))
    near(here, there)
    assert len(there[3].crossings["p_z"]["time"]) > 3
    assert all(len(device.launches) >= 6 for device in devices)
    started = 37 * 8 * (9 + 3 + 6)  # bytes of the states, of which there is one copy
    sent, chunks = sum(device.uploaded for device in devices), len(devices[0].launches)
    assert sent < 3 * started + chunks * 64 * 8 * 4, "after that, where each run is to stop"
    near(here, there)
    np.testing.assert_allclose(there.energy.to_numpy(), here.energy.to_numpy(), rtol=1e-12)


def test_runs_with_numbers_of_their_own_and_noise(devices):
    disks = [nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7 + 0.1 * k) for k in range(5)]
    options = {
        "t1": [0.5, 0.6, 0.75, 0.5, 0.8], "dt": 0.01, "method": nd.StochasticVariational(), "save_every": 10,
        "noise": nd.Noise(3), "states": [disk.state() for disk in disks],
    }  # fmt: skip
    here, there = (nd.simulate_many(disks, device=device, **options) for device in ("cpu", "gpu"))
    near(here, there)
    assert np.ptp(np.asarray(there.arrays["t_end"][1])) > 0.2


def test_a_device_that_is_lost_on_the_way(devices, monkeypatch):
    launches = HostDevice.mark

    def mark(device):
        device.lost = len(device.launches) > 2
        launches(device)

    options = {"t1": 40.0, "dt": 0.1, "save_every": 100}
    here = nd.simulate_many(VEHICLE, starts(20), **options)
    monkeypatch.setattr(HostDevice, "mark", mark)
    with pytest.raises(DeviceError, match="the GPU is lost"):
        nd.simulate_many(VEHICLE, starts(20), device="gpu", **options)
    for device in devices:
        device.lost = False
        device.launches.clear()
    with pytest.warns(RunWarning, match="the GPU is lost"):
        there = nd.simulate_many(VEHICLE, starts(20), device="auto", **options)
    near(here, there, 0.0)


def test_which_device_is_asked_for(devices, monkeypatch):
    options = {"t1": 0.3, "dt": 0.1}
    nd.simulate_many(VEHICLE, starts(3), **options)
    assert not devices[0].launches
    monkeypatch.setenv("NAIAD_DEVICE", "gpu")
    nd.simulate_many(VEHICLE, starts(3), **options)
    assert devices[0].launches
    monkeypatch.setenv("NAIAD_DEVICE", "abacus")
    with pytest.raises(InputError, match="device = 'abacus'; expected one of 'cpu', 'gpu', 'auto'"):
        nd.simulate_many(VEHICLE, starts(3), **options)


def test_an_interrupted_ensemble_goes_on_where_it_is_told_to(devices, tmp_path):
    options = {"t1": 60.0, "dt": 0.1, "save_every": 100, "method": nd.Splitting(2, "top"), "reconstruct": False}

    def interrupt(fraction):
        raise KeyboardInterrupt

    with pytest.raises(RunError, match="the ensemble was interrupted"):
        nd.simulate_many(VEHICLE, starts(3), out=tmp_path / "runs.zarr", progress=interrupt, **options)
    assert not devices[0].launches
    there = nd.resume_many(tmp_path / "runs.zarr", VEHICLE, options["method"], device="gpu", progress=False)
    assert devices[0].launches
    near(nd.simulate_many(VEHICLE, starts(3), **options), there)


def test_runs_that_go_together_take_as_many_steps(devices, monkeypatch):
    """Once the rows of one are full, all stop where it does: threads that go together wait for the one that takes the
    most."""
    monkeypatch.setattr(blocks, "FIRST_STEPS", 8)
    monkeypatch.setattr(drive, "ROOMS", {})
    monkeypatch.setattr(drive, "LEAST_ROOM", 40)
    nodes, advanced = [np.zeros(2, int)], blocks._advanced

    def watched(job, leg, block, standing, filled):
        nodes.append(np.asarray(standing.node))
        return advanced(job, leg, block, standing, filled)

    monkeypatch.setattr(blocks, "_advanced", watched)
    options = {"method": nd.Splitting(2, "top"), "reconstruct": False, "save_every": [1, 4], "device": "gpu"}
    nd.simulate_many(VEHICLE, starts(2), t1=80.0, dt=0.1, **options)
    taken = np.diff(nodes, axis=0)
    full = int(np.argmax(taken[:, 0] != taken[:, 1]))
    assert taken[full, 0] == 40 < taken[full, 1]
    assert np.max(taken[full + 2 :]) <= 40
