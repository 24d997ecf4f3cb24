"""From a jaxpr to a finished program that is not too long: with small arrays as scalars, or in memory."""

from collections.abc import Sequence

import numpy as np
from jax.extend import core

from naiad.compiler.front.rules import TooLong, Unsupported
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Program
from naiad.compiler.passes.finish import finish

LONG = 20_000  # operations, above which the time that a back end takes for them counts
FEW = 64  # the elements of an array that are scalars in a program that is longer otherwise
GAIN = 2  # how many times shorter it has to be then, for code without loops is faster


def finished(
    jaxpr: core.ClosedJaxpr,
    known: Sequence[np.ndarray | None],
    *,
    platform: str,
    most_scalars: int,
    fma: bool,
) -> Program:
    """The program of a jaxpr in which arrays of up to `most_scalars` elements are scalars; if that is long, and much
    shorter where they are those of up to `FEW`, the shorter one. (The rest is that of `trace` and `finish`.)"""

    def made(most: int) -> Program:
        return finish(trace(jaxpr, known, platform=platform, most_scalars=most), fma=fma)

    try:
        program = made(most_scalars)
    except TooLong:
        if most_scalars <= FEW:
            raise
        return made(FEW)
    if most_scalars <= FEW or program.length <= LONG:
        return program
    try:
        shorter = made(FEW)
    except Unsupported:
        return program
    return shorter if GAIN * shorter.length <= program.length else program
