"""The measurements behind docs/audit.md."""

import pytest

from benchmarks import audit
from benchmarks.audit_claims import start_of_the_thesis


def test_the_audit_of_the_cayley_method_finds_what_is_known_of_it():
    body, _ = audit.problems()
    found = audit.examine(body, "cay")
    assert (found.order_g, found.order_mu) == (pytest.approx(2.0, abs=0.05), pytest.approx(2.0, abs=0.05))
    assert max(found.casimir, found.momentum, found.group, found.reverse) < 1e-12
    assert max(found.symplectic, found.poisson) < 1e-14
    assert found.energy == pytest.approx(100 * 4.08e-6, rel=0.05)  # of second order: 4.08e-6 at h = 0.01
    assert not found.stopped
    assert audit.rows({"cay": found}).splitlines()[2].startswith("| `cay` | 2.00, 2.00 | 4e-4 | **")


def test_the_start_of_the_thesis_makes_the_attitude_first_order():
    start = start_of_the_thesis()["cay"]
    assert start.thesis_g == pytest.approx(1.0, abs=0.1)
    assert start.thesis_mu == pytest.approx(2.0, abs=0.1)
    assert (start.momentum_g, start.momentum_mu) == (pytest.approx(2.0, abs=0.05), pytest.approx(2.0, abs=0.05))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "**0**"), (3.2e-15, "**3e-15**"), (4.1e-4, "4e-4"), (2.0, "2e0"), (float("nan"), "—")]
)
def test_round_off_is_in_bold(value, text):
    assert audit.level(value) == text
