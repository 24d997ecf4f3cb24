"""The features of a system, which decide what fits what: a method or a solver says which of them it honours."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.mechanics.heat_bath import declared
from naiad.mechanics.power import depends_on_time
from naiad.mechanics.system import LagrangianSystem


class Feature(NamedTuple):
    """What a system may have beside a Lagrangian T(g, xi) - V(g).

    `hooks`: the hooks of `LagrangianSystem` that make it. `words`: what it is called in a refusal. `present`: whether a
    system has it, or the names of what makes it.
    """

    hooks: tuple[str, ...]
    words: str
    present: Callable[[LagrangianSystem], Any]


def _overridden(system: LagrangianSystem) -> tuple[str, ...]:
    """The hooks that a class derives from parts of its own and that a subclass overrides."""
    return overridden(type(system))


@functools.cache
def overridden(cls: type[LagrangianSystem]) -> tuple[str, ...]:
    """The hooks of a class that stand in place of those which one of its bases derives from parts of its own."""
    found = []
    for base in cls.__mro__:
        found += [name for name in vars(base).get("derives", ()) if getattr(cls, name) is not getattr(base, name)]
    return tuple(dict.fromkeys(found))


def _has_linear_terms(system: LagrangianSystem) -> bool:
    """Whether d ell/d xi at rest is another than zero, at places drawn at random."""
    first, second = np.random.default_rng(0).standard_normal((2, system.group.dim))
    found = [execute(_momentum_at_rest, system, x, t, parameters=(0,)) for x, t in ((first, 0.3), (second, 7.0))]
    return bool(np.any(np.stack(found) != 0.0))


def _momentum_at_rest(system: LagrangianSystem, place: Any, t: Any) -> Any:
    g = system.group.exp(place)
    return jax.grad(system.lagrangian, argnums=1)(g, jnp.zeros(system.group.dim), t)


FEATURES = {
    "force": Feature(("force",), "a force", lambda system: system.force is not None),
    "dissipation": Feature(("dissipation",), "friction", lambda system: declared(system, "dissipation")),
    "noise": Feature(
        ("temperature", "diffusion"),
        "noise",
        lambda system: declared(system, "temperature") or declared(system, "diffusion"),
    ),
    "constraint": Feature(("constraint",), "a constraint", lambda system: system.constraint is not None),
    "discrete_lagrangian": Feature(
        ("discrete_lagrangian", "discrete_order", "discrete_symmetric"),
        "a discrete Lagrangian of its own",
        lambda system: system.discrete_lagrangian is not None,
    ),
    "override": Feature(("lagrangian",), "what its family derives from parts of its own", _overridden),
    "time": Feature(("lagrangian", "force", "dissipation", "constraint"), "a dependence on time", depends_on_time),
    "linear": Feature(("lagrangian",), "a term of the Lagrangian that is linear in the velocity", _has_linear_terms),
    "limit": Feature(("limit", "limit_words"), "a limit", lambda system: system.limit is not None),
}
"""Every feature that changes a motion, by its name."""

NEUTRAL = (
    *("group", "symmetry", "symmetry_dim", "structure", "near_inertia", "definite", "velocity"),
    *("default_method", "picture", "labels", "units"),
)
"""The hooks that change no motion: what a method makes of them is speed, or names."""

EVERY = frozenset(FEATURES)
OF_A_STEP = EVERY - {"noise"}
"""What methods honour that take the equations of motion or a discrete Lagrangian as they are, without noise."""
PLAIN: frozenset[str] = frozenset({"limit"})
"""What needs nothing of a method: the limit is looked at by who drives the steps."""
OF_A_FREE_MOTION = PLAIN | {"discrete_lagrangian", "time", "linear"}
"""What methods honour whose equations are mu' = ad*_xi mu; those of them that take a shape space know its time."""
OF_KICKS = OF_A_STEP - {"dissipation", "constraint"}
"""What methods honour that kick by a potential and by forces which do not depend on the velocity."""


def refuse_features(who: str, honours: frozenset[str], system: LagrangianSystem, remedy: str) -> None:
    """Raise an `InputError` that names what a system has and `who` does not honour."""
    for name in FEATURES:
        if name in honours:
            continue
        found = FEATURES[name].present(system)
        if found:
            raise InputError(
                f"{type(system).__name__} has {_described(name, found)}, which {who} does not honour. {remedy}"
            )


def missing(honours: frozenset[str], system: LagrangianSystem) -> list[str]:
    """The names of the features that a system has and that are not honoured."""
    return [name for name in FEATURES if name not in honours and FEATURES[name].present(system)]


def _described(name: str, found: Any) -> str:
    """A feature in words, with the hooks that make it."""
    if name == "override":
        return f"its own {' and '.join(f'`{each}`' for each in found)} in place of what its family derives"
    return FEATURES[name].words
