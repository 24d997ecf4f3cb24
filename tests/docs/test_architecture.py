"""The page on the architecture shows the layers that there are."""

import ast
import re

from tests.docs.layers import PICTURE, ROOT, drawing, layers


def test_the_drawing_is_that_of_the_code():
    assert PICTURE.read_text(encoding="utf-8") == drawing(), "run: python -m tests.docs.layers"


def test_every_package_is_drawn():
    found = {path.parent.name for path in (ROOT / "src" / "naiad").glob("*/__init__.py")} | {
        "errors",
        "files",
        "interrupts",
    }
    assert {package for row in layers() for package in row} == found


def test_the_places_that_the_page_names_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = {place.rstrip("/") for place in re.findall(r"`((?:tests/)?[\w/]+(?:/|\.py))`", page)}
    assert "compiler/backends" in places
    for place in places:
        assert (ROOT / "src" / "naiad" / place).exists() or (ROOT / place).exists(), place


def imports(path):
    """The modules of naiad that a file names in its imports, for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("naiad"):
            yield from {node.module, *(f"{node.module}.{each.name}" for each in node.names)}


def test_no_modules_import_each_other():
    """But for studies, whose figures know the study that they are of."""
    source = ROOT / "src"
    files = {".".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("*.py")}
    graph = {name: {each for each in imports(path) if each in files} for name, path in files.items()}
    left = {name: needs for name, needs in graph.items() if ".studies." not in name}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"circles among {sorted(left)}"
