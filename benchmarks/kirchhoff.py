"""The Cayley step of the Kirchhoff equations by automatic differentiation: naiad's own, and the one that a user of JAX
would write without naiad; compiled, and on XLA."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.compare import Work, compare, table
from naiad.compiler import Compiled

INERTIA = np.array([1.5, 2.0, 3.0])
MASS = np.array([2.0, 3.0, 4.0])
H = 0.01
MU = np.array([2.0, -0.4, -0.9, 4.4, -0.2, -1.1])
BATCH = 1024
BODY = nd.models.KirchhoffBody(INERTIA, MASS)
METHOD = nd.Variational(nd.Cayley())


def march(body, mu, h, steps):
    """The state after so many steps of naiad's method, as `simulate` takes them: attitude and position too."""
    carry = METHOD.init(body, nd.State(body.group.identity(), mu), 0.0, h)
    carry = jax.lax.fori_loop(0, steps, lambda k, carry: METHOD.step(body, carry, k * h, h), carry)
    return METHOD.state(body, carry)


# -- without naiad: the momentum alone, the inverse of dcay by 4x4 matrices, three Newton iterations with `jacfwd`


def hat(w):
    """The matrix of a rotation vector."""
    return jnp.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def matrix(x):
    """The matrix of a twist."""
    return jnp.block([[hat(x[:3]), x[3:, None]], [jnp.zeros((1, 4))]])


def dcay_inv(x, y):
    """(e - x/2) y (e + x/2)."""
    half, e = 0.5 * matrix(x), jnp.eye(4)
    Y = (e - half) @ matrix(y) @ (e + half)
    return jnp.array([Y[2, 1], Y[0, 2], Y[1, 0], Y[0, 3], Y[1, 3], Y[2, 3]])


def reduced(xi):
    """The Lagrangian."""
    return 0.5 * (jnp.dot(xi[:3] * INERTIA, xi[:3]) + jnp.dot(xi[3:] * MASS, xi[3:]))


def leg(xi, x):
    """(dcay^-1_x)* of the Lagrangian's derivative."""
    return jax.vjp(lambda y: dcay_inv(x, y), jnp.zeros(6))[1](jax.grad(reduced)(xi))[0]


def eliminate(A, b):
    """A^-1 b by elimination without pivots, written out."""
    n = b.shape[0]
    A, b, x = [[A[i, j] for j in range(n)] for i in range(n)], [b[i] for i in range(n)], [b[0]] * n
    for k in range(n):
        inverse = 1.0 / A[k][k]
        for i in range(k + 1, n):
            factor = A[i][k] * inverse
            b[i] = b[i] - factor * b[k]
            A[i] = [A[i][j] if j <= k else A[i][j] - factor * A[k][j] for j in range(n)]
    for k in reversed(range(n)):
        x[k] = (b[k] - sum(A[k][j] * x[j] for j in range(k + 1, n))) / A[k][k]
    return jnp.stack(x)


def plain(solve):
    """Many plain steps with this linear solver."""

    def step(state, h):
        mu, xi = state
        for _ in range(3):
            xi = xi - solve(jax.jacfwd(lambda x: leg(x, h * x))(xi), leg(xi, h * xi) - mu)
        return leg(xi, -h * xi), xi

    def run(mu, h, steps):
        start = (mu, mu / jnp.concatenate([INERTIA, MASS]))
        return jax.lax.fori_loop(0, steps, lambda k, s: step(s, h), start)[0]

    return run


def programs():
    """Each way as a function of the momenta (one, or one a row) and the number of steps."""
    own, own_xla = Compiled(march, parameters=(0,)), jax.jit(march)
    own_rows = jax.jit(jax.vmap(march, in_axes=(None, 0, None, None)))
    unrolled, lapack = plain(eliminate), plain(jnp.linalg.solve)
    fast = Compiled(unrolled)
    jitted = {"unrolled": jax.jit(unrolled), "lapack": jax.jit(lapack)}
    rows = {name: jax.jit(jax.vmap(f, in_axes=(0, None, None))) for name, f in jitted.items()}

    def xla(function, *args):
        with jax.enable_x64(True):
            return jax.block_until_ready(function(*args))

    one = {
        "naiad's step, compiled": lambda mu, n: own(BODY, mu, H, n),
        "naiad's step, XLA": lambda mu, n: xla(own_xla, BODY, mu, H, n),
        "plain step, unrolled solve, compiled": lambda mu, n: fast(mu, H, n),
        "plain step, unrolled solve, XLA": lambda mu, n: xla(jitted["unrolled"], mu, H, n),
        "plain step, `jnp.linalg.solve`, XLA": lambda mu, n: xla(jitted["lapack"], mu, H, n),
    }
    many = {
        "naiad's step, compiled": lambda mu, n: own.batch(BODY, mu, H, n, shared=(0, 2, 3)),
        "naiad's step, XLA": lambda mu, n: xla(own_rows, BODY, mu, H, n),
        "plain step, unrolled solve, compiled": lambda mu, n: fast.batch(mu, H, n, shared=(1, 2)),
        "plain step, unrolled solve, XLA": lambda mu, n: xla(rows["unrolled"], mu, H, n),
        "plain step, `jnp.linalg.solve`, XLA": lambda mu, n: xla(rows["lapack"], mu, H, n),
    }
    return one, many


def report() -> str:
    """The table."""
    one, many = programs()
    ends = {name: run(MU, 1000) for name, run in one.items()}
    ends = {name: np.asarray(end.mu if isinstance(end, nd.State) else end) for name, end in ends.items()}
    apart = max(float(np.abs(end - ends["naiad's step, XLA"]).max()) for end in ends.values())
    if apart > 1e-10:
        raise AssertionError(f"the programs differ by {apart:.1e} after 1000 steps")
    rows = MU * (1.0 + 1e-3 * np.random.default_rng(0).standard_normal((BATCH, 1)))
    steps = {name: (20_000, 200) if name.endswith("compiled") else (500, 5) for name in one}
    single = compare({n: Work(lambda r=r, n=n: r(MU, steps[n][0]), steps[n][0]) for n, r in one.items()}, rounds=25)
    batch = compare(
        {n: Work(lambda r=r, n=n: r(rows, steps[n][1]), steps[n][1] * BATCH) for n, r in many.items()}, rounds=20
    )
    own, fast = "naiad's step, compiled", "plain step, unrolled solve, compiled"
    header = ["", "one, ns", "/ naiad's", "/ plain", f"batch of {BATCH}, ns", "/ naiad's", "/ plain"]
    columns = [cells for best in (single, batch) for cells in _columns(best, own, fast)]
    body = [[name, *(cells[name] for cells in columns)] for name in one]
    return f"The momenta agree to {apart:.0e} after 1000 steps.\n\n{table(header, body)}"


def _columns(best, own, fast):
    """Nanoseconds, and the ratios to the two compiled programs."""
    return [{name: value * by for name, value in best.items()} for by in (1e9, 1 / best[own], 1 / best[fast])]


if __name__ == "__main__":
    print(report())
