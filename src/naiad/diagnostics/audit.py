"""What a method makes of a system, measured in one call: what was expected, what was found, and a verdict a line."""

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.diagnostics.convergence import convergence
from naiad.diagnostics.facts import Facts, facts, shortest_time
from naiad.diagnostics.fitting import fitting
from naiad.diagnostics.representation import action_defect
from naiad.diagnostics.reversibility import reversibility_defect
from naiad.diagnostics.symplecticity import symplecticity_defect
from naiad.diagnostics.watching import Energy, RelativeChange
from naiad.errors import InputError, RunError
from naiad.integrators import AbstractMethod, default_method
from naiad.mechanics import AdvectedSystem, LagrangianSystem, State, has_bath, has_symmetry
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Trajectory, simulate

ROUND_OFF = 1e-10
"""The largest relative change, over the run, of what is kept but for rounding."""
FRACTION = 0.05
"""The step that is taken if none is given, as a part of the shortest time in the linearised motion."""
COARSEST, LEVELS = 8, 8
"""The order is measured over 64 dt, with steps of 8 dt, 4 dt, ..., dt/16."""
LARGE, FLOOR, SLACK = 0.1, 1e-11, 0.4
"""Relative errors of steps that are too large, or lost in rounding; and what an order may lack."""
DIFFERENCES = 1e-6
"""How far derivatives of the Lagrangian may be from differences."""
MOST, NODES = 200, 20
"""The most dimensions of a group of which the derivative of a step is looked at; and the nodes at which a system is."""


class Finding(NamedTuple):
    """One measurement: what was expected (nothing where nothing is claimed), what was found, whether that is well, and
    what to do if it is not."""

    name: str
    expected: str
    found: str
    good: bool | None
    remark: str = ""

    @property
    def verdict(self) -> str:
        """In one word."""
        return {True: "good", False: "BAD", None: "-"}[self.good]


class Audit(NamedTuple):
    """The findings of an audit, a table as text; `passed` if none is bad."""

    title: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found to be wrong."""
        return all(finding.good is not False for finding in self.findings)

    def __str__(self) -> str:
        rows = [("", "expected", "found", ""), *((f.name, f.expected, f.found, f.verdict) for f in self.findings)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        remarks = [f"{finding.name}: {finding.remark}" for finding in self.findings if finding.remark]
        return "\n".join([self.title, "", *lines, *([""] if remarks else []), *remarks])

    __repr__ = __str__


@checked
def audit(
    system: LagrangianSystem,
    state: State,
    method: AbstractMethod | None = None,
    *,
    dt: float | None = None,
    t0: float = 0.0,
    steps: int = 1000,
) -> Audit:
    """Measure a system, and what a method makes of it: derivatives of the Lagrangian, declared symmetries, order in dt
    against a reference of high accuracy, symplecticity, reversibility, and over a run of so many steps the energy, the
    momenta, the distance from the group, the constraint and the solver.

    `method` is the one that `simulate` would take, and `dt` a twentieth of the shortest time in the motion about the
    state, if they are not given. Print what it gives.
    """
    method = default_method(system) if method is None else method
    state = fitting(system, state, method, t0=t0)
    if has_bath(system):
        raise InputError(
            f"audit: {type(system).__name__} has friction or noise of a heat bath, whose steps are measured on "
            "average, by naiad.diagnostics.equilibrium; leave `dissipation` out to audit the rest."
        )
    if steps < 10:
        raise InputError(f"audit: steps = {steps}; expected 10 or more.")
    if dt is not None and not (math.isfinite(dt) and dt > 0):
        raise InputError(f"audit: dt = {dt}; expected a step above 0 s.")
    h = FRACTION * shortest_time(system, state, t0) if dt is None else float(dt)
    title = f"{type(system).__name__} by {type(method).__name__}, dt = {h:.4g} s, {steps} steps"
    return Audit(title, tuple(_findings(Case(system, method, state, t0, h, steps))))


class Case(NamedTuple):
    """What is audited."""

    system: LagrangianSystem
    method: AbstractMethod
    state: State
    t0: float
    h: float
    steps: int


def _findings(case: Case) -> Iterator[Finding]:
    run = _run(case)
    known = facts(case.system, run.states.g, run.xi.values, run.t.values)
    yield _derivatives(known)
    if has_symmetry(case.system):
        yield _symmetry(known)
    if isinstance(case.system, AdvectedSystem):
        defect = action_defect(case.system.base, case.system.act_a, case.system.a0)
        yield _kept("action on a", defect, "g (f a) is not (g f) a, so that a is not advected: correct act_on_a, or a0")
    yield from _accuracy(case)
    yield _symplecticity(case)
    yield _reversal(case)
    yield _ending(run)
    yield _energy(case, run, known)
    if has_symmetry(case.system):
        yield _momentum(case, run, known)
    yield _kept("distance from the group", run.monitors["group"].largest, "the method leaves it: RKMK does not")
    if case.system.constraint is not None:
        yield _kept("constraint", run.monitors["constraint"].largest, "the method does not hold it")


class Change(Module):
    """f - start, over a scale."""

    observable: Any
    start: float
    scale: float

    def __call__(self, state: State, t: Any) -> Any:
        return (self.observable(state, t) - self.start) / self.scale


class Noether(Module):
    """The momentum of a system's symmetry."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Any:
        return self.system.noether(state)


def _run(case: Case) -> Trajectory:
    system, state, t0 = case.system, case.state, case.t0
    energy, size = execute(_sizes, system, state, t0, parameters=(0,))
    monitors: dict[str, Any] = {
        "energy": Change(Energy(system), float(energy), float(max(abs(energy), size)) or 1.0),
        "group": lambda state, t: system.group.error(state.g),
    }
    if has_symmetry(system):
        monitors["momentum"] = RelativeChange.since(Noether(system), state, t0)
    if system.constraint is not None:
        monitors["constraint"] = lambda state, t: jnp.max(jnp.abs(system.constraint(state.g, t)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of what goes wrong, the findings say it
        return simulate(
            system,
            state,
            t0=t0,
            t1=t0 + case.steps * case.h,
            dt=case.h,
            method=case.method,
            monitors=monitors,
            save_every=max(case.steps // NODES, 1),
            progress=False,
        )


def _sizes(system: LagrangianSystem, state: State, t: Any) -> tuple[Any, Any]:
    return system.energy(state, t), jnp.abs(state.mu @ system.velocity(state.g, state.mu, t))


def _derivatives(known: Facts) -> Finding:
    good = bool(known.derivatives < DIFFERENCES)
    remark = "" if good else "the Lagrangian is not smooth here, or a derivative of its own (custom_jvp) is wrong"
    return Finding("derivatives of ell", f"< {DIFFERENCES:g}", f"{known.derivatives:.1e}", good, remark)


def _symmetry(known: Facts) -> Finding:
    worst = int(np.argmax(known.symmetries))
    value = float(known.symmetries[worst])
    good = value < ROUND_OFF
    remark = (
        ""
        if good
        else (
            f"ell is not invariant under `symmetry`: along s[{worst}] it changes at the rate {value:.1e}, so that this "
            "momentum is not kept; correct the action, or leave it out"
        )
    )
    return Finding("declared symmetry", f"< {ROUND_OFF:g}", f"{value:.1e}", good, remark)


def _accuracy(case: Case) -> Iterator[Finding]:
    """The order, and the error at dt."""
    claimed = case.method.order(case.system)
    t1, steps = case.t0 + case.h * COARSEST * COARSEST, [COARSEST * 2**k for k in range(LEVELS)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            measured = convergence(case.system, case.method, case.state, t1=t1, t0=case.t0, steps=steps)
    except RunError as error:
        yield Finding("order", str(claimed), "?", None, f"there is no reference to compare with: {error}")
        return
    errors = [np.where(np.isfinite(e), e, np.inf) / size for e, size in zip(measured[1:], _extent(case), strict=True)]
    here = float(max(error[int(math.log2(COARSEST))] for error in errors))
    orders = [order for order in (_finest_slope(measured.dt, error) for error in errors) if order is not None]
    finest = float(max(error[-1] for error in errors))
    if orders:
        good = min(orders) > claimed - SLACK
        remark = (
            "" if good else "the step is too large to see the order, or the motion is not smooth; take a smaller dt"
        )
        if not good and min(orders) < SLACK:
            remark = _not_the_equations(finest)
        yield Finding("order", str(claimed), f"{min(orders):.2f}", good, remark)
    elif finest > LARGE:
        yield Finding("order", str(claimed), "none", False, _not_the_equations(finest))
    else:
        yield Finding("order", str(claimed), "at round-off", None)
    good = here < LARGE
    remark = "" if good else f"dt = {case.h:.3g} s is too large: take a smaller one"
    yield Finding(f"error after {COARSEST * COARSEST} steps", f"< {LARGE:g}", f"{here:.1e}", good, remark)


def _not_the_equations(error: float) -> str:
    return (
        f"the error does not fall with dt ({error:.1e} at the smallest): the step is not that of the equations of "
        "motion. A force that the discrete Lagrangian leaves out, or one that jumps, does this"
    )


def _extent(case: Case) -> tuple[float, float]:
    """The size of g and of mu."""
    leaves = [float(np.max(np.abs(leaf))) for leaf in jax.tree.leaves(case.state.g) if np.size(leaf)]
    return max([*leaves, 1e-300]), max(float(np.max(np.abs(case.state.mu))), 1e-300)


def _finest_slope(dt: np.ndarray, error: np.ndarray) -> float | None:
    """log2 of the ratio of the last two errors that are above round-off and small."""
    seen = [k for k in range(1, len(dt)) if error[k] > FLOOR and error[k - 1] < LARGE]
    return float(np.log2(error[seen[-1] - 1] / error[seen[-1]])) if seen else None


def _symplecticity(case: Case) -> Finding:
    if case.system.group.dim > MOST:
        return Finding("symplectic form", "", "", None, f"not measured for more than {MOST} dimensions")
    if case.system.force is not None:
        return Finding("symplectic form", "", "", None, "not measured: a force acts, which no method keeps it under")
    defect = symplecticity_defect(case.system, case.method, case.state, dt=case.h, t=case.t0, steps=2)
    if not case.method.symplectic:
        return Finding("symplectic form", "", f"{defect:.1e}", None)
    return _kept("symplectic form", defect, "Newton's method stops too early, or the step is too large")


def _reversal(case: Case) -> Finding:
    defect = reversibility_defect(case.system, case.method, case.state, dt=case.h, t=case.t0, steps=2)
    if not case.method.symmetric(case.system):
        return Finding("two steps and back", "", f"{defect:.1e}", None)
    return _kept("two steps and back", defect, "Newton's method stops too early, or the step is too large")


def _ending(run: Trajectory) -> Finding:
    taken, most = int(run.statistics["steps"]), int(run.statistics["newton_iterations_max"])
    found = f"{taken} steps, at most {most} iterations"
    return Finding("the run", "to its end", found, not run.outcome.failed, run.ending if run.outcome.failed else "")


def _energy(case: Case, run: Trajectory, known: Facts) -> Finding:
    monitor = run.monitors["energy"]
    found = f"{monitor.largest:.1e}, drift {monitor.slope * run.statistics['steps'] * case.h:.1e}"
    if case.system.force is not None or known.changing > ROUND_OFF:
        why = "a force acts" if case.system.force is not None else "ell depends on t"
        return Finding("energy", "", found, None, f"it need not be constant: {why}")
    if not case.method.symplectic:
        return Finding("energy", "", found, None)
    good = monitor.largest < LARGE
    return Finding("energy", f"< {LARGE:g}", found, good, "" if good else "dt is too large: take a smaller one")


def _momentum(case: Case, run: Trajectory, known: Facts) -> Finding:
    largest = run.monitors["momentum"].largest
    if known.pushed.max() > ROUND_OFF:
        return Finding(
            "momentum", "", f"{largest:.1e}", None, "it need not be constant: a force acts along the symmetry"
        )
    if not case.method.symplectic or known.symmetries.max() >= ROUND_OFF:
        return Finding("momentum", "", f"{largest:.1e}", None)
    return _kept("momentum", largest, "the symmetry is not that of the step")


def _kept(name: str, value: float, remark: str) -> Finding:
    good = bool(value < ROUND_OFF)
    return Finding(name, f"< {ROUND_OFF:g}", f"{value:.1e}", good, "" if good else remark)
