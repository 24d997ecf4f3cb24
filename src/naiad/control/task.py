"""A problem as a user poses it, checked, without its start and its goal."""

import operator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.control.actuation import effort, gains
from naiad.control.doors import contents, end_states, force_map, functions, limits, parameters, transcription
from naiad.control.geodesic import Route
from naiad.control.interior import Rules
from naiad.control.iterate import Numbers, stacked
from naiad.control.newton import NewtonTables
from naiad.control.problem import Problem
from naiad.control.units import ProblemUnits, by_parts, fitting, is_ordinary, moved, parts, places
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked
from naiad.numerics.checks import positive

FIRST_BARRIER = 0.1
ASIDE = 0.1  # of the momenta beside the geodesic: what parts that have no way have at least
SMALL_SHARE = 1e-2  # of the cost: larger ones are as good as all of it
MOST_KNOWN = 64  # problems and ends that are known


class Task(NamedTuple):
    """A problem without its start and its goal; `sizes` are the numbers of inequalities of a step and of conditions of
    the end, `route` is where it was begun to find its units, if it was."""

    problem: Problem
    numbers: Numbers
    rules: Rules
    sizes: tuple[int, int]
    T: float
    theta: np.ndarray
    route: Route | None = None

    def step(self, N: int) -> np.ndarray:
        """h, or the part of a free duration."""
        return np.asarray(1.0 / N if self.problem.free_time else self.T / N)

    def started(self, start: State, theta: np.ndarray) -> State:
        """The first node: the one that is given, or that of these parameters."""
        begin = self.problem.begin
        return start if begin is None else jax.tree.map(np.asarray, begin(jnp.asarray(theta)))

    def between(self, start: State, goal: State | None, N: int, guess: Any = None) -> "tuple[Task, State, State]":
        """The same in units that fit it, which are those of its user if they do, and both ends, checked. Where neither
        ends nor anything else says how far it is, the places g of a `guess` do."""
        along = np.zeros(self.problem.group.dim) if guess is None else moved(self.problem.group, guess)
        everything, tree = jax.tree.flatten((self.problem, start, goal, self.numbers.lower, self.numbers.upper, along))
        key = (tree, self.T, *map(contents, everything))
        units, ends, route = _UNITS.get(key), [start, start if goal is None else goal], None
        if units is None:
            given = {"start": start} if goal is None else {"start": start, "goal": goal}
            states = end_states(self.problem.system, **given)
            ends = [states[0], states[-1]]
            route = self.beginning(self.numbers._replace(goal=ends[1], step=self.step(N)), ends[0], N)
            units = self._units(route, along)
            if all(map(operator.is_, jax.tree.leaves(list(given.values())), jax.tree.leaves(states))):
                if len(_UNITS) >= MOST_KNOWN:
                    _UNITS.clear()
                _UNITS[key] = units
        if not units.plain:
            return self._replace(problem=self.problem.replaced(units=units)), ends[0], ends[1]
        return self._replace(route=route), ends[0], ends[1]

    def fits(self, start: State, goal: State) -> bool:
        """Whether these units are those of the user, and between these ends they can be."""
        if not self.problem.units.plain:
            return False
        ways = execute(_ways, self.problem.system, start, goal, self.T, parameters=(0,))
        return bool(np.all(self._places(ways, start.g, goal.g) == 1.0))

    def _places(self, ways: np.ndarray, g: Any, f: Any) -> np.ndarray:
        return places(self.problem.group, np.nan_to_num(ways), stacked([g, f]), self.rules.tolerance)

    def _units(self, route: Route, along: np.ndarray) -> ProblemUnits:
        """By the way to go, the momenta along the geodesic, or beside it, and the cost there with the controls that it
        takes."""
        problem, group, numbers, end = self.problem, self.problem.group, self.numbers, route.end
        newton = NewtonTables.of(problem, route, numbers)
        ways = execute(_ways, problem.system, route.first, State(end.g, end.m), self.T, parameters=(0,))
        paths, slopes = np.ones(0), np.zeros((problem.state_size, 0))
        if (problem.path, problem.ending, problem.end_cost) != (None, None, None):
            newton.linearise(self.rules.barrier, 0.0)
            paths, slopes = newton.inequalities(), np.abs(newton.ends.slopes)
            ways = ways if problem.reaching else np.maximum(ways, newton.wish())
            ways = ways if ways.any() else newton.forced()
        ways = ways if ways.any() else along
        place = self._places(ways, route.first.g, end.g)
        aside, momenta = route._replace(bends=np.stack([place, place])), newton.momenta()
        if not momenta.any():
            newton.begin(aside)
            momenta = newton.momenta()
        by_controls = np.nan_to_num(gains(problem.push, route.first.g, route.U[0]))
        slope, bounds = np.abs(by_controls).max(), np.abs([numbers.lower, numbers.upper])
        largest = np.max(bounds, initial=0.0, where=np.isfinite(bounds)) or np.inf
        control = min(np.max(momenta) / (self.T * slope) if slope > 0.0 else largest, largest)
        cost = abs(newton.cost_with(control))
        if np.all(place == 1.0) and is_ordinary([np.max(momenta), cost, *paths]):
            newton.release()
            return problem.units
        newton.begin(aside)
        momentum = by_parts(group, np.maximum(momenta, ASIDE * newton.momenta()))
        taken = np.abs(np.linalg.pinv(by_controls)) * momentum / self.T
        controls = np.minimum(np.sum(taken, axis=1), largest)
        cost, none = abs(newton.cost_with(controls)), newton.cost_with(0.0)

        def of_cost(controls: Any) -> float:
            alone = abs(newton.cost_with(np.minimum(controls, largest)) - none) / cost if cost > 0.0 else 1.0
            return alone if 0.0 < alone < SMALL_SHARE else 1.0

        share = np.ones(group.dim)
        for row in (row for rows in parts(group) for row in rows):
            share[row] = of_cost(np.sum(taken[:, row], axis=1))
        part = np.array([of_cost(each) for each in np.diag(controls)])
        newton.release()
        sizes = np.concatenate([place, np.zeros(problem.constants), momentum])
        ending = np.max(sizes[:, None] * slopes, axis=0, initial=0.0)[slopes.shape[1] - len(problem.units.ending) :]
        return ProblemUnits(
            *map(fitting, (place, momentum, controls)),
            float(fitting(cost)),
            fitting(paths),
            fitting(ending),
            share,
            part,
        )

    def beginning(self, numbers: Numbers, start: State, N: int, bends: np.ndarray | None = None) -> Route:
        """The first iterate: along the geodesic, bent aside if wanted; the one that is known, if it is that."""
        if self.route is not None and bends is None and self.route.leads(start, numbers, N):
            return self.route
        theta = np.concatenate([np.full(int(self.problem.free_time), self.T), self.theta])
        bends = np.zeros((2, self.problem.group.dim)) if bends is None else bends
        given = self.problem, numbers, start, self.T, theta, N
        return Route.of(*given, self.sizes[1], self.rules.barrier, bends)


def pose(
    system: LagrangianSystem,
    begin: Any,
    reaching: bool,
    T: float,
    N: int,
    *,
    actuation: Any = None,
    controls: int | None = None,
    cost: Any = None,
    bounds: Any = None,
    path: Any = None,
    end_cost: Any = None,
    ending: Any = None,
    free_time: bool = False,
    times: Any = None,
    model: Any = None,
    theta: Any = None,
    theta_bounds: Any = None,
    order: int = 4,
    method: AbstractMethod | None = None,
    tolerance: float = 1e-8,
    iterations: int = 200,
) -> Task:
    """What is given, checked, but for what kinds of things they are: see `posed`."""
    if not 1 <= N <= 10**6:
        raise InputError(f"N = {N!r}; expected a number of steps from 1 to a million.")
    T, tolerance = positive("T", T), positive("tolerance", tolerance)
    if iterations < 1:
        raise InputError(f"iterations = {iterations!r}; expected at least 1.")
    push, nu = force_map(system, actuation, controls)
    steps = transcription(system, order, method)
    theta, low, high = parameters(system, model, theta, theta_bounds, begin)
    inequalities, conditions = functions(system, nu, theta.size, cost, path, end_cost, ending)
    sizes = steps.stages * inequalities, 2 * system.group.dim * reaching + conditions
    if times is not None and not free_time:
        raise InputError(f"times = {times!r} are bounds of a free duration; give free_time=True with them.")
    least, most = _times(times, T) if free_time else (np.zeros(0), np.zeros(0))
    problem = Problem.unchecked(
        system=system,
        steps=steps,
        push=push,
        cost=effort if cost is None else cost,
        path=path,
        end_cost=end_cost,
        ending=ending,
        model=model,
        begin=begin,
        units=ProblemUnits.ones(system.group.dim, nu, inequalities, conditions),
        controls=nu,
        constants=int(free_time) + theta.size,
        unknown=theta.size,
        free_time=free_time,
        reaching=reaching,
    )
    bounds = *limits("bounds", bounds, nu), np.concatenate([least, low]), np.concatenate([most, high])
    numbers, rules = Numbers(0.0, None, *bounds), Rules(tolerance, iterations, FIRST_BARRIER)
    return Task(problem, numbers, rules, sizes, T, theta)


posed = checked(pose, "the problem")
_UNITS: dict[Any, ProblemUnits] = {}  # of problems whose ends are sound, by all of their numbers


def _ways(system: LagrangianSystem, start: State, goal: State, T: Any) -> Any:
    """How far it is from a start to a goal, and how far the velocities there lead in the duration."""
    group = system.group
    speeds = [jnp.abs(system.velocity(state.g, state.mu, t)) for state, t in ((start, 0.0), (goal, T))]
    return jnp.maximum(jnp.abs(group.log(group.compose(group.inverse(start.g), goal.g))), T * jnp.maximum(*speeds))


def _times(times: Any, T: float) -> tuple[np.ndarray, np.ndarray]:
    if times is None:
        return np.zeros(1), np.full(1, np.inf)
    least, most = limits("times", times, 1)
    if not (least[0] < T < most[0] and least[0] >= 0.0):
        raise InputError(f"T = {T:g} is not between the times {least[0]:g} and {most[0]:g}, both at least 0.")
    return least, most
