"""Settings of all tests."""

import atexit
import gc
import importlib.metadata
import os
import shutil
import signal
import tempfile

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

if "PYTEST_XDIST_WORKER" not in os.environ:  # one cache for all workers, and nothing from or into the user's
    os.environ["NAIAD_CACHE_DIR"] = tempfile.mkdtemp(prefix="naiad-tests-")
    atexit.register(shutil.rmtree, os.environ["NAIAD_CACHE_DIR"], ignore_errors=True)

import pytest
from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True)  # `make test` draws the same on every machine,
settings.register_profile("anew", deadline=None, print_blob=True)  # and `make test-long` draws anew
settings.load_profile("same")

# Tracing makes many small objects that live on: looking for garbage among them as often as Python does costs a tenth.
gc.set_threshold(50_000, 20, 20)

DEAR = {
    "hydro/test_planar_bodies.py::test_the_derivative_agrees_with_automatic_differentiation[panels]",
    "integrators/test_constrained.py::test_order_constraint_and_reversibility[Midpoint-pendulum]",
    "integrators/test_constrained.py::test_order_constraint_and_reversibility[Trapezoid-ring]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[axes 6]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[top 8]",
    "integrators/test_vprk.py::test_momenta_are_the_derivatives_of_the_action_in_its_end_points[planar-body-lobatto3-Exponential]",
    "models/test_interacting_bodies.py::test_rigid_motions_leave_the_energy_alone_and_conserve_momenta[dipoles]",
    "numerics/test_newton.py::test_chain_finds_the_root_and_its_derivative_as_dense_does[7-3-2]",
    "numerics/test_sparsity.py::test_a_chain_that_was_not_declared_moves_as_one_that_was[rule0]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[False-50-3]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[False-90-7]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[True-90-7]",
    "numerics/test_sparsity.py::test_the_program_does_not_grow_with_the_chain[rule0]",
    "retractions/test_derivatives.py::test_derivatives[Exponential on SO(3)]",
    "retractions/test_derivatives.py::test_derivatives[Skew on SO(3)]",
    "simulation/test_engines.py::test_engines_agree_on_all_that_a_run_gives[method1]",
    "simulation/test_ensemble.py::test_each_is_its_single_run_bit_for_bit[method1-False]",
    "simulation/test_ensemble.py::test_each_is_its_single_run_bit_for_bit[method2-True]",
    "strings/test_extensions.py::test_a_string_that_does_not_stretch_takes_the_general_constrained_step[held-1-rule0]",
    "strings/test_extensions.py::test_the_step_is_that_of_the_general_integrator[all, turning-rule0]",
    "studies/test_string_pendulum.py::test_the_order_is_that_of_the_motion_and_of_the_balance[6]",
    "trees/test_step.py::test_hinges_and_welds_satisfy_the_equations_but_for_the_forces_of_their_constraints[rule0-False-pinned]",
    "trees/test_step.py::test_order[rule0-2-pinned]",
}
"""Cases that are left to `make test-long`, since others of the same test take less time."""


def pytest_collection_modifyitems(items):
    """Mark what is dear; a name that is none any more is an error."""
    files = {item.location[0].removeprefix("tests/") for item in items}
    here = {item.nodeid.removeprefix("tests/") for item in items}
    gone = {name for name in DEAR if name.partition("::")[0] in files and name not in here}
    whole = not any("::" in argument for argument in items[0].config.args) if items else False
    if gone and whole:
        raise pytest.UsageError(f"conftest.DEAR has no such tests: {', '.join(sorted(gone))}")
    for item in items:
        if item.nodeid.removeprefix("tests/") in DEAR:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def python_hears_ctrl_c():
    """Python's own handler of SIGINT, also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
