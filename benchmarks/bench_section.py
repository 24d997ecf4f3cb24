"""Equal CPU time of the panels of a Poincaré section, as figure 6.6.2 of the thesis needs it."""

from naiad.studies.progress import Progress
from naiad.studies.vehicles.poincare_section import PoincareSection

WANTED = 5.0
WITHIN = 0.1


def bench_equal_cpu_time(benchmark):
    study = PoincareSection(compare="rk4,flv,mln", cpu=str(WANTED))
    rows = benchmark.pedantic(lambda: study.run(Progress()).results["rows"], rounds=1)
    shares = {row["method"]: row["seconds"] / WANTED for row in rows}
    benchmark.extra_info["shares of the wanted CPU time"] = shares
    assert all(abs(share - 1.0) < WITHIN for share in shares.values()), shares
