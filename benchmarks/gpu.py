"""GPUs beside the cores of the same machine: rates of ensembles, sections, chains and strings, the time to compile, and
every program of the verification on both.

python -m benchmarks.gpu                # the table
python -m benchmarks.gpu many           # an ensemble with 5e7 crossings, by `simulate_many` itself
python -m benchmarks.gpu many cpu       # fewer of them, on the cores
python -m benchmarks.gpu check [PART]   # the programs of the verification, those with PART in their name
python -m benchmarks.gpu once NAME [THREADS BLOCKS]   # one launch of a program of the table, for a profiler
"""

import contextlib
import multiprocessing
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from typing import Any, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # JAX only traces here, and would take most of a GPU's memory

import jax
import numpy as np

import naiad as nd
import naiad.compiler.compiled
from benchmarks.compare import cores, table
from benchmarks.wasm import HeavyTop
from naiad.compiler import Compiled
from naiad.compiler.backends import Backend, default_backend
from naiad.compiler.backends.cuda.backend import CUDA
from naiad.diagnostics.watching import Energy
from naiad.ensembles.block import _advance, _brought, _locate, _start
from naiad.ensembles.family import family
from naiad.ensembles.job import Program
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Cadence

ORBITS, STEPS = 2**20, 10_000  # half a second, which is what a chunk of an ensemble takes
COPIES = 2**16
SECTION_ORBITS, T = 2**18, 1e4
PROCESSES = 14
CHECK_SECONDS = float(os.environ.get("CHECK_SECONDS", "600"))


class Work(NamedTuple):
    """Runs of a system: the program of their steps, where they start, and how long they go."""

    system: nd.LagrangianSystem
    states: nd.State
    method: Any
    h: float
    rows: int
    steps: int
    on_cpu: int  # rows that tell the rate of a core
    sections: dict[str, Any] = {}  # noqa: RUF012
    reconstruct: bool = True
    room: int = 64


def works() -> dict[str, Callable[[], Work]]:
    """What is measured, by name."""
    rng = np.random.default_rng(0)
    vehicle = nd.models.KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    top = HeavyTop(J=np.diag([1.0, 1.0, 0.5]), mgl=1.0)

    def some(one: Callable[[], nd.State], count: int = 256) -> nd.State:
        return jax.tree.map(lambda *leaves: np.stack(leaves), *(one() for _ in range(count)))

    def swimming() -> nd.State:
        return some(lambda: vehicle.state(Omega=0.3 * rng.normal(size=3), v=rng.normal(size=3)))

    def turning() -> nd.State:
        return some(lambda: body.state(Omega=rng.normal(size=3)))

    def leaning() -> nd.State:
        return some(lambda: top.state(R=top.group.exp(rng.normal(size=3)), Omega=3.0 * rng.normal(size=3)))

    variational = nd.Variational()
    return {
        "vehicle": lambda: Work(vehicle, swimming(), variational, 0.01, ORBITS, STEPS, 1024),
        "rigid-body": lambda: Work(body, turning(), variational, 0.01, ORBITS, STEPS, 2048),
        "heavy-top": lambda: Work(top, leaning(), variational, 0.01, ORBITS, STEPS, 2048),
        "vehicle-flv": lambda: Work(vehicle, swimming(), nd.FastLieVerlet(), 0.01, ORBITS, STEPS, 1024),
        "chain": chain,
        "string": string,
        "section": section,
    }


def chain() -> Work:
    """32 links."""
    from benchmarks.tree import chain, thermal

    system = chain(32)
    return Work(system, _near(thermal(system)), nd.TreeVariational(), 0.001, COPIES, 50, 64)


def string() -> Work:
    """100 elements, of a fixed length."""
    from benchmarks.string import moving

    system, state = moving(100, reel=False)
    return Work(system, _near(state), nd.StringVariational(), 1e-4, COPIES, 50, 64)


def section() -> Work:
    """The Kirchhoff equations, the momentum alone, with the crossings of p_z = 0."""
    from benchmarks.section import BODY, SPLITTINGS, p_z, starts

    method, h = SPLITTINGS[3e-8]
    first = BODY.state(mu=starts(1)[0])
    states = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (4096, *np.shape(leaf))), first)._replace(mu=starts(4096))
    crossing = {"p_z": nd.Section(p_z, pairs=True)}
    fitted = method.fitted(BODY, first, h)
    return Work(BODY, states, fitted, h, SECTION_ORBITS, round(T / h), 64, crossing, False, 64)


def _near(state: nd.State, count: int = 64) -> nd.State:
    """Copies, each with its momentum scaled a little."""
    copies = jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * count), state)
    return copies._replace(mu=copies.mu * (1 + 1e-3 * np.arange(count)[:, None] / count))


class Chunk:
    """A chunk of a work on a back end: all its steps, again and again from the start."""

    def __init__(self, work: Work, backend: Backend, rows: int, *, steps: int | None = None):
        kin, self.own, _ = family(work.system)
        self.work, self.rows = work, rows
        self.program = Program(kin, work.method, {}, {}, work.sections, work.reconstruct, False, work.room)
        self.backend = backend
        self.steps = steps or work.steps
        with jax.enable_x64(True):
            states = jax.tree.map(lambda leaf: np.resize(leaf, (rows, *leaf.shape[1:])), work.states)
            began = self._made(_start)
            self.standing, _, sound = began.batch(self.program, self.own, states, 0.0, work.h, shared=(0, 3, 4))
            assert np.all(sound)
        self.advance = self._made(_advance)
        self.locate = self._made(_locate)

    def _made(self, function: Callable[..., Any]) -> Compiled:
        return Compiled(function, parameters=(0,), backend=self.backend, cache=False)

    def run(self, standing: Any = None, stop: Any = None) -> Any:
        """The steps."""
        last = np.broadcast_to(self.steps if stop is None else stop, self.rows)
        given = (0.0, self.work.h, last, self.steps, Cadence(10**9), None)
        with jax.enable_x64(True):
            standing = self.standing if standing is None else standing
            return self.advance.batch(self.program, self.own, standing, *given, shared=(0, 3, 4, 6, 7, 8))

    def wait(self) -> None:
        """Until the devices are done."""
        for device in self.backend.devices() if isinstance(self.backend, CUDA) else ():
            device.wait()

    def seconds(self, rounds: int = 3) -> float:
        """The least of some rounds, after one that is not counted."""
        best, kept = np.inf, None
        for _ in range(rounds + 1):
            started = time.perf_counter()
            kept = self.run()
            self.wait()
            best = min(best, time.perf_counter() - started)
        del kept
        return best

    def rate(self, rounds: int = 3) -> float:
        """Steps of all rows in a second."""
        return self.rows * self.steps / self.seconds(rounds)

    def located(self, filled: Any) -> Any:
        """The crossings of a chunk."""
        with jax.enable_x64(True):
            return self.locate.batch(self.program, self.own, filled.passages, self.work.h, shared=(0, 3))["p_z"]

    def crossings(self) -> tuple[float, int, list[Any]]:
        """The seconds that all steps take with every crossing located, and how many; chunk by chunk, as ensembles do
        it, and kept where they are made."""
        standing, kept, node, most = self.standing, [], np.zeros(self.rows, int), self.steps
        started = time.perf_counter()
        while np.any((node < self.steps) & (np.asarray(standing.outcome) == Outcome.COMPLETED)):
            before, stop = node, np.minimum(node + most, self.steps)
            standing, filled = self.run(standing, stop)
            kept.append(self.located(filled))
            node = np.asarray(standing.node)
            if isinstance(self.backend, CUDA):
                most = min(most, max(int(np.min(node - before, where=node < stop, initial=most)), 256))
        self.wait()
        seconds = time.perf_counter() - started
        return seconds, sum(int(np.sum(rows.count)) for rows in kept), kept


@contextlib.contextmanager
def some_cores(count: int) -> Iterator[None]:
    """Keep the process on so many cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[-count:]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def on_cores(work: Work, count: int) -> float:
    """Steps in a second on so many cores."""
    with some_cores(count):
        return Chunk(work, default_backend(), count * work.on_cpu, steps=min(work.steps, 1000)).rate(1)


def cold(work: Work) -> dict[str, float]:
    """The seconds of each stage that make code of the first program."""
    chunk = Chunk(work, CUDA(remember=False), 64, steps=1)
    started = time.perf_counter()
    chunk.run()
    return {**chunk.advance.stats["seconds"], "all": time.perf_counter() - started}


def measure(names: list[str]) -> None:
    """The table."""
    devices = CUDA().devices()
    print(f"{len(devices)} x {devices[0].name}, {time.strftime('%Y-%m-%d')}, {cores()} cores")
    rows = []
    for name in names:
        work = works()[name]()
        if name == "section":
            print(section_line(work), flush=True)
            continue
        chunk = Chunk(work, CUDA(), work.rows)
        fast, one, two = chunk.rate(), on_cores(work, 1), on_cores(work, 2)
        kernel = next(iter(next(iter(chunk.advance._made.values())).entries.values())).kernel
        rows.append((name, fast, one, two, fast / one, fast / two, str(kernel._bounds)))
        print(rows[-1], flush=True)
        del chunk
    print(table(("work", "steps/s", "one core", "two cores", "times one", "times two", "bounds"), rows))
    print("cold compile of the vehicle:", {k: round(v, 2) for k, v in cold(works()["vehicle"]()).items()})


def section_line(work: Work) -> str:
    """Orbits a second, with all crossings."""
    from benchmarks.section import energy

    with some_cores(1):
        alone = Chunk(work, default_backend(), work.on_cpu)
        one = work.on_cpu / min(alone.crossings()[0] for _ in range(2))
    chunk = Chunk(work, CUDA(), work.rows)
    chunk.located(chunk.run()[1])  # which makes the code, and tries launch bounds
    seconds, count, kept = chunk.crossings()
    started = time.perf_counter()
    kept = [_brought(rows) for rows in kept]
    over = time.perf_counter() - started
    filled = np.arange(kept[0].rows.t.shape[1]) < kept[0].count[:, None]
    first = energy(np.resize(work.states.mu, (work.rows, 6)))[np.nonzero(filled)[0]]
    errors = energy(np.asarray(kept[0].rows.state.mu)[filled]) / first
    rate = work.rows / seconds
    return (
        f"section: {work.rows} orbits in {seconds:.2f} s, {count} crossings ({count / work.rows:.0f} an orbit), error "
        f"of energy {np.max(np.abs(errors - 1)):.1e}; {rate:.4g} orbits/s, one core {one:.4g}: {rate / one:.0f} times; "
        f"{over:.1f} s more bring them over"
    )


def many(device: Any, orbits: int, end: float) -> None:
    """The seconds of an ensemble with a section, from the call until every crossing is with its run."""
    work = section()
    states = jax.tree.map(lambda leaf: np.resize(leaf, (orbits, *leaf.shape[1:])), work.states)
    options: dict[str, Any] = {"dt": work.h, "method": work.method, "sections": work.sections, "save_every": 10**6}
    options |= {"reconstruct": False, "progress": False, "device": device}
    nd.simulate_many(work.system, states, t1=end / 10, **options)  # which makes the code
    for _ in range(3):
        started = time.perf_counter()
        ensemble = nd.simulate_many(work.system, states, t1=end, **options)
        seconds, count = time.perf_counter() - started, len(ensemble.met["crossing_run"][1])
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{orbits} orbits, {count} crossings: {seconds:.2f} s, {most:.1f} GB", flush=True)
        del ensemble


# -- the programs of the verification


def cases(part: str) -> list[tuple[str, str]]:
    """Problems and methods."""
    from tests.verification.methods import METHODS, takes
    from tests.verification.problems import PROBLEMS

    dear = {"free-body-so5": {"cay"}, "swimmer": {"cay", "rk4"}, "planets": {"nystrom4", "wisdom-holman2", "cay"}}
    every = [(p, m) for p in PROBLEMS for m in METHODS if takes(m, p) and m in dear.get(p, {m})]
    general = ("string", "string-reel", "string-inextensible", "tree")
    every = [(p, m) for p, m in every if p not in general or m.startswith(("tree", "string"))]
    return [(p, m) for p, m in every if part in f"{p}/{m}"]


def compared(case: tuple[str, str]) -> tuple[str, float, str]:
    """The largest difference between the processor and a GPU, relative to the size of each array, after 16 steps."""
    from tests.verification.methods import METHODS
    from tests.verification.problems import PROBLEMS

    naiad.compiler.compiled.gpu_backend = lambda remember: CUDA(remember=remember, bounds=((128, 2),))
    problem, method = PROBLEMS[case[0]], METHODS[case[1]]
    name = "/".join(case)
    states = _near(problem.state, 40)
    options: dict[str, Any] = {
        "t1": problem.t1 / 4, "dt": problem.t1 / 64, "method": method, "save_every": 3, "progress": False,
        "monitors": {"energy": Energy(problem.system)},
    }  # fmt: skip
    try:
        if method.noise_size(problem.system):
            options["noise"] = nd.Noise(seed=7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            here, there = (nd.simulate_many(problem.system, states, device=d, **options) for d in ("cpu", "gpu"))
    except Exception as error:
        return name, np.inf, f"{type(error).__name__}: {str(error)[:200]}"
    worst, where = 0.0, ""
    for key, (_, values) in here.arrays.items():
        a, b = np.asarray(values), np.asarray(there.arrays[key][1])
        if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
            return name, np.inf, f"{key}: {a.shape} {b.shape}"
        if key in ("residual_max", "correction_max") or key.startswith("carry_") or "iterations" in key:
            continue
        a, b = np.nan_to_num(a.astype(float)), np.nan_to_num(b.astype(float))
        off = float(np.max(np.abs(a - b), initial=0.0) / np.max(np.abs(a), initial=1.0))
        if off > worst:
            worst, where = off, key
    return name, worst, where


def check(part: str) -> None:
    """The programs of the verification on both, and how far apart they come out; in an order that has all kinds early,
    and as many as the time allows."""
    os.environ["NAIAD_CACHE_DIR"] = ""
    started, every = time.perf_counter(), cases(part)
    np.random.default_rng(0).shuffle(every)
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(PROCESSES, mp_context=spawned)
    done, left = wait([pool.submit(compared, tuple(case)) for case in every], timeout=CHECK_SECONDS)
    pool.shutdown(cancel_futures=True)
    found = [future.result() for future in done]
    short = {name for name, _, where in found if where.startswith("DeviceError")}  # beside the others, of memory
    for case in (case for case in every if "/".join(case) in short):
        with ProcessPoolExecutor(1, mp_context=spawned) as alone:
            again = alone.submit(compared, tuple(case)).result()
        found = [again if each[0] == again[0] else each for each in found]
    found.sort(key=lambda each: -each[1])
    failed = [each for each in found if not each[1] < np.inf]
    counts = f"{len(found)} programs, {len(failed)} failed, {len(short)} done alone, {len(left)} left"
    print(f"{counts}, {time.perf_counter() - started:.0f} s")
    for name, worst, where in found[: len(failed) + 12]:
        print(f"  {name} {worst:.1e} {where}")


def _once(name: str, bounds: tuple[int, int]) -> None:
    one = Chunk(works()[name](), CUDA(remember=False, bounds=(bounds,)), 2**18)
    one.run()
    one.wait()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", *part]:
            check(part[0] if part else "")
        case ["many"]:
            many("gpu", SECTION_ORBITS, T / 10)
        case ["many", "cpu"]:
            many("cpu", 2**14, T / 20)
        case ["once", name]:
            _once(name, (128, 2))
        case ["once", name, threads, blocks]:
            _once(name, (int(threads), int(blocks)))
        case names if unknown := [name for name in names if name not in works()]:
            sys.exit(f"{unknown[0]!r} is no work; there are {', '.join(works())}.")
        case names:
            measure(names or list(works()))
