"""The page on the architecture shows the layers that there are."""

import re

from tests.docs.layers import PICTURE, ROOT, drawing, layers


def test_the_drawing_is_that_of_the_code():
    assert PICTURE.read_text(encoding="utf-8") == drawing(), "run: python -m tests.docs.layers"


def test_every_package_is_drawn():
    found = {path.parent.name for path in (ROOT / "src" / "naiad").glob("*/__init__.py")} | {"errors", "interrupts"}
    assert {package for row in layers() for package in row} == found


def test_the_places_that_the_page_names_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = {place.rstrip("/") for place in re.findall(r"`((?:tests/)?[\w/]+(?:/|\.py))`", page)}
    assert "compiler/backends" in places
    for place in places:
        assert (ROOT / "src" / "naiad" / place).exists() or (ROOT / place).exists(), place
