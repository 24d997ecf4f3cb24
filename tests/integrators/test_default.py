"""The method that `simulate` takes where none is named."""

import numpy as np
import pytest

import naiad as nd
from naiad.integrators import default_method
from tests.strings.strings import moving_case
from tests.verification.problems import PROBLEMS, HeavyTop


class ByRungeKutta(HeavyTop):
    """A system that names its method."""

    default_method = nd.RK4()


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (PROBLEMS["heavy-top"].system, nd.Variational),
        (PROBLEMS["free-body"].system, nd.Variational),
        (PROBLEMS["tree"].system, nd.TreeVariational),
        (moving_case(2)[0], nd.StringVariational),
        (nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7), nd.StochasticVariational),
        (ByRungeKutta(np.eye(3), 1.0), nd.RK4),
    ],
)
def test_the_method_that_fits(system, expected):
    assert type(default_method(system)) is expected


def test_a_run_takes_it():
    problem = PROBLEMS["tree"]
    run = nd.simulate(problem.system, problem.state, t1=0.1, dt=0.05)
    named = nd.simulate(problem.system, problem.state, t1=0.1, dt=0.05, method=nd.TreeVariational())
    np.testing.assert_array_equal(run.final.mu, named.final.mu)
    assert isinstance(run.method, nd.TreeVariational)


def test_a_bath_that_the_step_of_a_tree_would_leave_out_is_refused():
    """Rather than a dense step that nobody asked for."""

    class Warm(type(PROBLEMS["tree"].system)):
        def diffusion(self, g, t):
            return np.eye(self.group.dim)

    tree = PROBLEMS["tree"].system
    warm = object.__new__(Warm)
    vars(warm).update(vars(tree))
    with pytest.raises(nd.InputError, match="TreeVariational does not honour"):
        nd.simulate(warm, PROBLEMS["tree"].state, t1=0.1, dt=0.05)
