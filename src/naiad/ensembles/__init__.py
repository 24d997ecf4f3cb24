"""Many runs: from many states, with many parameters, on all cores."""

from naiad.ensembles.cases import Cases, grid, sample
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.many import simulate_many
from naiad.ensembles.reductions import Each, Histogram, Mean, Quantiles, Variance
from naiad.ensembles.stored import load_many, resume_many

__all__ = [
    "Cases",
    "Each",
    "Ensemble",
    "Histogram",
    "Mean",
    "Quantiles",
    "Variance",
    "grid",
    "load_many",
    "resume_many",
    "sample",
    "simulate_many",
]
