"""Draws mutants of the numerical core and runs the tests nearby: `make mutate`.

A mutant is a copy of the package with one operator, number or comparison changed. Tests that pass on it would not
notice that mistake. It is either killed by a new test, or shown to change nothing and then named in `EQUIVALENT`.
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
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
CORE = ("numerics", "groups", "retractions", "mechanics", "integrators", "trees", "strings", "compiler")
NEARBY = {package: (f"tests/{package}",) for package in CORE} | {
    "mechanics": ("tests/mechanics", "tests/models"),
    "integrators": ("tests/integrators", "tests/verification", "tests/models"),
}
SECONDS = 3600
OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EQUIVALENT: dict[tuple[str, str], str] = {}
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


def killed(mutant: Mutant) -> bool:
    """Whether the tests nearby notice it; those that carry the file's name run first."""
    package = mutant.path.relative_to(ROOT / "src/naiad").parts[0]
    folders = NEARBY[package]
    own = [str(p) for folder in folders for p in (ROOT / folder).glob(f"test_{mutant.path.stem}*.py")]
    with tempfile.TemporaryDirectory(prefix="naiad-mutant-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        target = Path(folder) / mutant.path.relative_to(ROOT)
        target.write_text(mutant.source())
        environment = {
            **os.environ,
            "PYTHONPATH": f"{folder}/src",
            "PYTHONDONTWRITEBYTECODE": "1",
            "NAIAD_TEST_DEAR": "1",
        }
        paths = f"pythonpath={folder}/src {ROOT}"
        options = ["-x", "-q", "-m", "not long", "-p", "no:benchmark", "-p", "no:cacheprovider", "-o", paths]
        for chosen in (own, list(folders)):
            if not chosen:
                continue
            command = [sys.executable, "-m", "pytest", *options, *chosen]
            try:
                done = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, capture_output=True)
            except subprocess.TimeoutExpired:
                return True  # it hangs, which somebody would notice
            if done.returncode != 0:
                return True
    return False


def main() -> int:
    """Draw, run, and say which survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=None, help="of the draw; a new one if not given")
    parser.add_argument("--package", choices=CORE, default=None, help="only this package")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    packages = (given.package,) if given.package else CORE
    files = [p for name in packages for p in sorted((ROOT / "src/naiad" / name).rglob("*.py")) if p.stem != "__init__"]
    everything = [mutant for path in files for mutant in mutants(path)]
    chosen = random.Random(seed).sample(everything, min(given.count, len(everything)))
    print(f"{len(chosen)} of {len(everything)} mutants, seed {seed}", flush=True)
    survivors = 0
    for number, mutant in enumerate(chosen, 1):
        started = time.monotonic()
        known = EQUIVALENT.get((mutant.path.relative_to(ROOT).as_posix(), mutant.changed_line()))
        verdict = f"equivalent: {known}" if known else "killed" if killed(mutant) else "SURVIVED"
        survivors += verdict == "SURVIVED"
        print(f"{number:3d} {verdict} ({time.monotonic() - started:.0f} s) {mutant}", flush=True)
    print(f"{survivors} survived; seed {seed}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
