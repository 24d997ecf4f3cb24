"""From a jaxpr to a finished program that is not too long: with small arrays as scalars, or in memory."""

from collections.abc import Sequence

import numpy as np
from jax.extend import core

from naiad.compiler.front.rules import TooLong, Unsupported
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Program
from naiad.compiler.passes.finish import finish
from naiad.compiler.passes.packs import packed

LONG = 10_000  # operations, above which the seconds that a back end takes for them count
FEW = 64  # the elements of an array that are scalars in a program that would be longer
GAIN = 2  # how many times shorter it has to be then, for code without loops is faster
HOPELESS = 100_000  # operations, dead ones too, after which a shorter program is looked for
LEFT = 0.4  # of these, which a finished program has, as a rule


def finished(
    jaxpr: core.ClosedJaxpr,
    known: Sequence[np.ndarray | None] | None = None,
    *,
    platform: str,
    most_scalars: int,
    fma: bool,
    packs: bool = False,
) -> Program:
    """The program of a jaxpr in which arrays of up to `most_scalars` elements are scalars; if it is long, and much
    shorter where only those of up to `FEW` are, the shorter one. (The rest is that of `trace` and `finish`.)"""

    def made(most: int, longest: int | None = None) -> Program:
        traced = trace(jaxpr, known, platform=platform, most_scalars=most, longest=longest, packs=packs)
        return finish(packed(traced), fma=fma)

    def tried(most: int, longest: int | None = None) -> Program | None:
        try:
            return made(most, longest)
        except Unsupported as refusal:
            if most == most_scalars and not isinstance(refusal, TooLong):
                raise
            return None

    if most_scalars <= FEW:
        return made(most_scalars)
    program = tried(most_scalars, HOPELESS)
    if program is not None and program.length <= LONG:
        return program
    shorter = tried(FEW)
    if shorter is None:
        return program or made(most_scalars)
    if program is None and shorter.length > LEFT * HOPELESS:  # it may be that loops help little
        program = tried(most_scalars)
    return shorter if program is None or GAIN * shorter.length <= program.length else program
