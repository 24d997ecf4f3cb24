"""The folder of a result that grows: an interruption keeps what is there, and a later process goes on with it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from naiad.cli.folder import check_left_over, check_replaceable, made_parents, partial_of, replace
from naiad.studies.sweeps import ROWS

if TYPE_CHECKING:
    from naiad.io.claim import Claim


@contextmanager
def growing_folder(wanted: Path, begin: Callable[[Path], None]) -> Iterator[Path]:
    """A new folder, with what `begin` puts into it, that takes its place when the block ends well, and else stays."""
    from naiad.files import clear_errors
    from naiad.io.claim import claimed

    target, partial = partial_of(wanted)
    with clear_errors(wanted):
        check_replaceable(wanted, target)
        made = made_parents(target.parent)
        try:
            claim = claimed(partial, begin, lambda left: check_left_over(wanted, left))
        except BaseException:
            for parent in made:
                with suppress(OSError):
                    parent.rmdir()
            raise
    yield from _until_done(wanted, claim)


@contextmanager
def regained_folder(wanted: Path) -> Iterator[Path]:
    """The folder that an ended process left, with all that is in it."""
    from naiad.files import clear_errors
    from naiad.io.claim import reclaimed

    target, partial = partial_of(wanted)
    with clear_errors(wanted, f"what there was is at {partial}"):
        check_replaceable(wanted, target)
        claim = reclaimed(partial)
    yield from _until_done(wanted, claim)


def _until_done(wanted: Path, claim: "Claim") -> Iterator[Path]:
    from naiad.files import clear_errors
    from naiad.io.claim import settle
    from naiad.io.places import remove

    target, partial = partial_of(wanted)
    try:
        yield partial
        with clear_errors(wanted, f"what was found is at {partial}"):
            check_replaceable(wanted, target)
            replace(target, partial)
            settle(target)
            remove(target / ROWS)
    finally:
        claim.release()
