"""Settings of all tests."""

import atexit
import gc
import importlib.metadata
import os
import shutil
import signal
import tempfile
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

TESTS = Path(__file__).parent

DEAR = {
    "compiler/test_linear.py::test_solutions_and_derivatives[30]",
    "compiler/test_wasm.py::test_steps[string-reel-string-imex]",
    "compiler/test_wasm.py::test_steps[tree-tree]",
    "compiler/test_wasm.py::test_whole_runs[False]",
    "control/test_solve.py::test_least_effort_of_a_sphere_has_its_closed_form[4-1e-07]",
    "control/test_solve.py::test_the_optimal_cost_has_its_order_and_an_estimate_of_its_error[6-2e-10]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/connected-bodies.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/hydro.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/methods.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/models.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/own-system.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/reduction.md]",
    "docs/test_examples.py::test_python_blocks_run_in_order_in_one_namespace[docs/swimming.md]",
    "ensembles/test_many.py::test_each_is_its_single_run_bit_for_bit[method1-False]",
    "ensembles/test_many.py::test_each_is_its_single_run_bit_for_bit[method2-True]",
    "groups/test_exp_log.py::test_exp_and_log[SO(4)]",
    "hydro/test_planar_bodies.py::test_the_derivative_agrees_with_automatic_differentiation[panels]",
    "hydro/test_spatial_flow.py::test_no_water_passes_a_surface[plane1]",
    "integrators/test_constrained.py::test_order_constraint_and_reversibility[Midpoint-pendulum]",
    "integrators/test_constrained.py::test_order_constraint_and_reversibility[Midpoint-ring]",
    "integrators/test_constrained.py::test_order_constraint_and_reversibility[Trapezoid-ring]",
    "integrators/test_gradients.py::test_forward_and_reverse_gradients_equal_finite_differences[compose4]",
    "integrators/test_splitting.py::test_flow_solves_the_equations_of_its_hamiltonian[None-screw on SO(4)]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[axes 6]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[kicked top 4]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[rotations 6]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[screws 2, coupled]",
    "integrators/test_splitting.py::test_order_of_momentum_and_configuration[top 8]",
    "integrators/test_vprk.py::test_momenta_are_the_derivatives_of_the_action_in_its_end_points[heavy-top-radau2-ia-Skew]",
    "integrators/test_vprk.py::test_momenta_are_the_derivatives_of_the_action_in_its_end_points[planar-body-lobatto3-Exponential]",
    "integrators/test_vprk.py::test_step_solves_the_reduced_equations_with_multipliers_of_the_stages[Exponential]",
    "io/test_writer.py::test_a_killed_process_leaves_a_readable_store[0.02-0.3]",
    "locomotion/test_spatial.py::test_inertia_and_momentum_are_those_of_the_tree[joints0]",
    "mechanics/test_advected.py::test_reduced_and_full_steps_give_the_same_motion[buoy-Trapezoid]",
    "mechanics/test_advected.py::test_reduced_and_full_steps_give_the_same_motion[vehicle-Trapezoid]",
    "mechanics/test_advected.py::test_reduced_equations_are_the_derivative_of_the_reduced_exact_motion[buoy]",
    "mechanics/test_advected.py::test_reduced_equations_are_the_derivative_of_the_reduced_exact_motion[vehicle]",
    "mechanics/test_advected_groups.py::test_full_step_step_with_g_and_step_without_g_give_the_same_motion[two-tops]",
    "mechanics/test_advected_groups.py::test_reduced_equations_are_the_derivative_of_the_reduced_exact_motion[field]",
    "mechanics/test_lagrange_poincare.py::test_routh_steps_move_as_the_unreduced_ones[midpoint]",
    "mechanics/test_off_the_group.py::test_the_right_side_off_the_group_is_that_of_the_lagrangian[joints]",
    "mechanics/test_system.py::test_energy_and_noether_momentum_are_constant_along_the_exact_motion[heavy-top]",
    "mechanics/test_system.py::test_left_velocity_inverts_the_exponential_curve[free-body-so5]",
    "mechanics/test_system.py::test_velocity_inverts_legendre[string-reel]",
    "mechanics/test_system.py::test_velocity_inverts_legendre[string]",
    "models/test_buoyant_vehicle.py::test_the_reduced_step_gives_the_same_motion_with_forces_and_a_current[symmetric]",
    "models/test_submerged_body.py::test_forces_leave_a_method_of_second_order_what_it_is[method1]",
    "models/test_traced.py::test_gradients_with_respect_to_the_start[rotvec]",
    "models/test_traced.py::test_gradients_with_respect_to_what_a_constructor_takes[bodies]",
    "models/test_traced.py::test_gradients_with_respect_to_what_a_constructor_takes[eddies]",
    "models/test_traced.py::test_gradients_with_respect_to_what_a_constructor_takes[pair]",
    "models/test_traced.py::test_gradients_with_respect_to_what_a_constructor_takes[string]",
    "numerics/test_newton.py::test_chain_finds_the_root_and_its_derivative_as_dense_does[2-3-0]",
    "numerics/test_newton.py::test_chain_finds_the_root_and_its_derivative_as_dense_does[40-2-1]",
    "numerics/test_newton.py::test_chain_finds_the_root_and_its_derivative_as_dense_does[7-3-2]",
    "numerics/test_newton.py::test_second_derivatives_are_implicit_too[structure0]",
    "numerics/test_sparsity.py::test_a_chain_that_was_not_declared_moves_as_one_that_was[rule0]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[False-50-3]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[False-90-7]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[True-50-3]",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[True-90-7]",
    "numerics/test_sparsity.py::test_the_program_does_not_grow_with_the_chain[rule0]",
    "retractions/test_derivatives.py::test_derivatives[Exponential on SE3]",
    "retractions/test_derivatives.py::test_derivatives[Exponential on SO(3)]",
    "retractions/test_derivatives.py::test_derivatives[Skew on SO(3)]",
    "retractions/test_identities.py::test_map[Exponential on SO(4)]",
    "retractions/test_identities.py::test_map[Skew on SO(4)]",
    "simulation/test_engines.py::test_engines_agree_on_all_that_a_run_gives[method1]",
    "simulation/test_engines.py::test_engines_agree_on_all_that_a_run_gives[method2]",
    "simulation/test_labels.py::test_a_table_has_every_number_once[string-reel]",
    "simulation/test_labels.py::test_a_table_has_every_number_once[swimmer]",
    "simulation/test_saved.py::test_a_killed_run_says_that_it_did_not_end[2]",
    "strings/test_extensions.py::test_a_stiff_string_tends_to_one_that_does_not_stretch_at_a_given_step[Hooke]",
    "strings/test_extensions.py::test_a_string_that_does_not_stretch_takes_the_general_constrained_step[turning-2-rule1]",
    "strings/test_step.py::test_the_reel_gives_the_papers_numbers[3-90.087595989-10.434450107]",
    "strings/test_step.py::test_the_step_is_that_of_the_general_integrator[3-rule2-options2]",
    "studies/test_light_body.py::test_a_force_from_the_last_acceleration_grows_where_it_is_said_to[1.0-16.5-False]",
    "studies/test_light_body.py::test_a_force_from_the_last_acceleration_grows_where_it_is_said_to[1.0-17.0-True]",
    "studies/test_registry.py::test_units_are_those_of_results[oblate-earth]",
    "studies/test_registry.py::test_units_are_those_of_results[outer-solar-system]",
    "studies/test_string_pendulum.py::test_a_string_that_does_not_stretch[deploy--0.2]",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents1-rule1-False]",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents2-rule2-True]",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents3-rule3-False]",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents5-rule5-False]",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents7-rule7-False]",
    "trees/test_step.py::test_steps_with_potentials_and_forces_satisfy_the_equations[heavy-pinned]",
    "trees/test_step.py::test_the_action_for_the_general_integrator_is_that_of_the_definition[rule0-False]",
    "verification/test_gpu.py::test_on_a_gpu[tree-tree]",
    "verification/test_registry.py::test_method_on_problem[buoyant-vehicle-cay]",
    "verification/test_registry.py::test_method_on_problem[heavy-top-compose8]",
    "verification/test_registry.py::test_method_on_problem[heavy-top-projected]",
}
"""Cases that are left to `make test-long`, since others of the same test take less time."""


def pytest_collection_modifyitems(config, items):
    """Mark what is dear. A name that is none any more is a fault, and so is a test of which nothing else is left; a
    test tells them."""
    files = {item.location[0].removeprefix("tests/") for item in items}
    here = {item.nodeid.removeprefix("tests/") for item in items}
    for item in items:
        if item.nodeid.removeprefix("tests/") in DEAR:
            item.add_marker(pytest.mark.long)
    short = {without_parameters(item.nodeid) for item in items if not item.get_closest_marker("long")}
    homes = {name: name.partition("::")[0] for name in DEAR}
    gone = {name for name, home in homes.items() if name not in here and (home in files or not (TESTS / home).exists())}
    alone = {name for name in DEAR & here if f"tests/{without_parameters(name)}" not in short}
    whole = not any("::" in argument for argument in config.args)
    config.dear_faults = sorted(gone | alone) if whole else []


def without_parameters(case):
    """The name of a test without its parameters."""
    return case.partition("[")[0]


@pytest.fixture
def python_hears_ctrl_c():
    """Python's own handler of SIGINT, also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
