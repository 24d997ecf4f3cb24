"""The gate: what decides whether a method takes a system, at every door."""

from naiad.errors import InputError
from naiad.integrators.method import AbstractMethod
from naiad.integrators.runge_kutta import RKMK
from naiad.integrators.stochastic import StochasticVariational
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.features import EVERY, FEATURES, missing, refuse_features


def check_method(
    method: AbstractMethod, system: LagrangianSystem, *, noise: bool = False, traced: bool = False
) -> None:
    """Raise an `InputError` unless a method honours every feature of a system, and fits it otherwise.

    `noise`: whether the caller gives the method its random increments. `traced`: whether JAX traces the system, so that
    what only numbers can tell is not looked at.
    """
    name, honours = type(method).__name__, method.honours
    if unknown := honours - EVERY:
        raise InputError(f"{name}.honours has {', '.join(sorted(unknown))}; expected some of {', '.join(FEATURES)}.")
    if not noise and FEATURES["noise"].present(system):
        raise InputError(
            f"{type(system).__name__} has noise, and no random increments are given here. Use simulate with noise=, or "
            "leave `temperature` and `diffusion` out."
        )
    if lacking := missing(honours | {"linear"} if traced else honours, system):
        refuse_features(name, honours, system, _remedy(method, system, lacking))
    system.check_parts()
    if not traced:
        method.check(system)


def _remedy(method: AbstractMethod, system: LagrangianSystem, lacking: list[str]) -> str:
    """What to do about features that a method does not honour."""
    fitting = [kind for kind in (Variational, StochasticVariational, RKMK) if not missing(kind.honours, system)]
    words = f"Use {fitting[0].__name__}." if fitting else "No method of naiad does."
    if type(method).__module__.partition(".")[0] == "naiad":
        return words
    declared = f"honours = frozenset({set(lacking)!r})"
    return f"{words} If the steps of {type(method).__name__} do, declare it in that class: {declared}."
