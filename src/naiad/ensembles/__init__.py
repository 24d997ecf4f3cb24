"""Many runs: from many states, with many parameters, on all cores."""

from naiad.ensembles.cases import Cases, grid, sample
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.many import load_many, resume_many, simulate_many
from naiad.ensembles.reductions import Each, Histogram, Mean, Quantiles, Reduction, Variance

__all__ = [
    "Cases",
    "Each",
    "Ensemble",
    "Histogram",
    "Mean",
    "Quantiles",
    "Reduction",
    "Variance",
    "grid",
    "load_many",
    "resume_many",
    "sample",
    "simulate_many",
]
