"""The balance of energy where forces, controls, friction or a Lagrangian that depends on time change it."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, State, power
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Trajectory
from naiad.simulation.work import integral_over_time


class WorkRate(Module):
    """<F, xi> - d ell/dt of a system, the rate of change of its energy, as an observable: an output or a monitor."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Any:
        return power(self.system, state, t)


@checked
def work(run: Trajectory, output: str | None = None) -> np.ndarray:
    """The work W(t) = int (<F, xi> - d ell/dt) dt done on the system, at the saved nodes [J].

    By the cubic spline through the power at the saved nodes, or through an `output` of the run that recorded it more
    often: `simulate(..., outputs={"power": WorkRate(system)}, output_every=1)` and `work(run, "power")`.
    """
    if output is None:
        return run.work.to_numpy()
    if output not in run.record or run.record[output].ndim != 1:
        known = [str(name) for name in run.record.data_vars if run.record[name].ndim == 1]
        raise InputError(f"work: the run has no output {output!r} of one number; expected one of {known}.")
    recorded = run.record[output]
    return integral_over_time(recorded[recorded.dims[0]].to_numpy(), recorded.to_numpy(), run.t.to_numpy())


@checked
def energy_balance(run: Trajectory, output: str | None = None) -> np.ndarray:
    """E(t) - E(0) - W(t) at the saved nodes [J], W being the `work` done: zero for the true motion, whatever acts."""
    energy = run.energy.to_numpy()
    return energy - energy[0] - work(run, output)
