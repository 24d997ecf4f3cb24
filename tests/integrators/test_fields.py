"""Every argument of every method, and of every part of one, changes what a step does, or is refused."""

import functools
import inspect
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import integrators, retractions
from naiad.integrators import AdjointRule, check_method
from naiad.integrators.method import EVERY
from naiad.numerics import Module
from naiad.strings import StringRule
from naiad.trees import TreeRule
from tests.compiler.reference import reference
from tests.verification.problems import PROBLEMS

H, STEPS = 0.2, 2


class HeatedTop(nd.LagrangianSystem):
    """A heavy top in a heat bath."""

    J: Any
    dissipation: Any
    temperature: float
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - R[2, 2]


ONCE, CHORD, LOOSE = nd.Newton(max_iterations=1), nd.Newton(jacobian="inertia"), nd.Newton(tolerance=1e-2)
DIAGONAL = nd.models.KirchhoffBody((1.5, 2.0, 2.5), (4.7, 5.9, 10.5))
HEATED = HeatedTop(np.diag([1.0, 2.0, 2.5]), np.diag([0.4, 0.5, 0.6]), 0.3)
STARTS = {name: (problem.system, problem.state) for name, problem in PROBLEMS.items()} | {
    "diagonal": (DIAGONAL, DIAGONAL.state(Omega=(2.5, 1.4, -2.3), v=(0.5, -0.2, 0.4))),
    "heated-top": (HEATED, HEATED.state(R=PROBLEMS["heavy-top"].state.g, Omega=(0.5, 0.2, 1.0))),
}


class Row(NamedTuple):
    """A method with some arguments, on a problem, and for each of its arguments other values that must matter."""

    problem: str
    given: dict[str, Any]
    others: dict[str, tuple[Any, ...]]


def row(problem: str, given: dict[str, Any] | None = None, **others: Any) -> Row:
    """A row; a list holds several values."""
    return Row(problem, given or {}, {name: tuple(v) if isinstance(v, list) else (v,) for name, v in others.items()})


SOLVER = {"newton": [ONCE, CHORD, LOOSE], "renormalise": False}
MAP = {"retraction": nd.Exponential()}
INNER = [  # what a method inside another one may be given
    nd.Variational(nd.Exponential()),
    nd.Variational(rule=nd.Midpoint()),
    nd.Variational(newton=ONCE),
    nd.Variational(renormalise=False),
]
CUT = row("free-body", {"retraction": nd.Exponential()}, retraction=nd.Exponential(order=0))


def _up(state, t):
    return 2.0 + state.g[2, 2]


METHODS: dict[type, list[Row]] = {
    nd.RK4: [row("free-body", tableau="heun2")],
    nd.RKMK: [row("free-body", tableau="heun2", retraction=nd.Cayley(), renormalise=False), CUT],
    nd.Collocation: [row("free-body", {"stages": 2}, stages=3, retraction=nd.Cayley(), **SOLVER), CUT],
    nd.VPRK: [row("free-body", tableau="gauss1", **MAP, **SOLVER), CUT],
    nd.Adjoint: [
        row("free-body", {"method": nd.RKMK()}, method=nd.RKMK("heun2"), newton=[ONCE, CHORD, LOOSE]),
        row("heavy-top", {"method": nd.Variational()}, method=INNER, newton=[ONCE, CHORD, LOOSE]),
    ],
    nd.Composition: [
        row("heavy-top", {"method": nd.Variational()}, method=INNER, order=6, weights=(0.3, 0.4, 0.3)),
    ],
    nd.Symmetrised: [row("heavy-top", {"method": nd.Variational()}, method=INNER)],
    nd.Projected: [
        row(
            "heavy-top",
            {"method": nd.Variational()},
            method=INNER,
            invariants=(lambda state, t: state.g[0, 0],),
            newton=[ONCE, CHORD, LOOSE],
        )
    ],
    nd.EnergySteps: [
        row(
            "heavy-top",
            method=[nd.Variational(), nd.Variational(nd.Exponential(), nd.Midpoint()), nd.Variational(newton=ONCE)],
            bounds=(1.0, 1.0),
            change=1.0 + 1e-9,
        )
    ],
    nd.ReversibleSteps: [
        row("heavy-top", {"method": nd.Variational()}, method=INNER, monitor=["force", _up], longest=0.21),
    ],
    nd.FastLieVerlet: [row("free-body", **MAP, **SOLVER), CUT],
    nd.MidpointLieNewmark: [row("free-body", **MAP, **SOLVER), CUT],
    nd.TrapezoidalLieNewmark: [row("free-body", **MAP, **SOLVER), CUT],
    nd.ImplicitEuler: [row("heavy-top", **MAP, **SOLVER), CUT],
    nd.Krysl: [row("free-body", **SOLVER)],
    nd.MoserVeselov: [row("free-body", **SOLVER)],
    nd.Nystrom: [row("planets", order=6, coefficients=(0.2, 0.3, 0.3, 0.2))],
    nd.WisdomHolman: [row("planets", orders=[(2, 2), (8, 2)])],
    nd.SimoWong: [row("free-body", renormalise=False)],
    nd.SimoWongPerp: [row("free-body", **SOLVER)],
    nd.Splitting: [
        row(
            "diagonal",
            order=4,
            parts=["axes", "top"],
            coefficients=(0.2, 0.3, 0.3, 0.2),
            axes=(0, 1, 2),
            reach=0.01,
        ),
        row("diagonal", {"parts": "axes"}, axes=(0, 1, 2)),
        row("diagonal", {"parts": "top"}, parts="kicked-top", axes=(0, 1, 2)),
    ],
    nd.Variational: [
        row("heavy-top", **MAP, rule=[nd.Left(), nd.Right(), nd.Midpoint()], **SOLVER),
        CUT,
        row("heavy-top", {"rule": AdjointRule(nd.Left())}, rule=AdjointRule(nd.Right())),
        row(
            "buoyant-vehicle",
            {"retraction": nd.PerFactor(R=nd.Cayley(), q=nd.Cayley())},
            retraction=nd.PerFactor(R=nd.Exponential(), q=nd.Cayley()),
        ),
    ],
    nd.Reduced: [
        row("buoyant-vehicle", **MAP, rule=[nd.Left(), nd.Midpoint()], **SOLVER),
        row("buoyant-vehicle", {"retraction": nd.Exponential()}, retraction=nd.Exponential(order=0)),
    ],
    nd.StochasticVariational: [
        row("heated-top", **MAP, rule=nd.Trapezoid(), lagged=False, **SOLVER),
        row("heated-top", {"retraction": nd.Exponential()}, retraction=nd.Exponential(order=0)),
    ],
    nd.StringVariational: [row("string-reel", rule=[nd.Left(), nd.Implicit()], **SOLVER)],
    nd.TreeVariational: [row("tree", rule=[nd.Left(), nd.Midpoint()], correction=True, **SOLVER)],
}

SLOW = row(
    "string-reel",
    {"rule": StringRule()},
    rule=[StringRule(nd.Left()), StringRule(nd.Implicit())],
)

PARTS: dict[type, set[str]] = {
    nd.Newton: {"max_iterations", "jacobian", "tolerance", "floor"},  # ONCE, CHORD, LOOSE; the floor in test_newton
    nd.Exponential: {"order"},  # CUT, for every method that takes a map
    nd.PerFactor: {"retractions"},
    AdjointRule: {"rule"},
    StringRule: {"rule"},
    TreeRule: {"rule", "correction"},
}


def arguments(cls: type) -> list[str]:
    return [] if cls.__init__ is object.__init__ else list(inspect.signature(cls.__init__).parameters)[1:]


def concrete(package: Any) -> set[type]:
    classes = {value for value in vars(package).values() if isinstance(value, type) and issubclass(value, Module)}
    return {cls for cls in classes if not inspect.isabstract(cls)}


def test_no_argument_is_without_a_row():
    """A new method, or a new argument of an old one, enters the table."""
    known = {cls: {name for each in rows for name in each.others} for cls, rows in METHODS.items()} | PARTS
    families = {nd.TreeVariational, nd.StringVariational, StringRule, TreeRule}
    everything = concrete(integrators) | concrete(retractions) | families | {nd.Newton}
    assert {cls: set(arguments(cls)) for cls in everything if arguments(cls)} == known
    for cls, rows in METHODS.items():
        tried = [value for each in rows for values in each.others.values() for value in values]
        assert "newton" not in arguments(cls) or {ONCE, CHORD, LOOSE} <= {v for v in tried if isinstance(v, nd.Newton)}
        assert "retraction" not in arguments(cls) or nd.Exponential(order=0) in tried


@functools.cache
def stepped(cls: type, problem: str, given: tuple[tuple[str, Any], ...]) -> list[np.ndarray] | None:
    """The state after some steps and how the last one went; None if the method refuses."""
    system, state = STARTS[problem]
    try:
        method = cls(**dict(given))
        check_method(method, system, noise=True)
        noise = np.linspace(-1.0, 1.0, method.noise_size(system))
        with jax.enable_x64(True):
            start = jax.make_jaxpr(lambda state: method.init(system, state, 0.0, H), return_shape=True)
            closed, carry = start(state)
            step = jax.make_jaxpr(lambda carry, node, t: method.onward(system, carry, node, t, H, noise))(carry, 0, 0.0)
    except nd.InputError:
        return None
    off = state._replace(g=jax.tree.map(lambda leaf: leaf * (1.0 + 1e-9), state.g))  # for `renormalise` to mend
    leaves = reference(closed, jax.tree.leaves(off))
    for k in range(STEPS):
        leaves = reference(step, [*leaves, np.asarray(EVERY - 1 + k), np.asarray(k * H)])
    return leaves


def assert_read(cls: type, rows: list[Row]) -> None:
    for problem, given, others in rows:
        usual = stepped(cls, problem, tuple(given.items()))
        assert usual is not None
        for name, values in others.items():
            for value in values:
                found = stepped(cls, problem, tuple((given | {name: value}).items()))
                same = found is not None and all(map(np.array_equal, found, usual))
                assert not same, f"{cls.__name__}({name}={value!r}) does nothing on {problem}, and is not refused"


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_every_argument_is_read_or_refused(cls):
    assert_read(cls, METHODS[cls])


@pytest.mark.long
def test_every_scheme_of_a_string_is_read():
    assert_read(nd.Variational, [SLOW])


def test_an_adjoint_tells_that_the_method_inside_failed():
    """Newton's method finds the point from which a step that did not converge leads back, and that is none."""
    system, state = STARTS["free-body"]
    for newton, converged in ((nd.Newton(), True), (ONCE, False)):
        method = nd.Adjoint(nd.VPRK("gauss1", newton=newton))
        carry = nd.compile(lambda state, method=method: method.step(system, method.init(system, state, 0.0, H), 0.0, H))
        assert bool(carry(state).info.converged) == converged
