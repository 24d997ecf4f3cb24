"""Which launch bounds, and which way to write a program, are the fastest on a GPU.

python -m benchmarks.gpu_trials [NAME...]
"""

import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu import Chunk, works
from naiad.compiler.backends.cuda import driver, printer
from naiad.compiler.backends.cuda.backend import CUDA

BOUNDS = ((128, 1), (128, 2), (128, 3), (128, 4), (128, 5), (128, 6), (64, 4), (64, 6), (64, 8), (256, 1), (256, 2))
FEW = ((128, 2), (128, 3), (128, 4))


def plain_division(source: str) -> str:
    """CUDA's own division."""
    source = re.sub(r"(double inverse\(double b\) \{)", r"\1 return 1.0 / b;", source)
    return re.sub(r"(double quotient\(double a, double b, double r\) \{)", r"\1 return a / b;", source)


def unguarded(source: str) -> str:
    """Quotients that are wrong for zeros and infinities."""
    source = source.replace("return is_finite_float(upper(e)) ? r : near;", "return r;")
    return source.replace("return is_finite_float(upper(e)) ? fma(e, r, q) : q;", "return fma(e, r, q);")


def short_quotient(source: str) -> str:
    """A product with the reciprocal."""
    return re.sub(r"(double quotient\(double a, double b, double r\) \{)", r"\1 return a * r;", source)


def double_max(source: str) -> str:
    """Comparisons of doubles."""
    return re.sub(r"(double larger_size\(double a, double b\) \{)", r"\1 return larger(a, b);", source)


def unrolled(source: str) -> str:
    """Loops as CUDA likes them."""
    return source.replace("#pragma unroll 1\n", "\n")


WAYS: dict[str, tuple[Callable[[str], str], tuple[str, ...], int]] = {
    "as it is": (str, (), printer.CONSTANT_BYTES),
    "plain division": (plain_division, (), printer.CONSTANT_BYTES),
    "unguarded": (unguarded, (), printer.CONSTANT_BYTES),
    "short quotient": (short_quotient, (), printer.CONSTANT_BYTES),
    "double max": (double_max, (), printer.CONSTANT_BYTES),
    "no constant memory": (str, (), 0),
    "unrolled": (unrolled, (), printer.CONSTANT_BYTES),
    "no more fusing": (str, ("--fmad=false",), printer.CONSTANT_BYTES),
}


@dataclass(frozen=True)
class Trial(CUDA):
    """The back end with another way of writing."""

    way: str = "as it is"
    local: int = printer.LOCAL_BYTES

    def source(self, program: Any, lanes: int = 1, shared: Any = ()) -> str:
        change, _, room = WAYS[self.way]
        before = printer.CONSTANT_BYTES, printer.LOCAL_BYTES
        printer.CONSTANT_BYTES, printer.LOCAL_BYTES = room, self.local
        try:
            return change(super().source(program, lanes, shared))
        finally:
            printer.CONSTANT_BYTES, printer.LOCAL_BYTES = before

    def binary(self, source: str, bounds: tuple[int, int], *, fma: bool) -> bytes:
        options = (f"--gpu-architecture={self.devices()[0].architecture}", "--std=c++17")
        more = WAYS[self.way][1] or (f"--fmad={str(fma).lower()}",)
        return driver.binary(source, (*options, *more, f"-DTHREADS={bounds[0]}", f"-DBLOCKS={bounds[1]}"))


def trial(name: str, way: str, bounds: tuple[tuple[int, int], ...], local: int = printer.LOCAL_BYTES) -> None:
    """The rates of a work written in a way, for each of some bounds."""
    work = works()[name]()
    chunk = Chunk(work, Trial(remember=False, bounds=bounds, way=way, local=local), work.rows)
    try:
        chunk.run()
    except Exception as error:
        print(f"{name} {way}: {type(error).__name__} {str(error)[:150]}", flush=True)
        return
    kernel = next(iter(next(iter(chunk.advance._made.values())).entries.values())).kernel
    rates = {}
    for each in bounds:
        kernel._bounds = each
        try:
            rate = chunk.rate(2)
        except Exception as error:
            print(f"{name} {way} {each}: {str(error)[:100]}", flush=True)
            continue
        used = kernel._modules[0, each].resources()
        rates[each] = f"{each[0]},{each[1]}:{rate:.3e} ({used['registers']}r {used['local']}b)"
    build = chunk.advance.stats["seconds"]["cuda"]
    print(f"{name} | {way} | local {local} | build {build:.1f} s | " + " ".join(rates.values()), flush=True)
    out = os.environ.get("OUT")
    if out and way == "as it is":
        for each in rates:
            Path(out, f"{name}-{each[0]}-{each[1]}.cubin").write_bytes(kernel._codes[each])


if __name__ == "__main__":
    started = time.perf_counter()
    names = sys.argv[1:] or ["vehicle", "rigid-body", "heavy-top", "vehicle-flv", "chain", "string"]
    for name in names:
        if name in ("chain", "string"):
            for local in (0, 256 * 2**10):
                trial(name, "as it is", ((64, 2), (64, 4), (128, 1), (128, 2), (128, 3), (128, 4)), local)
        else:
            for way in WAYS:
                trial(name, way, BOUNDS if way == "as it is" else FEW)
    print(f"{time.perf_counter() - started:.0f} s")
