"""The programs of the verification as they go to GPUs, compiled as C++, against machine code: saved nodes, monitors and
where each run stands, to round-off."""

import warnings

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import compiled as compiling
from naiad.compiler import engine
from naiad.diagnostics.watching import Energy
from tests.compiler.host_cuda import COMPILER, HostCUDA
from tests.verification.methods import METHODS
from tests.verification.problems import PROBLEMS
from tests.verification.test_registry import CASES, covering

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C++")
SHORT = [("tree", "tree"), ("planets", "nystrom4")]
TOO_LONG = {("free-body-so5", "gauss2"), ("free-body-so5", "gauss3"), ("free-body-so5", "lobatto3")}
LONG = covering([case for case in CASES if case not in SHORT and case not in TOO_LONG])
STEPS = 8
LOOSE = {"residual_max", "correction_max", "newton_iterations", "newton_iterations_max"}  # themselves round-off


def verify(problem_name, method_name, monkeypatch):
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    monkeypatch.setattr(compiling, "gpu_backend", lambda remember: HostCUDA())
    engine._compiled.cache_clear()
    problem, method = PROBLEMS[problem_name], METHODS[method_name]
    states = jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * 3), problem.state)
    states = states._replace(mu=states.mu * np.array([[1.0], [1.01], [0.99]]))
    options = {
        "t1": STEPS * problem.t1 / 40, "dt": problem.t1 / 40, "method": method, "save_every": 3,
        "monitors": {"energy": Energy(problem.system)},
    }  # fmt: skip
    if method.noise_size(problem.system):
        options["noise"] = nd.Noise(seed=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of long steps
        here, there = (nd.simulate_many(problem.system, states, device=d, **options) for d in ("cpu", "gpu"))
    engine._compiled.cache_clear()
    for name, (_, values) in here.arrays.items():
        a, b = np.asarray(values), np.asarray(there.arrays[name][1])
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if name not in LOOSE and not name.startswith("carry_"):
            size = np.max(np.abs(a[np.isfinite(a)]), initial=1.0) if a.dtype == float else 0.0
            np.testing.assert_allclose(b, a, rtol=0.0, atol=1e-11 * size, err_msg=name)


@pytest.mark.parametrize(("problem", "method"), SHORT, ids=lambda name: name)
def test_on_a_gpu(problem, method, monkeypatch):
    verify(problem, method, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize(("problem", "method"), LONG, ids=lambda name: name)
def test_every_method_and_every_problem_on_a_gpu(problem, method, monkeypatch):
    verify(problem, method, monkeypatch)
    jax.clear_caches()
