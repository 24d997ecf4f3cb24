"""Measurements: invariants, order, symplecticity, reversibility, chaos, averages, cost."""

from naiad.diagnostics.adaptive import adaptive_run
from naiad.diagnostics.audit import Audit, Finding, audit
from naiad.diagnostics.convergence import Convergence, convergence
from naiad.diagnostics.equilibrium import Equilibrium, equilibrium
from naiad.diagnostics.facts import shortest_time
from naiad.diagnostics.invariants import energy_error, momentum_error, relative_change
from naiad.diagnostics.kelvin_noether import KelvinNoether, KelvinNoetherChange, kelvin_noether_defect
from naiad.diagnostics.limit_cycle import LimitCycle, limit_cycle
from naiad.diagnostics.lyapunov import lyapunov_exponent
from naiad.diagnostics.march import march
from naiad.diagnostics.phases import Phases, phases
from naiad.diagnostics.reference import reference
from naiad.diagnostics.representation import action_defect
from naiad.diagnostics.reversibility import reversibility_defect
from naiad.diagnostics.symplecticity import bracket_matrix, poisson_defect, symplectic_matrix, symplecticity_defect
from naiad.diagnostics.tangent import coordinates, displaced, one_step, step_jacobian
from naiad.diagnostics.timing import TimedRun, timed_run
from naiad.diagnostics.watching import Energy, RelativeChange, SpaceMomentum, relative_drift, watched_run
from naiad.diagnostics.work import WorkRate, energy_balance, work

__all__ = [
    "Audit",
    "Convergence",
    "Energy",
    "Equilibrium",
    "Finding",
    "KelvinNoether",
    "KelvinNoetherChange",
    "LimitCycle",
    "Phases",
    "RelativeChange",
    "SpaceMomentum",
    "TimedRun",
    "WorkRate",
    "action_defect",
    "adaptive_run",
    "audit",
    "bracket_matrix",
    "convergence",
    "coordinates",
    "displaced",
    "energy_balance",
    "energy_error",
    "equilibrium",
    "kelvin_noether_defect",
    "limit_cycle",
    "lyapunov_exponent",
    "march",
    "momentum_error",
    "one_step",
    "phases",
    "poisson_defect",
    "reference",
    "relative_change",
    "relative_drift",
    "reversibility_defect",
    "shortest_time",
    "step_jacobian",
    "symplectic_matrix",
    "symplecticity_defect",
    "timed_run",
    "watched_run",
    "work",
]
