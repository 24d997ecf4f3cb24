"""The cost of a step, compiled beforehand, one trajectory on one core: as machine code, and on XLA."""

import jax
import numpy as np
import pytest

import naiad as nd
from benchmarks.compare import Work, compare, table
from naiad.compiler import Compiled

H = 0.01
BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
CASES = {
    "free rigid body": (BODY, BODY.state(Pi=(0.7, 0.8, -1.5))),
    "Kirchhoff vehicle": (VEHICLE, VEHICLE.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))),
}
METHODS = {
    "variational, Cayley": nd.Variational(nd.Cayley()),
    "variational, exponential": nd.Variational(nd.Exponential()),
    "RK4 on the matrix entries": nd.RK4(),
}


def march(system, method, state, h, steps):
    """The state after so many steps."""
    carry = method.init(system, state, 0.0, h)
    carry = jax.lax.fori_loop(0, steps, lambda k, carry: method.step(system, carry, k * h, h), carry)
    return method.state(system, carry)


compiled = Compiled(march, parameters=(0,))
jitted = jax.jit(march)


def on_xla(*args):
    """Through XLA, in double precision, waited for."""
    with jax.enable_x64(True):
        return jax.block_until_ready(jitted(*args))


ENGINES = {"compiled": compiled, "xla": on_xla}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", CASES)
def bench_thousand_steps(benchmark, problem, method, engine):
    system, state = CASES[problem]
    args = (system, METHODS[method], state, H, np.asarray(1000))
    ENGINES[engine](*args)
    end = benchmark(ENGINES[engine], *args)
    assert np.all(np.isfinite(end.mu))


def report() -> str:
    """The table."""
    rows = []
    for problem, (system, state) in CASES.items():
        for name, method in METHODS.items():
            ends = [f(system, method, state, H, np.asarray(100)) for f in (compiled, on_xla)]
            apart = float(np.abs(ends[0].mu - np.asarray(ends[1].mu)).max())
            if apart > 1e-11:
                raise AssertionError(f"{problem}, {name}: the engines differ by {apart:.1e}")
            long, short = np.asarray(10_000), np.asarray(500)
            works = {
                "compiled": Work(lambda s=system, m=method, x=state, n=long: compiled(s, m, x, H, n), 10_000),
                "xla": Work(lambda s=system, m=method, x=state, n=short: on_xla(s, m, x, H, n), 500),
            }
            best = compare(works, rounds=15)
            fast, xla = best["compiled"], best["xla"]
            rows.append([f"{problem}, {name}", fast * 1e6, xla * 1e6, xla / fast])
    return table(["", "compiled, µs", "XLA, µs", "XLA / compiled"], rows)


if __name__ == "__main__":
    print(report())
