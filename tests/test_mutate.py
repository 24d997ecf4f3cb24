"""The drawing of mutants, and the table of their outcomes."""

import ast
from pathlib import Path

import pytest

from tests import mutate
from tests.mutate import Outcome, draw, mutants, outcomes, table

SOURCE = """
def area(width: float, height: float = 2.0):
    if width <= 0 or (
        height < 1
    ):
        raise InputError(f"width = {width - 1}")
    if width == height:
        width = -height
    return width * height
"""


def write(path: Path, source: str) -> Path:
    path.write_text(source)
    return path


def changed(source: str, before: str, after: str) -> str:
    """The source without spaces, with one change, which must be possible in one place only."""
    assert source.count(before) == 1
    return ast.dump(ast.parse(source.replace(before, after)))


def test_mutants_change_operators_numbers_signs_and_refusals_and_nothing_else(tmp_path):
    whole = "width <= 0 or (\n        height < 1\n    )"
    expected = [
        changed(SOURCE, "= 2.0", "= 5.0"),
        changed(SOURCE, whole, f"not ({whole})"),
        changed(SOURCE, whole, "False"),
        changed(SOURCE, "width <= 0", "False"),
        changed(SOURCE, "height < 1", "False"),
        changed(SOURCE, "<=", "<"),
        changed(SOURCE, "<= 0", "<= 1"),
        changed(SOURCE, "height < 1", "height <= 1"),
        changed(SOURCE, "< 1", "< 0"),
        changed(SOURCE, "==", "!="),
        changed(SOURCE, "-height", "height"),
        changed(SOURCE, "width * height", "width / height"),
    ]
    found = [ast.dump(ast.parse(mutant.source())) for mutant in mutants(write(tmp_path / "area.py", SOURCE))]
    assert sorted(found) == sorted(expected)


def test_a_part_of_a_refusal_that_is_an_and_is_dropped_by_true(tmp_path):
    path = write(tmp_path / "a.py", "if a and b:\n    raise E\n")
    assert [m.source().splitlines()[0] for m in mutants(path)] == [
        "if not (a and b):",
        "if False:",
        "if True and b:",
        "if a and True:",
    ]


def test_a_mutant_with_an_outcome_is_not_drawn_again_until_its_line_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    home = tmp_path / "src" / "naiad" / "shapes"
    home.mkdir(parents=True)
    path = write(home / "area.py", SOURCE)
    done = [mutant.key for mutant in draw("shapes", (), seed=1)]
    assert len(done) == 12
    write(path, "import math\n" + SOURCE)
    assert draw("shapes", done, seed=1) == []
    assert [mutant.key for mutant in draw("shapes", done[1:], seed=1)] == done[:1]
    write(path, SOURCE.replace("width * height", "height * width"))
    assert [mutant.changed for mutant in draw("shapes", done, seed=1)] == ["return height / width"]


@pytest.mark.parametrize("package", ["control", "models"])
def test_mutants_of_a_package_can_be_read(package):
    for mutant in draw(package, (), seed=1)[:20]:
        assert ast.dump(ast.parse(mutant.source())) != ast.dump(ast.parse(mutant.path.read_text())), str(mutant)


def test_every_package_has_a_folder_of_tests_of_its_name():
    assert all((mutate.ROOT / "tests" / package).is_dir() for package in mutate.PACKAGES)
    assert len(mutate.PACKAGES) >= 20


def test_the_last_outcome_of_a_mutant_counts_and_shares_have_their_interval(tmp_path, monkeypatch):
    line = '{{"file": "src/naiad/hydro/a.py", "original": "a", "changed": "{}", "seed": 1, "said": "{}"}}\n'
    said = ["survived", "survived", "killed", "killed", "killed", "killed"]
    text = "".join(line.format(number, one) for number, one in enumerate(said)) + line.format(0, "killed elsewhere")
    monkeypatch.setattr(mutate, "OUTCOMES", write(tmp_path / "mutants.jsonl", text))
    # Wilson's interval for 1 of 6: (1 + z^2/2 -+ z sqrt(5/6 + z^2/4)) / (6 + z^2) with z = 1.96
    assert table(outcomes().values()).splitlines()[2:] == [
        "| hydro | 6 | 4 | 1 | 1 | 17% | 3% to 56% |",
        "| all | 6 | 4 | 1 | 1 | 17% | 3% to 56% |",
    ]
    assert Outcome("src/naiad/hydro/a.py", "a", "0", 1, "killed elsewhere") in outcomes().values()


def test_the_page_has_the_table_of_all_outcomes():
    page = mutate.PAGE.read_text()
    assert f"{mutate.BEGIN}\n\n{table(outcomes().values())}\n\n{mutate.END}" in page
