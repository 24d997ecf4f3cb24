"""The cost of 1000 steps on XLA, compiled beforehand, one trajectory on one core."""

import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
CASES = {
    "rigid-body": (BODY, BODY.state(Pi=(0.7, 0.8, -1.5))),
    "vehicle": (VEHICLE, VEHICLE.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))),
}
METHODS = {"cay": nd.Variational(nd.Cayley()), "exp": nd.Variational(nd.Exponential()), "rk4": nd.RK4()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", CASES)
def bench_thousand_steps(benchmark, problem, method):
    system, state = CASES[problem]
    march(system, METHODS[method], state, dt=0.01, steps=1)
    end = benchmark(march, system, METHODS[method], state, dt=0.01, steps=1000)
    assert np.all(np.isfinite(end.mu))
