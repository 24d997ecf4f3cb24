"""The hooks of a system's class: names that are nearly one, and closed forms of a Lagrangian that is overridden."""

import difflib
import inspect
import types
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from naiad.errors import InputError
from naiad.numerics import Newton

NEAR = 0.75
"""How alike a method and a hook must be, as `difflib` counts it, for the method to be taken for a misspelt hook."""
UNKNOWN = ("nonholonomic", "velocity_constraint", "pfaffian")
"""Names under which people look for constraints on the velocity alone, which naiad does not have."""
SOURCES = ("lagrangian", "reduced_lagrangian")
CLOSED = ("velocity", "legendre", "energy", "discrete_lagrangian")
"""What a class may write out instead of deriving it from its Lagrangian."""
INVERSE = 1e-12
"""How far, relatively, d ell/d xi at a closed velocity may be off the momentum for the closed form to be right."""


def refuse_misspelt(cls: type, hooks: tuple[str, ...]) -> None:
    """Raise an `InputError` if a method of a user's class is named nearly as a hook, so that nothing would call it.

    A method that naiad defines too, or that the class itself calls, is what its author means it to be.
    """
    if is_ours(cls):
        return
    bases = [base for base in cls.__mro__ if is_ours(base)]
    for name, value in vars(cls).items():
        if name.startswith("_") or name in hooks or not isinstance(value, types.FunctionType):
            continue
        if any(hasattr(base, name) for base in bases) or name in _called(cls):
            continue
        if name in UNKNOWN:
            raise InputError(
                f"{cls.__qualname__} defines `{name}`, which naiad does not know: it has constraints on the "
                "configuration, `constraint(g, t)`, and none on the velocity alone. Take the method out, or rename it."
            )
        for hook in difflib.get_close_matches(name, hooks, 1, NEAR):
            raise InputError(
                f"{cls.__qualname__} defines `{name}`, which nothing calls; is it meant to be the hook `{hook}`? "
                f"Rename it to that, or to something that is less like it. The hooks are {', '.join(hooks)}."
            )


def _called(cls: type) -> set[str]:
    """The names that the methods of a class and of its bases outside of naiad use."""
    found: set[str] = set()
    for base in cls.__mro__:
        if is_ours(base):
            continue
        for value in vars(base).values():
            for function in _functions(value):
                found |= _names(inspect.unwrap(function).__code__)
    return found


def _functions(value: Any) -> Iterator[Any]:
    """The functions behind an attribute of a class."""
    parts = [value.fget, value.fset] if isinstance(value, property) else [getattr(value, "__func__", value)]
    yield from (part for part in parts if isinstance(part, types.FunctionType))


def _names(code: types.CodeType) -> set[str]:
    """The names in a function and in those that are written within it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def derive_anew(cls: Any, base: Any) -> None:
    """Take closed forms out of a class whose Lagrangian is not the one that they were written for.

    A class that overrides the Lagrangian of another inherits that one's `velocity`, `legendre`, `energy` and
    `discrete_lagrangian`. They are derived again, as `base` does it. The closed velocity stays where it is right.
    """
    source = min(_place(cls, name) for name in SOURCES)
    for name in CLOSED:
        place = _place(cls, name)
        if source < place < cls.__mro__.index(base):
            if name == "velocity":
                cls.velocity = _verified(getattr(cls, name))
            else:
                setattr(cls, name, vars(base)[name])


def _place(cls: type, name: str) -> int:
    """How far up among its bases a class finds a name."""
    return next((i for i, each in enumerate(cls.__mro__) if name in vars(each)), len(cls.__mro__))


def _verified(closed: Any) -> Any:
    """Return a method `velocity` that takes a closed form where it is right, and else Newton's method from there."""

    def velocity(self: Any, g: Any, mu: Any, t: Any = 0.0) -> Any:
        """The inverse Legendre transform: xi with d ell / d xi = mu. NaN where none is found."""
        mu = jnp.asarray(mu)
        guess = closed(self, g, mu, t)
        guess = jnp.where(jnp.isfinite(guess), guess, 0.0)
        enough = INVERSE * jnp.max(jnp.abs(mu))
        root = Newton().root(lambda xi: self.legendre(g, xi, t) - mu, guess, self.structure, enough=enough)
        return jnp.where(root.converged, root.x, jnp.nan)

    return velocity


def is_ours(cls: type) -> bool:
    """Whether a class is one of naiad, or of the libraries below it."""
    root = cls.__module__.partition(".")[0]
    return root in ("naiad", "abc", "builtins", "typing")


def has_own_inverse(system: Any) -> bool:
    """Whether `velocity` was written by a user, so that nobody has compared it with the Lagrangian."""
    cls = type(system)
    return not is_ours(cls.__mro__[_place(cls, "velocity")]) and inspect.unwrap(cls.velocity).__module__ != __name__
