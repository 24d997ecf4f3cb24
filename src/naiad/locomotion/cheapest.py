"""The gait that costs least for a given distance a period."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.locomotion.checks import check_free
from naiad.locomotion.connection import curvature
from naiad.locomotion.cycle import cycle
from naiad.locomotion.effort import Cost, action, positive_work
from naiad.locomotion.gait import AbstractGait, FourierGait
from naiad.locomotion.numbers import numbers, with_numbers
from naiad.locomotion.objectives import score
from naiad.locomotion.swimmer import Swimmer
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, positive

COSTS = {
    "action": "the integral of twice the kinetic energy over the period [J s]",
    "work": "the positive work of the joints in the period [J]",
}
"""What a gait may cost, by name."""
SETTLED, CHANGE = 5, 1e-9  # iterations, and the relative change of the cost in them, after which nothing is gained
RESTORED = 2  # Newton's steps back to the distance after that
MET = 1e-8
"""The largest error of the distance, relative to it, and of the angle, that counts as none."""
STRAIGHT = 1e-10
"""Angles that change by less with the numbers of a gait are no condition: by symmetry such gaits do not turn."""


class SmallGait(NamedTuple):
    """The cheapest small loop about a shape: an ellipse, and its action."""

    gait: FourierGait
    cost: float


class CheapestGait(NamedTuple):
    """The cheapest gait that was found, its cost and its displacement of a period; `history` has the cost after each
    iteration, `ending` says in words how it ended."""

    gait: FourierGait
    cost: float
    g: Any
    converged: bool
    ending: str
    history: Float[np.ndarray, " i"]


@checked
def small_gait(swimmer: Swimmer, distance: float, *, centre: Any = None, period: float = 2.0 * np.pi) -> SmallGait:
    """The loop about the shape `centre` (straight, if not given) with the least action of those that take a swimmer of
    two angles so far in a period, in the limit of small distances.

    A small loop around the area s moves by F s, F the curvature at the centre, and turns too unless its angular part
    vanishes there, as it does where the swimmer is straight; its action is the integral of theta' . M
    theta', M the metric of the kinetic energy there. By the isoperimetric inequality in this metric the best loop is
    its circle, theta = centre + r M^-1/2 (cos, sin), which costs

        (2 pi r)^2 / period,   pi r^2 = sqrt(det M) distance / |F_x|.
    """
    middle, far, period = _centre(swimmer, centre), positive("distance", distance), positive("period", period)
    F = np.asarray(curvature(swimmer, middle))[0, 1]
    turns = 1 if swimmer.frame.dim == 3 else 3
    reach = float(np.linalg.norm(F[turns:]))
    if not reach > 1e-12 * (np.linalg.norm(F) or 1.0):
        raise InputError(f"Small loops about the shape {middle.tolist()} move nowhere; expected another centre.")
    M = metric(swimmer, middle)
    values, vectors = np.linalg.eigh(M)
    radius = np.sqrt(np.sqrt(np.prod(values)) * far / (np.pi * reach))
    axes = radius * vectors / np.sqrt(values)
    gait = FourierGait.of(middle, [axes[:, 0]], [axes[:, 1]], period)
    return SmallGait(gait, float((2.0 * np.pi * radius) ** 2 / period))


def metric(swimmer: Swimmer, theta: Any) -> Float[np.ndarray, "m m"]:
    """M of the kinetic energy theta' . M theta' / 2 of a change of shape from rest: K_tt - K_tg K_gg^-1 K_gt."""
    check_free(swimmer)
    d, K = swimmer.frame.dim, np.asarray(swimmer.inertias(np.asarray(theta, float)[None]))[0]
    return K[d:, d:] - K[d:, :d] @ np.linalg.solve(K[:d, :d], K[:d, d:])


@checked
def cheapest_gait(
    swimmer: Swimmer,
    distance: float,
    *,
    cost: str = "action",
    centre: Any = None,
    harmonics: int = 3,
    period: float = 2.0 * np.pi,
    start: FourierGait | None = None,
    steps: int = 48,
    iterations: int = 200,
    progress: Callable[[float], None] | None = None,
) -> CheapestGait:
    """The gait with the least `cost`, one of `COSTS`, of those that take the swimmer the `distance` [m] in a period
    from rest, without turning.

    Gaits are Fourier series with so many `harmonics` about the shape `centre` (straight, if not given; free, where it
    is "free"). It begins with the ellipse of `small_gait`, or with `start`, whose period is kept, and ends in a local
    minimum: sequential quadratic programming with exact derivatives, in `steps` of the integration a period.
    """
    if cost not in COSTS:
        raise InputError(f"cost = {cost!r}; expected one of {', '.join(COSTS)}.")
    if harmonics < 1 or steps < 4 or iterations < 1:
        raise InputError(
            f"harmonics = {harmonics}, steps = {steps}, iterations = {iterations}; expected at least 1, 4 and 1."
        )
    moving = isinstance(centre, str) and centre == "free"
    middle = None if moving else centre
    first = small_gait(swimmer, distance, centre=middle, period=period).gait if start is None else start
    more = ((0, max(0, harmonics - len(first.cosines))), (0, 0))
    gait = FourierGait(first.mean, np.pad(first.cosines, more), np.pad(first.sines, more), float(first.period))
    return _descended(swimmer, gait, float(distance), cost, moving, steps, iterations, progress)


def _descended(
    swimmer: Swimmer,
    gait: FourierGait,
    distance: float,
    cost: str,
    moving: bool,
    steps: int,
    iterations: int,
    progress: Callable[[float], None] | None,
) -> CheapestGait:
    from scipy.optimize import minimize  # takes a while to load

    begin, kept, history = _vector(gait), slice(0 if moving else len(gait.mean), None), []
    last: dict[bytes, tuple[Cost, Any]] = {}

    def at(p: np.ndarray) -> tuple[Cost, Any]:
        key = p.tobytes()
        if key not in last:
            last.clear()
            whole = np.concatenate([begin[: kept.start], p])
            tried = with_numbers(gait, whole)
            last[key] = _cost(swimmer, tried, cost, steps), score(swimmer, tried, "displacement", steps)
        return last[key]

    turning = np.max(np.abs(at(begin[kept])[1].turn_slopes[:, kept]), axis=1) > STRAIGHT

    def held(p: np.ndarray) -> np.ndarray:
        reached = at(p)[1]
        return np.concatenate([[reached.value / distance - 1.0], reached.turn[turning]])

    def held_slopes(p: np.ndarray) -> np.ndarray:
        reached = at(p)[1]
        return np.concatenate([reached.slopes[None] / distance, reached.turn_slopes[turning]])[:, kept]

    def remember(p: np.ndarray) -> None:
        history.append(at(p)[0].value)
        if progress is not None:
            progress(len(history) / (len(history) + 10.0))

    size, scale = at(begin[kept])[0].value, float(np.max(np.abs(begin[len(gait.mean) :])))
    found = minimize(
        lambda p: (at(p * scale)[0].value / size, scale * at(p * scale)[0].slopes[kept] / size),
        begin[kept] / scale,
        jac=True,
        method="SLSQP",
        constraints=[{"type": "eq", "fun": lambda p: held(p * scale), "jac": lambda p: scale * held_slopes(p * scale)}],
        options={"maxiter": iterations, "ftol": 1e-11},
        callback=lambda p: remember(p * scale),
    )
    p = found.x * scale
    for _ in range(RESTORED):  # the search may end with some of the distance to go
        p = p - np.linalg.lstsq(held_slopes(p), held(p), rcond=None)[0]
    best = with_numbers(gait, np.concatenate([begin[: kept.start], p]))
    final = _cost(swimmer, best, cost, 2 * steps), score(swimmer, best, "displacement", 2 * steps)
    missed = np.max(np.abs([*held(p), *final[1].turn]))
    settled = len(history) > SETTLED and np.ptp(history[-SETTLED:]) < CHANGE * abs(history[-1])
    converged = bool((found.success or settled) and missed < MET)
    return CheapestGait(best, final[0].value, final[1].g, converged, str(found.message), np.array(history))


def _cost(swimmer: Swimmer, gait: AbstractGait, cost: str, steps: int) -> Cost:
    return positive_work(swimmer, gait) if cost == "work" else action(cycle(swimmer, gait, steps))


def _centre(swimmer: Swimmer, centre: Any) -> np.ndarray:
    if swimmer.angle_count != 2:
        raise InputError(f"A swimmer with {swimmer.angle_count} angles; expected two, or give start=.")
    middle = np.zeros(2) if centre is None else floats("centre", centre)
    if middle.shape != (2,) or not np.all(np.isfinite(middle)):
        raise InputError(f"centre = {centre!r}; expected two finite angles.")
    return middle


@double
def _vector(gait: AbstractGait) -> np.ndarray:
    return np.asarray(numbers(gait))
