"""The random increments of a run: drawn block by block from a seed, or given by the user."""

from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem
from naiad.numerics import Module, static

BLOCK = 8192  # rows that are drawn at a time; the numbers of a seed depend on it
LARGEST_SEED = 2**128 - 1


class Noise(Module):
    """Increments of Wiener processes, the same for the same seed.

    They come from the counter-based generator Philox [salmon2011] with the seed as its key: the row of a step depends
    on the seed and the number of the step alone, not on how a run is cut into pieces, and different seeds are
    independent.
    """

    seed: int = static()

    def __post_init__(self):
        if not isinstance(self.seed, int | np.integer) or isinstance(self.seed, bool):
            raise InputError(f"Noise: seed = {self.seed!r}; expected a whole number, for example Noise(seed=7).")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise InputError(f"Noise: seed = {self.seed}; expected a whole number from 0 to 2^128 - 1.")

    def increments(self, steps: int, size: int, dt: float, *, first: int = 0) -> np.ndarray:
        """The rows of the steps `first`, `first` + 1, ...: `size` normal numbers each, of variance dt."""
        blocks = [self._normals(block, size) for block in range(first // BLOCK, -(-(first + steps) // BLOCK))]
        rows = np.concatenate([np.zeros((0, size)), *blocks])[first % BLOCK :][:steps]
        return np.sqrt(dt) * rows

    @property
    def key(self) -> tuple[int, int]:
        """The seed as Philox takes it: two words of 64 bits."""
        return tuple(np.array([self.seed % 2**64, self.seed >> 64], np.uint64).view(np.int64).tolist())

    def spawn(self, count: int) -> "list[Noise]":
        """Noises with seeds of their own, which follow from this one: the same whatever their number."""
        seeds = np.random.SeedSequence(int(self.seed)).spawn(count)
        return [Noise(int.from_bytes(seed.generate_state(4).tobytes(), "little")) for seed in seeds]

    def _normals(self, block: int, size: int) -> np.ndarray:
        counter = block << 128  # no block is long enough to reach the counters of the next
        return np.random.Generator(np.random.Philox(key=int(self.seed), counter=counter)).standard_normal((BLOCK, size))


class Inputs(NamedTuple):
    """A block of inputs, one row a step: the first row is that of the step from node `first`."""

    first: Any
    rows: Any

    def at(self, node: Any) -> Any:
        """The inputs of the step from a node."""
        return self.rows[node - self.first]


class Source(NamedTuple):
    """Where the increments of a run come from: a seed or rows, and how many were used before node `start`."""

    noise: Noise | np.ndarray
    size: int
    used: int
    start: int

    def block(self, node: int, h: float, *, counted: int = 0) -> tuple[Inputs, int]:
        """The block of the step of length h from a node, and the node at which it ends.

        `counted` nodes were taken before node 0. A step takes its increment over h, which is constant over the step.
        """
        row = self.used + counted + node - self.start
        first = row - row % BLOCK
        if isinstance(self.noise, Noise):
            rows = self.noise.increments(BLOCK, self.size, h, first=first)
        else:
            rows = np.zeros((BLOCK, self.size))
            given = self.noise[first : first + BLOCK]
            rows[: len(given)] = given
        return Inputs(node - row % BLOCK, rows / h), node - row % BLOCK + BLOCK

    def described(self, node: int) -> dict[str, Any]:
        """What a checkpoint at a node holds: the seed, and how many rows were used."""
        return {
            "seed": str(self.noise.seed) if isinstance(self.noise, Noise) else None,
            "used": self.used + node - self.start,
        }


def check_increments(noise: Any, method: AbstractMethod, system: LagrangianSystem, steps: int) -> int:
    """How many increments a step takes; an `InputError` if noise is wanted and not given, given and not wanted, or an
    array of another shape than one row a step."""
    size, name = method.noise_size(system), type(system).__name__
    wanted = f"noise=Noise(seed=7), or an array of shape ({steps}, {size}) with the increments of each step"
    if not size:
        if noise is not None:
            raise InputError(f"noise is given, but {type(method).__name__} takes none for {name}; leave it out.")
    elif noise is None:
        raise InputError(f"{name} takes {size} random increment{'s' * (size > 1)} a step; give {wanted}.")
    elif not isinstance(noise, Noise):
        try:
            shape = np.shape(noise)
        except ValueError:
            shape = None
        if shape != (steps, size):
            raise InputError(f"noise has shape {shape}, but the run takes {steps} steps; give {wanted}.")
    return size


def source(
    noise: Any, method: AbstractMethod, system: LagrangianSystem, steps: int, *, used: int = 0, start: int = 0
) -> Source | None:
    """The checked source of the increments of a run of `steps` steps from node `start`; None if it takes none."""
    size = check_increments(noise, method, system, steps)
    if not size:
        return None
    if isinstance(noise, Noise):
        return Source(noise, size, used, start)
    rows = np.asarray(noise)
    if rows.dtype.kind not in "iuf" or not np.all(np.isfinite(rows)):
        raise InputError("noise holds NaN, infinite values, or what is no number; give finite real numbers.")
    return Source(rows, size, 0, start)
