"""Periodic motions of driven swimmers, and whether they are stable: Floquet's multipliers of the shape."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Complex, Float

from naiad.diagnostics.tangent import step_jacobian
from naiad.errors import InputError
from naiad.groups import Rn
from naiad.integrators import AbstractMethod, Variational
from naiad.locomotion import DrivenSwimmer
from naiad.mechanics import State
from naiad.numerics.arguments import checked
from naiad.numerics.checks import positive

ITERATIONS = 30
CONVERGED = 1e-10
"""The largest change of the shape and its momentum over a period, relative to their sizes on the way."""


class LimitCycle(NamedTuple):
    """A motion whose shape comes back after a period, from `state`, and how its neighbours move.

    `multipliers` are those of the shape and its momentum at zero total momentum, largest first: the cycle is stable if
    all are less than one in size. `monodromy` is the derivative of the whole map in increments (eta, dmu); its other
    eigenvalues, `rigid`, are forced by symmetry: 1 and exp(+-i beta), twice in the plane, beta the turn of a period.
    `net` is the displacement of a period, `miss` by how much the shape fails to come back, relative.
    """

    state: State
    multipliers: Complex[np.ndarray, " 2m"]
    rigid: Complex[np.ndarray, " 2d"]
    monodromy: Float[np.ndarray, "n n"]
    net: Any
    miss: float
    iterations: int

    @property
    def stable(self) -> bool:
        """Whether neighbours with the same momentum approach it."""
        return bool(np.max(np.abs(self.multipliers)) < 1.0)


@checked
def limit_cycle(
    system: DrivenSwimmer,
    period: float,
    *,
    steps: int,
    start: State | None = None,
    method: AbstractMethod | None = None,
) -> LimitCycle:
    """The periodic motion of a swimmer without momentum whose torques have this `period`, in `steps` steps: by Newton's
    method from `start` (at rest, straight), with the exact derivative of the steps.

    Rigid motions leave the swimmer as it is, so what must come back is (theta, mu_theta): z = Phi(z), solved by
    z + (1 - Phi')^-1 (Phi(z) - z). Without torques it is rest, and the multipliers are those of the passive joints.
    """
    d, m, n = system.swimmer.frame.dim, system.swimmer.angle_count, system.group.dim
    if not isinstance(system.swimmer.shapes, Rn):
        raise InputError("limit_cycle: this swimmer has ball joints; expected one whose shape is angles.")
    if not 1 <= steps <= 10**6:
        raise InputError(f"steps = {steps!r}; expected 1 to a million.")
    h, method = positive("period", period) / steps, Variational() if method is None else method
    state = system.start() if start is None else start
    if np.max(np.abs(np.asarray(state.mu)[:d])) > 0.0:
        raise InputError("limit_cycle: the start has momentum; expected none, as system.start(theta, rates) has.")
    kept = np.r_[d:n, n + d : 2 * n]
    size, miss = np.zeros(2 * m), np.inf
    for iteration in range(ITERATIONS):
        image, D = step_jacobian(system, method, state, dt=h, steps=steps)
        D = np.asarray(D)
        before, after = (np.concatenate([each.g.theta, np.asarray(each.mu)[d:]]) for each in (state, image))
        if not (np.all(np.isfinite(D)) and np.all(np.isfinite(after))):
            raise InputError("limit_cycle: a period from here cannot be computed; take more steps, or weaker torques.")
        size = np.maximum(size, np.maximum(np.abs(before), np.abs(after)))
        miss = float(np.max(np.abs(after - before) / np.where(size > 0.0, size, 1.0)))
        if miss < CONVERGED:
            return _cycle(state, image, D, kept, (miss, iteration))
        try:
            z = before + np.linalg.solve(np.eye(2 * m) - D[np.ix_(kept, kept)], after - before)
        except np.linalg.LinAlgError:
            break
        mu: Any = np.concatenate([np.zeros(d), z[m:]])
        state = State(state.g._replace(theta=z[:m]), mu)
    raise InputError(
        f"limit_cycle: no periodic motion was found near the start ({miss:.1g} from one); begin nearer to it, as after "
        "some periods of a run. Without springs, a shape may have none."
    )


def _cycle(state: State, image: State, D: np.ndarray, kept: np.ndarray, how: tuple[float, int]) -> LimitCycle:
    """With what is shape and what is rigid told apart: at zero momentum D is block triangular in them."""
    rigid = np.setdiff1d(np.arange(len(D)), kept)
    shape, others = (np.linalg.eigvals(D[np.ix_(each, each)]) for each in (kept, rigid))
    order = np.argsort(-np.abs(shape))
    return LimitCycle(
        state, shape[order].astype(complex), others.astype(complex), D, jax.tree.map(np.asarray, image.g.g), *how
    )
