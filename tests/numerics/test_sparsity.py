"""Which unknowns an equation may depend on, against derivatives; and the solves that follow from it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.numerics import Chain, Sparse
from naiad.numerics.linalg import UNROLLED
from naiad.numerics.sparsity import dependencies, narrow_order
from tests.compiler.programs import draw

N = 12
FIRST, SECOND = np.triu_indices(4, 1)
FUNCTIONS = {
    "itself": (lambda x: x, np.eye(N)),
    "neighbours": (lambda x: jnp.diff(x, prepend=0.0) ** 2, np.eye(N) + np.eye(N, k=-1)),
    "turned round": (lambda x: x[::-1], np.eye(N)[::-1]),
    "rolled": (lambda x: jnp.roll(x, 2), np.roll(np.eye(N), 2, axis=0)),
    "rows": (lambda x: jnp.sum(x.reshape(4, 3) ** 2, axis=1), np.kron(np.eye(4), np.ones((1, 3)))),
    "columns": (lambda x: jnp.max(x.reshape(4, 3), axis=0), np.kron(np.ones((1, 4)), np.eye(3))),
    "transposed": (lambda x: x.reshape(4, 3).T.reshape(-1), np.eye(N).reshape(4, 3, N).swapaxes(0, 1).reshape(N, N)),
    "running": (lambda x: jnp.cumsum(x), np.tri(N)),
    "running back": (lambda x: jax.lax.cumsum(x, reverse=True), np.tri(N).T),
    "every second": (lambda x: x[1::2], np.eye(N)[1::2]),
    "padded": (
        lambda x: jax.lax.pad(x, 0.0, ((-1, 2, 1),)),
        np.insert(np.eye(N), range(1, N), 0, 0)[1:].tolist() + [[0] * N] * 2,
    ),
    "joined": (lambda x: jnp.concatenate([x[:3], x[6:]]), np.eye(N)[[0, 1, 2, *range(6, N)]]),
    "stacked": (lambda x: jnp.stack(jnp.unstack(x.reshape(4, 3), axis=1)).reshape(-1)[:4], np.eye(N)[::3]),
    "tiled": (lambda x: jnp.tile(x[:2], 3), np.tile(np.eye(N)[:2], (3, 1))),
    "chosen": (lambda x: jnp.where(x[:4] > 0, x[4:8], x[8:]), np.tile(np.eye(4), (1, 3))),
    "product": (lambda x: x[:4].reshape(2, 2) @ x[4:8].reshape(2, 2), None),
    "batch of products": (
        lambda x: jax.vmap(jnp.dot)(x[:6].reshape(2, 3), x[6:].reshape(2, 3)),
        np.tile(np.kron(np.eye(2), np.ones((1, 3))), (1, 2)),
    ),
    "pairs": (lambda x: x[:4][FIRST] - x[:4][SECOND], np.eye(N)[FIRST] + np.eye(N)[SECOND]),
    "sums at places": (lambda x: jnp.zeros(4).at[FIRST].add(x[:6]), None),
    "set at places": (lambda x: x.at[jnp.array([3, 5])].set(x[:2]), np.eye(N)[[0, 1, 2, 0, 4, 1, *range(6, N)]]),
    "a slice": (lambda x: jax.lax.dynamic_slice(x, (3,), (2,)), np.eye(N)[3:5]),
    "a slice set": (
        lambda x: jax.lax.dynamic_update_slice(x, x[:2], (4,)),
        np.eye(N)[[0, 1, 2, 3, 0, 1, *range(6, N)]],
    ),
    "a constant": (lambda x: jnp.ones(3) + 0.0 * jnp.arange(3), np.zeros((3, N))),
    "called": (lambda x: jax.jit(jnp.diff)(x), (np.eye(N) + np.eye(N, k=1))[:-1]),
    "custom": (lambda x: jax.nn.relu(x), np.eye(N)),
    "a scan": (lambda x: jax.lax.scan(lambda c, y: (c + y, c * y), 0.0, x)[1], np.ones((N, N))),
    "an unknown index": (lambda x: x[jnp.argmax(x)], np.ones(N)),
}


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_depends_on(name):
    """As written down; and whatever has a derivative counts as dependent."""
    function, expected = FUNCTIONS[name]
    found = dependencies(function, N)
    jacobian = np.asarray(jax.jacfwd(function)(jnp.asarray(np.random.default_rng(3).standard_normal(N))))
    assert found.shape == jacobian.shape
    assert not np.any((jacobian != 0) & ~found)
    if expected is not None:
        np.testing.assert_array_equal(found, np.asarray(expected, bool))
    else:
        np.testing.assert_array_equal(found, jacobian != 0)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 200))])
def test_what_random_programs_depend_on(seed):
    """A result that changes with an unknown counts as dependent on it."""
    program = draw(seed, lines=8)
    function, (row, other) = program.function(), zip(*program.arrays(2, seed), strict=True)
    unknowns = [k for k, value in enumerate(program.inputs) if value.dtype == "f"]
    shapes = [program.inputs[k].shape for k in unknowns]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])

    def of_unknowns(x, given):
        inputs = [jnp.asarray(each) for each in given]
        for k, shape, part in zip(unknowns, shapes, jnp.split(x, ends[:-1]), strict=True):
            inputs[k] = part.reshape(shape)
        return jnp.concatenate([jnp.ravel(jnp.asarray(result, float)) for result in function(*inputs)])

    base, elsewhere = (np.concatenate([np.ravel(each[k]) for k in unknowns]) for each in (row, other))
    found = dependencies(lambda x: of_unknowns(x, row), base.size)
    # Row by row: among others XLA's minimum may lose a NaN. Integers are given: as constants the least of them over -1
    # would kill XLA on x86.
    alone = jax.jit(of_unknowns)
    before, values = alone(base, row), np.array([alone(x, row) for x in np.where(np.eye(base.size), elsewhere, base)])
    changed = ~((values == before) | (np.isnan(values) & np.isnan(before)))
    assert not np.any(changed.T & ~found)


def band(rng, n, width):
    """A matrix with entries up to so far from the diagonal, a positive definite symmetric part and a skew part."""
    A = np.triu(np.tril(rng.standard_normal((n, n)), width), -width)
    return A - A.T + np.diag(rng.uniform(1.0, 2.0, n))


@pytest.mark.parametrize(("n", "width"), [(30, 0), (31, 1), (50, 3), (90, 7), (26, 20), (16, 0), (16, 1)])
@pytest.mark.parametrize("mixed", [False, True])
def test_bands_are_found_and_solved(n, width, mixed):
    """Also in another order of the unknowns; what is not near the diagonal in any order is solved as it is."""
    rng = np.random.default_rng(n + width)
    order = rng.permutation(n) if mixed else np.arange(n)
    A = band(rng, n, width)[np.ix_(order, order)]
    rows, columns = np.nonzero(A)
    entries = A[rows, columns]

    def linear(x):
        return jnp.zeros(n).at[rows].add(entries * x[columns])

    pattern = dependencies(linear, n)
    np.testing.assert_array_equal(pattern, A != 0)
    best, found = narrow_order(pattern)
    assert sorted(best) == list(range(n))
    assert found <= (2 * width if mixed else width)
    i, j = np.nonzero(A[np.ix_(best, best)])
    assert found == np.max(np.abs(i - j))
    y = rng.standard_normal(n)
    for solve in (jax.jit, nd.compile):
        x = np.asarray(solve(lambda y: Sparse().solve(linear, y))(y))
        assert np.max(np.abs(A @ x - y)) <= 1e-13 * np.max(np.abs(A) @ np.abs(x))


def test_unknowns_that_are_not_in_their_own_equation_are_solved_with_pivots():
    """A chain with constraints: its order would put zeros on the diagonal."""
    n = 2 * UNROLLED
    A = np.eye(n, k=1) + np.eye(n, k=-1)
    x = nd.compile(
        lambda y: Sparse().solve(
            lambda x: jnp.concatenate([x[1:], jnp.zeros(1)]) + jnp.concatenate([jnp.zeros(1), x[:-1]]), y
        )
    )(np.arange(n) + 1.0)
    np.testing.assert_allclose(A @ x, np.arange(n) + 1.0, rtol=1e-13)


class Springs(nd.LagrangianSystem):
    """Masses in a row between walls, held by springs that harden."""

    group: nd.groups.AbstractGroup

    def lagrangian(self, q, v, t):
        stretch = jnp.diff(jnp.pad(q, 1))
        return 0.5 * v @ v - jnp.sum(0.5 * stretch**2 + 0.25 * stretch**4)


@pytest.mark.parametrize("rule", [nd.Trapezoid(), nd.Midpoint()])
def test_a_chain_that_was_not_declared_moves_as_one_that_was(rule):
    n, rng = 60, np.random.default_rng(60)
    q, v = rng.normal(size=n), rng.normal(size=n)
    ends = []
    for structure in (Sparse(), Chain(1)):
        system = type("Declared", (Springs,), {"structure": structure})(nd.Rn(n))
        run = nd.simulate(system, system.state(q, v), t1=0.2, dt=0.01, method=nd.Variational(rule=rule))
        ends.append(run.final)
    np.testing.assert_allclose(ends[0].g, ends[1].g, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ends[0].mu, ends[1].mu, rtol=0, atol=1e-13)


def operations(system, state, rule):
    """How many there are in the program of a step."""
    method = nd.Variational(rule=rule)
    step = nd.compile(lambda state: method.step(system, method.init(system, state, 0.0, 0.01), 0.0, 0.01))
    step(state)
    return sum(step.stats["operations"].values())


@pytest.mark.parametrize("rule", [nd.Trapezoid(), nd.Midpoint()])
def test_the_program_does_not_grow_with_the_chain(rule):
    chains = [Springs(nd.Rn(n)) for n in (40, 80)]
    counts = [operations(chain, chain.state(np.zeros(chain.group.dim)), rule) for chain in chains]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("count", [10, pytest.param(20, marks=pytest.mark.long)])
def test_the_program_does_not_grow_with_the_square_of_what_is_coupled(count):
    """Gravity, by the midpoint."""
    planets = nd.models.PointMasses(np.ones(count))
    state = planets.state(q=10.0 * np.random.default_rng(1).normal(size=(count, 3)))
    assert operations(planets, state, nd.Midpoint()) < 450 * count  # written out, 20 bodies have more than 250,000
