"""Names that a user may have meant."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean NAME? ` with the nearest of the known names, whatever their case; empty if none is near."""
    folded: dict[str, list[str]] = {}
    for name in known:
        folded.setdefault(name.casefold(), []).append(name)
    near = [name for key in difflib.get_close_matches(word.casefold(), folded, n=3) for name in folded[key]]
    return f"did you mean {' or '.join(near[:3])}? " if near else ""
