"""Whether a step back undoes a step."""

import numpy as np

from naiad.compiler import execute
from naiad.diagnostics.fitting import check_steps
from naiad.diagnostics.march import march
from naiad.diagnostics.tangent import coordinates, units
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


@checked
def reversibility_defect(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    *,
    dt: float,
    t: float = 0.0,
    steps: int = 1,
    sizes: tuple[float, float] = (1.0, 1.0),
) -> float:
    """The distance from the start after steps by dt and as many by -dt: round-off for a symmetric method.

    A method of more steps than one shows itself only after its start: take `steps=2`. Displacements and momenta are
    counted in `sizes`, which matter where theirs are far from 1.
    """
    check_steps("reversibility_defect", steps)
    there = march(system, method, state, dt=dt, steps=steps, t0=t)
    returned = march(system, method, there, dt=-dt, steps=steps, t0=t + steps * dt)
    away = np.abs(execute(coordinates, system.group, state, returned, parameters=(0,)))
    return float(np.max(away / units(system.group, sizes)))
