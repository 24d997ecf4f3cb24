"""The variational integrator of a string, in O(N)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, renormalised
from naiad.integrators.rules import AbstractRule, Midpoint
from naiad.mechanics import LagrangianSystem, Scalar, State, pull_back
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import Newton, extrapolate, history, remember, static
from naiad.strings.inextensible import held, solve_links
from naiad.strings.joints import kicked_by_joints
from naiad.strings.landing import kicked
from naiad.strings.nodes import Nodes
from naiad.strings.problem import TAU, Problem, Solved, Velocities, tip_forces
from naiad.strings.rules import Rule, element_rule
from naiad.strings.solve import solve
from naiad.strings.system import StringSystem


class Memory(NamedTuple):
    """The velocities of the last two steps."""

    last: Velocities
    before: Velocities

    @property
    def guess(self) -> Velocities:
        """The next ones, if they change as before."""
        return jax.tree.map(lambda last, before: 2.0 * last - before, self.last, self.before)


class StringVariational(AbstractOneStepMethod):
    """The variational integrator of a `StringSystem`, in O(N) for N elements [lee2010, section 3.3].

    L_d = h T(g*, (g_{k+1} - g_k)/h) - h (V_k + V_{k+1})/2 with differences in the ambient space. `rule` says where the
    inertia is taken and where forces act:

    - `Left()`: at the start, and all of the forces there too, as in the paper: second order for a fixed length, else
      first;
    - `Midpoint()`: half-way, and half of the forces at each end: second order;
    - `Implicit()`: the same, with the elastic energy between the ends, at the mean of their strains: implicit in the
      waves along the string, explicit in the rest [stern2009]. As the string gets stiffer it becomes RATTLE.

    For given velocities of the ends the equations of the nodes are linear (but for `Implicit()`): they are eliminated
    in a sweep. A step that cannot be solved, or that starts from what is not `admissible`, leaves the state as it is.
    """

    rule: AbstractRule = Midpoint()
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP - {"discrete_lagrangian", "dissipation", "override"}
    failure = (
        "a step could not be solved: the string on the reel ran out, the body was wound in, or dt is too long for the "
        "fastest wave (h below the time in which it runs along half an element); take a smaller dt or, for a string "
        "that stretches, rule=Implicit() (scheme=imex in a study). With friction on the drum, a larger slip."
    )

    def __post_init__(self):
        element_rule("StringVariational", self.rule)

    @property
    def discrete(self) -> Rule:
        """What the rule is for a string."""
        return element_rule("StringVariational", self.rule)

    def check(self, system: LagrangianSystem) -> None:
        self.newton.check_exact()
        if not isinstance(system, StringSystem):
            raise InputError(
                f"StringVariational needs a StringSystem; {type(system).__name__} was given. Use Variational for it."
            )

    def order(self, system: StringSystem) -> int:
        return 2 if self.symmetric(system) else 1

    def symmetric(self, system: StringSystem) -> bool:
        return self.discrete.symmetric or not system.uneven

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        """As it is: its steps themselves put the attitudes back."""
        return carry

    def memory(self, system: StringSystem, state: State, t: Scalar) -> Any:
        """Constant rates, those of the node; of the ends alone where the others follow from them."""
        xi = Velocities(*system.split(system.velocity(state.g, state.mu, t)))
        return history(xi.tip) if self.discrete.linear(system) else Memory(xi, xi)

    def advance(self, system: StringSystem, state, memory, t, h, inputs):
        g, rule = state.g, self.discrete
        rows, ends = system.split(state.mu)
        nodes, reel = kicked(system, rule, g, rows, t, 0.5 * h)
        nodes, ends = _kicked_ends(system, rule, g, nodes, ends, reel, t, 0.5 * h)
        problem = Problem(system, rule, g, nodes, ends, t, h)
        guess: Any = memory.guess if isinstance(memory, Memory) else extrapolate(memory)
        root = (solve if system.constraint is None else solve_links)(self.newton, problem, guess)
        solved: Solved = root.x
        group, x = system.tip_group, solved.xi.tip
        increment = TAU.increment(group, h * x)
        moved, correction = _moved(system, g, solved.landing.q, increment, renormalise=self.renormalise)
        pushed = jnp.concatenate([jnp.zeros(3), ends]) + solved.legs.minus
        landed = group.Ad_dual_advance(increment, pushed)
        if rule.force < 1.0:
            landed = landed + (1.0 - rule.force) * h * tip_forces(system, moved, x, t + h)
        nodes = solved.landing.nodes
        nodes = nodes._replace(last=nodes.last + landed[:3])
        nodes, ends = _kicked_ends(system, rule, moved, nodes, landed[3:], solved.landing.reel, t + h, 0.5 * h)
        if system.constraint is not None:
            nodes, ends = held(system, moved, nodes, ends, t + h)
        new = State(moved, nodes.followed_by(ends))
        good = root.converged & system.admissible(g, t)
        end = jax.tree.map(lambda new, old: jnp.where(good, new, old), new, state)
        memory = Memory(solved.xi, memory.last) if isinstance(memory, Memory) else remember(memory, x)
        return end, memory, StepInfo(root.iterations, root.memory, good, correction)


def _kicked_ends(
    system: StringSystem, rule: Rule, g: Any, nodes: Nodes, ends: Float[Array, " m"], reel: Any, t: Scalar, time: Scalar
) -> tuple[Nodes, Float[Array, " m"]]:
    """The momenta after the potentials of the ends and of the joints have acted for some time, with what the elements
    add to the reel's."""
    group, at = system.tip_group, system.tip_element(g)
    slope = jax.grad(lambda element: rule.tip_potential(system, system.tip_place(element, t), t))(at)
    tip = time * pull_back(group, at, slope)
    nodes, ends = nodes._replace(last=nodes.last - tip[:3]), ends - tip[3:]
    if system.reeled:
        ends = ends.at[0].add(reel)
    return (nodes, ends) if system.joint_potential is None else kicked_by_joints(system, g, nodes, ends, t, time)


def _moved(
    system: StringSystem, g: Any, q: Float[Array, "N 3"], increment: Any, *, renormalise: bool
) -> tuple[Any, Float[Array, ""]]:
    """The configuration after a step, and the round-off correction of the attitude."""
    correction, parts = jnp.zeros(()), {"q": q}
    for name in system.ends:
        if name != "R":
            parts[name] = getattr(g, name) + getattr(increment, name)
    if system.turning:
        factor = system.ends["R"]
        R = factor.advance(g.R, increment.R)
        parts["R"], correction = renormalised(factor, R) if renormalise else (R, correction)
    return g._replace(**parts), correction
