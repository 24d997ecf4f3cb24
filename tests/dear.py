"""Says which tests are left to `make test-long` because of the time they take, by what a run of the others took:

.venv/bin/pytest -n 2 -m "not long" -p no:benchmark -vv --durations=0 > LOG
.venv/bin/python -m tests.dear LOG

What takes more than `MOST` seconds is added to `dear.txt`, and cases of a test that take more than `MOST_OF_A_CASE`, if
one that takes less stays. What should be back is taken out of that file by hand.
"""

import collections
import re
import sys
from pathlib import Path

MOST, MOST_OF_A_CASE = 3.0, 1.0
LIST = Path(__file__).with_name("dear.txt")
STAY = re.compile(r"test_fuzz|kill|papers|spoiled|a_sweep_writes|one_process|drawn_at_random|ends_its_process")
"""What stays whatever it takes: what is attacked at random, and what the papers print."""
ALONE = {
    "diagnostics/test_audit.py::test_a_force_that_the_step_leaves_out_is_named",
    "mechanics/test_lagrange_poincare.py::test_routh_steps_move_as_the_unreduced_ones[midpoint]",
    "numerics/test_newton.py::test_chain_finds_the_root_and_its_derivative_as_dense_does[1-2-0]",
    "numerics/test_series.py::test_rotation_angle_ratio",
    "numerics/test_sparsity.py::test_bands_are_found_and_solved[True-31-1]",
    "numerics/test_sparsity.py::test_what_a_function_depends_on[joined]",
    "strings/test_extensions.py::test_a_stiff_string_tends_to_one_that_does_not_stretch_at_a_given_step[Rubber]",
    "strings/test_inextensible.py::test_a_straight_string_is_wound_in_as_a_whole",
    "strings/test_step.py::test_the_step_is_that_of_the_general_integrator[3-rule2-options2]",
    "trees/test_coupled.py::test_momenta_are_kept_to_rounding_and_the_energy_nearly[rule0]",
    "trees/test_coupled.py::test_the_blocks_are_the_derivatives_of_the_momenta[rule2]",
    "trees/test_joint_space.py::test_a_motion_of_the_joints_is_one_of_the_bodies_that_the_joints_allow[hinge]",
    "trees/test_joints.py::test_joints_have_the_names_of_the_bodies",
    "trees/test_step.py::test_steps_satisfy_the_equations_of_the_discrete_lagrangian[parents3-rule3-False]",
    "trees/test_step.py::test_the_action_for_the_general_integrator_is_that_of_the_definition[rule1-True]",
    "trees/test_step.py::test_the_action_for_the_general_integrator_is_that_of_the_definition[rule4-False]",
}
"""What stays because no other test runs that part of the numerical core: `make mutate` tells what none reaches."""


def names() -> set[str]:
    """The tests that are dear."""
    return set(LIST.read_text().splitlines())


def without_parameters(case: str) -> str:
    """The name of a test without its parameters."""
    return case.partition("[")[0]


def dear(seconds: dict[str, float]) -> set[str]:
    """Those of these cases that take too long."""
    tests = collections.defaultdict(list)
    for case in sorted(seconds, key=lambda case: seconds[case]):
        tests[without_parameters(case)].append(case)
    found = set()
    for name, (cheapest, *others) in tests.items():
        if not STAY.search(name):
            found |= {case for case in others if seconds[case] > MOST_OF_A_CASE}
            found |= {cheapest} if seconds[cheapest] > MOST else set()
    return found - ALONE


def main(log: str) -> None:
    """Read the log, and add to the list."""
    seconds = collections.Counter()
    for took, case in re.findall(r"^([\d.]+)s (?:setup|call|teardown) +tests/(.*)$", Path(log).read_text(), re.M):
        seconds[case] += float(took)
    more = dear(seconds) - names()
    LIST.write_text("\n".join(sorted(names() | more)) + "\n")
    print(f"{len(more)} more, which took {sum(seconds[case] for case in more):.0f} s of {sum(seconds.values()):.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
