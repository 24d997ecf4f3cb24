"""The back end for NVIDIA's GPUs."""

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from naiad.compiler.backends.backend import Backend
from naiad.compiler.backends.cuda import driver
from naiad.compiler.backends.cuda.kernel import GridKernel
from naiad.compiler.backends.cuda.printer import Facts, print_cuda
from naiad.compiler.ir.program import Layout, Program
from naiad.compiler.passes.branches import branches
from naiad.compiler.passes.scales import rescaled
from naiad.compiler.passes.split import split
from naiad.compiler.passes.sums import unsummed

BOUNDS = ((128, 2), (128, 3), (128, 4))
"""The launch bounds that are tried: threads of a block, and blocks that a multiprocessor holds at least. More of them
hide more of the time that an operation takes, and leave fewer registers to each."""


@dataclass(frozen=True)
class CUDA(Backend):
    """Code for GPUs: a thread a row. `remember`: which launch bounds are best is kept on disk."""

    remember: bool = True
    bounds: tuple[tuple[int, int], ...] = BOUNDS

    name = "cuda"
    platform = "cuda"
    keeps = True
    most_scalars = 64  # a thread has registers for some hundred

    @property
    def fma(self) -> bool:
        """Every GPU has fused multiply-add."""
        return True

    @property
    def lanes(self) -> int:
        """Threads that go together."""
        return 32

    def devices(self) -> Sequence[Any]:
        """Those that rows go to."""
        return driver.devices()

    def tag(self) -> tuple[Any, ...]:
        """The kind of the devices, the compiler's version, and the bounds."""
        return (self.devices()[0].architecture, *driver.nvrtc_version(), self.bounds)

    def source(self, program: Program, lanes: int = 1, shared: Sequence[bool] = ()) -> str:
        """CUDA C; long programs in parts, for the time that its compiler takes."""
        program = unsummed(rescaled(program)) if program.fma else program
        return print_cuda(split(branches(program)), shared)

    def build(self, source: str) -> bytes:
        """What a kernel must know, and the code for each of the launch bounds."""
        facts = Facts.of(source)
        with ThreadPoolExecutor(len(self.bounds)) as pool:
            codes = list(pool.map(lambda bounds: self.binary(source, bounds, fma=facts.fma), self.bounds))
        return pickle.dumps((tuple(facts), dict(zip(self.bounds, codes, strict=True))))

    def binary(self, source: str, bounds: tuple[int, int], *, fma: bool) -> bytes:
        """The code for launch bounds."""
        threads, blocks = bounds
        architecture = f"--gpu-architecture={self.devices()[0].architecture}"
        options = (
            architecture,
            "--std=c++17",
            f"--fmad={str(fma).lower()}",
            f"-DTHREADS={threads}",
            f"-DBLOCKS={blocks}",
        )
        return driver.binary(source, options)

    def load(self, code: bytes, layout: Layout, lanes: int) -> GridKernel:
        """The code, which goes to a device when it is first wanted there."""
        return GridKernel(code, layout, self.devices(), remember=self.remember)

    def assembly(self, source: str) -> str:
        """The intermediate code of NVIDIA's compilers, which the driver's own follows closely."""
        architecture = self.devices()[0].architecture.replace("sm_", "compute_")
        return driver.intermediate(
            source, (f"--gpu-architecture={architecture}", "--std=c++17", "-DTHREADS=128", "-DBLOCKS=2")
        )
