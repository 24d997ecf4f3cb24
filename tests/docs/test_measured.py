"""Measured numbers of the pages are what is computed, and every table of numbers says where they are from."""

import pytest

from tests.docs.measured.comments import Recorder, comments, unsaid
from tests.docs.measured.everything import MEASURES
from tests.docs.measured.numbers import every_number, is_decimal, numbers, replaced
from tests.docs.measured.pages import BENCHMARKS, HELD_ELSEWHERE, PAGES, ROOT, Block, blocks, found_numbers, section
from tests.docs.test_papers import tests_in

HELD = [page for page in PAGES if page.name not in HELD_ELSEWHERE]
BLOCKS = [block for page in HELD for block in blocks(page)]


def cases():
    for name, measure in MEASURES.items():
        yield pytest.param(name, id=name, marks=[] if measure.quick else [pytest.mark.long])


@pytest.mark.parametrize("name", list(cases()))
def test_a_page_says_what_is_computed(name):
    """What differs is shown as it should stand; `python -m tests.docs.measured --write NAME` puts it there."""
    measure = MEASURES[name]
    block = next(block for block in BLOCKS if name in block.names)
    printed, values = found_numbers(block, measure.compute())
    assert len(printed) == len(values), f"{[number.text for number in printed]} in {block.page.name}, computed {values}"
    wrong = [
        (number.text, value)
        for place, (number, value) in enumerate(zip(printed, values, strict=True))
        if not number.agrees(value, measure.tolerance(place))
    ]
    assert not wrong, f"{block.page.name}: {wrong}\n\n{replaced(block.text, printed, values)}"


def test_every_mark_names_what_makes_its_numbers():
    """A function, a test that asserts them, or a page of speeds that says on which processor."""
    for block in BLOCKS:
        for name in block.names:
            file, _, part = name.partition("::")
            if name not in MEASURES:
                assert (ROOT / file).is_file(), f"{name} in {block.page.name}"
                there = section(name) if file == BENCHMARKS else not part or part in tests_in(file)
                assert there, f"{name} in {block.page.name}"


TIMED = [block for block in BLOCKS if any(name.startswith(BENCHMARKS) for name in block.names)]


@pytest.mark.parametrize("block", TIMED, ids=lambda block: f"{block.page.stem}-{block.names[0].partition('::')[2]}")
def test_times_are_those_of_the_benchmarks(block):
    """One source: the numbers of a block that names a section of benchmarks/README.md stand there."""
    known = [number.value for name in block.names for number in every_number(section(name))]
    said = block.cells() if block.is_table else [number for number in numbers(block.text) if is_decimal(number)]
    missing = [number.text for number in said if not any(number.agrees(value) for value in known)]
    assert said
    assert not missing, f"{missing} in {block.page.name}, but not in {block.names}"


def test_every_function_makes_one_block():
    named = sorted(name for block in BLOCKS for name in block.names if name in MEASURES)
    assert named == sorted(MEASURES)


@pytest.mark.parametrize("page", HELD, ids=lambda page: page.stem)
def test_every_number_says_where_it_is_from(page):
    """Tables and paragraphs are marked `<!-- measured: NAME -->`, or `<!-- not measured -->` where numbers are
    definitions and parameters."""
    for block in blocks(page):
        assert block.mark or not block.has_decimals(), f"unmarked in {page.name}:\n{block.text}"


@pytest.mark.parametrize(
    ("text", "value", "agree"),
    [
        ("44.499", 44.4986, True),
        ("44.499", 44.4976, False),
        ("1.07e-2", 0.010749, True),
        ("1.07e-2", 0.0108, False),
        ("−4.8", -4.83, True),
        ("−4.8", 4.83, False),
        ("+6.8", 6.84, True),
        ("6e-15", 3e-14, True),
        ("6e-15", 1e-12, False),
        ("0", 1e-17, True),
        ("0", 1e-3, False),
        ("30,000", 30000, True),
        ("±50", -49.7, True),
    ],
)
def test_a_number_agrees_to_its_digits_and_rounding_to_its_order(text, value, agree):
    (number,) = numbers(f"it is {text} m")
    assert number.agrees(value) is agree


def test_names_code_and_citations_have_no_numbers():
    assert not numbers("`f(1.0)` of [key, eq. (2.3)] by RK4 and DOP853, J2, 10⁵, x_0, [a link](of.md#3)")
    assert [number.text for number in numbers("1.5e-3 m², (2.0, −3.0), 7 %")] == ["1.5e-3", "2.0", "−3.0", "7"]


def test_changed_numbers_are_found_and_written_as_before():
    table = Block(ROOT, "measured: x", 0, "| a 1 | b 2 |\n|---|---|\n| 3 | 1.07e-2, **+6.8 %** |\n| `4` | −2.50 |\n")
    printed, values = found_numbers(table, [0.0125, -3.14, -2.5])
    assert [number.agrees(value) for number, value in zip(printed, values, strict=True)] == [False, False, True]
    assert replaced(table.text, printed, values).splitlines()[2:] == ["| 3 | 1.25e-2, **−3.1 %** |", "| `4` | −2.50 |"]
    prose = Block(ROOT, "measured: x", 0, "It turns by 0.5\nrad in 30 periods, and by 7 m.\n")
    printed, values = found_numbers(prose, {"by # m": 8.0, "turns by # rad": 0.6})
    assert replaced(prose.text, printed, values) == "It turns by 0.6\nrad in 30 periods, and by 8 m.\n"
    with pytest.raises(AssertionError, match="says 0 times"):
        found_numbers(prose, {"swims # m": 1.0})


@pytest.mark.parametrize(
    ("comment", "output", "missing"),
    [
        ("# 78.15 m a period; the literature has 44.5 m", "78.1501", []),
        ("# 78.15 m a period", "78.16", ["78.15"]),
        ("# along its axes: [ 36.9 427.  388.9] kg", "[ 36.9 427.  388.9]", []),
        ("# 3e-4, 4e-12, 1e-14", "0.00031\n1e-12\n0.0\n", []),
        ("# 3e-4, 4e-12, 1e-14", "0.00031\n1e-10\n1e-9\n", ["4e-12", "1e-14"]),
        ("# about 400", "431", []),
        ("# about 400", "600", ["400"]),
        ("# 2, 1", "1 2", ["1"]),
        ("# the place of the body", "3.0", []),
    ],
)
def test_a_comment_says_what_is_printed(comment, output, missing):
    assert unsaid(comment, output) == missing


def test_what_a_line_prints_is_kept_with_its_comment():
    code = "for k in range(2):\n    print(k, k + 1)  # 0, 2\n"
    recorder = Recorder()
    exec(compile("\n\n" + code, "page", "exec"), {"print": recorder})
    assert recorder.lines == {4: "0 1\n1 2\n"}
    assert comments(code, 3) == {4: "# 0, 2"}
