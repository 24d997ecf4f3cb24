"""Whether an optimum is one, by another route: steps written as Lagrange-d'Alembert's principle of a path in local
coordinates, differentiated by JAX alone, and the gradient of the whole cost in the controls and the constants."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.numerics import Module

_ALL, _NEXT, _LAST = slice(None, -1), slice(1, None), slice(-1, None)


class Check(NamedTuple):
    """How far the plan's nodes are from those of its controls, the gradient of the Lagrange function in the controls
    and in the constants, what is missed at the end, by how much bounds and inequalities are broken, and the largest
    product of a multiplier and its gap; the least multiplier."""

    nodes: float
    by_controls: float
    by_constants: float
    missed: float
    broken: float
    products: float
    least: float


def local(group, at, g):
    """Coordinates of g near `at`."""
    return group.log(group.compose(group.inverse(at), g))


def moments(problem, g, K, t, h, moved):
    """Points of a step whose first node is moved: configuration, velocity, time, and weight."""
    group, tau = problem.group, problem.steps.retraction
    first = group.compose(g, group.exp(moved))

    def point(x):
        return group.compose(first, tau.tau(group, x))

    if problem.steps.stages == 1 and problem.steps.inner == 1:
        return [(first, K[0] / h, t, 0.5), (point(K[0]), K[0] / h, t + h, 0.5)], point(K[0])
    a, b, c = problem.steps.method.tableau
    found = []
    for row, weight, time, own in zip(a, b, c, K, strict=True):
        x = sum(each * k for each, k in zip(row, K, strict=True))
        _, rate = jax.jvp(lambda y, x=x: local(group, point(x), point(y)), (x,), (own,))
        found.append((point(x), rate / h, t + time * h, weight))
    return found, point(sum(each * k for each, k in zip(b, K, strict=True)))


def sizes_of(problem):
    """Of eta, m, U, theta, K, m_next."""
    n, stages = problem.group.dim, problem.steps.stages
    return n, n, stages * problem.controls, problem.constants, stages * n, n


def equations(problem, at, z):
    """The equations of a step, its next node in coordinates near the plan's, its cost, and the inequalities, of
    z = (eta, m, U, theta, K, m_next): the variations of the action, of the work of forces and of that of momenta."""
    group, n = problem.group, problem.group.dim
    k, step, g, g_next = at
    eta, m, U, theta, K, m_next = jnp.split(z, np.cumsum(sizes_of(problem))[:-1])
    U, K = U.reshape(-1, problem.controls), K.reshape(-1, n)
    system, h = problem.known(theta), problem.length(theta, step)
    g, t = group.compose(g, group.exp(eta)), k * h
    rule = problem.steps.method.discrete(system) if problem.steps.inner == 1 else None
    own = rule is not None and not isinstance(rule, nd.Trapezoid)

    def work(moved, K, base):
        """Forces do not vary: they are those of `base`."""
        here, end = moments(problem, g, K, t, h, moved)
        there, after = moments(problem, g, base, t, h, jnp.zeros(n))
        value = m @ moved - m_next @ local(group, after, end)
        for j, ((p, xi, time, weight), (q, rate, *_)) in enumerate(zip(here, there, strict=True)):
            force = problem.push(q, U[min(j, len(U) - 1)], time)
            if system.force is not None:
                force = force + system.force(q, rate, time)
            value = value + h * weight * force @ local(group, q, p)
            if not own:
                value = value + h * weight * system.lagrangian(p, xi, time)
        if own:  # of a tree in its joints, whose steps other tests compare
            first = group.compose(g, group.exp(moved))
            value = value + rule.action(system, problem.steps.retraction, first, K[0] / h, t, h)
        return value

    by_g, by_K = jax.grad(work, argnums=(0, 1))(jnp.zeros(n), K, K)
    points, end = moments(problem, g, K, t, h, jnp.zeros(n))
    spent = sum(h * w * problem.cost(p, xi, U[min(j, len(U) - 1)], s) for j, (p, xi, s, w) in enumerate(points))
    kept = [problem.path(p, xi, u, s) for (p, xi, s, _), u in zip(points, U, strict=False)] if problem.path else []
    return jnp.concatenate([by_g, by_K.reshape(-1), local(group, g_next, end), spent[None], *kept])


def ends(shared, at, z):
    """The conditions of the end and its cost, of z = (eta, m, theta)."""
    (problem, (goal, step)), (last, N) = shared, at
    group, n = problem.group, problem.group.dim
    eta, m, theta = z[:n], z[n : 2 * n], z[2 * n :]
    state = nd.State(group.compose(last, group.exp(eta)), m)
    T, parts = N * problem.length(theta, step), []
    if problem.reaching:
        apart = group.compose(group.inverse(goal.g), state.g)
        parts += [nd.Cayley().inverse(group, apart), m - goal.mu]
    if problem.ending is not None:
        parts.append(problem.at_end(problem.ending, state, T, theta))
    cost = 0.0 if problem.end_cost is None else problem.at_end(problem.end_cost, state, T, theta)
    return jnp.concatenate([*parts, jnp.reshape(cost, (1,))])


def first_node(problem, at, theta):
    """Coordinates and momentum of the first node that parameters say."""
    state = problem.begin(problem.parameters(theta))
    return jnp.concatenate([local(problem.group, at[0], state.g), state.mu])


def sloped(function, shared, row, z):
    """The value and the derivatives in z, in columns, direction by direction."""

    def along(direction):
        return jax.jvp(lambda z: function(shared, row, z), (z,), (direction,))[1]

    return function(shared, row, z), jax.lax.map(along, jnp.eye(z.size))


def all_sloped(function, shared, rows, z):
    """Of all rows, by naiad's compiler, which takes less time than XLA."""
    values, slopes = execute_rows(_Sloped(function), shared, rows, z, parameters=())
    return values, slopes.transpose(0, 2, 1)


class _Sloped(Module):
    function: Any

    def __call__(self, shared, row, z):
        return sloped(self.function, shared, row, z)


def checked(plan):
    """The errors of a plan. Costates are those of this discretisation, solved for from the end on."""
    at, numbers, problem = plan.iterate, plan.numbers, plan.problem
    N, n = at.steps, problem.group.dim
    one = problem.steps.inner == 1
    K = at.K * float(plan.T / N) if one else at.K[:, :-1]
    sizes = sizes_of(problem)
    theta = np.tile(at.theta, (N, 1))
    z = np.concatenate([np.zeros((N, n)), at.m[:-1], at.U.reshape(N, -1), theta, K.reshape(N, -1), at.m[1:]], axis=1)
    own, q = n + sizes[4], at.rho.shape[1]
    first, after, last = (jax.tree.map(lambda a, part=part: a[part], at.g) for part in (_ALL, _NEXT, _LAST))
    rows = (np.arange(N) * 1.0, np.full(N, float(numbers.step)), first, after)
    values, slopes = all_sloped(equations, problem, rows, z)
    tail = np.concatenate([np.zeros(n), at.m[-1], at.theta])[None]
    goal = (numbers.goal, np.asarray(float(numbers.step)))
    (end,), (by_end,) = all_sloped(ends, (problem, goal), (last, np.full(1, float(N))), tail)
    if problem.begin is not None:
        (start,), (by_start,) = all_sloped(first_node, problem, (jax.tree.map(lambda a: a[:1], at.g),), at.theta[None])
        start[n:] -= at.m[0]
    path = values[:, own + n + 1 :]
    missed = np.abs(end[:-1]).max(initial=0.0)
    off = np.abs(values[:, : own + n]).max()
    if problem.begin is not None:
        off = max(off, np.abs(start).max())
    cost = values[:, own + n].sum() + end[-1]
    costate = by_end[-1] + at.nu @ by_end[:-1]
    by_theta, costate = costate[2 * n :], costate[: 2 * n]
    by_U = np.zeros_like(at.U).reshape(N, -1)
    places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    inner = np.concatenate(places[4:])
    for k in reversed(range(N)):
        D = slopes[k]
        direct = D[own + n] + at.rho[k] @ D[own + n + 1 :] + costate[:n] @ D[own : own + n]
        direct[places[5]] += costate[n:]
        adjoint = np.linalg.solve(D[:own, inner].T, -direct[inner])
        whole = direct + adjoint @ D[:own]
        by_U[k], by_theta = whole[places[2]], by_theta + whole[places[3]]
        costate = np.concatenate([whole[places[0]], whole[places[1]]])
    if problem.begin is not None:
        by_theta = by_theta + costate @ by_start
    by_U = by_U.reshape(at.U.shape) + at.high - at.low
    by_theta = by_theta + at.most - at.least
    pairs = [(at.rho, -path)] if q else []
    for values, below, above, low, high in (
        (at.U, numbers.lower, numbers.upper, at.low, at.high),
        (at.theta, numbers.least, numbers.most, at.least, at.most),
    ):
        pairs += [(low, values - below), (high, above - values)]
    broken, products, least = 0.0, 0.0, 0.0
    for multiplier, gap in pairs:
        there = np.isfinite(gap)
        broken = max(broken, -np.min(gap[there], initial=0.0))
        products = max(products, np.max(np.abs(multiplier[there] * gap[there]), initial=0.0))
        least = min(least, np.min(multiplier, initial=0.0))
    found = (max(off, abs(cost - plan.cost)), np.abs(by_U).max(), np.abs(by_theta).max(initial=0.0), missed)
    return Check(*map(float, (*found, broken, products, least)))
