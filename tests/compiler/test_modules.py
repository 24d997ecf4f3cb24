"""Code on disk is valid as long as the modules of naiad that it reaches by import say the same, and no longer."""

import ast
import importlib
import re
import shutil
import sys
import textwrap
import types
from pathlib import Path

import grimp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import Compiled
from naiad.compiler.backends import LLVM
from naiad.compiler.fingerprint import Unfingerprintable, modules
from naiad.compiler.fingerprint.modules import Package, read_source
from naiad.compiler.fingerprint.walk import Walk
from naiad.simulation import loop
from naiad.studies.bodies.heavy_top import HeavyTop

SOURCE = Path(nd.__file__ or "").parent


EVERYTHING = {
    "a rigid body's run": (loop.advance, nd.models.RigidBody, nd.SO3(), nd.Variational()),
    "a tree": (nd.models.ConnectedBodies,),
    "a study's top": (HeavyTop, nd.Variational()),
    "a user's function": (lambda g: nd.SO3().exp(g) @ nd.numerics.hat(g),),
    "Gauss's method": (nd.Collocation(),),
}
BODY, TREE, TOP, USER, GAUSS = EVERYTHING
NOTHING = ()


def names_of(*things):
    """The names in naiad that things lead to."""
    walk = Walk()
    for thing in things:
        walk.visit(thing, "thing")
    return frozenset(walk.names)


def digests(folder):
    """The digest of the code that each of the things reaches, with the compiler and its back end."""
    package = Package(folder)
    names = {name: names_of(*things, Compiled, LLVM()) for name, things in EVERYTHING.items()}
    return {name: package.digest(package.reached(each)) for name, each in names.items()}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package, and a cache for what is read of it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, folder / "naiad", ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NAIAD_CACHE_DIR", str(folder / "cache"))
        yield folder / "naiad"


@pytest.fixture(scope="module")
def before(copy):
    return digests(copy)


@pytest.fixture
def edit(copy):
    """Edits a file of the copy until the test ends."""
    originals = {}

    def change(file, old, new):
        text = (copy / file).read_text("utf-8")
        assert old in text, f"{old!r} is not in {file}"
        originals.setdefault(copy / file, text)
        (copy / file).write_text(text.replace(old, new, 1), "utf-8")

    yield change
    for file, text in originals.items():
        file.write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("groups/so3.py", "return 3\n", "return 3 + 0\n", EVERYTHING),
        ("groups/so3.py", "return 3\n", "return (\n            3  # of three axes\n        )\n", NOTHING),
        ("groups/so3.py", '"""', '"""New words: ', NOTHING),
        ("groups/__init__.py", "from naiad.groups.so3 import SO3", "from naiad.groups.s3 import S3 as SO3", EVERYTHING),
        ("models/rigid_body.py", " * ", " / ", (BODY,)),
        ("models/kirchhoff.py", " * ", " / ", NOTHING),
        ("simulation/loop.py", "before.node + 1", "before.node + 2", (BODY, TOP)),
        ("simulation/trajectory.py", "return ", "return 2 * ", (TOP,)),
        ("trees/variational.py", "0.5 * h", "0.25 * h", (TREE,)),
        ("integrators/collocation.py", "MOST = 16", "MOST = 15", (GAUSS, TOP)),
        ("studies/bodies/heavy_top.py", "0.5 * xi", "0.25 * xi", (TOP,)),
        ("studies/bodies/heavy_top.py", "- self.mgl", "+ self.mgl", (TOP,)),
        ("studies/bodies/spherical_pendulum.py", "return ", "return 2 * ", NOTHING),
        ("compiler/front/elementwise.py", '"add"', '"sub"', EVERYTHING),
        ("compiler/passes/scales.py", "factor * self.factor", "factor / self.factor", NOTHING),  # of GPUs alone
        ("compiler/passes/finish.py", "return ", "return 2 * ", EVERYTHING),
        ("compiler/ir/operations.py", "2.0**63", "2.0**62", EVERYTHING),
        ("compiler/backends/llvm/printer.py", "return ", "return 2 * ", EVERYTHING),
        ("compiler/backends/cuda/printer.py", "return ", "return 2 * ", NOTHING),
        ("compiler/backends/wasm/module.py", "return ", "return 2 * ", NOTHING),
        ("viz/style.py", "return ", "return 2 * ", NOTHING),
        ("viz/__init__.py", "__all__", "__every__", NOTHING),
        ("viz/page/scene.js", "return ", "return 2 * ", NOTHING),
        ("cli/app.py", "command", "order", NOTHING),
    ],
)
def test_an_edit_costs_the_code_that_reaches_it_and_no_other(copy, before, edit, file, old, new, changed):
    edit(file, old, new)
    after = digests(copy)
    assert {name for name in before if after[name] != before[name]} == set(changed)


def test_code_is_made_again_after_the_edit_of_a_formula_only(copy, edit, monkeypatch):
    monkeypatch.setattr(modules, "started", lambda: float("inf"))
    made, build = [], LLVM.build
    monkeypatch.setattr(LLVM, "build", lambda self, source: made.append(source) or build(self, source))

    def count():
        """How often code is made for a process that begins now."""
        modules._digest_and_files.cache_clear()
        package = Package(copy)
        monkeypatch.setattr(modules, "_own_package", lambda: package)
        before = len(made)
        assert Compiled(lambda x: nd.numerics.hat(x) @ x)(np.ones(3)).tolist() == [0.0, 0.0, 0.0]
        return len(made) - before

    counts = [count(), count()]
    edit("numerics/vectors.py", '"""', '"""New words: ')
    counts.append(count())
    edit("numerics/vectors.py", "return ", "return 2.0 * ")
    counts += [count(), count()]
    modules._digest_and_files.cache_clear()
    assert counts == [1, 0, 0, 1, 0]


def test_a_file_is_parsed_once_for_all_processes(copy, edit, monkeypatch):
    names, read = frozenset({"naiad:SO3"}), []
    Package(copy).digest(Package(copy).reached(names))
    edit("groups/so3.py", "return 3\n", "return 3 + 0\n")

    def reading(text, module, **options):
        read.append(module)
        return read_source(text, module, **options)

    monkeypatch.setattr(modules, "read_source", reading)
    for _ in range(2):
        package = Package(copy)
        package.digest(package.reached(names))
    assert read == ["naiad.groups.so3"]


def test_files_that_are_newer_than_the_process_are_refused(monkeypatch):
    modules.digest_of(frozenset({"naiad:SO3"}))
    monkeypatch.setattr(modules, "started", lambda: 0.0)
    with pytest.raises(Unfingerprintable, match="restart"):
        modules.digest_of(frozenset({"naiad:SO3"}))


def test_a_package_without_sources_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "_own_package", lambda: Package(tmp_path))
    with pytest.raises(Unfingerprintable, match="cannot be read"):
        modules.digest_of(frozenset({"naiad:SO3", "naiad.nowhere"}))


# Reading one file


def read(text, module="naiad.somewhere", *, is_package=False):
    return read_source(textwrap.dedent(text).encode(), module, is_package=is_package)


ORIGINAL = """
class A:
    b = 1

    def f(self, x, k=2.0):
        return x.a.b + k * "c"
"""


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("class A:", "class A:  # of its kind", False),
        ("class A:", "class A:\n    '''Of its kind.'''\n", False),
        ("b = 1", "b = 1\n    '''The first.'''", False),
        ("(self, x, k=2.0)", "(\n        self, x,\n        k=2.0,\n    )", False),
        ('"c"', "'c'", False),
        ("b = 1", "b = 1.0", True),
        ("b = 1", "b = True", True),
        ("b = 1", "b = -1", True),
        ("b = 1", "b: int = 1", True),
        ("k=2.0", "k=3.0", True),
        ("k=2.0", "*, k=2.0", True),
        ("x.a.b", "x.b.a", True),
        ("x.a.b", "a.x.b", True),
        ("x.a.b", "x.a", True),
        ("x.a.b", "x(a.b)", True),
        ("x.a.b + k", "x.a.b - k", True),
        ('"c"', '"d"', True),
        ('"c"', 'b"c"', True),
        ("return", "yield", True),
        ("class A:", "class A(B):", True),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(old, new, counts):
    assert (read(ORIGINAL.replace(old, new)).tree != read(ORIGINAL).tree) == counts


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("import numpy as np\nnp.sin(1)", []),
        ("import naiad as nd\nnd.SO3().exp(nd.numerics.hat(1))", ["naiad:SO3", "naiad:numerics.hat"]),
        ("import naiad\nnaiad.groups.SO3", ["naiad:groups.SO3"]),
        ("import naiad as nd\nf(nd)", ["naiad"]),
        ("import naiad as nd", ["naiad"]),
        ("import naiad.groups.so3\nnaiad.SO3", ["naiad.groups.so3", "naiad:SO3"]),
        ("import naiad.groups as groups\ngroups.SO3", ["naiad.groups:SO3"]),
        ("from naiad.groups import SO3, S3 as Q\nSO3.exp, Q", ["naiad.groups:S3", "naiad.groups:SO3.exp"]),
        ("def f():\n    from naiad.groups import SO3\n    return SO3", ["naiad.groups:SO3"]),
        ("from .so3 import SO3", ["naiad.so3:SO3"]),
        ("from . import so3\nso3.f", ["naiad:so3.f"]),
        ("from naiad.groups import *", ["naiad.groups:*"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from naiad.groups import SO3", []),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from naiad.groups import SO3", ["naiad.groups:SO3"]),
    ],
)
def test_what_a_module_uses_is_read_from_its_imports(text, uses):
    assert read(text).uses == uses


def test_a_package_says_what_it_loads_when_it_is_asked():
    found = read("if TYPE_CHECKING:\n    from naiad.groups import SO3 as R", "naiad.some", is_package=True)
    assert (found.uses, found.names) == (["naiad.groups:SO3"], {"R": "naiad.groups:SO3"})


def test_what_a_package_changes_counts_for_its_modules(package):
    text = "from naiad.some.a import A\nfrom naiad.some.b import B, C\nA.method = B()\n"
    assert read(text, "naiad.some", is_package=True).changes == ["naiad.some.a:A", "naiad.some.b:B"]
    assert read(text).changes == []
    assert package.target("naiad:TreeVariational") == "naiad.trees.variational:TreeVariational"
    assert "naiad.trees.variational" in package.reached({"naiad.trees.tree"})


# The package


@pytest.fixture(scope="module")
def package():
    return Package(SOURCE)


def all_modules():
    files = [path.relative_to(SOURCE.parent).with_suffix("") for path in SOURCE.rglob("*.py")]
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in files)


def test_every_import_is_followed(package):
    """As another reader of imports finds them; of a package only what is used counts."""
    graph = grimp.build_graph("naiad", exclude_type_checking_imports=True, cache_dir=None)
    plain = {module for module in all_modules() if package.file(module).name != "__init__.py"}
    for module in plain:
        targets = {package.target(use).partition(":")[0] for use in package._source(module).uses}
        assert graph.find_modules_directly_imported_by(module) & plain <= targets, module


def test_names_are_followed_to_where_they_come_from(package):
    """What is found without loading anything is what Python finds."""

    def found(name):
        """What is under a name; of the attributes of something that is no module, only whose they are."""
        module, _, rest = name.partition(":")
        home = importlib.import_module(module)
        for attribute in filter(None, rest.split(".")):
            if isinstance(home, types.ModuleType):
                missing = not hasattr(home, attribute)  # a module that was not imported yet
                home = importlib.import_module(f"{home.__name__}.{attribute}") if missing else getattr(home, attribute)
        return home

    uses = {use for module in all_modules() if module in sys.modules for use in package._source(module).uses}
    uses |= {f"naiad:{name}" for name in nd.__all__} | {f"naiad.models:{name}" for name in nd.models.__all__}
    assert len(uses) > 1000
    assert not [use for use in uses - {"naiad:__version__"} if found(use) is not found(package.target(use))]
    assert package.target("naiad:SO3") == "naiad.groups.so3:SO3"
    assert package.target("naiad:models.ConnectedBodies.step") == "naiad.trees.connected_bodies:ConnectedBodies.step"


def test_no_module_changes_another_when_it_is_imported_but_packages_their_own():
    """It would be the other's code without being reached from it. The rules of the front end are reached together."""
    assigns = r"[A-Za-z_][\w.\[\]'\"]*[.\]][\w ]*[-+*/|&]?=[^=]"
    looks = re.compile(rf"^(?:(?:if|for|while|with|try)\b|{assigns}|[A-Za-z_][\w.]*\()", re.MULTILINE)
    found = set()
    for path in SOURCE.rglob("*.py"):
        file, text = path.relative_to(SOURCE), path.read_text("utf-8")
        if file.parts[0] not in ("cli", "__main__.py") and path.parent.name != "front" and looks.search(text):
            found |= {f"{file}: {each}" for each in changes_made_by(ast.parse(text).body)}
    assert sorted(found) == [
        "compiler/backends/llvm/kernel.py: os.register_at_fork(after_in_child=_pool.cache_clear)",
        "groups/group.py: _explain(AbstractGroup)",  # its own
        "hydro/exterior_map.py: _inverse.defjvp(_inverse_moved, symbolic_zeros=True)",  # its own
        "numerics/arguments.py: _SHORT.maxstring = _SHORT.maxother = 80",  # its own
        "strings/__init__.py: StringSystem.default_method = StringVariational()",  # counts for its modules
        "studies/sweeps/worker.py: main()",  # a process of its own
        "trees/__init__.py: TreeSystem.default_method = TreeVariational()",
    ]


def changes_made_by(statements):
    """The statements of a module that are calls, or assign to a part of something."""
    for each in statements:
        assigns = isinstance(each, ast.Assign) and not all(isinstance(x, ast.Name | ast.Tuple) for x in each.targets)
        if assigns or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)):
            yield ast.unparse(each)
        if not isinstance(each, ast.FunctionDef | ast.ClassDef):
            yield from changes_made_by([*getattr(each, "body", ()), *getattr(each, "orelse", ())])


def test_no_decorator_remembers_what_it_decorates():
    """It would be reached from there without an import; those of the front end are reached together."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "front":
            text = path.read_text("utf-8")
            imported = set(
                re.findall(r"\w+", " ".join(re.findall(r"from naiad[\w.]* import ([^(]*?|\([^)]*\))$", text, re.M)))
            )
            found |= imported & set(re.findall(r"^ *@(\w+)", text, re.M))
    assert found == {"checked", "checked_throughout", "double", "explained", "once"}


def test_modules_are_imported_by_name_only_where_nothing_is_computed():
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"import_module|__import__|spec_from_file", path.read_text("utf-8"))
    }
    assert found == {
        *("__init__.py", "models/__init__.py"),  # which say what they load, for type checkers
        *("studies/__init__.py", "studies/sweeps/row.py", "cli/auditing.py"),
        "trees/robots/mjcf.py",  # MuJoCo
        "compiler/fingerprint/walk.py",
    }


def test_there_are_no_data_that_code_could_read():
    files = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    data = {path.relative_to(SOURCE).parts[0] for path in files if path.suffix != ".py"}
    assert data == {"py.typed", "viz", "studies", "compiler"}
    assert [path.name for path in files if path.suffix not in (".py", ".js", ".css", ".html")] == ["py.typed"]
