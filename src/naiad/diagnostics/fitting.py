"""What is measured must fit together: state and system, method and system, and times that are numbers."""

import math

from naiad.errors import InputError
from naiad.integrators import AbstractMethod, check_method
from naiad.integrators.method import refuse_variable
from naiad.mechanics import LagrangianSystem, State, fitting_state
from naiad.numerics import check_double


def fitting(
    system: LagrangianSystem, state: State, method: AbstractMethod | None = None, *, noise: bool = False, **times: float
) -> State:
    """The state, as double precision arrays of the system's shapes; an `InputError` if anything does not fit."""
    for name, value in times.items():
        check_double(name, value)
        if not math.isfinite(value):
            raise InputError(f"{name} = {value}; expected a finite number of seconds.")
        if name == "dt" and value == 0:
            raise InputError("dt = 0; expected a step of another size: nothing moves in it.")
    if method is not None:
        refuse_variable(method, "This measurement")
        check_method(method, system, noise=noise)
    return fitting_state(system.group, state)


def check_steps(caller: str, steps: int, least: int = 1) -> None:
    """Raise an `InputError` unless there are as many steps: of none there is nothing to measure."""
    if steps < least:
        raise InputError(f"{caller}: steps = {steps}; expected at least {least}.")
