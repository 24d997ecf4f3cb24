"""Says which tests are left to `make test-long` because of the time they take, by what a run of the others took:

.venv/bin/pytest -n 2 -m "not long" -p no:benchmark -vv --durations=0 > LOG
.venv/bin/python -m tests.dear LOG

What takes more than `MOST` seconds is added to `dear.txt`, and cases of a test that take more than `MOST_OF_A_CASE`, if
one that takes less stays. What should be back is taken out of that file by hand.
"""

import collections
import re
import sys
from pathlib import Path

MOST, MOST_OF_A_CASE = 3.0, 1.0
LIST = Path(__file__).with_name("dear.txt")
STAY = re.compile(r"test_fuzz|kill|papers|spoiled|a_sweep_writes|one_process|drawn_at_random|ends_its_process")
"""What stays whatever it takes: what is attacked at random, and what the papers print."""


def names() -> set[str]:
    """The tests that are dear."""
    return set(LIST.read_text().splitlines())


def without_parameters(case: str) -> str:
    """The name of a test without its parameters."""
    return case.partition("[")[0]


def dear(seconds: dict[str, float]) -> set[str]:
    """Those of these cases that take too long."""
    tests = collections.defaultdict(list)
    for case in sorted(seconds, key=lambda case: seconds[case]):
        tests[without_parameters(case)].append(case)
    found = set()
    for name, (cheapest, *others) in tests.items():
        if not STAY.search(name):
            found |= {case for case in others if seconds[case] > MOST_OF_A_CASE}
            found |= {cheapest} if seconds[cheapest] > MOST else set()
    return found


def main(log: str) -> None:
    """Read the log, and add to the list."""
    seconds = collections.Counter()
    for took, case in re.findall(r"^([\d.]+)s (?:setup|call|teardown) +tests/(.*)$", Path(log).read_text(), re.M):
        seconds[case] += float(took)
    more = dear(seconds) - names()
    LIST.write_text("\n".join(sorted(names() | more)) + "\n")
    print(f"{len(more)} more, which took {sum(seconds[case] for case in more):.0f} s of {sum(seconds.values()):.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
