"""Every method on every problem that it fits: order, invariants, reversibility, symplecticity, measured; and, of every
method and every problem, the same motion from both engines.

`make test` runs the methods on the heavy top, the maps on the free body, and the problems with one method, but for a
few that are dear; `make test-long` runs every problem with six methods more and every method, and `make test-grid` the
rest of the grid.
"""

import collections
import functools
import random
from collections.abc import Callable

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import engine
from naiad.diagnostics import convergence, march, reference, reversibility_defect, symplecticity_defect
from naiad.integrators import AbstractOneStepMethod, check_method
from tests.verification.methods import COLLOCATION, LEAVE_THE_GROUP, METHODS, keeps_energy, keeps_momentum, takes
from tests.verification.problems import PROBLEMS

STEPS = {1: (320, 640, 1280), 2: (40, 80, 160), 3: (40, 80, 160), 4: (20, 40, 80), 6: (16, 24, 32), 8: (6, 8, 10)}
OTHER_STEPS = {
    "split8": (3, 4, 5),  # finer ones end at round-off
    "swimmer-rk4": (40, 80, 160),  # its fifth-order part is large
    "vehicle-split8": (6, 8, 10),
    "ball-on-a-sphere-compose8": (10, 12, 14),
    "planets-wisdom-holman10": (6, 8, 10),  # order 4 at the third power of the masses: finer ones end at round-off
    "vehicle-kr": (2560, 5120, 10240),  # its second-order part is large
}
DEAR = {
    ("free-body-so5", "cay"),
    ("swimmer", "cay"),
    ("rotor-chain", "cay"),
    ("double-pendulum", "cay"),
    ("planets", "cay"),
    ("heavy-top", "gauss2"),
    ("heavy-top", "gauss3"),
    ("heavy-top", "lobatto3"),
    ("heavy-top", "rkmk2-adjoint"),
}
MAPS = ("exp", "new", "skew", "compose8", "flv", "rk4")
DENSE = {"string", "string-reel", "string-inextensible", "tree"}  # where general methods are too slow to be measured
OF_SWIMMERS = ("cay", "cay-midpoint", "exp-midpoint", "compose4-midpoint", "rk4")
OF_PLANETS = ("cay", "compose6", "rk4", "projected-momentum")


def measured(problem: str, method: str) -> bool:
    """Whether a pair of the grid is measured: all are, but for methods that a problem is too dear for."""
    if problem in DENSE:
        return method.startswith(("tree", "string"))
    if problem == "planets":
        return method.startswith(("nystrom", "wisdom-holman")) or method in OF_PLANETS
    if problem == "henon-heiles" and method in COLLOCATION:  # which is symplectic there, and only there
        return False
    return problem != "swimmer" or method in OF_SWIMMERS


CASES = [
    (problem, method)
    for problem in PROBLEMS
    for method in METHODS
    if takes(method, problem) and measured(problem, method)
]
SHORT = [
    (problem, method)
    for problem, method in CASES
    if (problem, method) not in DEAR
    and (problem == "heavy-top" or method == "cay" or (problem == "free-body" and method in MAPS))
]
LONG = [case for case in CASES if case not in SHORT]


def covering(cases: list[tuple[str, str]], number: int = 3) -> list[tuple[str, str]]:
    """Of these, every problem with so many methods or all that there are, and every method."""
    chosen, often = [], collections.Counter()
    for problem, method in random.Random(5).sample(cases, len(cases)):
        if often[problem] < number or not often[method]:
            chosen.append((problem, method))
            often.update((problem, method))
    return sorted(chosen)


ON_BOTH_ENGINES = set(covering(CASES))  # depends on the operations of a program, not on what it computes
COVERING = set(covering(LONG, 6))


@pytest.fixture
def _few_programs():
    """Each case compiles dozens of programs that no other uses; hundreds of cases in one process exhaust XLA. What was
    said of one case is said again of the next."""
    engine.warn_of_xla.cache_clear()
    yield
    jax.clear_caches()


@functools.cache
def exact_end(problem: str) -> nd.State:
    """The state at the end, the same for all methods."""
    return reference(PROBLEMS[problem].system, PROBLEMS[problem].state, t1=PROBLEMS[problem].t1)


@functools.cache
def momentum(problem: str, *, declared: bool) -> Callable[[nd.State], np.ndarray]:
    """The momentum of the problem's symmetry, or of the one that the system declares."""
    action = None if declared else PROBLEMS[problem].action
    return nd.compile(lambda state: PROBLEMS[problem].system.noether(state, action))


def verify(problem_name: str, method_name: str) -> None:
    problem, method = PROBLEMS[problem_name], METHODS[method_name]
    system, state = problem.system, problem.state
    claimed = method.order(system)
    finer = problem.refinement if claimed <= 4 else 1
    usual = OTHER_STEPS.get(method_name, STEPS[claimed])
    steps = [finer * count for count in OTHER_STEPS.get(f"{problem_name}-{method_name}", usual)]
    measured = convergence(system, method, state, t1=problem.t1, steps=steps, exact=exact_end(problem_name))
    assert measured.order == pytest.approx(claimed, abs=0.1 if claimed <= 4 else 0.3), measured

    dt = problem.t1 / 40
    if (problem_name, method_name) in ON_BOTH_ENGINES:
        by_xla, compiled = (march(system, method, state, dt=dt, steps=10, engine=engine) for engine in ("xla", "auto"))
        for one, other in zip(jax.tree.leaves(by_xla), jax.tree.leaves(compiled), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-13 * (1 + problem.scale))

    number = 1 if isinstance(method, AbstractOneStepMethod) else 2  # beyond the start of a method of two steps
    large = problem.t1 / (8 if claimed <= 4 else 4)  # a defect of order p + 1 or more takes a large step to show
    if method.symmetric(system):
        assert reversibility_defect(system, method, state, dt=dt, steps=number) < 1e-14 * (1 + problem.scale)
    else:
        assert reversibility_defect(system, method, state, dt=large, steps=number) > 1e-12

    if problem.conservative:
        if not METHODS[method_name].symplectic:
            assert symplecticity_defect(system, method, state, dt=large, steps=number) > 1e-9
        else:
            assert symplecticity_defect(system, method, state, dt=dt, steps=number) < 2e-15

    end = march(system, method, state, dt=problem.t1 / 100, steps=1000)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(end))
    if method_name not in LEAVE_THE_GROUP:
        assert float(system.group.error(end.g)) < 1e-13
    free = isinstance(system, nd.EulerPoincareSystem)
    if free or problem.action is not None:
        declared = method_name == "projected-momentum"
        before, after = (momentum(problem_name, declared=declared)(each) for each in (state, end))
        change = np.max(np.abs(after - before)) / problem.scale
        assert change < 1e-12 if keeps_momentum(method_name, system) else change > 1e-12
    if free and keeps_energy(method_name, system):
        assert abs(float(system.energy(end)) / float(system.energy(state)) - 1.0) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_method_takes_what_it_is_said_to_take(method):
    refused = {}
    for problem in PROBLEMS:
        try:
            check_method(METHODS[method], PROBLEMS[problem].system)
        except nd.InputError as refusal:
            refused[problem] = str(refusal)
    assert set(refused) == {problem for problem in PROBLEMS if not takes(method, problem)}, refused


CLAIMS = {  # order, symplectic, symmetric: of a heavy top, or of the first problem that a method takes
    (1, False, False): "kr rkmk1 implicit-euler",
    (1, True, False): "cay-left exp-right cay-left-adjoint tree-one-sided stochastic",
    (2, False, False): "flv sw sw-perp rkmk2 rkmk2-adjoint projected projected-momentum",
    (2, False, True): "mln tln collocation1",
    (2, True, True): (
        "cay exp new skew cay-midpoint exp-midpoint skew-midpoint new-midpoint cay-left-symmetrised reduced-midpoint "
        "tree tree-midpoint string string-imex string-paper moser-veselov split2 nystrom2 wisdom-holman2 wisdom-holman8"
    ),
    (3, False, False): "rkmk3",
    (4, False, False): "rkmk4 rk4 collocation2",
    (4, False, True): "compose4-mln",
    (4, True, False): "gauss2 lobatto3",
    (4, True, True): "compose4 compose4-midpoint split4 nystrom4 wisdom-holman10",
    (6, True, False): "gauss3",
    (6, True, True): "compose6 string-imex-compose6 split6 nystrom6",
    (8, True, True): "compose8 split8 nystrom8",
}


def test_what_methods_claim_is_written_down():
    """The pairs measure it; here it is seen to be there, and not to change unnoticed."""
    found = collections.defaultdict(set)
    for name, method in METHODS.items():
        system = PROBLEMS[next(p for p in ("heavy-top", *PROBLEMS) if takes(name, p))].system
        found[method.order(system), method.symplectic, method.symmetric(system)].add(name)
    assert found == {claim: set(names.split()) for claim, names in CLAIMS.items()}


@pytest.mark.parametrize(("problem", "method"), SHORT, ids=lambda name: name)
def test_method_on_problem(problem, method):
    verify(problem, method)


@pytest.mark.long
@pytest.mark.usefixtures("_few_programs")
@pytest.mark.parametrize(
    ("problem", "method"),
    [pytest.param(*case, marks=() if case in COVERING else pytest.mark.grid) for case in LONG],
    ids=lambda name: name,
)
def test_method_on_problem_long(problem, method):
    verify(problem, method)
