"""The rules by which JAX primitives become nodes: one for each, with all the parameters that it may have."""

from collections.abc import Callable
from typing import Any, NamedTuple

from naiad.errors import InputError


class Unsupported(InputError):  # noqa: N818 - it is what the function is
    """A function does something that cannot be compiled."""


class TooLong(Unsupported):
    """A function has more operations than code is made for."""


class Refusal(Exception):  # noqa: N818 - a rule's word to the tracer
    """What a rule cannot do; the tracer adds where it is asked for, and makes it an error."""

    error = Unsupported


class Excess(Refusal):
    """A program is too long."""

    error = TooLong


class Rule(NamedTuple):
    """What a JAX primitive does, `apply(tracer, eqn, *inputs)` -> output or a list of them; the parameters of the
    equation that it reads, and those on which no number depends."""

    apply: Callable[..., Any]
    reads: frozenset[str]
    ignores: frozenset[str]

    def parameters(self, eqn: Any) -> dict[str, Any]:
        """The parameters that the rule reads. One that was never thought of, in this version of JAX or another, might
        mean anything: unless it is None, which asks for nothing, it is refused."""
        for name, value in eqn.params.items():
            if name not in self.reads and name not in self.ignores and value is not None:
                raise Refusal(f"{eqn.primitive.name} with {name}={' '.join(str(value).split())[:60]}")
        return {name: value for name, value in eqn.params.items() if name in self.reads}


RULES: dict[str, Rule] = {}

# Parameters that change no number, whatever primitive has them.
HARMLESS = frozenset(
    {
        *("sharding", "out_sharding"),  # there is one device
        "accuracy",  # functions have all their digits, and products are in double precision
        "precision",
        *("dtype", "new_dtype", "index_dtype", "weak_type"),  # the variable of the result has its type
        *("indices_are_sorted", "unique_indices"),  # promises, of which no use is made
    }
)


def rule(*names: str, reads: str = "", ignores: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the rule of one or more JAX primitives, with all the parameters that they may have."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        made = Rule(function, frozenset(reads.split()), HARMLESS.union(ignores.split()))
        RULES.update(dict.fromkeys(names, made))
        return function

    return register
