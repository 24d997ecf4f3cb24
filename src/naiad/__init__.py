"""naiad: mechanical systems on Lie groups, with integrators that keep the physics.

Importing it is cheap: each public name is loaded from its package when it is first used.
"""

import gc
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from naiad import (
        compiler,
        control,
        diagnostics,
        ensembles,
        forces,
        groups,
        hydro,
        integrators,
        io,
        locomotion,
        mechanics,
        models,
        retractions,
        simulation,
        strings,
        trees,
        viz,
    )
    from naiad.compiler import compile
    from naiad.diagnostics import audit
    from naiad.ensembles import Cases, Ensemble, grid, load_many, resume_many, sample, simulate_many
    from naiad.errors import InputError, NaiadError, RunError, RunWarning
    from naiad.groups import S3, SE2, SE3, SO2, SO3, Power, Product, Rn, SOn
    from naiad.integrators import (
        RK4,
        RKMK,
        VPRK,
        Adjoint,
        Collocation,
        Composition,
        EnergySteps,
        FastLieVerlet,
        Implicit,
        ImplicitEuler,
        Krysl,
        Left,
        Midpoint,
        MidpointLieNewmark,
        MoserVeselov,
        Nystrom,
        Projected,
        Reduced,
        ReversibleSteps,
        Right,
        SimoWong,
        SimoWongPerp,
        Splitting,
        StochasticVariational,
        Symmetrised,
        Trapezoid,
        TrapezoidalLieNewmark,
        Variational,
        WisdomHolman,
    )
    from naiad.mechanics import (
        AdvectedSystem,
        EulerPoincareSystem,
        LagrangePoincareSystem,
        LagrangianSystem,
        RouthSystem,
        SlicedSystem,
        State,
        Units,
    )
    from naiad.numerics import Chain, Dense, Newton, Sparse, double
    from naiad.retractions import Cayley, Exponential, Newmark, PerFactor, Skew
    from naiad.simulation import Noise, Outcome, Section, Trajectory, load, propagate, resume, simulate
    from naiad.strings import StringSystem, StringVariational
    from naiad.trees import Tree, TreeSystem, TreeVariational
    from naiad.viz.live import SectionPlot, Slider, live

_HOMES = {
    "compiler": "compile",
    "diagnostics": "audit",
    "ensembles": "Cases Ensemble grid load_many resume_many sample simulate_many",
    "errors": "InputError NaiadError RunError RunWarning",
    "groups": "Power Product Rn S3 SE2 SE3 SO2 SO3 SOn",
    "integrators": "Adjoint Collocation Composition EnergySteps FastLieVerlet Implicit ImplicitEuler Krysl Left "
    "Midpoint MidpointLieNewmark MoserVeselov Nystrom Projected RK4 RKMK Reduced ReversibleSteps Right SimoWong "
    "SimoWongPerp Splitting StochasticVariational Symmetrised Trapezoid TrapezoidalLieNewmark VPRK Variational "
    "WisdomHolman",
    "mechanics": "AdvectedSystem EulerPoincareSystem LagrangePoincareSystem LagrangianSystem RouthSystem "
    "SlicedSystem State Units",
    "numerics": "Chain Dense Newton Sparse double",
    "retractions": "Cayley Exponential Newmark PerFactor Skew",
    "simulation": "Noise Outcome Section Trajectory load propagate resume simulate",
    "strings": "StringSystem StringVariational",
    "trees": "Tree TreeSystem TreeVariational",
    "viz.live": "SectionPlot Slider live",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_PACKAGES = (
    "compiler",
    "control",
    "diagnostics",
    "ensembles",
    "forces",
    "groups",
    "hydro",
    "integrators",
    "io",
    "locomotion",
    "mechanics",
    "models",
    "retractions",
    "simulation",
    "strings",
    "trees",
    "viz",
)

__all__ = [
    "RK4",
    "RKMK",
    "S3",
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "VPRK",
    "Adjoint",
    "AdvectedSystem",
    "Cases",
    "Cayley",
    "Chain",
    "Collocation",
    "Composition",
    "Dense",
    "EnergySteps",
    "Ensemble",
    "EulerPoincareSystem",
    "Exponential",
    "FastLieVerlet",
    "Implicit",
    "ImplicitEuler",
    "InputError",
    "Krysl",
    "LagrangePoincareSystem",
    "LagrangianSystem",
    "Left",
    "Midpoint",
    "MidpointLieNewmark",
    "MoserVeselov",
    "NaiadError",
    "Newmark",
    "Newton",
    "Noise",
    "Nystrom",
    "Outcome",
    "PerFactor",
    "Power",
    "Product",
    "Projected",
    "Reduced",
    "ReversibleSteps",
    "Right",
    "Rn",
    "RouthSystem",
    "RunError",
    "RunWarning",
    "SOn",
    "Section",
    "SectionPlot",
    "SimoWong",
    "SimoWongPerp",
    "Skew",
    "SlicedSystem",
    "Slider",
    "Sparse",
    "Splitting",
    "State",
    "StochasticVariational",
    "StringSystem",
    "StringVariational",
    "Symmetrised",
    "Trajectory",
    "Trapezoid",
    "TrapezoidalLieNewmark",
    "Tree",
    "TreeSystem",
    "TreeVariational",
    "Units",
    "Variational",
    "WisdomHolman",
    "audit",
    "compile",
    "compiler",
    "control",
    "diagnostics",
    "double",
    "ensembles",
    "forces",
    "grid",
    "groups",
    "hydro",
    "integrators",
    "io",
    "live",
    "load",
    "load_many",
    "locomotion",
    "mechanics",
    "models",
    "propagate",
    "resume",
    "resume_many",
    "retractions",
    "sample",
    "simulate",
    "simulate_many",
    "simulation",
    "strings",
    "trees",
    "viz",
]


def _load(package: str) -> Any:
    """Import a package without pauses for garbage, of which imports make none: they take a tenth of a second."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(f"naiad.{package}")
    finally:
        if collecting:
            gc.enable()


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return _load(name)
    if name in _HOME_OF:
        value = getattr(_load(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name == "__version__":
        from importlib.metadata import version

        return version("naiad")
    raise AttributeError(f"module 'naiad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
