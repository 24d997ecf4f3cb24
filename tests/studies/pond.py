"""A study for the tests: every type of parameter, quick, and able to fail on demand."""

import os
import signal
import warnings

from naiad.errors import InputError, RunError, RunWarning
from naiad.studies.parameters import Inertia, Matrix, Names, Vector, parameter
from naiad.studies.study import Findings, Study

SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
DROPPED = {f"dropped-{name}": number for name, number in SIGNALS.items()}
FAILURES = dict.fromkeys(("no", "run", "crash", *SIGNALS, *DROPPED, "file", "figure", "result", "warn"), "")


class Dropper:
    """Sends itself a signal where Python drops what a handler raises."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)


class Pond(Study, name="pond"):
    """Ripples on a <small> pond.

    Expect `rings` that spread & fade.

    Second paragraph.
    """

    paper = 'Thales, "On water" (section 1 < 2)'

    method: str = parameter("cay", choices={"cay": "Cayley map", "exp": "exponential"}, help="the map")
    methods: Names = parameter(("cay",), choices={"cay": "Cayley map", "exp": "exponential"}, help="maps to compare")
    J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="inertia")
    Pi0: Vector | None = parameter(None, size=3, help="initial momentum")
    A: Matrix = parameter(((1.0, 0.0), (0.0, 1.0)), size=(2, 2), help="a matrix")
    weights: Vector = parameter((0.5, 0.5), at_least=0.0, at_most=1.0, help="weights")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    steps: int = parameter(10, at_least=1, help="number of steps")
    damped: bool = parameter(False, help="whether the rings fade")
    fail: str = parameter("no", choices=FAILURES, help="how the run shall fail")

    def validate(self):
        if self.damped and self.Pi0 is None:
            raise InputError("damped=true needs Pi0: give -p Pi0=0,0,1, or leave damped out")

    def run(self, progress):
        import numpy as np
        import xarray as xr

        print("a study may print")
        match self.fail:
            case "run":
                raise RunError("Newton did not converge at t=0.1; reduce dt")
            case "crash":
                raise KeyError("rings")
            case name if name in SIGNALS:
                os.kill(os.getpid(), SIGNALS[name])
            case name if name in DROPPED:
                Dropper(DROPPED[name])
            case "warn":
                warnings.warn("numpy's own", RuntimeWarning, stacklevel=2)
                warnings.warn("the pond is small", RunWarning, stacklevel=2)
            case "file":
                raise FileNotFoundError(2, "No such file or directory", "waves.csv")
        t = self.dt * np.arange(self.steps + 1)
        progress.part(0, 2)(0.5)
        progress(1.0)
        return Findings(
            results={
                "energy": np.float64(1 / 3),
                "drift": float("nan"),
                "Pi": np.array([1.0, -np.inf, 0.1]),
                "n": np.int64(3) if self.fail != "result" else object(),
            },
            dataset=lambda: xr.Dataset({"height": ("time", np.exp(-t))}, coords={"time": t}),
            figures={"wave_height": lambda: self._figure(t)},
            notes="Rings are <round>.\n\nSee `height`.",
            units={"energy": "J <a ring>"},
        )

    def _figure(self, t):
        import matplotlib.pyplot as plt
        import numpy as np

        if self.fail == "figure":
            raise ValueError("no ink")
        figure, axes = plt.subplots()
        axes.plot(t, np.exp(-t))
        return figure
