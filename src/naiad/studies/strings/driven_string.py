"""A run of a string whose length is driven, observed at every step."""

import dataclasses
from typing import Any

import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.strings import StringPendulum


@dataclasses.dataclass(frozen=True)
class DrivenString:
    """The string, and its run with the output `observed`."""

    system: StringPendulum
    run: nd.Trajectory

    @property
    def times(self) -> np.ndarray:
        return self.run.t.to_numpy()

    @property
    def observed(self) -> np.ndarray:
        return self.run.record["observed"].to_numpy()

    def moment(self) -> np.ndarray:
        """What the drum needs for the length to be as it is."""
        return execute_rows(_moment, self.system, self.run.states, self.times, parameters=(0,))


def _moment(system: StringPendulum, state: nd.State, t: Any) -> Any:
    return system.reel_moment(state, t)
