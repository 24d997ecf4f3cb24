"""What is measured must fit together: state and system, method and system, and times that are numbers."""

import math

from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.integrators.method import refuse_variable
from naiad.mechanics import LagrangianSystem, State, fitting_state


def fitting(system: LagrangianSystem, state: State, method: AbstractMethod | None = None, **times: float) -> State:
    """The state, as double precision arrays of the system's shapes; an `InputError` if anything does not fit."""
    for name, value in times.items():
        if not math.isfinite(value):
            raise InputError(f"{name} = {value}; expected a finite number of seconds.")
    if method is not None:
        refuse_variable(method, "This measurement")
        method.check(system)
    return fitting_state(system.group, state)
