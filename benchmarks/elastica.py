"""A string with a point mass at its end, let go from a slant: naiad's O(N) step beside PyElastica's Cosserat rod of the
same mass and stiffness, without stiffness against bending. Both take the same steps.

python -m benchmarks.elastica
"""

import time
from collections.abc import Callable

import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table

LENGTH, MASS_PER_LENGTH, STIFFNESS, MASS = 10.0, 0.025, 4000.0, 0.1
SLANT = np.array([0.6, 0.0, 0.8])
RADIUS = 0.3  # of the rod, in lengths of an element: a thinner one shears too fast for the step
COUNTS = (20, 100, 1000)
STEPS_OF_A_WAVE = 4  # through an element
ELEMENTS = 1_000_000  # element-steps in a round
ROUNDS = 3

Run = Callable[[int], np.ndarray]


def step_of(count: int) -> float:
    """A quarter of the time that a wave takes along an element."""
    return LENGTH / count * np.sqrt(MASS_PER_LENGTH / STIFFNESS) / STEPS_OF_A_WAVE


def ours(count: int) -> Run:
    """Some steps from the start, as the place of the end."""
    string = nd.models.StringPendulum(
        length=LENGTH, mass_per_length=MASS_PER_LENGTH, stiffness=STIFFNESS, elements=count,
        body=nd.models.HangingBody(MASS),
    )  # fmt: skip
    state = string.straight(SLANT)
    h = step_of(count)

    def run(steps: int) -> np.ndarray:
        moved = nd.simulate(string, state, t1=steps * h, dt=h, save_every=10**9, progress=False)
        return moved.dataset["q"].to_numpy()[-1, -1]

    return run


def elastica(count: int) -> Run:
    """The same by PyElastica: position Verlet, nothing called back."""
    import elastica

    class Swing(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
        """A rod, held at one end."""

    radius = RADIUS * LENGTH / count
    area = np.pi * radius**2
    h = step_of(count)

    def run(steps: int) -> np.ndarray:
        swing = Swing()
        rod = elastica.CosseratRod.straight_rod(
            count, np.zeros(3), SLANT, np.array([0.0, 1.0, 0.0]), LENGTH, radius, MASS_PER_LENGTH / area,
            youngs_modulus=STIFFNESS / area,
        )  # fmt: skip
        rod.mass[-1] += MASS
        rod.bend_matrix[...] = 0.0
        swing.append(rod)
        swing.constrain(rod).using(
            elastica.GeneralConstraint,
            constrained_position_idx=(0,),
            translational_constraint_selector=np.array([True] * 3),
        )
        swing.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0.0, 0.0, 9.81]))
        swing.finalize()
        elastica.integrate(elastica.PositionVerlet(), swing, final_time=steps * h, n_steps=steps, progress_bar=False)
        return rod.position_collection[:, -1].copy()

    return run


def seconds(runs: list[Run], steps: int) -> list[float]:
    """CPU seconds of each for some steps, the best of rounds in turn, without what a run of one step takes."""
    best = np.full((len(runs), 2), np.inf)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            for j, some in enumerate((1, 1 + steps)):
                started = time.process_time()
                run(some)
                best[k, j] = min(best[k, j], time.process_time() - started)
    return list(best[:, 1] - best[:, 0])


def report() -> str:
    """The table: nanoseconds an element and step, their ratio, and how far apart the ends are after half a second."""
    rows = []
    with one_core():
        for count in COUNTS:
            runs = [ours(count), elastica(count)]
            for run in runs:
                run(1)
            steps = max(ELEMENTS // count, 100)
            naiad, peer = (each / steps / count * 1e9 for each in seconds(runs, steps))
            ends = [run(round(0.5 / step_of(count))) for run in runs] if count <= 100 else []
            apart = f"{np.linalg.norm(ends[0] - ends[1]):.1e}" if ends else ""
            rows.append((f"N = {count:,}", naiad, peer, peer / naiad, apart))
    header = ("ns an element and step", "naiad", "PyElastica", "PyElastica / naiad", "ends apart at 0.5 s, m")
    return table(header, rows)


if __name__ == "__main__":
    print(report())
