"""Settings of all tests."""

import gc
import importlib.metadata
import os
import signal
from pathlib import Path

# Tests compile many short programs and run each for a moment: let XLA compile quickly rather than well. Its newer
# emitters take three times as long as the older ones; a version that does not know a flag ends the process.
os.environ["XLA_FLAGS"] = " ".join(
    [
        os.environ.get("XLA_FLAGS", ""),
        "--xla_backend_optimization_level=0",
        "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_use_fusion_emitters=false" if importlib.metadata.version("jaxlib").startswith("0.10.") else "",
    ]
)

# Compiled code is kept for the other workers and for the next run, apart from the user's. Its key knows all that it is
# made of; a test that wants to see code being made takes `cache=False`, or a cache of its own.
os.environ["NAIAD_CACHE_DIR"] = os.environ.get(
    "NAIAD_TEST_CACHE_DIR", str(Path(__file__).parents[1] / "build" / "machine-code")
)

import pytest
from hypothesis import settings

from tests.dear import names

settings.register_profile("same", deadline=None, derandomize=True)  # `make test` draws the same on every machine,
settings.register_profile("anew", deadline=None, print_blob=True)  # and `make test-long` draws anew
settings.load_profile("same")

# Tracing makes many small objects that live on: looking for garbage among them as often as Python does costs a tenth.
gc.set_threshold(50_000, 20, 20)

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    """Mark what is dear, unless NAIAD_TEST_DEAR wants it like others. A name that is none any more is a fault; a test
    tells it."""
    dear = names()
    files = {item.location[0].removeprefix("tests/") for item in items}
    here = {item.nodeid.removeprefix("tests/") for item in items}
    for item in items:
        if item.nodeid.removeprefix("tests/") in dear and not os.environ.get("NAIAD_TEST_DEAR"):
            item.add_marker(pytest.mark.long)
    homes = {name: name.partition("::")[0] for name in dear}
    gone = {name for name, home in homes.items() if name not in here and (home in files or not (TESTS / home).exists())}
    config.dear_faults = [] if any("::" in argument for argument in config.args) else sorted(gone)


@pytest.fixture
def python_hears_ctrl_c():
    """Python's own handler of SIGINT, also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
