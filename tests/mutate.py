"""Draws mutants of naiad's packages and runs the tests that reach them: `make mutate PART=control`.

A mutant is a copy of naiad with one operator, number or comparison changed, or with the condition of a refusal negated
or dropped. Tests that pass on it would not notice that mistake. A survivor gets a test that kills it, or is shown to
change nothing and then named in `EQUIVALENT`.

`tests/mutants.jsonl` keeps every outcome, and no mutant in it is drawn again while its line stays as it is. A mutant is
tried against the tests of its package, in the folder of the same name. `--again` tries survivors once more, when tests
were added; `--elsewhere` tries them against the tests of all other packages. Which test runs which line is recorded in
`build/mutate` by a run of the tests of a folder, again after a change of the code or of these tests. The cheapest tests
that reach a mutant run first, with an empty cache of compiled code.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from coverage import CoverageData
from scipy.stats import binomtest

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "build" / "mutate"
OUTCOMES = ROOT / "tests" / "mutants.jsonl"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- mutants: python -m tests.mutate --table -->", "<!-- end of mutants -->"
PACKAGES = tuple(sorted(path.parent.name for path in (ROOT / "src/naiad").glob("*/__init__.py")))
NEEDS_A_GPU = "compiler/backends/cuda/driver.py"
AT_A_TIME = 5
"""So many mutants of a package are tried before the package with the fewest outcomes is looked for again."""
RECORDED_SECONDS = 120.0
"""Of the tests that reach a mutant, the cheapest that together take so long, as recorded, are run."""
PYTEST = ["-m", "not long", "-p", "no:benchmark", "-p", "no:cacheprovider", "-q"]
OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "src/naiad/compiler/passes/scales.py",
        "sign *= math.copysign(1.0, x.factor / y.factor)",
    ): "a quotient has the sign of the product",
    (
        "src/naiad/compiler/front/linear.py",
        'return _loop(b, b.op("iadd", k, b.integer(0)), b.integer(A.width), [b.op("abs", A.get(k, k)), k], look)[1]',
    ): "the pivot is compared with itself too",
    (
        "src/naiad/trees/solve.py",
        "slow = (anew & (not linear)) | (~begins & (ratio >= (0.5 if linear else SLOW)))",
    ): "a ratio that is the bound to the last bit",
    (
        "src/naiad/compiler/ir/operations.py",
        "inside = np.where(np.isnan(a), 0.0, np.clip(a, -(2.0**63), 2.0**63 + 1024))",
    ): "what is above is replaced in the next line",
    (
        "src/naiad/compiler/front/shapes.py",
        'source.append(b.op("imin", b.op("imax", position, b.integer(0)), b.integer(max(n + 1, 0))))',
    ): "it keeps a read inside of which the value is not used",
    (
        "src/naiad/trees/robots/shapes.py",
        "return Mesh(vertices, triangles if np.prod(scale) > 1 else triangles[:, ::-1])",
    ): "a mesh that is inside out is turned over, with a note",
}
"""(file, the changed line) of mutants that compute the same, and why."""


class Mutant(NamedTuple):
    """A change of the bytes `start` to `end` of a file; `original` and `changed` are the lines before and after it."""

    path: Path
    line: int
    start: int
    end: int
    text: str
    original: str
    changed: str

    def source(self) -> str:
        """The file with the change."""
        old = self.path.read_bytes()
        return (old[: self.start] + self.text.encode() + old[self.end :]).decode()

    @property
    def file(self) -> str:
        """The path from the root of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others, whatever is written above it."""
        return self.file, self.original, self.changed

    def __str__(self) -> str:
        return f"{self.file}:{self.line}\n    - {self.original}\n    + {self.changed}"


def mutants(path: Path) -> list[Mutant]:
    """Return every change of a file: of operators, comparisons, signs, numbers and conditions of refusals.

    Annotations and messages of errors stay as they are."""
    source = path.read_bytes()
    lines = source.splitlines(keepends=True)
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line))
    found: list[Mutant] = []

    def span(node: ast.expr) -> tuple[int, int]:
        last, column = node.end_lineno or 0, node.end_col_offset or 0
        return before[node.lineno - 1] + node.col_offset, before[last - 1] + column

    def change(line: int, start: int, end: int, text: str) -> None:
        first, last = before[line - 1], before[line + source[start:end].count(b"\n")]
        changed = source[first:start] + text.encode() + source[end:last]
        original = source[first:last].decode().strip()
        found.append(Mutant(path, line, start, end, text, original, changed.decode().strip()))

    def replace(node: ast.expr, text: str) -> None:
        change(node.lineno, *span(node), text)

    def operator(left: ast.expr, right: ast.expr) -> None:
        """The change of the operator between two operands on one line."""
        begin, end = span(left)[1], span(right)[0]
        between = source[begin:end].decode()
        sign = between.strip(" ()")
        if left.end_lineno == right.lineno and sign in OPERATORS and between.count(sign) == 1:
            start = begin + between.index(sign)
            change(right.lineno, start, start + len(sign), OPERATORS[sign])

    def refusal(condition: ast.expr) -> None:
        """The condition negated, dropped, and without each of its parts."""
        begin, end = span(condition)
        replace(condition, f"not ({source[begin:end].decode()})")
        replace(condition, "False")
        if isinstance(condition, ast.BoolOp):
            for part in condition.values:
                replace(part, str(isinstance(condition.op, ast.And)))

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.ImportFrom | ast.Import):
            return
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            refusal(node.test)
        if isinstance(node, ast.BinOp):
            operator(node.left, node.right)
        elif isinstance(node, ast.Compare):
            operator(node.left, node.comparators[0])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            start = span(node)[0]
            change(node.lineno, start, start + 1, "")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            whole = isinstance(node.value, int)  # smaller, as JAX takes an index beyond the end for the last one
            replace(node, repr((node.value - 1 if node.value > 0 else 1) if whole else 2.0 * node.value + 1.0))
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    visit(ast.parse(source))
    return found


def draw(package: str, done: Iterable[tuple[str, str, str]], seed: int) -> list[Mutant]:
    """The mutants of a package that have no outcome, in an order of chance."""
    files = [path for path in sorted((ROOT / "src/naiad" / package).rglob("*.py")) if path.stem != "__init__"]
    every = {m.key: m for path in files if NEEDS_A_GPU not in path.as_posix() for m in mutants(path)}
    known = set(done)
    left = [m for key, m in every.items() if key not in known and (m.file, m.changed) not in EQUIVALENT]
    return random.Random(seed).sample(left, len(left))


class Outcome(NamedTuple):
    """What became of a mutant: "killed", "killed elsewhere" (by tests of other folders only), or "survived"."""

    file: str
    original: str
    changed: str
    seed: int
    said: str

    @property
    def package(self) -> str:
        return self.file.split("/")[2]


def outcomes() -> dict[tuple[str, str, str], Outcome]:
    """All outcomes in the repository; a later line for a mutant replaces an earlier one."""
    lines = OUTCOMES.read_text().splitlines() if OUTCOMES.exists() else []
    found = (Outcome(**json.loads(line)) for line in lines)
    return {one[:3]: one for one in found if (one.file, one.changed) not in EQUIVALENT}


def table(known: Iterable[Outcome]) -> str:
    """The share of mutants that survive, by package, with the interval of 95 % by Wilson."""
    rows = [
        "| package | mutants | killed by its tests | by others only | survive | share | 95 % |",
        "|---|---|---|---|---|---|---|",
    ]
    counts: dict[str, Counter[str]] = {package: Counter() for package in PACKAGES}
    for one in known:
        if one.package in counts:
            counts[one.package][one.said] += 1
    for package, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        if n := count.total():
            share = count["survived"] / n
            low, high = binomtest(count["survived"], n).proportion_ci(method="wilson")
            numbers = f"{n} | {count['killed']} | {count['killed elsewhere']} | {count['survived']}"
            rows.append(f"| {package} | {numbers} | {share:.0%} | {low:.0%} to {high:.0%} |")
    return "\n".join(rows)


def write_table() -> None:
    """Print the table, and put it into its place in the page."""
    text = PAGE.read_text()
    found = table(outcomes().values())
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    PAGE.write_text(f"{text[:start]}\n\n{found}\n\n{text[end:]}")
    print(found)


class Reach:
    """Which tests of some folders run which lines, and how long each takes."""

    def __init__(self, folders: Iterable[str], *, workers: int, as_recorded: bool) -> None:
        self.lines: list[CoverageData] = []
        self.seconds: dict[str, float] = {}
        for folder in folders:
            times, lines = RECORD / f"{folder}.xml", RECORD / f"{folder}.lines"
            newest = max(p.stat().st_mtime for home in ("src", f"tests/{folder}") for p in (ROOT / home).rglob("*.py"))
            if not times.exists() or (times.stat().st_mtime < newest and not as_recorded):
                _record(folder, times, lines, workers)
            data = CoverageData(str(lines))
            data.read()
            self.lines.append(data)
            for case in ElementTree.parse(times).iter("testcase"):
                home, name = case.attrib["classname"].replace(".", "/") + ".py", case.attrib["name"]
                self.seconds[f"{home}::{name}"] = float(case.attrib["time"])

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that run the mutant's statement, then those with the name of its file, then those that run anything in
        that file (JAX runs a function once for many tests, and a constant runs on import), each the cheapest first."""
        by_line = [data.contexts_by_lineno(str(mutant.path)) for data in self.lines]
        first, last = statement(mutant)
        anywhere = self._known(names for lines in by_line for names in lines.values())
        reaching = self._known(lines.get(line, []) for lines in by_line for line in range(first, last + 1))
        named = {name for name in self.seconds if f"/test_{mutant.path.stem}" in name.partition("::")[0]}
        chosen, spent = [], 0.0
        for names in (reaching, named - reaching, anywhere - named - reaching):
            for name in sorted(names, key=self.seconds.__getitem__):
                spent += self.seconds[name]
                if chosen and spent > RECORDED_SECONDS:
                    return chosen
                chosen.append(name)
        return chosen

    def _known(self, contexts: Iterable[list[str]]) -> set[str]:
        """The tests of which the names are among these."""
        return {name.rpartition("|")[0] for names in contexts for name in names} & self.seconds.keys()


def _record(folder: str, times: Path, lines: Path, workers: int) -> None:
    """Run the tests of a folder, and write which lines each runs and how long it takes."""
    print(f"Recording which lines the tests in tests/{folder} reach", flush=True)
    RECORD.mkdir(parents=True, exist_ok=True)
    options = ["-n", str(workers), "--cov=naiad", "--cov-context=test", "--cov-report=", f"--junitxml={times}"]
    run = [sys.executable, "-m", "pytest", *PYTEST, *options, f"tests/{folder}"]
    with tempfile.TemporaryDirectory(prefix="naiad-mutate-") as empty:  # what is on disk is not traced
        environment = {**os.environ, "COVERAGE_FILE": str(lines), "NAIAD_TEST_CACHE_DIR": empty}
        failed = subprocess.run(run, cwd=ROOT, env=environment).returncode
    if failed:
        times.unlink(missing_ok=True)
        raise SystemExit(f"the tests in tests/{folder} fail as the code stands")


def statement(mutant: Mutant) -> tuple[int, int]:
    """The first and last line of the smallest statement around it, without the body of a compound one."""
    found = (mutant.line, mutant.line)
    for node in ast.walk(ast.parse(mutant.path.read_text())):  # from the outside in
        if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            if mutant.line <= last:
                found = (node.lineno, last)
    return found


def verdict(mutant: Mutant, reach: Reach, deadline: float) -> str | None:
    """Whether the tests that reach it notice it, or None if there is no time to find out."""
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    tests = reach.tests(mutant)
    if not tests:
        print(f"no test reaches {mutant.file}:{mutant.line}", flush=True)
        return "survived"
    with tempfile.TemporaryDirectory(prefix="naiad-mutant-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        (Path(folder) / mutant.path.relative_to(ROOT)).write_text(mutant.source())
        names = Path(folder) / "tests.txt"
        names.write_text("\n".join(tests))
        environment = {**os.environ, "PYTHONPATH": f"{folder}/src", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["NAIAD_TEST_CACHE_DIR"] = f"{folder}/cache"
        paths = f"pythonpath={folder}/src {ROOT}"
        command = [sys.executable, "-m", "pytest", "-x", *PYTEST, "-o", paths, f"@{names}"]
        limit = 120 + 4 * sum(reach.seconds[name] for name in tests)
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=min(limit, left), capture_output=True)
        except subprocess.TimeoutExpired:
            return "killed" if limit < left else None  # it hangs
    return "killed" if done.returncode else "survived"


def try_out(chosen: list[Mutant], reach: Reach, seed: int, deadline: float, workers: int, killed: str) -> int:
    """Run the tests on each mutant, add what became of it to the file of outcomes, and return how many were tried."""
    tried = 0
    with ThreadPoolExecutor(workers) as pool:
        for mutant, said in zip(chosen, pool.map(lambda m: verdict(m, reach, deadline), chosen), strict=True):
            if said is not None:
                outcome = Outcome(*mutant.key, seed, killed if said == "killed" else said)
                with OUTCOMES.open("a") as file:
                    file.write(json.dumps(outcome._asdict(), ensure_ascii=False) + "\n")
                print(f"{outcome.said}: {mutant}", flush=True)
                tried += 1
    return tried


def main() -> None:
    """Draw mutants and run tests on them until the time is over, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all unless given")
    parser.add_argument("--minutes", type=float, default=30.0, help="stop after so long (30)")
    parser.add_argument("--count", type=int, default=10**6, help="stop after so many mutants")
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a new one if not given")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at once (2)")
    parser.add_argument("--as-recorded", action="store_true", help="take the record, also if files changed since")
    parser.add_argument("--again", action="store_true", help="try survivors once more")
    parser.add_argument("--elsewhere", action="store_true", help="try survivors with the tests of all other packages")
    parser.add_argument("--table", action="store_true", help="only print and write the table")
    given = parser.parse_args()
    if unknown := set(given.packages) - set(PACKAGES):
        parser.error(f"no package {', '.join(sorted(unknown))}; expected some of {', '.join(PACKAGES)}")
    packages = set(given.packages or PACKAGES)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    deadline = time.monotonic() + 60 * given.minutes
    record = {"workers": given.workers, "as_recorded": given.as_recorded}
    left = 0 if given.table else given.count
    if given.again or given.elsewhere:
        for package in sorted(packages):
            known = outcomes()
            survivors = {key for key, one in known.items() if one.said == "survived" and one.package == package}
            chosen = [m for m in draw(package, known.keys() - survivors, seed) if m.key in survivors][:left]
            if chosen and time.monotonic() < deadline:
                reach = Reach({package} if given.again else {*PACKAGES} - {package}, **record)
                killed = "killed" if given.again else "killed elsewhere"
                left -= try_out(chosen, reach, seed, deadline, given.workers, killed)
        left = 0
    while packages and left and time.monotonic() < deadline:
        count = Counter(one.package for one in outcomes().values())
        package = min(sorted(packages), key=count.__getitem__)
        chosen = draw(package, outcomes(), seed)[: min(AT_A_TIME, left)]
        if chosen:
            left -= try_out(chosen, Reach([package], **record), seed, deadline, given.workers, "killed")
        else:
            packages.remove(package)
    write_table()


if __name__ == "__main__":
    main()
