"""The reference names everything that is public."""

import ast
import importlib
import inspect
import itertools
import pkgutil
from pathlib import Path

import pytest

PAGES = sorted(Path("docs/api").glob("*.md"))


def described(package) -> set[str]:
    """The names to which a string in the package's sources is attached: what a page shows of constants."""
    found = set()
    for info in pkgutil.iter_modules(package.__path__) if hasattr(package, "__path__") else []:
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        body = ast.parse(inspect.getsource(module)).body
        for statement, after in itertools.pairwise(body):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_public_name_is_on_its_page(page):
    """The page of a package leaves out what has the name of a module in it, and what has no docstring."""
    package = importlib.import_module(f"naiad.{page.stem}")
    modules = {info.name for info in pkgutil.iter_modules(getattr(package, "__path__", []))}
    text, constants = page.read_text(encoding="utf-8"), described(package)
    for name in getattr(package, "__all__", ()):
        thing = getattr(package, name)
        if name in modules and not inspect.ismodule(thing):
            assert f"::: naiad.{page.stem}.{name}.{name}\n" in text, name
        elif not inspect.ismodule(thing):
            own = callable(thing)
            assert name in constants or (own and thing.__doc__), name


def test_every_public_package_has_a_page():
    import naiad

    own = {info.name for info in pkgutil.iter_modules(naiad.__path__) if not info.name.startswith("_")}
    assert {page.stem for page in PAGES} == own - {"files", "interrupts"}
