"""A step by the number of unknowns, where no structure is declared: a chain of springs, and bodies under gravity."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.bench_step import compiled, on_xla
from benchmarks.compare import Work, compare, table
from naiad.groups import AbstractGroup, Rn
from naiad.numerics import static

H = 0.01
SPRINGS = (12, 20, 24, 25, 30, 40, 60, 100, 200)
BODIES = (4, 8, 10, 20, 40)


class Springs(nd.LagrangianSystem):
    """n masses in a row, held by springs of cubic stiffness between walls."""

    group: AbstractGroup = static()

    def lagrangian(self, g, xi, t):
        stretch = jnp.diff(jnp.pad(g, 1))
        return 0.5 * jnp.sum(xi**2) - jnp.sum(0.5 * stretch**2 + 0.25 * stretch**4)


def springs(n):
    rng = np.random.default_rng(1)
    system = Springs(Rn(n))
    return system, system.state(rng.normal(size=n) * 0.1, rng.normal(size=n))


def gravity(bodies):
    rng = np.random.default_rng(2)
    system = nd.models.PointMasses(np.ones(bodies))
    q = np.stack([10.0 * np.arange(bodies), *rng.normal(size=(2, bodies))], axis=1)
    return system, system.state(q=q, v=rng.normal(size=(bodies, 3)) * 0.1)


def row(system, state, method=nd.Variational()):
    def work(f, steps):
        return Work(lambda: f(system, method, state, H, np.asarray(steps)), steps)

    best = compare({"compiled": work(compiled, 2000), "xla": work(on_xla, 100)}, rounds=5)
    fast, xla = best["compiled"], best["xla"]
    return [fast * 1e6, xla * 1e6, xla / fast]


def report():
    rows = [[f"chain of {n} springs", n, *row(*springs(n))] for n in SPRINGS]
    rows += [[f"{n} bodies under gravity", 3 * n, *row(*gravity(n))] for n in BODIES]
    return table(["", "unknowns", "compiled, µs", "XLA, µs", "XLA / compiled"], rows)


if __name__ == "__main__":
    print(report())
