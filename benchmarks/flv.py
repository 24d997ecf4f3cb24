"""Fast Lie-Verlet for the Kirchhoff equations: JAX compiled by naiad, the same on XLA, and C written by hand."""

import ctypes
import itertools
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

import naiad.compiler as nc
from benchmarks.compare import Work, compare, cores, one_core, table
from benchmarks.peers.build import build, compiler

INERTIA = np.array([1.5, 2.0, 3.0])
MASS = np.array([2.0, 3.0, 4.0])
H = 0.01
Pi, P = np.array([2.0, -0.4, -0.9]), np.array([4.4, -0.2, -1.1])
START = (Pi, P, Pi, P)
WIDTHS = (2, 4, 8)
BATCH = 1024
STEPS = 4000


def turned(w, b):
    """cay(w)^-1 b, w being half the rotation vector."""
    return (b + jnp.dot(w, b) * w - jnp.cross(w, b)) / (1.0 + jnp.dot(w, w))


def step(state, inertia, mass, h):
    """(Pi_{k-1}, p_{k-1}, Pi_k, p_k) one step on [bourabee2007, section 6.5, FLV]."""
    P0, p0, P1, p1 = state
    w, u = 0.5 * h * (P1 / inertia), 0.5 * h * (p1 / mass)
    p2 = turned(w, p0 - jnp.cross(w, 2.0 * p1 + p0))
    P2 = turned(w, P0 - jnp.cross(w, 2.0 * P1 + P0) - jnp.cross(u, p2 + 2.0 * p1 + p0))
    return P1, p1, P2, p2


def march(state, inertia, mass, h, steps):
    """Many steps."""
    return jax.lax.fori_loop(0, steps, lambda k, s: step(s, inertia, mass, h), state)


class ByHand:
    """The peer in C, for so many lanes."""

    def __init__(self, lanes: int):
        pointer, integer = ctypes.c_void_p, ctypes.c_long
        self.lanes = lanes
        self._run = build("flv.c", W=lanes).run
        self._run.argtypes = (pointer, pointer, pointer, ctypes.c_double, integer, integer, integer)
        self._run.restype = None

    def __call__(self, state: tuple[np.ndarray, ...], steps: int) -> np.ndarray:
        """The 12 numbers of each trajectory after so many steps; the arrays of the state have a leading axis."""
        rows = np.concatenate(state, axis=-1)
        packed = np.ascontiguousarray(rows.reshape(-1, self.lanes, 12).transpose(0, 2, 1))
        groups = len(packed)
        threads = min(cores(), groups)
        if threads == 1:
            self._part(packed, steps, 0, groups)
        else:
            bounds = np.linspace(0, groups, 4 * threads + 1).astype(int)
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda pair: self._part(packed, steps, *pair), itertools.pairwise(bounds)))
        return packed.transpose(0, 2, 1).reshape(-1, 12)

    def _part(self, packed: np.ndarray, steps: int, first: int, last: int) -> None:
        self._run(packed.ctypes.data, INERTIA.ctypes.data, MASS.ctypes.data, H, steps, int(first), int(last))


def batch(size: int) -> tuple[np.ndarray, ...]:
    """Starts that differ a little."""
    shift = 1.0 + 1e-3 * np.random.default_rng(0).standard_normal((size, 1))
    return tuple(part * shift for part in START)


fast = nc.compile(march)
jitted = jax.jit(march)
vmapped = jax.jit(jax.vmap(march, in_axes=(0, None, None, None, None)))


def on_xla(function, state, steps):
    """Through XLA, in double precision, waited for."""
    with jax.enable_x64(True):
        return jax.block_until_ready(function(state, INERTIA, MASS, H, steps))


def in_lanes(lanes: int):
    """naiad's code for so many lanes."""
    compiled = nc.compile(march, lanes=lanes)
    return lambda state, steps: compiled.batch(state, INERTIA, MASS, H, steps, shared=(1, 2, 3, 4))


def check(peers: dict[int, ByHand]) -> float:
    """How far the programs are apart after 1000 steps, relative to the momentum."""
    reference = np.concatenate(on_xla(jitted, START, 1000))
    ends = [np.concatenate(fast(START, INERTIA, MASS, H, 1000))]
    rows = tuple(np.tile(part, (8, 1)) for part in START)
    ends += [peer(rows, 1000)[0] for peer in peers.values()]
    ends += [np.concatenate([part[0] for part in in_lanes(lanes)(rows, 1000)]) for lanes in WIDTHS]
    return max(float(np.abs(end - reference).max() / np.abs(reference).max()) for end in ends)


def report() -> str:
    """The tables."""
    peers = {lanes: ByHand(lanes) for lanes in (1, *WIDTHS)} if compiler() else {}
    apart = check(peers)
    if apart > 1e-11:
        raise AssertionError(f"the programs differ by {apart:.1e} after 1000 steps")
    header = ["", "naiad, ns", "C, ns", "XLA, ns", "naiad / C", "XLA / naiad"]
    rows = [_one(peers)]
    many = batch(BATCH)
    rows += [_lanes(lanes, many, peers) for lanes in WIDTHS]
    rows.append(_all_cores(many, peers))
    said = "" if peers else "\n\nThere is no C compiler here; the column of C is empty."
    return f"The programs agree to {apart:.0e} after 1000 steps.\n\n{table(header, rows)}{said}"


def _one(peers):
    row = tuple(part[None] for part in START)
    works = {
        "naiad": Work(lambda: fast(START, INERTIA, MASS, H, 300_000), 3e5),
        "xla": Work(lambda: on_xla(jitted, START, 10_000), 1e4),
    }
    if peers:
        works["c"] = Work(lambda: peers[1](row, 300_000), 3e5)
    return _row("one trajectory, a step", compare(works))


def _lanes(lanes, many, peers):
    naiad = in_lanes(lanes)
    works = {"naiad": Work(lambda: naiad(many, STEPS), STEPS * BATCH)}
    if peers:
        works["c"] = Work(lambda: peers[lanes](many, STEPS), STEPS * BATCH)
    with one_core():
        return _row(f"{lanes} lanes, one core, a trajectory-step", compare(works))


def _all_cores(many, peers):
    works = {
        "naiad": Work(lambda: fast.batch(many, INERTIA, MASS, H, STEPS, shared=(1, 2, 3, 4)), STEPS * BATCH),
        "xla": Work(lambda: on_xla(vmapped, many, 100), 100 * BATCH),
    }
    if peers:
        works["c"] = Work(lambda: peers[8](many, STEPS), STEPS * BATCH)
    return _row(f"batch of {BATCH}, all cores, a trajectory-step", compare(works))


def _row(name, seconds):
    naiad, by_hand, xla = (seconds.get(key) for key in ("naiad", "c", "xla"))
    cells = [
        name,
        naiad * 1e9,
        by_hand and by_hand * 1e9,
        xla and xla * 1e9,
        by_hand and naiad / by_hand,
        xla and xla / naiad,
    ]
    return ["" if cell is None else cell for cell in cells]


if __name__ == "__main__":
    print(report())
