"""Feedback along a motion: the linear-quadratic regulator of a controlled motion over a finite time."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import execute, execute_rows
from naiad.control.linear import increment, slopes_of_a_step, weight
from naiad.control.plant import AbstractActuated
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Variational, check_method
from naiad.mechanics import State
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, number, positive

NEAR = 1e-6  # how far a node may be off a step from the one before


class Tracking(NamedTuple):
    """The feedback u_k - K_k x of least sum of x . Q x + du . R du along a motion, and its cost x . V_k x from each
    node on; x are the increments (eta, dmu) of (g_k exp(eta), mu_k + dmu). A and B are the derivatives of the steps."""

    K: np.ndarray
    V: np.ndarray
    A: np.ndarray
    B: np.ndarray
    plant: AbstractActuated
    states: State
    u: np.ndarray

    def control(self, k: int, state: State) -> np.ndarray:
        """The controls of step k from a state."""
        if not 0 <= k < len(self.u):
            raise InputError(f"k = {k!r}; expected the number of a step, 0 to {len(self.u) - 1}.")
        wanted = jax.tree.map(lambda leaf: leaf[k], self.states)
        return self.u[k] - self.K[k] @ execute(increment, self.plant, wanted, state, parameters=())


@checked
def tracking(
    plant: AbstractActuated,
    states: State,
    u: Any,
    Q: Any,
    R: Any,
    *,
    dt: float,
    t0: float = 0.0,
    end: Any = None,
    method: AbstractMethod | None = None,
) -> Tracking:
    """The linear-quadratic regulator along a motion of a plant: `states` at N + 1 nodes, controls `u` held in each of
    the N steps between them, as those of `solve` with controls constant in a step are. `Q`, `R` and the weight at the
    `end` (Q if not given) are numbers, diagonals or matrices. For plans of any order, `steered`."""
    dt, method = positive("dt", dt), Variational() if method is None else method
    check_method(method, plant)
    u = floats("u", u)
    nodes, size = len(jax.tree.leaves(states)[0]), 2 * plant.group.dim
    expected = (max(nodes - 1, 1), *np.shape(plant.u))
    if u.shape != expected:
        raise InputError(
            f"u has shape {u.shape} beside {nodes} states; expected {expected}: the controls of each step between two "
            "nodes."
        )
    Q, R = weight("Q", Q, size), weight("R", R, u.shape[-1])
    last = Q if end is None else weight("end", end, size)
    states = jax.tree.map(np.asarray, states)
    before, after = jax.tree.map(lambda leaf: leaf[:-1], states), jax.tree.map(lambda leaf: leaf[1:], states)
    times = number("t0", t0) + dt * np.arange(len(u))
    slopes, off = execute_rows(_row, (plant, method, dt), before, after, u, times, parameters=(0,))
    if not np.all(np.isfinite(slopes)):
        raise InputError("a step of the motion cannot be computed; take a smaller dt.")
    if np.max(np.abs(off)) > NEAR:
        k = int(np.argmax(np.max(np.abs(off), axis=1)))
        raise InputError(
            f"the state at node {k + 1} is off by {np.max(np.abs(off[k])):.1e} from where the controls of step {k} "
            "lead: give the nodes, dt, method and controls of one motion of the plant."
        )
    A, B = np.swapaxes(slopes[:, :size], 1, 2), np.swapaxes(slopes[:, size:], 1, 2)
    K, V = regulated(A, B, Q, R, last)
    return Tracking(K, V, A, B, plant, states, u)


def regulated(A: Any, B: Any, Q: np.ndarray, R: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gains K_k and the costs V_k of the feedback along steps with the derivatives A_k and B_k, by Riccati's
    recursion from the last weight."""
    V, K = [last], []
    for a, b in zip(A[::-1], B[::-1], strict=True):
        K.append(np.linalg.solve(R + b.T @ V[-1] @ b, b.T @ V[-1] @ a))
        value = Q + a.T @ V[-1] @ (a - b @ K[-1])
        V.append(0.5 * (value + value.T))
    return np.array(K[::-1]), np.array(V[::-1])


def _row(about: Any, state: State, after: State, u: Any, t: Any) -> tuple[Any, Any]:
    """The derivatives of a step, and by how much it misses the next node."""
    plant, method, h = about
    slopes, end = slopes_of_a_step(plant.controlled(u, t), method, state, t, h)
    return slopes, increment(plant, end, after)
