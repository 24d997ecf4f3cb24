"""Draws mutants of the numerical core and runs the tests that reach them: `make mutate`.

A mutant is a copy of the package with one operator, number or comparison changed. Tests that pass on it would not
notice that mistake. It is either killed by a new test, or shown to change nothing and then named in `EQUIVALENT`.
Which test runs which line is recorded once, in `build/mutate`, by a run of the tests of `make test`, and again when
the code or the tests have changed; the cheapest that reach a mutant run first.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from coverage import CoverageData

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "build" / "mutate"
CORE = ("numerics", "groups", "retractions", "mechanics", "integrators", "trees", "strings", "compiler")
NEEDS_A_GPU = "compiler/backends/cuda/driver.py"
RECORDED_SECONDS = 120.0
"""Of the tests that reach a mutant, the cheapest that together take so long, as recorded, are run."""
SECONDS = 1800
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
    """A change of one place in a file."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def source(self) -> str:
        """The file with the change."""
        lines = self.path.read_text().splitlines(keepends=True)
        old = lines[self.line - 1].encode()
        lines[self.line - 1] = (old[: self.start] + self.text.encode() + old[self.end :]).decode()
        return "".join(lines)

    def changed_line(self) -> str:
        """The line as it is in the mutant."""
        return self.source().splitlines()[self.line - 1].strip()

    def __str__(self) -> str:
        old = self.path.read_text().splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}:{self.line}\n    - {old}\n    + {self.changed_line()}"


def mutants(path: Path) -> list[Mutant]:
    """Every change of a file: operators, comparisons, signs, and numbers, outside annotations and messages."""
    text = path.read_text()
    found: list[Mutant] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.ImportFrom | ast.Import):
            return
        if isinstance(node, ast.BinOp | ast.Compare):
            pairs = [(node.left, node.right)] if isinstance(node, ast.BinOp) else [(node.left, node.comparators[0])]
            for left, right in pairs:
                found.extend(_operator(path, text, left, right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found.append(Mutant(path, node.lineno, node.col_offset, node.col_offset + 1, ""))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            whole = isinstance(node.value, int)  # smaller, as JAX takes an index beyond the end for the last one
            new = repr((node.value - 1 if node.value > 0 else 1) if whole else 2.0 * node.value + 1.0)
            found.append(Mutant(path, node.lineno, node.col_offset, node.end_col_offset or 0, new))
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    visit(ast.parse(text))
    return found


def _operator(path: Path, text: str, left: ast.expr, right: ast.expr) -> list[Mutant]:
    """The change of the operator between two operands on one line."""
    if left.end_lineno != right.lineno:
        return []
    begin, end = left.end_col_offset or 0, right.col_offset
    between = text.splitlines()[right.lineno - 1].encode()[begin:end].decode()
    operator = between.strip(" ()")
    if operator not in OPERATORS or between.count(operator) != 1:
        return []
    start = begin + between.index(operator)
    return [Mutant(path, right.lineno, start, start + len(operator), OPERATORS[operator])]


class Reach:
    """Which tests run which lines, and how long each takes."""

    def __init__(self, *, as_recorded: bool) -> None:
        newest = max(p.stat().st_mtime for folder in ("src", "tests") for p in (ROOT / folder).rglob("*.py"))
        times, lines = RECORD / "times.xml", RECORD / "lines"
        if not times.exists() or (times.stat().st_mtime < newest and not as_recorded):
            print(f"Recording which tests reach which lines in {RECORD.relative_to(ROOT)}", flush=True)
            RECORD.mkdir(parents=True, exist_ok=True)
            options = ["-n", "2", "--cov=naiad", "--cov-context=test", "--cov-report=", f"--junitxml={times}"]
            run = [sys.executable, "-m", "pytest", *PYTEST, *options]
            with tempfile.TemporaryDirectory(prefix="naiad-mutate-") as empty:  # what is on disk is not traced
                environment = {**os.environ, "COVERAGE_FILE": str(lines), "NAIAD_TEST_CACHE_DIR": empty}
                failed = subprocess.run(run, cwd=ROOT, env=environment).returncode
            if failed:
                times.unlink(missing_ok=True)
                raise SystemExit("the tests fail as the code stands")
        self.lines = CoverageData(str(lines))
        self.lines.read()
        self.seconds: dict[str, float] = {}
        for case in ElementTree.parse(times).iter("testcase"):
            home, name = case.attrib["classname"].replace(".", "/") + ".py", case.attrib["name"]
            self.seconds[f"{home}::{name}"] = float(case.attrib["time"])

    def tests(self, mutant: Mutant) -> list[str]:
        """Those that run the mutant's statement, then those with the name of its file, then those that run anything in
        that file (JAX runs a function once for many tests, and a constant runs on import), each the cheapest first."""
        by_line = self.lines.contexts_by_lineno(str(mutant.path))
        first, last = statement(mutant)
        anywhere = self._known(by_line.values())
        reaching = self._known(by_line.get(line, []) for line in range(first, last + 1))
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


def verdict(mutant: Mutant, tests: list[str]) -> str:
    """Whether the tests that reach it notice it."""
    known = EQUIVALENT.get((mutant.path.relative_to(ROOT).as_posix(), mutant.changed_line()))
    if known:
        return f"equivalent: {known}"
    if not tests:
        return "SURVIVED: no test reaches it"
    with tempfile.TemporaryDirectory(prefix="naiad-mutant-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        (Path(folder) / mutant.path.relative_to(ROOT)).write_text(mutant.source())
        names = Path(folder) / "tests.txt"
        names.write_text("\n".join(tests))
        environment = {**os.environ, "PYTHONPATH": f"{folder}/src", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["NAIAD_TEST_CACHE_DIR"] = f"{folder}/cache"
        paths = f"pythonpath={folder}/src {ROOT}"
        command = [sys.executable, "-m", "pytest", "-x", *PYTEST, "-o", paths, f"@{names}"]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, capture_output=True)
        except subprocess.TimeoutExpired:
            return "killed: it hangs"
    return "killed" if done.returncode else f"SURVIVED {len(tests)} tests"


def main() -> int:
    """Draw, run, and say which survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a new one if not given")
    parser.add_argument("--package", choices=CORE, default=None, help="only this package")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at once")
    parser.add_argument("--as-recorded", action="store_true", help="take the record, also if files changed since")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    packages = (given.package,) if given.package else CORE
    files = [p for name in packages for p in sorted((ROOT / "src/naiad" / name).rglob("*.py")) if p.stem != "__init__"]
    everything = [mutant for path in files if NEEDS_A_GPU not in path.as_posix() for mutant in mutants(path)]
    chosen = random.Random(seed).sample(everything, min(given.count, len(everything)))
    print(f"{len(chosen)} of {len(everything)} mutants, seed {seed}", flush=True)
    reach = Reach(as_recorded=given.as_recorded)
    reaching = [reach.tests(mutant) for mutant in chosen]
    survivors = 0
    started = time.monotonic()
    with ThreadPoolExecutor(given.workers) as pool:
        for number, (mutant, said) in enumerate(zip(chosen, pool.map(verdict, chosen, reaching), strict=True), 1):
            survivors += said.startswith("SURVIVED")
            print(f"{number:3d} {said} ({time.monotonic() - started:.0f} s) {mutant}", flush=True)
    print(f"{survivors} survived; seed {seed}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
