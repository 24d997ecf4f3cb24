"""Many runs: from many states, with many parameters, on all cores."""

from naiad.ensembles.cases import Cases, grid, sample
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.many import load_many, resume_many, simulate_many

__all__ = ["Cases", "Ensemble", "grid", "load_many", "resume_many", "sample", "simulate_many"]
