"""Numbers of docs/control.md."""

from benchmarks.transcriptions import CHARTS, ORDERS, SCHEMES, ours, usual
from tests.docs.measured.registry import measured

STEPS = 8


@measured("transcriptions", within=0.05)
def transcriptions():
    """Errors of the cost; and the variation of the momentum, where it is more than round-off."""
    values = []
    for order in ORDERS:
        plan = ours(order, STEPS)
        assert plan.momentum < 1e-11
        values.append(plan.error)
    for name in SCHEMES:
        for chart in CHARTS:
            plan = usual(name, chart, STEPS)
            values.append(plan.error)
            if chart == "quaternions":
                assert plan.momentum < 1e-12
            else:
                values.append(plan.momentum)
    return values
