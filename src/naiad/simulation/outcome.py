"""How a run ended."""

import enum


class Outcome(enum.IntEnum):
    """The end of a run; `remedy` says what to do about it."""

    COMPLETED = 0
    NEWTON_FAILED = 1
    NOT_FINITE = 2
    EVENT = 3
    INTERRUPTED = 4
    UNFINISHED = 5

    @property
    def remedy(self) -> str:
        """One sentence on what happened and what to do."""
        return _REMEDIES[self]

    @property
    def failed(self) -> bool:
        """Whether the run could not go on."""
        return self in (Outcome.NEWTON_FAILED, Outcome.NOT_FINITE)


_REMEDIES = {
    Outcome.COMPLETED: "The run reached its end.",
    Outcome.NEWTON_FAILED: "Newton's method did not converge; take a smaller dt (h |xi| well below 1).",
    Outcome.NOT_FINITE: "The state became NaN or infinite; take a smaller dt, or check the Lagrangian there.",
    Outcome.EVENT: "A terminal section was reached.",
    Outcome.INTERRUPTED: "The run was interrupted; what was computed until then is kept.",
    Outcome.UNFINISHED: "The run was killed, or its disk was full; `resume` goes on from what it wrote.",
}
