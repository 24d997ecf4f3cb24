"""The documentation cannot rot: its Python runs, its commands are understood, its citations and names exist."""

import ast
import itertools
import re
import shlex
import sys
import types
from pathlib import Path

import pytest

import naiad as nd
from naiad import studies
from naiad.studies.methods import FREE_CHOICES
from naiad.studies.sweeps.sweep import Sweep
from tests.docs.measured.comments import Recorder, comments, unsaid

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")), *GALLERY]
QUICK = {"first-run.md", "compile.md"}
"""Pages of the gallery that stand for the others where time is short."""
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def text(path):
    return path.read_text(encoding="utf-8")


def blocks(page, language):
    """The fenced blocks of a language, each with the number of its first line."""
    fences = re.finditer(rf"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
    return [(fence.string.count("\n", 0, fence.start(1)) + 1, fence.group(1)) for fence in fences]


def commands():
    """Every command line that is shown in a console block, without its comment, and those of the Makefile."""
    lines = [line for page in PAGES for _, code in blocks(page, "console") for line in code.splitlines()]
    shown = {shlex.join(shlex.split(line, comments=True)[1:]) for line in lines if line.startswith("$ ")}
    return sorted(shown | set(re.findall(r"^\t@\$\(BIN\)/(naiad .*)$", text(ROOT / "Makefile"), re.MULTILINE)))


def citations(written):
    """The keys of `[key]` and `[key, where]`: a name and a year, or `advected`."""
    return set(re.findall(r"\[([a-z]+\d{4}|advected)(?=[,\]])", written))


def with_examples():
    """The pages that have some; those of the gallery take longer."""
    for page in PAGES:
        late = [pytest.mark.long] if page in GALLERY and page.name not in QUICK else []
        if blocks(page, "python"):
            yield pytest.param(page, id=str(page.relative_to(ROOT)), marks=late)


@pytest.mark.parametrize("page", list(with_examples()))
def test_python_blocks_run_in_order_in_one_namespace(page, tmp_path, monkeypatch):
    """Every `python` block of a page is run, in a temporary directory, and prints the numbers that its comments say."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    vars(module)["print"] = recorder = Recorder()
    wrong = []
    for line, code in blocks(page, "python"):
        tree = ast.increment_lineno(ast.parse(code, str(page)), line - 1)
        exec(compile(tree, str(page), "exec"), vars(module))
        for place, comment in comments(code, line).items():
            output = recorder.lines.get(place)
            if output is not None and unsaid(comment, output):
                wrong.append(f"{page.name}:{place} says {comment!r}, and prints {output}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", commands())
def test_commands_name_studies_and_parameters_that_exist(command):
    program, action, *rest = shlex.split(command)
    assert program == "naiad"
    assert action in {"list", "show", "run", "sweep", "resume", "audit", "mesh", "swim", "view", "live", "info"}
    given = [value for flag, value in itertools.pairwise(rest) if flag == "-p"]
    if action in {"show", "run", "live"}:
        studies.find(rest[0]).parse(given)
    if action == "sweep":
        seeds = [int(value) for flag, value in itertools.pairwise(rest) if flag == "--seeds"]
        Sweep.of(studies.find(rest[0]), studies.find(rest[0]).assigned(given), *seeds)


def test_every_citation_has_a_reference():
    bibliography = set(re.findall(r"^@\w+\{(\w+),", text(ROOT / "docs/references.bib"), re.MULTILINE))
    listed = set(re.findall(r"^\| `(\w+)` \|", text(ROOT / "docs/references.md"), re.MULTILINE))
    cited = set().union(*(citations(text(path)) for path in [*SOURCES, *PAGES]))
    assert bibliography == listed
    assert cited <= bibliography
    assert bibliography <= cited, "a reference that nothing cites"


def test_citations_side_by_side_have_a_comma():
    """[a] [b] is a link to b in Markdown, which `make docs` does not find."""
    beside = re.compile(r"\[[a-z]+\d{4}\b[^]]*\]\s+\[[a-z]+\d{4}\b")
    assert not [path for path in [*SOURCES, *PAGES] if beside.search(text(path))]


def test_every_public_name_is_in_the_api_page():
    assert set(nd.__all__) <= set(re.findall(r"`(\w+)`", text(ROOT / "docs/api.md")))


def test_every_method_of_the_studies_is_in_the_audit():
    """After a new method: `make audit`."""
    audited = set(re.findall(r"^\| `([\w-]+)` \|", text(ROOT / "docs/audit.md"), re.MULTILINE))
    assert set(FREE_CHOICES) <= audited


def test_every_package_has_an_api_page():
    source = ROOT / "src/naiad"
    packages = {path.parent.name for path in source.glob("*/__init__.py")} | {"errors"}
    pages = {path.stem for path in (ROOT / "docs/api").glob("*.md")}
    assert packages == pages
    assert all(f"::: naiad.{name}\n" in text(ROOT / f"docs/api/{name}.md") for name in packages)


def test_every_study_has_a_picture_on_the_page_of_studies():
    """After a new study: a line in `docs/images/make_studies.py`, which draws it."""
    shown = re.findall(r"^!\[.+\]\((images/studies/([\w-]+)\.png)\)$", text(ROOT / "docs/studies.md"), re.MULTILINE)
    assert {name for _, name in shown} == set(studies.STUDIES)
    sizes = [(ROOT / "docs" / path).stat().st_size for path, _ in shown]
    assert max(sizes) < 60_000
    assert sum(sizes) < 1_500_000
