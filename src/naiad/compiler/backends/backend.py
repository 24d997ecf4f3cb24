"""What a back end is: it makes of a finished program code that can be called."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from naiad.compiler.ir.program import Layout, Program

Kernel = Callable[[list[Any], Sequence[bool], int], list[Any]]
"""kernel(leaves, own, size): the results of `size` rows, with a leading axis. `leaves` are the arguments, in the order
of the inputs; those that are the rows' `own` have a leading axis, the others are the same for all rows. All are NumPy
arrays, or `Resident` where the back end `keeps` them. A kernel may have a method `alone(leaves)` as well, which gives
the results of one row without leading axes: it is called where the code is for one row at a time; and a method `left`,
as the kernel itself, whose large results are `Resident`, of the class `takes`, which it accepts as arguments."""


class Backend(ABC):
    """Makes code: a program becomes source text, the text becomes bytes, which the cache may keep, and the bytes become
    a kernel, also in another process. How rows lie in memory, and how many are treated at once, is its own affair.

    It has no state that a program depends on but what `tag` tells, and goes to other processes by pickle.
    """

    name: str
    """One word, under which `stats` has the seconds that `build` took."""

    platform: str
    """JAX's word for where the code runs: of `jax.lax.platform_dependent`, the variant that is taken."""

    most_scalars: int = 1024
    """An array of no more elements becomes scalars, which registers may hold; others live in memory."""

    keeps: bool = False
    """Whether its kernels leave their results where they are (`Resident`), and take them from there."""

    packs: bool = False
    """Whether programs for one row at a time may have values of several lanes (see `Node`)."""

    @property
    @abstractmethod
    def fma(self) -> bool:
        """Whether programs may have fused multiply-adds."""

    @property
    @abstractmethod
    def lanes(self) -> int:
        """How many rows of tables go side by side, if nobody says otherwise."""

    def lanes_of(self, length: int) -> int:
        """The same for batches of many rows, by a program of so many operations."""
        return self.lanes

    @abstractmethod
    def tag(self) -> tuple[Any, ...]:
        """What the code depends on besides the program: versions, the machine, options. The cache's key has it."""

    @abstractmethod
    def source(self, program: Program, lanes: int = 1, shared: Sequence[bool] = ()) -> str:
        """The text of a finished program for so many rows side by side; of the inputs those that are `shared` are the
        same for all rows. The program may be changed, and its layout is final after this."""

    @abstractmethod
    def build(self, source: str) -> bytes:
        """The code. It runs outside the main thread, so that an interrupt is heard meanwhile."""

    @abstractmethod
    def load(self, code: bytes, layout: Layout, lanes: int) -> Kernel:
        """The code, ready to be called; `layout` is that of the program, `lanes` what its source was made for."""

    @abstractmethod
    def assembly(self, source: str) -> str:
        """What `build` makes of a source, as a text to look at."""
