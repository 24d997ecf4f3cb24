"""Features by methods: drawn systems, run through a door by a method, against equations written out by hand."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

import naiad as nd
from naiad.control import linear_step
from naiad.diagnostics import march
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics.features import FEATURES
from tests.verification.drawn_systems import FAMILIES, T1, Drawn, draw

LEFT = nd.Variational(nd.Cayley(), nd.Left())
METHODS: dict[str, tuple[AbstractMethod, tuple[str, ...]]] = {
    "Variational": (nd.Variational(), ("plane", "body", "free", "top", "planets", "tree")),
    "Variational, midpoint": (nd.Variational(nd.Cayley(), nd.Midpoint()), ("plane", "body", "free", "tree")),
    "Variational, left": (LEFT, ("plane", "body", "free")),
    "VPRK": (nd.VPRK("gauss2"), ("plane", "body", "free", "planets", "tree")),
    "Adjoint": (nd.Adjoint(LEFT), ("plane", "body", "free")),
    "Symmetrised": (nd.Symmetrised(LEFT), ("plane", "body", "top")),
    "Composition": (nd.Composition(nd.Variational()), ("plane", "body", "free")),
    "StochasticVariational": (nd.StochasticVariational(), ("plane", "body", "free", "planets", "tree")),
    "Collocation": (nd.Collocation(stages=3), ("plane", "body", "free", "top", "planets", "tree")),
    "RKMK": (nd.RKMK(), ("plane", "body", "free", "top", "planets", "tree")),
    "RK4": (nd.RK4(), ("plane", "body", "free", "top", "planets", "tree")),
    "ImplicitEuler": (nd.ImplicitEuler(), ("plane", "body", "free")),
    "ReversibleSteps": (nd.ReversibleSteps(nd.Variational()), ("plane", "planets", "body")),
    "EnergySteps": (nd.EnergySteps(), ("plane", "planets")),
    "Projected, energy": (nd.Projected(nd.RK4()), ("plane", "body", "free", "top")),
    "Projected, momentum": (nd.Projected(nd.RK4(), ("momentum",)), ("free", "planets")),
    "Nystrom": (nd.Nystrom(), ("plane", "planets")),
    "WisdomHolman": (nd.WisdomHolman(), ("planets",)),
    "Reduced": (nd.Reduced(), ("top",)),
    "Splitting": (nd.Splitting(2), ("free",)),
    "TrapezoidalLieNewmark": (nd.TrapezoidalLieNewmark(), ("free",)),
    "MidpointLieNewmark": (nd.MidpointLieNewmark(), ("free",)),
    "FastLieVerlet": (nd.FastLieVerlet(), ("free",)),
    "SimoWong": (nd.SimoWong(), ("free",)),
    "SimoWongPerp": (nd.SimoWongPerp(), ("free",)),
    "Krysl": (nd.Krysl(), ("free",)),
    "MoserVeselov": (nd.MoserVeselov(), ("free",)),
    "TreeVariational": (nd.TreeVariational(), ("tree",)),
    "StringVariational": (nd.StringVariational(), ("plane", "tree")),
}
"""Every method, and the families that it is drawn with."""

STEPS = (16, 32)
ROUND_OFF = 1e-8
LEAST_GAIN = 1.6
"""By what half the step must divide the error of a method of first order or more, while it is above round-off."""


class Cell(NamedTuple):
    """One draw: what was asked for, and what came of it: "right", "refused", "wrong" or "fault"."""

    feature: str
    method: str
    family: str
    features: tuple[str, ...]
    door: str
    outcome: str
    errors: tuple[float, ...] = ()
    words: str = ""


Door = Callable[[Drawn, AbstractMethod, int, Any], tuple[Any, float]]


def by_simulate(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    run = nd.simulate(
        drawn.system, drawn.state, t1=T1, dt=T1 / steps, method=method, noise=noise, progress=False, throw=True
    )
    return run.final, float(run.t[-1])


def by_propagate(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    end = nd.propagate(drawn.system, drawn.state, dt=T1 / steps, steps=steps, method=method, noise=noise)
    return end, T1


def by_many(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    given = {} if noise is None else {"noise": [noise, noise]}
    states = [drawn.state, drawn.state]
    runs = nd.simulate_many(drawn.system, states, t1=T1, dt=T1 / steps, method=method, progress=False, **given)
    return runs[1].final, T1


def by_resume(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    half = {} if noise is None else {"noise": noise[: steps // 2]}
    rest = {} if noise is None else {"noise": noise[steps // 2 :]}
    options: dict[str, Any] = {"progress": False, "throw": True}
    begun = nd.simulate(drawn.system, drawn.state, t1=T1 / 2, dt=T1 / steps, method=method, **options, **half)
    run = nd.resume(begun, t1=T1, **options, **rest)
    return run.final, float(run.t[-1])


def by_march(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    return march(drawn.system, method, drawn.state, dt=T1 / steps, steps=steps), T1


def by_linear_steps(drawn: Drawn, method: AbstractMethod, steps: int, noise: Any) -> tuple[Any, float]:
    plant = nd.control.Actuated(drawn.system, np.zeros(drawn.system.group.dim))
    state = drawn.state
    for k in range(steps):
        state = linear_step(plant, state, dt=T1 / steps, t=k * T1 / steps, method=method).end
    return state, T1


DOORS: dict[str, Door] = {
    "simulate": by_simulate,
    "propagate": by_propagate,
    "simulate_many": by_many,
    "resume": by_resume,
    "march": by_march,
    "linear_step": by_linear_steps,
}


def cells(seed: int) -> Iterator[tuple[str, str, str, frozenset[str], str, int]]:
    """What to run, without end: each feature with each method in turn, other features and the door by chance."""
    rng = np.random.default_rng(seed)
    pairs = [(feature, method) for feature in FEATURES for method in METHODS]
    while True:
        for number in rng.permutation(len(pairs)):
            feature, method = pairs[number]
            families = [each for each in METHODS[method][1] if feature in FAMILIES[each][1]]
            if not families:
                continue
            family = str(rng.choice(families))
            honoured = METHODS[method][0].honours
            others = [
                each for each in FAMILIES[family][1] - {feature} if rng.random() < (0.25 if each in honoured else 0.03)
            ]
            doors = tuple(DOORS)
            if METHODS[method][0].variable:
                doors = ("simulate", "resume")
            elif not METHODS[method][0].renormalise:  # a linear step does not begin off the group
                doors = tuple(each for each in DOORS if each != "linear_step")
            if family == "tree" and not METHODS[method][0].variable:  # which XLA compiles for half a minute
                doors = ("simulate", "march")
            door = str(rng.choice(doors))
            yield feature, method, family, frozenset({feature, *others}), door, int(rng.integers(2**31))


def run(feature: str, method: str, family: str, features: frozenset[str], door: str, seed: int) -> Cell:
    """Draw a system, run it with two steps through a door, and say what came of it."""
    asked = (feature, method, family, tuple(sorted(features)), door)
    how = METHODS[method][0]
    try:
        drawn = draw(family, features, seed)
    except InputError as error:
        return Cell(*asked, "refused", words=str(error))
    errors: list[float] = []
    try:
        for finer in (1, 4):  # an error may pass through zero: one that does not fall is looked at again
            errors = [_error(drawn, how, door, finer * steps) for steps in STEPS]
            if errors[-1] <= ROUND_OFF or errors[-1] <= errors[0] / LEAST_GAIN:
                return Cell(*asked, "right", tuple(errors))
    except InputError as error:
        acting = features | {"force"} if door == "linear_step" else features
        named = any(FEATURES[each].words in str(error) for each in acting) or _misfit(how, drawn, str(error))
        return Cell(*asked, "refused" if named else "fault", tuple(errors), str(error))
    except Exception as error:
        return Cell(*asked, "fault", tuple(errors), f"{type(error).__name__}: {error}")
    return Cell(*asked, "wrong", tuple(errors))


def _error(drawn: Drawn, method: AbstractMethod, door: str, steps: int) -> float:
    """How far the end of a run in so many steps is from that of the equations by hand."""
    times = T1 / steps * np.arange(steps)
    noise = drawn.increments(times, T1 / steps) if method.noise_size(drawn.system) else None
    end, t = DOORS[door](drawn, method, steps, noise)
    return float(np.max(np.abs(drawn.flat(jax.tree.map(np.asarray, end), t) - drawn.reference(t))))


def _misfit(method: AbstractMethod, drawn: Drawn, words: str) -> bool:
    """Whether a refusal is one of the family, or of an overridden hook, by name."""
    names = (type(drawn.system).__name__, "Actuated")
    return any(name in words for name in names) and any(
        each in words for each in ("needs", "in place of what", "takes", "breaks", "declares")
    )
