"""Work in other processes: after a fork, and by pickle."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import naiad as nd
from tests.verification.methods import METHODS
from tests.verification.problems import PROBLEMS

ROOT = Path(__file__).parents[2]
FORKED = """
import multiprocessing, os, signal, warnings
import numpy as np
import naiad as nd

warnings.simplefilter("ignore")  # of JAX and Python, that a fork with threads is not safe in general
signal.alarm(100)
square = nd.compile(lambda x: x * x + 1)
rows = np.arange(1000.0)
expected = square.batch(rows)
child = os.fork()
if not child:
    signal.alarm(20)
    os._exit(int(not np.array_equal(square.batch(rows), expected)))
assert os.waitpid(child, 0)[1] == 0

body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))

def many(k):
    states = [body.state(Pi=(0.7, 0.8, 0.01 * k + 0.1 * i)) for i in range(20)]
    return np.array([run.final.mu for run in nd.simulate_many(body, states, t1=1.0, dt=0.01)])

here = [many(k) for k in range(3)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    np.testing.assert_array_equal(pool.map(many, range(3)), here)
print("equal")
"""


def test_batches_run_in_a_forked_child():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, timeout=150)
    assert done.stdout == "equal\n", done.stderr


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("name", PROBLEMS)
def test_systems_and_states_can_be_pickled(name):
    problem = PROBLEMS[name]
    system, state = through_pickle((problem.system, problem.state))
    assert system == problem.system
    for one, other in zip(jax.tree.leaves(state), jax.tree.leaves(problem.state), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", METHODS)
def test_methods_can_be_pickled(name):
    assert through_pickle(METHODS[name]) == METHODS[name]


@pytest.mark.parametrize("on_disk", [True, False])
def test_runs_can_be_pickled(tmp_path, on_disk):
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    options = {"t1": 1.0, "dt": 0.01, "monitors": {"energy": body.energy}, "sections": {"x": nd.Section(_first, 0)}}
    run = nd.simulate(body, body.state(Pi=(0.7, 0.8, -1.5)), **options, out=tmp_path / "run.zarr" if on_disk else None)
    energy = run.energy  # what is kept of a run may go along
    again = through_pickle(run)
    np.testing.assert_array_equal(again.energy, energy)
    np.testing.assert_array_equal(again.states.mu, run.states.mu)
    np.testing.assert_array_equal(again.crossings["x"]["time"], run.crossings["x"]["time"])
    assert again.monitors == run.monitors
    np.testing.assert_array_equal(nd.resume(again, t1=2.0).final.mu, nd.resume(run, t1=2.0).final.mu)


def _first(state, t):
    return state.mu[0]
