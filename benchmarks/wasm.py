"""WebAssembly: nanoseconds a step of one trajectory, natively and in the engines of JavaScript that are found.

python -m benchmarks.wasm
"""

import json
from typing import Any

import jax
import numpy as np

import naiad as nd
from benchmarks.compare import Work, compare, table
from benchmarks.javascript import engines
from naiad.compiler import Compiled, WasmModule
from naiad.compiler.backends.llvm.machine import processor
from naiad.simulation import loop
from naiad.simulation.plan import Cadence, Routine

STEPS, ROUNDS, PASSES = 40_000, 40, 8  # many short passes: a core may run half as fast for seconds
MEASURE = f"""
program.then((loaded) => {{
  let best = Infinity;
  for (let round = 0; round < {ROUNDS}; round++) {{
    const started = performance.now();
    loaded.run();
    best = Math.min(best, performance.now() - started);
  }}
  report(JSON.stringify({{ ns: (1e6 * best) / {STEPS}, mu: [...loaded.results[0].carry.state.mu] }}));
}});
"""


class HeavyTop(nd.LagrangianSystem):
    """The one of the README."""

    J: jax.Array
    mgl: float
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        """omega . J omega / 2 - m g l R_33"""
        return 0.5 * Omega @ self.J @ Omega - self.mgl * R[2, 2]


def programs() -> dict[str, tuple[Any, Any, Any]]:
    """Systems, where they start, and methods."""
    vehicle = nd.models.KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
    moving = vehicle.state(Omega=(0.04, -0.03, 0.2), v=(0.6, 0.1, -0.5))
    body, top = nd.models.RigidBody(J=(1.0, 2.0, 3.0)), HeavyTop(J=np.diag([1.0, 1.0, 0.5]), mgl=1.0)
    tilted = top.state(R=nd.SO3().exp(np.array([0.3, 0.0, 0.0])), Omega=(0.1, 0.2, 3.0))
    return {
        "Kirchhoff vehicle, Variational(Cayley)": (vehicle, moving, nd.Variational()),
        "free rigid body, Variational(Cayley)": (body, body.state(Omega=(0.1, 1.0, 0.4)), nd.Variational()),
        "heavy top, Variational(Cayley)": (top, tilted, nd.Variational()),
        "Kirchhoff vehicle, FastLieVerlet": (vehicle, moving, nd.FastLieVerlet()),
    }


def measured(system: Any, state: Any, method: Any) -> tuple[WasmModule, dict[str, float]]:
    """The module, and nanoseconds a step by where it runs."""
    routine = Routine(system, method, {}, {}, {})
    standing, *_ = Compiled(loop.start, parameters=(0,))(routine, state, 0.0, 0.01)
    args = routine, standing, 0.0, 0.01, STEPS, STEPS, Cadence(STEPS), None
    native = Compiled(loop.advance, parameters=(0,))
    module = native.wasm(*args)
    best: dict[str, float] = {}

    def note(name: str, ns: float, mu: Any) -> None:
        best[name] = min(best.get(name, np.inf), ns)
        if np.max(np.abs(mu - ends)) > 1e-9:
            raise AssertionError(f"{name}: the momenta differ by {np.max(np.abs(mu - ends)):.1e} from the native ones")

    ends = native(*args)[0].carry.state.mu
    for _ in range(PASSES):
        note("native", 1e9 * compare({"": Work(lambda: native(*args), STEPS)}, rounds=ROUNDS)[""], ends)
        for name, run in engines().items():
            found = json.loads(run(module.script("program") + MEASURE))
            note(name, found["ns"], np.array(found["mu"]))
    return module, best


def report() -> str:
    """The table."""
    rows = []
    for name, case in programs().items():
        module, best = measured(*case)
        cells = [
            cell for where, ns in best.items() for cell in ((ns,) if where == "native" else (ns, ns / best["native"]))
        ]
        rows.append([name, len(module.bytes), *cells])
    columns = [cell for engine in engines() for cell in (f"{engine}, ns", "of native")]
    return table(["", "module, bytes", "native, ns", *columns], rows)


if __name__ == "__main__":
    print(f"Processor: {processor().name}.\n\n{report()}")
