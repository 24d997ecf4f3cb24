"""The package as a whole: cheap to import, and every public name has one home."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import naiad
from benchmarks.compiler import TABLES

MODULES = [module.name for module in pkgutil.walk_packages(naiad.__path__, "naiad.") if "__main__" not in module.name]


def test_every_public_name_resolves_and_is_listed():
    for name in naiad.__all__:
        assert getattr(naiad, name) is not None
    assert set(naiad.__all__) <= set(dir(naiad))


def test_every_public_name_has_exactly_one_home():
    homes = {}
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name, value in vars(loaded).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == module and callable(value):
                homes.setdefault(name, set()).add(module)
    for name in naiad.__all__:
        if name in homes:
            assert len(homes[name]) == 1, (name, homes[name])


def test_every_module_says_what_it_is():
    for module in MODULES:
        assert (importlib.import_module(module).__doc__ or "").strip(), module


def test_every_table_of_the_benchmarks_can_be_made():
    for _, module in TABLES.values():
        file = Path(__file__).parents[1] / f"{module.replace('.', '/')}.py"
        assert "\ndef report(" in file.read_text(), module


def test_importing_changes_nothing_and_loads_little():
    script = (
        "import sys, logging, warnings; before = list(warnings.filters); import naiad; "
        "assert 'jax' not in sys.modules and 'matplotlib' not in sys.modules; "
        "naiad.simulate; import jax; "
        "assert not jax.config.jax_enable_x64 and not logging.root.handlers; "
        "assert not {'matplotlib', 'xarray', 'scipy.integrate'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


LATER = ("scipy", "matplotlib", "xarray", "zarr", "pandas", "rich", "typer")
"""What takes long to load, and comes when it is used."""

LOADING = """
import importlib, sys
for package in {packages!r}:
    home = importlib.import_module(package)
    for name in ["", *getattr(home, "__all__", [])]:
        if name:
            getattr(home, name)
        loaded = {later!r} & set(sys.modules)
        assert not loaded, f"{{package}} {{name}} loads {{sorted(loaded)}}"
from naiad.studies.trees.three_ellipsoids import OMEGA, three_ellipsoids
three_ellipsoids().joint_state(rates=OMEGA)
assert "scipy" not in sys.modules, "a state of bodies, which must not overlap, loads scipy"
"""


def test_no_public_name_loads_what_only_its_use_needs():
    packages = ["naiad.errors", "naiad.numerics", *(f"naiad.{name}" for name in naiad._PACKAGES), "naiad.studies"]
    script = LOADING.format(packages=packages, later=set(LATER))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not done.returncode, done.stderr.splitlines()[-1]


def test_what_is_left_to_the_long_tests_for_its_time_exists(pytestconfig):
    assert pytestconfig.dear_faults == [], "names in tests/dear.txt"
