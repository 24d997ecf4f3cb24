"""Runs that are killed at random moments and resumed, until they end: in processes forked from one that has compiled.

Called with a folder, how many kills there shall be at least, and a seed; prints how many there were, how many of them
in runs that had been killed before, and how often each case was resumed beyond its first node, at least twice. It fails
if a record is in the end not, byte for byte, that of a run that was not stopped. Then some are sent SIGTERM, and one
that was killed is left in the folder.
"""

import json
import os
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.io import layout
from naiad.io import writer as limits
from naiad.io.store import committed
from naiad.simulation import drive


class Top(nd.LagrangianSystem):
    """A heavy top in a bath: with noise."""

    group = nd.SO3()
    mgl: float = 1.0
    temperature: float = 0.3

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ (jnp.array([1.0, 1.5, 2.0]) * Omega) - self.mgl * R[2, 2]

    def dissipation(self, R, t):
        return 0.05 * jnp.eye(3)


BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
TOP = Top()
WATCHED = {
    "outputs": {"whole": BODY.energy, "both": lambda state, t: jnp.stack([state.mu[0], t])},
    "monitors": {"energy": BODY.energy, "tilt": lambda state, t: state.g[2, 2]},
    "sections": {
        "up": nd.Section(lambda state, t: state.mu[0]),
        "both": nd.Section(lambda state, t: state.mu[1], direction=0, pairs=True),
    },
}
END = {"sections": {"end": nd.Section(lambda state, t: t - 20010.0003, terminal=True)}}
NOISY = {"outputs": {"whole": TOP.energy}, "monitors": {"energy": TOP.energy}}
START = BODY.state(Pi=(0.7, 0.8, -1.5))
CASES = {
    "watched": (BODY, START, {"t1": 1800.0037, "save_every": 7, "output_every": 3}, WATCHED, nd.Variational()),
    "ended": (BODY, START, {"t1": 45000.0, "save_every": 1000}, END, nd.RK4()),
    "noisy": (
        TOP,
        TOP.state(R=(0.1, 0.2, 0.3), Omega=(0.3, 0.2, 2.0)),
        {"t1": 1800.005, "save_every": 55, "noise": nd.Noise(5)},
        NOISY,
        nd.StochasticVariational(),
    ),
    "alone": (BODY, START, {"t1": 10000.0, "save_every": 80, "reconstruct": False}, {}, nd.Variational()),
}


def begin(case, out, progress=False):
    """The run, from its beginning."""
    system, state, options, parts, method = CASES[case]
    return nd.simulate(system, state, dt=0.01, method=method, **options, **parts, out=out, progress=progress)


def go_on(case, out):
    """The run, from where it was ended."""
    system, _, _, parts, method = CASES[case]
    return nd.resume(out, system, method, **parts, progress=False)


def contents(folder):
    """Every file of a store, but for the lock."""
    return {
        str(f.relative_to(folder)): f.read_bytes()
        for f in sorted(folder.rglob("*"))
        if f.is_file() and f.name != ".lock"
    }


def child(work):
    """The process number of a fork that does some work and ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX: forks and threads
        pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except SystemExit as ended:
            os._exit(ended.code)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return pid


def killed(pid, seconds, number=signal.SIGKILL):
    """How a process ended that was sent a signal after so many seconds."""
    time.sleep(seconds)
    os.kill(pid, number)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def survive(folder, case, rng, found, seconds):
    """Begin a run, and kill and resume it until it ends."""
    out = folder / f"{case}-{found['kills']}.zarr"
    partial = out.with_name(out.name + ".partial")
    while not out.exists():
        resumes = partial.exists()
        found["on the way"][case] += resumes and committed(partial)[0]["node"] > 0
        pid = child(lambda: go_on(case, out) if partial.exists() else begin(case, out))
        code = killed(pid, rng.uniform(0.0, seconds))
        assert code in (0, -signal.SIGKILL), (case, code)
        found["kills"] += code != 0
        found["later"] += resumes and code != 0
    return out


def whole(folder, case):
    """The files of a run that was not stopped, and how long it takes to begin it and to go on."""
    begin(case, folder / "first.zarr")  # compiles
    begun = time.perf_counter()
    begin(case, folder / f"{case}.zarr")
    shutil.move(folder / "first.zarr", folder / "first.zarr.partial")
    go_on(case, folder / "first.zarr")
    taken = time.perf_counter() - begun
    shutil.rmtree(folder / "first.zarr")
    return contents(folder / f"{case}.zarr"), taken


def equal(out, expected):
    """Refuse a store that has not these files."""
    found = contents(out)
    different = [name for name in {**found, **expected} if found.get(name) != expected.get(name)]
    assert not different, (out.name, different)


def sent(number, share):
    """Tells a run how far it has come, and sends its process a signal when that is far enough."""

    def tell(fraction):
        if fraction > share:
            os.kill(os.getpid(), number)

    return tell


def terminated(folder, case, share, expected):
    """The share that was kept of a run that is sent SIGTERM on its way, and that had written nothing until then."""
    out = folder / f"{case}-terminated.zarr"
    limits.FLUSH_SECONDS = 1e9
    _, status = os.waitpid(child(lambda: begin(case, out, sent(signal.SIGTERM, share))), 0)
    limits.FLUSH_SECONDS = 0.02
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGTERM
    kept = committed(out.with_name(out.name + ".partial"))[0]
    assert kept["outcome"] == "UNFINISHED"
    go_on(case, out)
    equal(out, expected)
    shutil.rmtree(out)
    return kept["t"] / kept["t1"]


def main(folder, kills, seed):
    """Kill runs of all cases in turn."""
    limits.FLUSH_SECONDS = 0.02
    drive.CHUNK_SECONDS = 0.01
    layout.CHUNK_ROWS = 512
    os.fsync = lambda descriptor: None  # a kill leaves the disk alone
    rng, found = (
        np.random.default_rng(seed),
        {"kills": 0, "later": 0, "ended": 0, "on the way": dict.fromkeys(CASES, 0)},
    )
    wholes = {case: whole(folder, case) for case in CASES}
    while found["kills"] < kills or min(found["on the way"].values()) < 2:
        for case, (expected, seconds) in wholes.items():
            out = survive(folder, case, rng, found, seconds)
            equal(out, expected)
            found["ended"] += 1
            shutil.rmtree(out)
    kept = [terminated(folder, "watched", share, wholes["watched"][0]) for share in (0.3, 0.8)]
    limits.FLUSH_SECONDS = 0.0  # a fast machine is there before anything would be written
    _, status = os.waitpid(child(lambda: begin("noisy", folder / "left.zarr", sent(signal.SIGKILL, 0.4))), 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    print(json.dumps(found | {"terminated": kept}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
