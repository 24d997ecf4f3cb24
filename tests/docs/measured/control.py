"""Numbers of docs/control.md."""

from benchmarks.transcriptions import CHARTS, ORDERS, SCHEMES, ours, usual
from tests.docs.measured.registry import measured

COUNTS = (8, 32)
TOLERANCE = 1e-10
"""Errors of costs that are smaller are those of the solver."""


@measured("transcriptions", within=0.05)
def transcriptions():
    """Errors of the cost; and the variation of the momentum, where it is more than round-off."""
    values = []
    for order in ORDERS:
        plans = [ours(order, N) for N in COUNTS]
        assert max(plan.momentum for plan in plans) < 1e-11
        values += [max(plan.error, TOLERANCE) for plan in plans]
    for name in SCHEMES:
        for chart in CHARTS:
            plans = [usual(name, chart, N) for N in COUNTS]
            values += [plan.error for plan in plans]
            if chart == "quaternions":
                assert max(plan.momentum for plan in plans) < 1e-12
            else:
                values += [plan.momentum for plan in plans]
    return values
