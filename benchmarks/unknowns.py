"""A step by the number of unknowns, where no structure is declared: a chain of springs, and bodies under gravity."""

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
RULES = {"trapezoid": nd.Trapezoid(), "midpoint": nd.Midpoint()}


class Springs(nd.LagrangianSystem):
    """Masses in a row between walls, held by springs that harden."""

    group: AbstractGroup = static()

    def lagrangian(self, q, v, t):
        stretch = jnp.diff(jnp.pad(q, 1))
        return 0.5 * jnp.sum(v**2) - jnp.sum(0.5 * stretch**2 + 0.25 * stretch**4)


def springs(n):
    system, rng = Springs(Rn(n)), np.random.default_rng(1)
    return system, system.state(0.1 * rng.normal(size=n), rng.normal(size=n))


def gravity(bodies):
    system, rng = nd.models.PointMasses(np.ones(bodies)), np.random.default_rng(2)
    q = np.stack([10.0 * np.arange(bodies), *rng.normal(size=(2, bodies))], axis=1)
    return system, system.state(q=q, v=0.1 * rng.normal(size=(bodies, 3)))


def row(system, state, rule):
    """Microseconds a step, compiled and on XLA."""

    def work(engine, steps):
        return Work(lambda: engine(system, nd.Variational(rule=rule), state, H, np.asarray(steps)), steps)

    best = compare({"compiled": work(compiled, 200), "xla": work(on_xla, 50)}, rounds=5)
    return [best["compiled"] * 1e6, best["xla"] * 1e6, best["xla"] / best["compiled"]]


def report():
    """The table."""
    cases = [(f"chain of {n} springs", n, springs(n)) for n in SPRINGS]
    cases += [(f"{n} bodies under gravity", 3 * n, gravity(n)) for n in BODIES]
    rows = [[name, n, *(x for rule in RULES.values() for x in row(*case, rule))] for name, n, case in cases]
    columns = [f"{rule}, {what}" for rule in RULES for what in ("compiled, µs", "XLA, µs", "XLA / compiled")]
    return table(["", "unknowns", *columns], rows)


if __name__ == "__main__":
    print(report())
