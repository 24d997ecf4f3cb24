"""Model predictive control: an optimum over a horizon that moves along, a few iterations a sample."""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import numpy as np

from naiad.control.doors import end_states
from naiad.control.guess import centred
from naiad.control.interior import Method, finished
from naiad.control.iterate import OF_STEPS, Iterate, stacked
from naiad.control.plant import Actuated
from naiad.control.task import posed
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked, shown
from naiad.numerics.double import double
from naiad.simulation import simulate


class Sampled(NamedTuple):
    """A closed loop: times, states and controls of the samples, the cost of each plan, the iterations and the seconds
    that each took; `missed` is by how much the plans miss their equations: what stays large has no solution. It is
    infinite where a plan leads beyond the limit of the system."""

    t: np.ndarray
    states: State
    u: np.ndarray
    cost: np.ndarray
    iterations: np.ndarray
    seconds: np.ndarray
    missed: np.ndarray


class MPC:
    """Controls from the plan of least cost over a horizon T in N steps, begun anew at every sample from the last plan.

    `goal` and `options` are those of `solve`; a horizon without a goal has an `end_cost`. `iterations` is the most of a
    sample, `first` that of the first one. Calling it with a state gives the controls of the first step of the plan.
    """

    @checked
    def __init__(
        self,
        system: LagrangianSystem,
        goal: State | None,
        T: float,
        N: int,
        *,
        iterations: int = 1,
        first: int = 100,
        barrier: float = 1e-4,
        order: int = 2,
        **options: Any,
    ):
        if min(iterations, first) < 1 or not barrier > 0.0:
            raise InputError(
                f"MPC: iterations = {iterations}, first = {first}, barrier = {barrier}; expected all above 0."
            )
        self._task = posed(system, None, goal is not None, T, N, order=order, iterations=first, **options)
        self._options = {key: options[key] for key in ("actuation", "controls") if key in options}
        self.system, self.N, self.T = system, N, float(T)
        group, momenta = system.group, cast("Any", np.zeros(system.group.dim))
        identity, self._form = jax.tree.flatten(State(jax.eval_shape(group.identity), momenta))
        self._shapes = list(map(np.shape, identity))
        self._goal = None if goal is None else end_states(system, goal=goal)[0]
        self._iterations, self._barrier = iterations, barrier
        self._plan: Iterate | None = None
        self.missed = np.inf

    def __call__(self, state: State, t: float = 0.0) -> np.ndarray:
        """The controls of the first step of a plan from this state at a time: of its stages, the mean."""
        return self.planned(state, t)[0]

    @double
    def planned(self, state: State, t: float = 0.0) -> tuple[np.ndarray, float, int]:
        """The controls, the cost of the plan, and the iterations; `missed` is by how much it misses its equations."""
        N, state = self.N, self._seen(state)
        goal = state if self._goal is None else self._goal
        if self._plan is None:
            self._task, state, goal = self._task.between(state, goal, N)
        task = self._task
        numbers = task.numbers._replace(goal=goal, step=task.step(N), begin=float(t))
        if self._plan is None:
            outcome = finished(task.problem, task.beginning(numbers, state, N), numbers, task.rules)
            self._task = task._replace(problem=outcome.problem)
        else:
            at = centred(task.problem, numbers, self._shifted(self._plan, state), self._barrier)
            rules = task.rules._replace(barrier=self._barrier, iterations=self._iterations, checked=False)
            outcome = Method(task.problem, at, numbers, rules).run()
        self._plan = outcome.at
        self.missed = math.inf if outcome.beyond(numbers).any() else outcome.primal
        return outcome.at.U[0].mean(axis=0), outcome.cost, outcome.iterations

    def _seen(self, state: State) -> State:
        """A state as arrays, if it can be one; what little an attitude is off is put right later."""
        try:
            leaves = [np.asarray(leaf, float) for leaf in jax.tree.leaves(State(*state))]
            right = [leaf.shape for leaf in leaves] == self._shapes and math.isfinite(
                sum(leaf.sum() for leaf in leaves)
            )
        except (TypeError, ValueError):
            right = False
        if not right:
            raise InputError(
                f"MPC: state = {shown(state)}; expected a State of {type(self.system).__name__} of finite numbers."
            )
        return jax.tree.unflatten(self._form, leaves)

    def _shifted(self, plan: Iterate, state: State) -> Iterate:
        """The plan a step later, its last step repeated, from a state."""

        def later(array: np.ndarray) -> np.ndarray:
            return np.concatenate([array[1:], array[-1:]])

        moved = {name: later(getattr(plan, name)) for name in OF_STEPS}
        g, m = jax.tree.map(later, (plan.g, plan.m))
        for array, first in zip(jax.tree.leaves((g, m)), jax.tree.leaves(state), strict=True):
            array[0] = first
        return plan._replace(g=g, m=m, **moved)

    @checked
    def run(
        self,
        state: State,
        samples: int,
        *,
        t0: float = 0.0,
        plant: LagrangianSystem | None = None,
        substeps: int = 4,
        method: AbstractMethod | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Sampled:
        """The closed loop over so many samples from t0 on, with the plant (the system itself, if not given) simulated
        by naiad."""
        if samples < 1 or substeps < 1:
            raise InputError(f"MPC.run: samples = {samples}, substeps = {substeps}; expected both at least 1.")
        body, dt = self.system if plant is None else plant, self.T / self.N
        states, controls, costs, iterations, seconds, missed = [self._seen(state)], [], [], [], [], []
        times = t0 + dt * np.arange(samples + 1)
        for k in range(samples):
            began = time.perf_counter()
            u, cost, count = self.planned(states[-1], times[k])
            seconds.append(time.perf_counter() - began)
            driven = Actuated(body, u, **self._options)
            run = simulate(
                driven,
                states[-1],
                t0=times[k],
                t1=times[k + 1],
                dt=(times[k + 1] - times[k]) / substeps,
                method=method,
                save_every=substeps,
                progress=False,
                throw=True,
            )
            states.append(jax.tree.map(np.asarray, run.final))
            controls.append(u)
            costs.append(cost)
            iterations.append(count)
            missed.append(self.missed)
            if progress is not None:
                progress((k + 1) / samples)
        path = stacked(states)
        found = map(np.array, (controls, costs, iterations, seconds, missed))
        return Sampled(times, path, *found)
