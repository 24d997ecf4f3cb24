"""Features by methods: draw systems, run them by every method through every door, and write the table of docs/audit.md.

`python -m benchmarks.audit_matrix docs/audit.md [seed] [rounds]` keeps what it found in out/audit-matrix-SEED.jsonl and
goes on from there when it is started again.
"""

import itertools
import json
import sys
import textwrap
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.compare import table
from naiad.mechanics.features import FEATURES
from tests.verification.feature_matrix import METHODS, Cell, cells, run

TITLE = "## Features by methods"
WORKERS, AT_A_TIME = 2, 100


def found(seed: int, rounds: int) -> list[Cell]:
    """The cells of so many rounds, those of an earlier start read from the file."""
    where = Path("out") / f"audit-matrix-{seed}.jsonl"
    where.parent.mkdir(exist_ok=True)
    lines = where.read_text(encoding="utf-8").splitlines() if where.exists() else []
    known = {int(row[0]): Cell(*row[1:]) for row in map(json.loads, lines)}
    asked = dict(enumerate(itertools.islice(cells(seed), rounds * len(FEATURES) * len(METHODS))))
    left = [number for number in asked if number not in known]
    with where.open("a", encoding="utf-8") as file:
        for first in range(0, len(left), AT_A_TIME):  # in new processes, as compiled code stays in memory
            with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
                some = left[first : first + AT_A_TIME]
                futures = {pool.submit(_quiet, asked[number]): number for number in some}
                for done in as_completed(futures):
                    number, cell = futures[done], done.result()
                    known[number] = cell
                    file.write(json.dumps([number, *cell]) + "\n")
                    file.flush()
                    if cell.outcome in ("wrong", "fault"):
                        print(f"{number}: {cell}", file=sys.stderr, flush=True)
            print(f"{first + len(some)} of {len(left)}", file=sys.stderr, flush=True)
    return [known[number] for number in asked]


def _quiet(asked: tuple[Any, ...]) -> Cell:
    warnings.simplefilter("ignore")
    return run(*asked)


def section(rows: list[Cell], seed: int) -> str:
    """The words and the table."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        counts.setdefault((row.method, row.feature), Counter())[row.outcome] += 1
    body = []
    for method in METHODS:
        shown = []
        for feature in FEATURES:
            of_pair = counts.get((method, feature), Counter())
            shown.append(", ".join(f"{of_pair[kind]} {kind}" for kind in KINDS if of_pair[kind]) or "not drawn")
        body.append([f"`{method}`", *shown])
    total = Counter(row.outcome for row in rows)
    words = ", ".join(f"{total[kind]} {kind}" for kind in KINDS)
    about = (
        "`make audit-matrix` draws systems with random subsets of the features (`naiad.mechanics.features`) and runs "
        "each by a method through `simulate`, `propagate`, `simulate_many`, `resume`, `march` or `linear_step`. A "
        "result is *right* if its error against DOP853, which solves equations written out by hand, falls with the "
        "step; *refused* if an error names what the method does not honour. A column is the feature that was asked "
        f"for; others were drawn beside it. With the seed {seed}: {len(rows)} draws, {words}."
    )
    names = ["method", *(f"`{name}`" for name in FEATURES)]
    return f"{TITLE}\n\n{textwrap.fill(about, 132)}\n\n{table(names, body)}\n"


KINDS = ("right", "refused", "wrong", "fault")


def main() -> None:
    """Run what is left, and write the section."""
    path, seed, rounds = Path(sys.argv[1]), *(int(each) for each in (*sys.argv[2:4], "0", "3")[:2])
    rows = found(seed, rounds)
    text = path.read_text(encoding="utf-8")
    kept = text[: text.index(TITLE)] if TITLE in text else text.rstrip() + "\n\n"
    path.write_text(kept + section(rows, seed), encoding="utf-8")


if __name__ == "__main__":
    main()
