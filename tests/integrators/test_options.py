"""Every option of a part of a method is read by the method, or refused."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march
from naiad.integrators import check_method
from tests.strings.strings import moving_case
from tests.trees.trees import Bodies, random_state, random_tree
from tests.verification.problems import PROBLEMS

BODY, START = PROBLEMS["free-body"].system, PROBLEMS["free-body"].state
MAPS = {
    "variational": nd.Variational,
    "rkmk": lambda tau: nd.RKMK("rk4", tau),
    "vprk": lambda tau: nd.VPRK("gauss2", tau),
    "collocation": lambda tau: nd.Collocation(2, tau),
    "implicit-euler": nd.ImplicitEuler,
    "tln": nd.TrapezoidalLieNewmark,
    "mln": nd.MidpointLieNewmark,
    "flv": nd.FastLieVerlet,
}
SOLVERS = {
    "variational": lambda newton: nd.Variational(newton=newton),
    "vprk": lambda newton: nd.VPRK("gauss2", newton=newton),
    "collocation": lambda newton: nd.Collocation(2, newton=newton),
    "implicit-euler": lambda newton: nd.ImplicitEuler(newton=newton),
    "moser-veselov": lambda newton: nd.MoserVeselov(newton),
    "adjoint": lambda newton: nd.Adjoint(nd.RKMK(), newton),
    "tln": lambda newton: nd.TrapezoidalLieNewmark(newton=newton),
}


def end(method):
    run = march(BODY, method, START, dt=0.2, steps=3)
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(run)])


def changed(make, usual, other):
    """Whether another option changes the motion; an `InputError` is as good."""
    try:
        method = make(other)
        check_method(method, BODY)
        return np.max(np.abs(end(method) - end(make(usual)))) > 0.0
    except nd.InputError:
        return True


@pytest.mark.parametrize("name", MAPS)
def test_the_order_of_dexp_inv_is_read_or_refused(name):
    assert changed(MAPS[name], nd.Exponential(), nd.Exponential(order=0))


@pytest.mark.parametrize("name", SOLVERS)
def test_the_fields_of_newton_are_read_or_refused(name):
    assert changed(SOLVERS[name], nd.Newton(), nd.Newton(jacobian="inertia"))


def test_trees_and_strings_take_a_newton_of_ones_own():
    """One iteration is not enough for a string whose elastic energy is implicit, or for a tree at its first step."""
    once, inertia = nd.Newton(max_iterations=1), nd.Newton(jacobian="inertia")
    tree = Bodies(random_tree((-1, 0)))
    for system, state, method in (
        (*moving_case(1, elements=2), lambda newton: nd.StringVariational(nd.Implicit(), newton=newton)),
        (tree, random_state(tree), lambda newton: nd.TreeVariational(newton=newton)),
    ):
        with pytest.warns(RuntimeWarning):
            run = nd.simulate(system, state, t1=0.02, dt=0.01, method=method(once))
        assert run.outcome is nd.Outcome.NEWTON_FAILED
        with pytest.raises(nd.InputError, match="is for steps whose unknowns are velocities alone"):
            method(inertia).check(system)


def test_vprk_says_why_it_refuses():
    with pytest.raises(nd.InputError, match=r"cuts dexp\^-1, and VPRK does without"):
        nd.VPRK("gauss2", nd.Exponential(order=2)).check(BODY)
    nested = nd.PerFactor(R=nd.Exponential(order=2), x=nd.Exponential())
    with pytest.raises(nd.InputError, match=r"cuts dexp\^-1, and ImplicitEuler does without"):
        nd.ImplicitEuler(nested).check(nd.models.OblateSatellite(1.0, (1.0, 2.0, 2.5)))
