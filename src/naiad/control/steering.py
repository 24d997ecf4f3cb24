"""A plan carried out on a plant: its controls, the feedback about its motion, and what holds the goal after its end."""

from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.control.linear import increment, linear_step, weight
from naiad.control.motion_regulator import regulated, tracking
from naiad.control.plant import AbstractActuated
from naiad.control.solution import Solution, lagrange_weights
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, check_method
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import static
from naiad.numerics.arguments import checked

TOLERATED = 0.05  # of the way to the goal: so far off, the default weights take the largest controls of the plan
WITHIN = 8  # the part of the duration in which they take back a deviation, roughly
AFTER = 4  # durations of the plan after its end over which the feedback looks ahead
AT_ONCE = 1e-6  # of a step: what comes after a node, whatever its time is rounded to
AT_REST = 1e-8  # how far a step may lead off a goal that is held


class Course(NamedTuple):
    """The nodes of a plan, controls and feedback gains of its steps, and of those after its end in the last row."""

    states: Any
    u: Any
    K: Any


class Steered(AbstractActuated):
    """A `system` that follows a plan which was made for a `model`: at the beginning of each step, the controls of the
    plan and `feedback` times those of the regulator about its motion, together within the bounds, are given for the
    step. After the end of the plan the goal is held, if `holds`; else the controls are zero.

    It is simulated by `method`, in steps of `length`, or shorter. `u` are the controls of the step that began at
    `begun`: a polynomial through its rows, at `places` in the step.
    """

    system: LagrangianSystem
    model: LagrangianSystem
    push: Any
    course: Course
    lower: Float[Array | np.ndarray, " nu"]
    upper: Float[Array | np.ndarray, " nu"]
    feedback: Scalar
    u: Float[Array | np.ndarray, "stages nu"]
    begun: Scalar
    length: float
    steps: AbstractOneStepMethod
    places: tuple[float, ...] = static()
    holds: bool = static()

    @property
    def method(self) -> "Sampling":
        """The steps of the plan, each with the controls that are given at its beginning."""
        return Sampling(self.steps)

    def acting(self, t: Scalar) -> Float[Array, " nu"]:
        """The controls at a time of the step."""
        places = np.array(self.places)
        return lagrange_weights(places, jnp.asarray((t - self.begun) / self.length)) @ jnp.asarray(self.u)

    def controlled(self, u: Any, t: Scalar) -> Self:
        """The same with other controls, for a step that begins at t."""
        return self.replaced(u=u, begun=t)

    def sampled(self, state: State, t: Scalar, h: Scalar) -> Self:
        """The same with the controls for a step of h from a state."""
        last = self.course.u.shape[0] - 1
        k = jnp.clip(jnp.floor((t + 0.5 * h) / self.length).astype(int), 0, last)
        u, K = _row(self.course.u, k), _row(self.course.K, k)
        u = jnp.clip(u - self.feedback * (K @ self.off(state, t, h)), self.lower, self.upper)
        return self.controlled(u, k * self.length)

    def command(self, state: State, t: Scalar) -> Float[Array, " nu"]:
        """The controls that are given at a state."""
        return self.sampled(state, t, AT_ONCE * self.length).acting(t)

    def off(self, state: State, t: Scalar, h: Scalar = 0.0) -> Float[Array, " x"]:
        """By how much a state is off the plan at a time: the increments x = (eta, dmu) from there, in momenta of the
        model. A step of h that begins then says which side of the time is meant."""
        last, group = self.course.u.shape[0] - 1, self.model.group
        k = jnp.clip(jnp.floor((t + 0.5 * h) / self.length).astype(int), 0, last)
        here, there = _row(self.course.states, k), _row(self.course.states, jnp.minimum(k + 1, last))
        part = jnp.clip(t / self.length - k, 0.0, 1.0)
        way = group.log(group.compose(group.inverse(here.g), there.g))
        g = group.compose(here.g, group.exp(part * way))
        seen = self.model.legendre(state.g, self.system.velocity(state.g, state.mu, t), t)
        return increment(self.model, State(g, here.mu + part * (there.mu - here.mu)), State(state.g, seen))

    @property
    def goal(self) -> State:
        """Where the plan ends."""
        return jax.tree.map(lambda leaf: leaf[-1], self.course.states)


class Sampling(AbstractOneStepMethod):
    """Steps of a method, each with the controls that a `Steered` system is given at its beginning."""

    steps: AbstractOneStepMethod

    @property
    def honours(self) -> frozenset[str]:
        """What the steps do."""
        return self.steps.honours

    def check(self, system: LagrangianSystem) -> None:
        if not isinstance(system, Steered):
            raise InputError(f"Sampling steps what `steered` gives; got {type(system).__name__}.")
        check_method(self.steps, system)

    def order(self, system: LagrangianSystem) -> int:
        """That of the plan's steps; what is held over a step is of order 1 between them."""
        return 1

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Any:
        return self.steps.memory(system, state, t)

    def advance(
        self, system: LagrangianSystem, state: State, memory: Any, t: Scalar, h: Scalar, inputs: Any
    ) -> tuple[State, Any, StepInfo]:
        assert isinstance(system, Steered)
        return self.steps.advance(system.sampled(state, t, h), state, memory, t, h, inputs)


@checked
def steered(plan: Solution, Q: Any = None, R: Any = None) -> Steered:
    """The system of a plan under its controls, with the feedback of the linear-quadratic regulator about its motion and
    about the goal after it: of least sum of x . Q x + du . R du over the steps, x = (eta, dmu) and du being off the
    plan. Numbers, diagonals or matrices; if they are not given, 0.05 of the way to the goal weighs as much as the
    largest control, and so does a velocity that leads so far in an eighth of the duration.

        follower = nd.control.steered(plan)
        run = nd.simulate(follower.replaced(system=real), start, t1=2 * plan.T, dt=follower.length,
            method=follower.method)
    """
    if not plan.solved:
        raise InputError(f"the plan is no optimum ({plan.status}); expected one that is solved.")
    problem, N = plan.problem, len(plan.u)
    steps: Any = problem.steps
    method = steps.method
    model = execute(_known, problem, plan.iterate.theta, parameters=(0,)) if problem.model else problem.system
    n, nu, h = problem.group.dim, problem.controls, plan.T / N
    none = Course(plan.states, np.zeros_like(plan.u), np.zeros((N, nu, 2 * n)))
    bounds = plan.numbers.lower, plan.numbers.upper
    lower, upper = (np.nan_to_num(np.broadcast_to(each, (nu,)).astype(float)) for each in bounds)  # none: the largest
    places = tuple(float(each) for each in np.asarray(problem.steps.times))
    idle = np.zeros((len(places), nu))
    plant = Steered(
        system=model,
        model=model,
        push=problem.push,
        course=none,
        lower=lower,
        upper=upper,
        feedback=1.0,
        u=idle,
        begun=0.0,
        length=h,
        steps=method,
        places=places,
        holds=False,
    )
    Q = weight("Q", _deviations(plan, model) if Q is None else Q, 2 * n)
    R = weight("R", 1.0 / max(np.max(np.abs(plan.u)), 1e-300) ** 2 if R is None else R, nu)
    held, K_held, V = _holding(plant, method, plan, Q, R)
    followed = tracking(plant, plan.states, plan.u, Q, R, dt=h, end=V, method=method)
    after = idle if held is None else np.broadcast_to(held, idle.shape)
    course = Course(plan.states, np.concatenate([plan.u, after[None]]), np.concatenate([followed.K, K_held[None]]))
    return plant.replaced(course=course, holds=held is not None)


def _row(tree: Any, k: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.asarray(leaf)[k], tree)


def _known(problem: Any, theta: Any) -> LagrangianSystem:
    return problem.known(theta)


def _deviations(plan: Solution, model: LagrangianSystem) -> np.ndarray:
    """The default weights of deviations."""
    first, goal = (jax.tree.map(lambda leaf, k=k: leaf[k], plan.states) for k in (0, -1))
    way, inertia = execute(_way, model, first, goal, parameters=(0,))
    place = plan.problem.units.place
    size = TOLERATED * max(float(np.linalg.norm(way / place)), 0.1)
    slow = np.linalg.inv(inertia) * plan.T / WITHIN / place[:, None]
    n = len(way)
    Q = np.zeros((2 * n, 2 * n))
    Q[:n, :n], Q[n:, n:] = np.diag(place**-2.0), slow.T @ slow
    return Q / size**2


def _way(model: LagrangianSystem, first: State, goal: State) -> tuple[Any, Any]:
    rest = model.velocity(goal.g, goal.mu, 0.0)
    return increment(model, first, goal)[: model.group.dim], jax.jacfwd(lambda xi: model.legendre(goal.g, xi))(rest)


def _holding(
    plant: Steered, method: AbstractMethod, plan: Solution, Q: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """The controls that hold the goal, the feedback about it and its cost; no controls where none do, within the
    bounds."""
    goal, u = plant.goal, np.zeros(plan.u.shape[2])
    step, off = None, np.full(len(Q), np.inf)
    for _ in range(4):
        held = plant.controlled(np.broadcast_to(u, plant.u.shape), 0.0)
        step = linear_step(held, goal, dt=plant.length, method=method)
        off = execute(increment, plant.model, goal, step.end, parameters=(0,))
        u = u - np.linalg.lstsq(step.B, off, rcond=None)[0]
    units = plan.problem.units
    if (
        np.max(np.abs(off) / np.concatenate([units.place, units.momentum])) > AT_REST
        or np.any(u < plant.lower)
        or np.any(u > plant.upper)
    ):
        return None, np.zeros((len(u), len(Q))), Q
    assert step is not None
    many = AFTER * len(plan.u)
    K, V = regulated([step.A] * many, [step.B] * many, Q, R, Q)
    return u, K[0], V[0]
