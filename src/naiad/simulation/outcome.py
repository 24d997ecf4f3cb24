"""How a run ended."""

import enum

from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem


class Outcome(enum.IntEnum):
    """The end of a run; `remedy` says what to do about it."""

    COMPLETED = 0
    NEWTON_FAILED = 1
    NOT_FINITE = 2
    EVENT = 3
    INTERRUPTED = 4
    UNFINISHED = 5
    LIMIT = 6

    @property
    def remedy(self) -> str:
        """One sentence on what happened and what to do."""
        return _REMEDIES[self]

    def told(self, system: LagrangianSystem, method: AbstractMethod) -> str:
        """The same in the words of the method where its solver failed, and of the system where it came to its limit."""
        words = {Outcome.NEWTON_FAILED: method.failure, Outcome.LIMIT: system.limit_words}.get(self)
        return words or self.remedy

    @property
    def failed(self) -> bool:
        """Whether the run could not go on."""
        return self in (Outcome.NEWTON_FAILED, Outcome.NOT_FINITE, Outcome.LIMIT)


_REMEDIES = {
    Outcome.COMPLETED: "The run reached its end.",
    Outcome.NEWTON_FAILED: "Newton's method did not converge; take a smaller dt (h |xi| well below 1).",
    Outcome.NOT_FINITE: "The state became NaN or infinite; take a smaller dt, or check the Lagrangian there.",
    Outcome.EVENT: "A terminal section was reached.",
    Outcome.INTERRUPTED: "The run was interrupted; what was computed until then is kept.",
    Outcome.UNFINISHED: "The run was killed, or its disk was full; `resume` goes on from what it wrote.",
    Outcome.LIMIT: "The system came to its limit; take a smaller dt, or end the run before.",
}
