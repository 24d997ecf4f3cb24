"""The O(N) step of a string pendulum: CPU nanoseconds an element and step for N elements, with a fixed length and with
a reel; the paper's three runs; and the energy errors of the implicit-explicit step, composed to higher orders and not,
beside those of the explicit one.

python -m benchmarks.string
"""

import functools
import time
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table
from benchmarks.connected import march
from naiad.compiler import Compiled
from naiad.models import HangingBody, Reel, StringPendulum
from naiad.numerics import Module
from naiad.studies.strings.cases import CASES, CENTRE, INERTIA, ORDERS, RULES, pendulum, start, string_method
from naiad.studies.strings.string_pendulum import StringPendulum as Study

COUNTS = (20, 100, 1000, 10_000)
ELEMENTS = 200_000  # element-steps in a round
ROUNDS = 7
SCHEMES = ("paper", "symmetric", "imex")
RINGING = 0.05  # the strain from which a straight string is let go


def moving(count: int, *, reel: bool) -> tuple[StringPendulum, nd.State]:
    """A string of 10 m with N elements, bent and moving everywhere."""
    rng = np.random.default_rng(0)
    string = StringPendulum(
        length=100.0,
        mass_per_length=0.025,
        stiffness=40.0,
        elements=count,
        body=HangingBody(0.1, CENTRE, INERTIA),
        reel=Reel(moment=2.09, locked=not reel),
        wound=0.0 if reel else 90.0,
    )
    length = 10.0 / count
    q = np.arange(1, count + 1)[:, None] * length * np.array((0.6, 0.0, 0.8))
    q = q + 0.02 * length * rng.normal(size=(count, 3))
    more = {"s": [90.0], "s_v": [0.1]} if reel else {}
    return string, string.state(q=q, q_v=0.3 * rng.normal(size=(count, 3)), R_Omega=rng.normal(size=3), **more)


def nanoseconds(count: int, scheme: str, *, reel: bool) -> float:
    """An element and a step, the best of some rounds."""
    system, state = moving(count, reel=reel)
    method = nd.StringVariational(RULES[scheme])
    steps = max(ELEMENTS // count, 100)
    h = 0.01 / count
    run = Compiled(functools.partial(march, method))
    best = np.inf
    run(system, state, h, 1)
    for _ in range(ROUNDS):
        started = time.process_time()
        run(system, state, h, steps)
        best = min(best, time.process_time() - started)
    return best / steps / count * 1e9


def papers_runs() -> float:
    """Seconds of the three runs of the paper together, compiled before."""
    total = 0.0
    for name, case in CASES.items():
        study = Study(case=name)
        system = pendulum(study)
        state = start(study, system)
        options = {"dt": study.dt, "method": nd.StringVariational(nd.Left()), "save_every": 10**6}
        nd.simulate(system, state, t1=study.dt, **options)
        best = np.inf
        for _ in range(3):
            started = time.process_time()
            run = nd.simulate(system, state, t1=case.t1, **options)
            best = min(best, time.process_time() - started)
        assert run.outcome is nd.Outcome.COMPLETED
        total += best
    return total


class EnergyError(Module):
    """|E - E_0|."""

    system: StringPendulum
    start: float

    def __call__(self, state: nd.State, t: Any) -> Any:
        return jnp.abs(self.system.energy(state, t) - self.start)


def energy_errors() -> list[tuple[str, ...]]:
    """The mean and the largest |E - E_0| over every step of 10 s, and CPU seconds: the paper's first case, with its
    stiffness and larger ones, and a straight string that rings along itself."""
    hung = np.outer(np.arange(1, 21), (0.0, 0.0, 0.5 * (1.0 + RINGING)))
    plain, below = Study(), np.array((0.0, 0.0, 0.4))
    moved = plain.J + plain.M * (_about(below) - _about(np.asarray(plain.rho_c)))
    straight = {"q0": hung, "v_end0": (0.0, 0.0, 0.0), "rho_c": below, "J": moved}
    every = [("symmetric", 2), *(("imex", order) for order in ORDERS), ("symmetric", 6), ("symmetric", 8)]
    some = [("imex", 2), ("imex", 6), ("imex", 8)]
    stiff, stiffer = {"EA": 4000.0}, {"EA": 400_000.0}
    problems: list[tuple[str, dict[str, Any], float, list[tuple[str, int]]]] = [
        ("case 1, EA = 40 N", {}, 5e-4, every),
        ("case 1, EA = 4,000 N", stiff, 5e-5, every),
        ("case 1, EA = 4,000 N", stiff, 1e-4, some[1:]),
        ("case 1, EA = 4,000 N", stiff, 2e-4, some[1:]),
        ("case 1, EA = 4,000 N", stiff, 5e-4, some),
        ("case 1, EA = 400,000 N", stiffer, 5e-6, every),
        ("case 1, EA = 400,000 N", stiffer, 5e-5, some),
        ("straight and ringing, EA = 4,000 N", stiff | straight, 5e-4, [("imex", 2)]),
    ]
    return [
        (what, *energy_error(scheme, order, h, parameters))
        for what, parameters, h, composed in problems
        for scheme, order, h in (("symmetric", 2, h), *((*each, 10 * h) for each in composed))
    ]


def _about(centre: np.ndarray) -> np.ndarray:
    """The inertia of a unit mass about the origin."""
    return centre @ centre * np.eye(3) - np.outer(centre, centre)


def energy_error(scheme: str, order: int, h: float, parameters: dict[str, Any]) -> tuple[str, ...]:
    """A row: scheme, order, h, mean and largest |E - E_0|, CPU seconds."""
    study = Study(scheme=scheme, order=order, dt=h, **parameters)
    system = pendulum(study)
    state = start(study, system)
    options = {"dt": h, "method": string_method(system, scheme, order), "save_every": 10**9, "progress": False}
    watched = {"energy": EnergyError(system, float(system.energy(state)))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a step too long for the waves
        run = nd.simulate(system, state, t1=10.0, monitors=watched, **options)
    name = (scheme, f"{order}", f"{h:g}")
    if run.outcome.failed:
        return (*name, f"fails at t = {run.attrs['t']:g} s", "", "")
    error = run.monitors["energy"]
    nd.simulate(system, state, t1=h, **options)
    best = np.inf
    for _ in range(3):
        started = time.process_time()
        nd.simulate(system, state, t1=10.0, **options)
        best = min(best, time.process_time() - started)
    return (*name, f"{float(error.mean):.1e}", f"{float(error.max):.1e}", f"{best:.2f}")


def report() -> str:
    """The tables."""
    rows = []
    with one_core(), jax.enable_x64(True):
        for reel, what in ((False, "fixed length"), (True, "reel")):
            for scheme in SCHEMES if reel else ("symmetric", "imex"):
                rows.append((f"{what}, {scheme}", *(f"{nanoseconds(n, scheme, reel=reel):.0f}" for n in COUNTS)))
        speeds = table(("ns an element and step", *(f"N = {n:,}" for n in COUNTS)), rows)
        header = ("", "scheme", "order", "h [s]", "mean energy error [J]", "largest [J]", "CPU s")
        runs = f"The paper's three runs (56,000 steps of 20 elements): {papers_runs():.2f} s"
        return "\n\n".join([speeds, runs, table(header, energy_errors())])


if __name__ == "__main__":
    print(report())
