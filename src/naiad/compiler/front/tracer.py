"""Evaluates a jaxpr over arrays of nodes, equation by equation."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

from naiad.compiler.front.arrays import Arrays, Lazy, Value, kind
from naiad.compiler.front.jaxprs import uses_of
from naiad.compiler.front.repeated import without_repeats
from naiad.compiler.front.rules import RULES, Excess, Refusal, Unsupported
from naiad.compiler.ir.builder import Builder
from naiad.compiler.ir.program import Node
from naiad.numerics.double import check_double

LONGEST = 250_000  # operations; code for more takes minutes to make, and an hour for some millions
SUMMING = {"reduce_sum", "reduce_prod", "cumsum", "cumprod", "dot_general"} | {
    f"scatter{mark}{kind}" for mark in "-_" for kind in ("add", "sub", "mul")
}


class Tracer:
    """Evaluates jaxprs over small arrays of nodes and large lazy ones."""

    def __init__(
        self, stacks: frozenset[int], platform: str, most_scalars: int, longest: int | None = None, packs: bool = False
    ):
        self.packs = packs  # whether values may go side by side
        self.platform = platform  # where the code will run, in JAX's words
        self.longest = LONGEST if longest is None else min(longest, LONGEST)
        self.builder = Builder()
        self.arrays = Arrays(self.builder, stacks, most_scalars)
        self.passed_on: set[Any] = set()  # arrays of loops that only loops within go through: they stay in memory
        self._equations: list[Any] = []  # the one at work, inside those that contain it

    def evaluate(self, jaxpr: core.Jaxpr, consts: Sequence[Any], args: Sequence[Value]) -> list[Value]:
        """The outputs of a jaxpr."""
        jaxpr = without_repeats(jaxpr, consts)
        last_use, uses = uses_of(jaxpr)
        bound: dict[Any, Value] = {}

        def bind(variable: Any, value: Value, here: int) -> None:
            if last_use.get(variable, -1) > here:
                bound[variable] = value
                if isinstance(value, Lazy):
                    value.holders += 1

        def read(atom: Any) -> Value:
            if isinstance(atom, core.Literal):
                return self._lifted(atom.val, atom, [])
            return bound[atom]

        def release(atoms: Sequence[Any], here: int) -> None:
            for atom in dict.fromkeys(a for a in atoms if not isinstance(a, core.Literal)):
                if last_use[atom] == here:
                    value = bound.pop(atom)
                    if isinstance(value, Lazy):
                        value.holders -= 1

        for variable, const in zip(jaxpr.constvars, consts, strict=True):
            value = const if isinstance(const, Lazy) else self._lifted(const, variable, jaxpr.eqns)
            bind(variable, value, -1)
        for variable, value in zip(jaxpr.invars, args, strict=True):
            bind(variable, value, -1)
        for here, eqn in enumerate(jaxpr.eqns):
            self._equations.append(eqn)
            inputs = [read(atom) for atom in eqn.invars]
            release(eqn.invars, here)
            outputs = self._apply(eqn, inputs)
            self._equations.pop()
            for variable, value in zip(eqn.outvars, outputs, strict=True):
                if isinstance(value, Lazy) and not value.view and uses.get(variable, 0) > 1:
                    value = self.arrays.kept(value)
                bind(variable, value, here)
        outputs = [read(atom) for atom in jaxpr.outvars]
        release(jaxpr.outvars, len(jaxpr.eqns))
        return outputs

    def _lifted(self, const: Any, variable: Any, eqns: Sequence[Any]) -> Value:
        """A constant, which is one of a jaxpr with these equations, or of the equation at work."""
        dtype = variable.aval.dtype
        readers = (eqn for eqn in eqns if any(atom is variable for atom in eqn.invars))
        where = "" if kind(dtype) else self._where(*readers)
        if dtype != np.complex128:  # which XLA can take
            check_double(f"A constant of the function{where} (an array that was made outside of it)", const)
        array = np.zeros(np.shape(const), bool) if dtype == jax.dtypes.float0 else np.asarray(const)
        return self.arrays.lift(array, known_kind(dtype, f"a constant{where}"))

    def _apply(self, eqn: Any, inputs: list[Value]) -> list[Value]:
        name = eqn.primitive.name
        try:
            if name not in RULES:
                raise Refusal(name)
            if self.builder.nodes > self.longest:
                raise Excess(f"A program of more than {self.longest:,} operations")
            for variable in eqn.outvars:
                if not kind(variable.aval.dtype):
                    raise Refusal(f"{name} of {variable.aval.dtype} (numbers are float64, int64, int32 or bool)")
            rule = RULES[name]
            read = rule.parameters(eqn)
            known = eqn if len(read) == len(eqn.params) else eqn.replace(params=read)
            if all(0 in variable.aval.shape for variable in eqn.outvars):
                return [np.empty(variable.aval.shape, object) for variable in eqn.outvars]  # nothing to compute
            outputs = rule.apply(self, known, *inputs)
        except Refusal as what:
            raise what.error(
                f"{what} cannot be compiled{self._where()}; write it otherwise, or leave it to XLA (jax.jit, "
                "engine='xla')."
            ) from None
        if not eqn.primitive.multiple_results:
            outputs = [outputs]
        if name in SUMMING and eqn.outvars[0].aval.dtype.name == "int32":
            outputs = [self._wrapped(value) for value in outputs]
        return [
            value if isinstance(value, Lazy) else np.asarray(value, object).reshape(variable.aval.shape)
            for value, variable in zip(outputs, eqn.outvars, strict=True)
        ]

    def _wrapped(self, value: Value) -> Value:
        """Sums of 32-bit integers, which were computed in 64 bits."""

        def wrap(node: Node) -> Node:
            return self.builder.op("wrap32", node)

        if isinstance(value, Lazy):
            return self.arrays.copied(self.arrays.lazy(value.shape, value.type, lambda i: wrap(value.at(i)), value))
        return np.frompyfunc(wrap, 1, 1)(value)

    def _where(self, *inner: Any) -> str:
        """The line of the user's function that the equation at work comes from, or one inside of it."""
        from jax._src import source_info_util

        places = (source_info_util.summarize(eqn.source_info) for eqn in (*inner, *reversed(self._equations)))
        return next((f" ({place})" for place in places if place), "")

    def settled(self, values: Sequence[Value]) -> list[Value]:
        """Large arrays computed once, before a loop reads them many times."""
        return [self.arrays.kept(v) if isinstance(v, Lazy) and not v.view else v for v in values]


def known_kind(dtype: Any, what: str) -> str:
    """The type of a NumPy dtype, or a refusal that says what it is the dtype of."""
    type = kind(dtype)
    if not type:
        raise Unsupported(f"{what} is {dtype}; programs have float64, int64, int32 and bool only.")
    return type
