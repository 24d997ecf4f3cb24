"""The gate: what decides whether a method takes a system, at every door."""

import jax

from naiad.errors import InputError
from naiad.integrators.method import AbstractMethod
from naiad.integrators.runge_kutta import RKMK
from naiad.integrators.stochastic import StochasticVariational
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.features import EVERY, FEATURES, missing, refuse_features
from naiad.numerics.checks import is_known


def check_method(method: AbstractMethod, system: LagrangianSystem, *, noise: bool = False) -> None:
    """Raise an `InputError` unless a method honours every feature of a system, and fits it otherwise.

    `noise`: whether the caller gives the method its random increments. What only numbers can tell is not looked at
    while JAX traces the system.
    """
    name = type(method).__name__
    if unknown := method.honours - EVERY:
        raise InputError(f"{name}.honours has {', '.join(sorted(unknown))}; expected some of {', '.join(FEATURES)}.")
    if not noise:
        refuse_features("what takes steps without random increments", EVERY - {"noise"}, system, "Use simulate.")
    known = all(map(is_known, jax.tree.leaves(system)))
    honours = method.honours if known else method.honours | {"linear"}
    if lacking := missing(honours, system):
        refuse_features(name, honours, system, _remedy(method, system, lacking))
    system.check_parts()
    if known:
        method.check(system)


def _remedy(method: AbstractMethod, system: LagrangianSystem, lacking: list[str]) -> str:
    """What to do about features that a method does not honour."""
    fitting = [kind for kind in (Variational, StochasticVariational, RKMK) if not missing(kind.honours, system)]
    words = f"Use {fitting[0].__name__}." if fitting else "No method of naiad does."
    if type(method).__module__.partition(".")[0] == "naiad":
        return words
    declared = f"honours = frozenset({set(lacking)!r})"
    return f"{words} If the steps of {type(method).__name__} do, declare it in that class: {declared}."
