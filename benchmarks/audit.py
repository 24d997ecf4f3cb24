"""Writes docs/audit.md: for every method of the studies what it is found to be, and where that contradicts the thesis.

python -m benchmarks.audit [FILE]        # prints it if no file is given
"""

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import naiad as nd
from benchmarks import audit_text
from benchmarks.audit_claims import modified_invariants, start_of_the_thesis
from benchmarks.audit_matrix import TITLE
from benchmarks.compare import table
from naiad import diagnostics
from naiad.diagnostics import Energy, RelativeChange, SpaceMomentum, timed_run
from naiad.integrators import check_method
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.vehicles.vehicle import INERTIA, MASS, CasimirChange

STEPS: dict[int, tuple[int, ...]] = {
    1: (320, 640, 1280),
    2: (40, 80, 160),
    3: (40, 80, 160),
    4: (20, 40, 80),
    6: (16, 24, 32),
    8: (6, 8, 10),
    16: (1, 2),
}
LONG, KEPT = 10_000, 1e-11


class Problem(NamedTuple):
    """A system, a state, the step at which one step is looked at, and the function that watches its Casimirs."""

    title: str
    system: nd.EulerPoincareSystem
    state: nd.State
    dt: float
    casimir: Any


class Finding(NamedTuple):
    """What was measured of a method: orders of g and mu, changes of invariants over many steps, defects, cost."""

    order_g: float
    order_mu: float
    energy: float
    casimir: float
    momentum: float
    group: float
    symplectic: float
    poisson: float
    reverse: float
    nanoseconds: float
    stopped: str


def problems() -> list[Problem]:
    """The free rigid body and the underwater vehicle, where the thesis tests its methods."""
    body, vehicle = nd.models.RigidBody((1.0, 2.0, 3.0)), nd.models.KirchhoffBody(INERTIA, MASS)
    turning = body.state(Pi=(0.7, 0.8, -1.5))
    swimming = vehicle.state(Pi=(0.0, 3.807047861195724, 1.0), p=(5.2, 0.0, 0.0))
    return [
        Problem("The free rigid body", body, turning, 0.1, RelativeChange.since(_size, turning)),
        Problem("The underwater vehicle", vehicle, swimming, 0.05, CasimirChange.since(swimming)),
    ]


def _size(state: nd.State, t: Any) -> Any:
    return state.mu @ state.mu


def fits(name: str, problem: Problem) -> bool:
    """Whether the method takes the system."""
    try:
        check_method(method(name), problem.system)
    except nd.InputError:
        return False
    return True


def examine(problem: Problem, name: str) -> Finding:
    """Everything that is measured of a method."""
    _, system, state, dt, _ = problem
    scheme = method(name)
    order_g, order_mu = orders(problem, name)
    kept, stopped = invariants(problem, name)
    return Finding(
        order_g,
        order_mu,
        *kept,
        diagnostics.symplecticity_defect(system, scheme, state, dt=dt),
        diagnostics.poisson_defect(system, scheme, state, dt=dt),
        diagnostics.reversibility_defect(system, scheme, state, dt=dt),
        1e9 * timed_run(system, scheme, state, dt=0.01, steps=1000).seconds / 1000,
        stopped,
    )


def orders(problem: Problem, name: str) -> tuple[float, float]:
    """The slopes of the errors of g and of mu at t = 2, as logarithms, over the step."""
    scheme = method(name)
    steps = STEPS[scheme.order(problem.system)]
    found = diagnostics.convergence(problem.system, scheme, problem.state, t1=2.0, steps=steps)
    slope_g, slope_mu = (np.polyfit(np.log(found.dt), np.log(e), 1)[0] for e in (found.error_g, found.error_mu))
    return float(slope_g), float(slope_mu)


def invariants(problem: Problem, name: str) -> tuple[tuple[float, ...], str]:
    """The largest relative changes of energy, Casimirs and momentum in space and the largest distance from the group,
    over every step of a long run; and where it stopped, if it did."""
    system, state = problem.system, problem.state
    monitors = {
        "energy": RelativeChange.since(Energy(system), state),
        "casimir": problem.casimir,
        "momentum": RelativeChange.since(SpaceMomentum(system), state),
        "group": _off_the_group(system),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        run = nd.simulate(
            system,
            state,
            t1=LONG * problem.dt,
            dt=problem.dt,
            method=method(name),
            monitors=monitors,
            save_every=LONG,
            progress=False,
        )
    stopped = f"stopped after {run.statistics['steps']} of {LONG} steps" if run.outcome.failed else ""
    return tuple(run.monitors[each].largest for each in monitors), stopped


def _off_the_group(system: nd.LagrangianSystem) -> Any:
    return lambda state, t: system.group.error(state.g)


def level(value: float) -> str:
    """A number by its size, in bold where it is round-off; dashes if there is none."""
    if not np.isfinite(value):
        return "—"
    text = "0" if value == 0.0 else f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e+").replace("e+", "e")
    return f"**{text}**" if value < KEPT else text


def rows(findings: dict[str, Finding]) -> str:
    """The table of a problem."""
    header = ["method", "order of g, μ", "energy", "Casimirs", "momentum", "off the group"]
    header += ["symplectic", "Poisson", "reversal", "ns a step"]
    body = []
    for name, found in findings.items():
        order = f"{found.order_g:.2f}, {found.order_mu:.2f}"
        levels = [level(value) for value in found[2:9]]
        body.append([f"`{name}`", order, *levels, f"{found.nanoseconds:.0f}"])
    return table(header, body)


def page() -> str:
    """The whole page."""
    parts, all_findings = [audit_text.INTRODUCTION], {}
    for problem in problems():
        findings = {}
        for name in FREE_CHOICES:
            if fits(name, problem):
                print(f"{problem.title}: {name}", file=sys.stderr, flush=True)
                findings[name] = examine(problem, name)
        all_findings[problem.title] = findings
        early = [f"`{name}` {found.stopped}" for name, found in findings.items() if found.stopped]
        parts += [f"## {problem.title}", audit_text.SETTINGS[problem.title], rows(findings)]
        parts += (
            [f"Runs that ended early, so that their invariants are those until then: {'; '.join(early)}."]
            if early
            else []
        )
    parts.append(audit_text.contradictions(all_findings, start_of_the_thesis(), modified_invariants()))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure, and print or write."""
    text = page()
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        matrix = before[before.index(TITLE) :] if TITLE in before else ""  # which audit_matrix writes
        path.write_text(f"{text}\n{matrix}" if matrix else text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
