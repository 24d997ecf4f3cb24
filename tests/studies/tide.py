"""A study for the tests of sweeps: a row takes a moment, and may fail in every way."""

import os
import signal
import time
import warnings

from naiad.errors import InputError, RunError, RunWarning
from naiad.studies.parameters import Inertia, NameOrMatrix, NameOrNumber, Names, Vector, parameter
from naiad.studies.study import Findings, Study

FAILURES = dict.fromkeys(("no", "run", "crash", "killed", "exit", "warn"), "")


class Tide(Study, name="tide"):
    """Water that comes & goes.

    Expect `height`.
    """

    moon: str = parameter("full", choices={"full": "all of it", "new": "none", "half": "half of it"}, help="phase")
    depth: float = parameter(1.0, unit="m", above=0.0, help="depth of the bay")
    count: int = parameter(3, at_least=0, help="number of waves")
    calm: bool = parameter(False, help="no wind")
    wind: Vector | None = parameter(None, size=2, unit="m/s", help="wind")
    J: Inertia = parameter((1.0, 2.0, 3.0), size=3, help="of a boat")
    drag: NameOrNumber = parameter("some", choices={"some": "", "none-at-all": ""}, help="drag")
    gait: NameOrMatrix = parameter("slow", choices={"slow": "", "fast": ""}, size=(2, 2), help="how it comes")
    boats: Names = parameter(("a",), choices={"a": "", "b": "", "c": ""}, help="boats")
    fail: str = parameter("no", choices=FAILURES, help="how a row fails")
    pause: float = parameter(0.0, unit="s", at_least=0.0, help="how long a row takes")
    seed: int = parameter(0, at_least=0, help="seed of the waves")

    def validate(self):
        if self.calm and self.wind is not None:
            raise InputError("calm=true and a wind are both given; give one of them")

    def run(self, progress):
        print("a study may print")
        time.sleep(self.pause)
        match self.fail:
            case "run":
                raise RunError("the tide does not turn; reduce depth")
            case "crash":
                raise KeyError("moon")
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                raise SystemExit(3)
            case "warn":
                warnings.warn("the bay is shallow", RunWarning, stacklevel=2)
        phase = {"full": 1.0, "new": 2.0, "half": 3.0}[self.moon]
        return Findings(
            results={
                "height": phase * self.depth**2 + 0.1 * self.seed,
                "energy_error_max": 1e-3 * phase * self.depth**2,
                "waves": self.count,
                "calm_sea": self.calm,
                "name": f"tide of {self.moon}",
                "nothing": None,
                "unknown": float("nan"),
                "constant": 2.5,
                "depth": 2 * self.depth,
                "levels": [self.depth * k for k in range(self.count)],
                "by boat": {name: phase * len(name) for name in self.boats},
                "pid": os.getpid() if self.fail == "warn" else 0,
            },
            units={"height": "m", "levels": "m"},
        )
