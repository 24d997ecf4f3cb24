"""What is put together from all steps and both ends, against the whole problem written down at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler.cores import one_core
from naiad.control import ending, interval
from naiad.control.direction import CURVED, directed
from naiad.control.first_node import Start, begun, start_values
from naiad.control.iterate import chosen
from naiad.control.newton import NewtonTables, step_values
from naiad.control.riccati import Barrier, Sizes, Value

N = 5


class Particle(nd.LagrangianSystem):
    """A particle on a line, in a potential."""

    m: float
    group = nd.Rn(1)

    def lagrangian(self, x, v, t):
        return 0.5 * self.m * v @ v + jnp.cos(x[0] + 0.3 * t)


def begin(theta):
    return nd.State(0.1 * theta, theta)


def ending_of(state, t, theta):
    return jnp.concatenate([state.g - 0.8, jnp.sin(state.mu) - theta * t])


def cost(g, xi, u, t):
    return 1.0 + 0.5 * u @ u + (g[0] * xi[0]) ** 2


@pytest.fixture(scope="module")
def newton():
    """The tables at an iterate that is far from an optimum: a free duration within bounds, an unknown parameter that
    the start depends on, and bounds of the controls."""
    found = nd.control.solve(
        Particle(1.5),
        begin,
        None,
        1.0,
        N,
        order=2,
        theta=(0.4,),
        theta_bounds=(-1.0, 1.0),
        free_time=True,
        times=(0.2, 3.0),
        bounds=4.0,
        cost=cost,
        end_cost=lambda state, t, theta: 0.1 * theta[0] ** 2 * t + state.mu[0] ** 2,
        ending=ending_of,
        iterations=2,
    )
    rng, at = np.random.default_rng(0), found.iterate
    moved = {name: getattr(at, name) + 0.1 * rng.normal(size=np.shape(getattr(at, name))) for name in at._fields}
    positive = {name: np.abs(moved[name]) for name in ("low", "high", "least", "most")}
    at = at._replace(**moved | positive)._replace(theta=at.theta)
    made = NewtonTables.of(found.problem, at, found.numbers)
    return made, at, found.numbers


def test_errors_are_those_of_the_gradient_of_the_whole(newton):
    """The scalar that is stationary at an optimum, of all unknowns at once, differentiated by JAX."""
    made, at, numbers = newton
    problem, steps, end = made.problem, at.intervals(numbers), at.end(numbers, start=True)

    def whole(theta, eta, m, K, U):
        first = start_values(problem, end.start, theta) - start_values(problem, end.start, at.theta)
        eta, m = jnp.concatenate([first[None, :1], eta]), jnp.concatenate([at.m[:1] + first[-1:], m])
        value = jnp.sum((at.high - at.low) * U) + (at.most - at.least) @ theta
        for k in range(N):
            row = chosen(steps, k)
            z = jnp.concatenate([eta[k], theta, U[k].reshape(-1), K[k].reshape(-1)])
            y = jnp.concatenate([at.sigma[k].reshape(-1), at.lam[k], at.gamma[k]])
            value += interval.lagrange(problem, row, z, y)
            value -= at.sigma[k, -1] @ m[k] + at.lam[k] @ eta[k + 1] + at.gamma[k] @ m[k + 1]
        x = jnp.concatenate([eta[N], theta - at.theta, m[N] - at.m[N]])
        return value + ending.end_cost(problem, end, x) + at.nu @ ending.conditions(problem, end, x)

    with jax.enable_x64(True):
        given = (at.theta, jnp.zeros((N, 1)), at.m[1:], at.K, at.U)
        slopes = jax.grad(whole, argnums=range(5))(*given)
    multipliers = np.concatenate([np.ravel(each) for each in (at.lam, at.gamma, at.low, at.high, at.nu)])
    largest = max(np.abs(each).max() for each in slopes) / max(1.0, np.abs(multipliers).mean() / 100.0)
    gaps = (at.U - numbers.lower, numbers.upper - at.U, at.theta - numbers.least, numbers.most - at.theta)
    products = np.concatenate(
        [np.ravel(a * b) for a, b in zip((at.low, at.high, at.least, at.most), gaps, strict=True)]
    )
    made.measure()
    errors = made.errors(0.01)
    assert errors.dual == pytest.approx(largest, rel=1e-11)
    assert errors.least == pytest.approx(products.min(), rel=1e-12)
    assert errors.most == pytest.approx(products.max(), rel=1e-12)
    assert errors.centrality(0.0) == errors.most
    assert errors.centrality(errors.most) == errors.most - errors.least


def test_sums_over_steps_have_the_ends_too(newton):
    made, at, numbers = newton
    problem, end = made.problem, at.end(numbers, start=True)
    steps = step_values(problem, at, numbers)
    with jax.enable_x64(True):
        none = jnp.zeros(problem.state_size)
        last, own = ending.end_cost(problem, end, none), ending.conditions(problem, end, none)
        misses = [own, start_values(problem, end.start, at.theta), steps.balance, steps.psi, steps.momentum]
    misses = np.abs(np.concatenate([np.ravel(each) for each in misses]))
    gaps = (at.U - numbers.lower, numbers.upper - at.U, at.theta - numbers.least, numbers.most - at.theta)
    found = made.measure()
    assert found.cost == pytest.approx(steps.cost.sum() + float(last), rel=1e-13)
    assert found.missed == pytest.approx(misses.sum(), rel=1e-13)
    assert found.largest == pytest.approx(misses.max(), rel=1e-13)
    assert found.logs == pytest.approx(sum(np.log(gap).sum() for gap in gaps), rel=1e-12)


def test_a_step_goes_as_far_as_the_first_bound(newton):
    made, at, numbers = newton
    made.linearise(0.01)
    assert made.sweep(0.01, 10.0) > 0.0
    primal, dual = made.direct()
    step, last = made.step.rows(N), jax.tree.map(lambda a: a[0], made.end_step.rows(1))
    np.testing.assert_allclose(step.theta, np.repeat(last.theta[None], N, axis=0), atol=1e-12)
    pairs = [
        (at.U - numbers.lower, step.U),
        (numbers.upper - at.U, -step.U),
        (at.theta - numbers.least, last.theta),
        (numbers.most - at.theta, -last.theta),
    ]
    assert primal == pytest.approx(_first(pairs), rel=1e-10)
    pairs = [(getattr(at, name), getattr(step, name)) for name in ("low", "high")]
    pairs += [(getattr(at, name), getattr(last, name)) for name in ("least", "most")]
    assert dual == pytest.approx(_first(pairs), rel=1e-10)
    first, slopes = made.packed().iterate, made.start.rows(1).slopes[0]
    assert np.abs(slopes[:, [0, -1]]).max() > 0.05  # the first node moves with the parameter
    made.tried(0.5, 0.25)
    made.take()
    moved = made.packed().iterate
    np.testing.assert_allclose(moved.theta, first.theta + 0.5 * last.theta, rtol=1e-13)
    np.testing.assert_allclose(moved.least, first.least + 0.25 * last.least, rtol=1e-13)
    np.testing.assert_allclose(moved.nu, first.nu + 0.5 * (last.nu - first.nu), rtol=1e-13)
    np.testing.assert_allclose(moved.g[0], made.end.rows(1).start.g[0], rtol=1e-13)
    np.testing.assert_allclose(moved.g[-1], made.end.rows(1).g[0], rtol=1e-13)
    np.testing.assert_allclose(moved.m[-1], made.end.rows(1).m[0], rtol=1e-13)


def _first(pairs):
    """Where the first of positive values vanishes."""
    return min(np.where(change < 0.0, -value / change, np.inf).min() for value, change in pairs)


def test_the_first_node_has_the_best_constants():
    """The least of the cost to go over the constants, by NumPy."""
    rng, nx, c = np.random.default_rng(1), 6, 2
    V, v, by, miss = (rng.normal(size=shape) for shape in ((nx, nx), nx, (c, nx), nx))
    V, sizes = V @ V.T, Sizes(nx, 1)
    with jax.enable_x64(True):
        whole = sizes.spread(jnp.asarray(V), jnp.asarray(v), jnp.zeros((nx, 1)))
        x, first = begun(sizes, Value(whole, 0.5), Start(miss, by), Barrier(0.0, 0.0))
        assert begun(sizes, Value(whole, 1e-9), Start(miss, by), Barrier(0.0, 0.0))[1].pivot == 1e-9
        assert begun(sizes, Value(-whole, 0.5), Start(miss, by), Barrier(0.0, 0.0))[1].pivot < 0.0
    theta = np.linalg.lstsq(np.linalg.cholesky(V).T @ by.T, -np.linalg.solve(np.linalg.cholesky(V), V @ miss + v))[0]
    np.testing.assert_allclose(x, miss + theta @ by, rtol=1e-9)
    assert 0.0 < float(first.pivot) <= 0.5


def test_problems_on_all_cores_are_those_on_one():
    """Bit by bit, with several starts of which some fail and are begun again."""
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with jax.enable_x64(True):
        goals = [body.state(R=np.asarray(body.group.exp(jnp.array([0.5, a, 0.4])))) for a in (0.2, 0.9, 2.5)]

    def costs():
        found = nd.control.solve_many(body, [body.state()] * 3, goals, 2.0, 9, order=2, bounds=4.0)
        return [(each.cost, each.iterations, each.u.tobytes()) for each in found]

    together = costs()
    with one_core():
        assert costs() == together


def test_a_direction_has_as_much_curvature_as_leaves_it_downhill(newton):
    """Of the sixteenths of the curvature the largest with positive pivots, found by four halvings; where none has them,
    the controls are shifted."""
    made, at, numbers = newton
    bent = at._replace(**{name: -10.0 * getattr(at, name) for name in ("sigma", "lam", "gamma", "nu")})
    made = NewtonTables.of(made.problem, bent, numbers)
    memories = []
    for curvature in (0.0, 1.0):
        made.linearise(0.01, curvature)
        memories.append([getattr(made, name).memory.copy() for name in CURVED])
    assert not made.sweep(0.01, 0.0) > 0.0
    assert directed(made, 0.01, 0.0, 4)
    found = made.change.memory.copy()
    pivots = []
    for share in np.arange(16) / 16.0:
        for name, plain, full in zip(CURVED, *memories, strict=True):
            getattr(made, name).memory[...] = plain + share * (full - plain)
        pivots.append(made.sweep(0.01, 0.0) > 0.0)
        if pivots[-1] and not share:
            first = made.change.memory.copy()
        if all(pivots):
            best = made.change.memory.copy()
    assert 1 < sum(pivots) < 16
    assert np.abs(found - first).max() > 1e-3
    np.testing.assert_allclose(found, best, rtol=1e-6, atol=1e-9)
    made.linearise(0.01)
    assert directed(made, 0.01, 0.0, 0)
    np.testing.assert_allclose(made.change.memory, first, rtol=1e-6, atol=1e-9)
    made.linearise(0.01)
    assert directed(made, 0.01, -50.0, 4)  # which leaves none downhill until it is turned
