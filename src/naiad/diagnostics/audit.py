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
from naiad.diagnostics.facts import Facts, facts, generators, shortest_time
from naiad.diagnostics.fitting import fitting
from naiad.diagnostics.reference import reference
from naiad.diagnostics.representation import action_defect
from naiad.diagnostics.reversibility import reversibility_defect
from naiad.diagnostics.symplecticity import symplecticity_defect
from naiad.diagnostics.watching import Energy, RelativeChange
from naiad.errors import InputError, RunError
from naiad.integrators import AbstractMethod, default_method
from naiad.mechanics import AdvectedSystem, LagrangianSystem, State, has_symmetry, noise_size, units_of
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Trajectory, simulate

ROUND_OFF = 1e-10
"""The largest relative change, over the run, of what is kept but for rounding."""
FRACTION = 0.05
"""The step that is taken if none is given, as a part of the shortest time in the linearised motion."""
COARSEST, LEVELS = 8, 8
SPAN = COARSEST * COARSEST
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
    order: bool = True,
    symplectic: bool = True,
) -> Audit:
    """Measure a system, and what a method makes of it: derivatives of the Lagrangian, declared symmetries, order in dt
    against a reference of high accuracy, symplecticity, reversibility, and over a run of so many steps the energy, the
    momenta, the distance from the group, the constraint and the solver.

    `method` is the one that `simulate` would take, and `dt` a twentieth of the shortest time in the motion about the
    state, if they are not given; the title says the step. Give the `dt` of your runs: the verdicts are about it. Most
    of the time is compiling. What costs most is optional: `symplectic=False` leaves out the derivative of a step,
    `order=False` the reference and the errors. Print what it gives.
    """
    method = default_method(system) if method is None else method
    if noise_size(system):
        raise InputError(
            f"audit: {type(system).__name__} has noise, whose steps are measured on average, by "
            "naiad.diagnostics.equilibrium; leave `temperature` and `diffusion` out to audit the rest."
        )
    state = fitting(system, state, method, t0=t0)
    if steps < 10:
        raise InputError(f"audit: steps = {steps}; expected 10 or more.")
    if dt is not None and not (math.isfinite(dt) and dt > 0):
        raise InputError(f"audit: dt = {dt}; expected a step above 0 s.")
    h = FRACTION * shortest_time(system, state, t0) if dt is None else float(dt)
    step = units_of(system).of_time(h, ".4g") + ("" if dt is not None else " (a twentieth of the shortest time)")
    title = f"{type(system).__name__} by {type(method).__name__}, dt = {step}, {steps} steps"
    return Audit(title, tuple(_findings(Case(system, method, state, t0, h, steps, order, symplectic))))


class Case(NamedTuple):
    """What is audited."""

    system: LagrangianSystem
    method: AbstractMethod
    state: State
    t0: float
    h: float
    steps: int
    order: bool
    symplectic: bool


def _findings(case: Case) -> Iterator[Finding]:
    run = _run(case)
    nodes = _nodes(case.system, run)
    known = facts(case.system, run.states.g, nodes.xi, nodes.t)
    yield _derivatives(known)
    if has_symmetry(case.system):
        yield _symmetry(known)
    if isinstance(case.system, AdvectedSystem):
        defect = action_defect(case.system.base, case.system.act_a, case.system.a0)
        yield _kept("action on a", defect, "g (f a) is not (g f) a, so that a is not advected: correct act_on_a, or a0")
    exact = _exact(case) if case.order else "left out by order=False"
    extents = _extents(case, exact)
    yield from _accuracy(case, exact, extents)
    yield _symplecticity(case, extents)
    yield _reversal(case, extents)
    yield _ending(run)
    sizes = _sizes(nodes)
    yield _energy(case, run, known, sizes)
    if has_symmetry(case.system):
        yield _momentum(case, run, known, sizes.momentum)
    yield _kept("distance from the group", run.monitors["group"].largest, "the method leaves it: RKMK does not")
    if case.system.constraint is not None:
        yield _kept("constraint", run.monitors["constraint"].largest, "the method does not hold it")


class Noether(Module):
    """The momentum of a system's symmetry."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Any:
        return self.system.noether(state)


def _run(case: Case) -> Trajectory:
    system, state, t0 = case.system, case.state, case.t0
    monitors: dict[str, Any] = {"energy": Energy(system), "group": lambda state, t: system.group.error(state.g)}
    if has_symmetry(system):
        monitors["momentum"] = RelativeChange.since(Noether(system), state, t0).replaced(scale=1.0)
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


class Sizes(NamedTuple):
    """The energy at the start, and what changes of it and of the momentum are small or large against: terms of which
    they are made, the largest along the run, as a sum may be zero."""

    start: float
    energy: float
    momentum: float


def _sizes(nodes: "Nodes") -> Sizes:
    start = float(nodes.energy[0])
    return Sizes(start, _largest(start, nodes.twice_kinetic) or 1.0, _largest(nodes.momentum) or 1.0)


class Nodes(NamedTuple):
    """The times and velocities of the saved nodes, the energies, and the sizes of which energies and momenta are made.

    They are one program, and no labelled arrays, which take longer than the program.
    """

    t: Any
    xi: Any
    energy: Any
    twice_kinetic: Any
    momentum: Any


def _nodes(system: LagrangianSystem, run: Trajectory) -> Nodes:
    rows: Any = run.evaluate(NodeTerms(system))
    return rows


class NodeTerms(Module):
    """What is known of a system at a node, as an observable."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Nodes:
        system, (g, mu) = self.system, state
        xi = system.velocity(g, mu, t)
        momentum = jnp.zeros(())
        if has_symmetry(system):
            momentum = jnp.sqrt(jnp.sum(generators(system, g) ** 2) * jnp.sum(mu**2))
        return Nodes(jnp.asarray(t, float), xi, system.energy(state, t), mu @ xi, momentum)


def _largest(*values: Any) -> float:
    """The largest absolute value among all that are finite; 0 if there are none."""
    every = np.abs(np.concatenate([np.ravel(np.asarray(value, float)) for value in values]))
    return float(np.max(every[np.isfinite(every)], initial=0.0))


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


def _exact(case: Case) -> State | str:
    """The reference after the time over which the order is measured, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return reference(case.system, case.state, t1=case.t0 + case.h * SPAN, t0=case.t0, engine="auto")
    except RunError as error:
        return str(error)


def _extents(case: Case, exact: State | str) -> tuple[float, float]:
    """The largest entries of g and of mu."""
    ends = (case.state,) if isinstance(exact, str) else (case.state, exact)
    return _largest(*jax.tree.leaves([end.g for end in ends])) or 1.0, _largest(*(end.mu for end in ends)) or 1.0


def _accuracy(case: Case, exact: State | str, extents: tuple[float, float]) -> Iterator[Finding]:
    """The order, and the error at dt."""
    claimed = case.method.order(case.system)
    if isinstance(exact, str):
        why = f"there is no reference to compare with: {exact}" if case.order else exact
        yield Finding("order", str(claimed), "?", None, why)
        return
    if _rests(case, exact, extents[0]):
        yield Finding("order", str(claimed), "at rest", None, "nothing moves: audit a state that does")
        return
    steps = [COARSEST * 2**k for k in range(LEVELS)]
    t1 = case.t0 + case.h * SPAN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        measured = convergence(case.system, case.method, case.state, t1=t1, t0=case.t0, steps=steps, exact=exact)
    errors = [np.where(np.isfinite(e), e, np.inf) / size for e, size in zip(measured[1:], extents, strict=True)]
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
    remark = "" if good else f"dt = {units_of(case.system).of_time(case.h, '.3g')} is too large: take a smaller one"
    yield Finding(f"error after {SPAN} steps", f"< {LARGE:g}", f"{here:.1e}", good, remark)


def _not_the_equations(error: float) -> str:
    return (
        f"the error does not fall with dt ({error:.1e} at the smallest): the step is not that of the equations of "
        "motion. A force that the discrete Lagrangian leaves out, or one that jumps, does this"
    )


def _rests(case: Case, exact: State, extent: float) -> bool:
    """Whether nothing moves, neither at the start nor later."""
    duration = case.h * SPAN
    ends = [(case.state, case.t0), (exact, case.t0 + duration)]
    velocities = [np.asarray(execute(_velocity, case.system, state, t, parameters=(0,))) for state, t in ends]
    return _largest(*velocities) * duration < FLOOR * extent


def _velocity(system: LagrangianSystem, state: State, t: Any) -> Any:
    return system.velocity(state.g, state.mu, t)


def _finest_slope(dt: np.ndarray, error: np.ndarray) -> float | None:
    """log2 of the ratio of the last two errors that are above round-off and small."""
    seen = [k for k in range(1, len(dt)) if error[k] > FLOOR and error[k - 1] < LARGE]
    return float(np.log2(error[seen[-1] - 1] / error[seen[-1]])) if seen else None


def _symplecticity(case: Case, extents: tuple[float, float]) -> Finding:
    if case.system.group.dim > MOST:
        return Finding("symplectic form", "", "", None, f"not measured for more than {MOST} dimensions")
    if not case.symplectic:
        return Finding("symplectic form", "", "", None, "left out by symplectic=False")
    if case.system.total_force is not None:
        return Finding("symplectic form", "", "", None, "not measured: a force acts, which no method keeps it under")
    defect = symplecticity_defect(case.system, case.method, case.state, dt=case.h, t=case.t0, steps=2, sizes=extents)
    if not case.method.symplectic:
        return Finding("symplectic form", "", f"{defect:.1e}", None)
    return _kept("symplectic form", defect, "Newton's method stops too early, or the step is too large")


def _reversal(case: Case, extents: tuple[float, float]) -> Finding:
    defect = reversibility_defect(case.system, case.method, case.state, dt=case.h, t=case.t0, steps=2, sizes=extents)
    if not case.method.symmetric(case.system):
        return Finding("two steps and back", "", f"{defect:.1e}", None)
    return _kept("two steps and back", defect, "Newton's method stops too early, or the step is too large")


def _ending(run: Trajectory) -> Finding:
    taken, most = int(run.statistics["steps"]), int(run.statistics["newton_iterations_max"])
    found = f"{taken} steps, at most {most} iterations"
    return Finding("the run", "to its end", found, not run.outcome.failed, run.ending if run.outcome.failed else "")


def _energy(case: Case, run: Trajectory, known: Facts, sizes: Sizes) -> Finding:
    monitor = run.monitors["energy"]
    change = max(float(monitor.max) - sizes.start, sizes.start - float(monitor.min)) / sizes.energy
    drift = monitor.slope * run.statistics["steps"] * case.h / sizes.energy
    found = f"{change:.1e}, drift {drift:.1e}"
    if case.system.total_force is not None or known.changing > ROUND_OFF:
        why = "a force acts" if case.system.total_force is not None else "ell depends on t"
        return Finding("energy", "", found, None, f"it need not be constant: {why}")
    if not case.method.symplectic:
        return Finding("energy", "", found, None)
    good = change < LARGE
    return Finding("energy", f"< {LARGE:g}", found, good, "" if good else "dt is too large: take a smaller one")


def _momentum(case: Case, run: Trajectory, known: Facts, size: float) -> Finding:
    largest = run.monitors["momentum"].largest / size
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
