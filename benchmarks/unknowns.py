"""A step by the number of unknowns: springs and bodies under gravity, where no structure is declared, and rods with
`Chain`."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.bench_step import compiled, on_xla
from benchmarks.compare import Work, compare, table
from naiad.groups import SE3, AbstractGroup, Power, Rn
from naiad.numerics import AbstractStructure, Chain, static

H = 0.01
SPRINGS = (12, 20, 24, 25, 30, 40, 60, 100, 200)
BODIES = (4, 8, 10, 20, 40)
FRAMES = (10, 50, 100, 200)
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


class Rod(nd.LagrangianSystem):
    """Frames of unit inertia in a row, a metre apart at rest, that resist bending and stretching."""

    group: Power = static()
    structure: AbstractStructure = static()

    def lagrangian(self, g, xi, t):
        frame = self.group.base
        rest = jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        strain = jax.vmap(lambda a, b: frame.log(frame.compose(frame.inverse(a), b)) - rest)(
            *(jax.tree.map(lambda part, side=side: part[side], g) for side in (slice(-1), slice(1, None)))
        )
        return 0.5 * xi @ xi - 0.5 * jnp.sum(strain**2 * jnp.array([1.0, 1.0, 1.0, 10.0, 10.0, 10.0]))


def rod(frames):
    system, rng = Rod(Power(SE3(), frames), Chain(6)), np.random.default_rng(3)
    return system, system.state(x=np.outer(np.arange(frames), [1.0, 0.0, 0.0]), xi=0.05 * rng.normal(size=6 * frames))


def rod_row(frames):
    """Microseconds a step and frame by the trapezoid."""
    system, state = rod(frames)

    def run():
        return compiled(system, nd.Variational(), state, H, np.asarray(200))

    return compare({"rod": Work(run, 200)}, rounds=5)["rod"] * 1e6 / frames


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
    rods = table(["rod with `Chain(6)`", "µs a step and frame"], [[f"{n} frames", rod_row(n)] for n in FRAMES])
    return f"{table(['', 'unknowns', *columns], rows)}\n\n{rods}"


if __name__ == "__main__":
    print(report())
