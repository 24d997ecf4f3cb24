"""What a gait can be good for, with exact derivatives."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from naiad.compiler import execute
from naiad.groups import AbstractGroup
from naiad.locomotion.cycle import cycle
from naiad.locomotion.effort import action, positive_work
from naiad.locomotion.gait import AbstractGait
from naiad.locomotion.holonomy import displacement
from naiad.locomotion.swimmer import Swimmer
from naiad.numerics.arguments import checked_throughout

OBJECTIVES = {
    "displacement": "distance per period, without turning",
    "turning": "angle per period",
    "efficiency": "distance over the length of the loop in the metric of the kinetic energy, without turning",
    "work": "distance per work of the joints, at equal speed, without turning",
}
"""What a gait may be the best for, by name."""


class Score(NamedTuple):
    """How good a gait is, `value`; the displacement g of one period and the angles it turns by; and the derivatives of
    value and angles by the numbers of the gait."""

    value: float
    slopes: Float[np.ndarray, " p"]
    turn: Float[np.ndarray, " r"]
    turn_slopes: Float[np.ndarray, "r p"]
    g: Any


@checked_throughout
def score(swimmer: Swimmer, gait: AbstractGait, objective: str, steps: int) -> Score:
    """The gait by one of `OBJECTIVES`, from rest:

    - displacement: |x| [m];
    - turning: |beta| [rad], in space the angle of the rotation;
    - efficiency: |x| / L, L^2 the period times the integral of twice the kinetic energy [1/sqrt(kg)]: the mean speed
      over the root mean square of the kinetic one. It does not depend on the period; a loop that is run at a constant
      kinetic energy has its length as L;
    - work: |x|^3 / (W period^2), W the positive work of the joints in one period [m/kg]. At a given mean speed
      |x| / period this is |x| / W up to a factor; it does not depend on the period.
    """
    run = cycle(swimmer, gait, steps)
    g, change = displacement(swimmer.frame, run)
    x, turn, by_x, by_turn = execute(_reach, swimmer.frame, g, parameters=(0,))
    turn, turn_slopes = np.asarray(turn), np.asarray(by_turn) @ change
    if objective == "turning":
        value, slopes = _norm(turn, turn_slopes)
        return Score(value, slopes, turn, turn_slopes, g)
    far, slopes = _norm(np.asarray(x), np.asarray(by_x) @ change)
    if objective == "efficiency":
        cost = action(run)
        length = float(np.sqrt(gait.period * cost.value))
        far, slopes = far / length, (slopes - 0.5 * far * cost.slopes / cost.value) / length
    elif objective == "work":
        cost = positive_work(swimmer, gait)
        value = far**3 / (cost.value * float(gait.period) ** 2)
        slopes = value * (3.0 * slopes / (far or 1.0) - cost.slopes / cost.value)
        far = value
    return Score(far, slopes, turn, turn_slopes, g)


def _norm(vector: np.ndarray, slopes: np.ndarray) -> tuple[float, np.ndarray]:
    """The length of a vector; where it vanishes its derivative is that along the first axis."""
    length = float(np.linalg.norm(vector))
    direction = vector / length if length else np.eye(len(vector))[0]
    return length, direction @ slopes


def _reach(frame: AbstractGroup, g: Any) -> tuple[Any, Any, Any, Any]:
    """Where the origin goes and the vector of the rotation, with their derivatives along g exp(eta) at eta = 0."""
    d = frame.dim
    still = jnp.zeros(d)

    def reached(eta):
        there = frame.compose(g, frame.exp(eta))
        return frame.act(there, jnp.zeros_like(frame.split(still)[1])), jnp.ravel(frame.split(frame.log(there))[0])

    slopes = jax.vmap(lambda e: jax.jvp(reached, (still,), (e,))[1], out_axes=-1)(jnp.eye(d))
    return *reached(still), *slopes
