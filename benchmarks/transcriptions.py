"""Transcriptions of one optimal control problem: naiad's of order 2, 4 and 6 beside what is usual.

python -m benchmarks.transcriptions [PICTURE]     # a table, and a picture if there is a place for it

A rigid body, J = (1, 2, 3), turned by 2 rad about (1, 1, 1) from rest to rest in 2 s with least effort. The others are
RK4 with controls that are linear over a step (multiple shooting), trapezoidal and Hermite-Simpson collocation, each
with quaternions and with modified Rodrigues parameters. All their conditions are equations, and Newton's method solves
those of Karush, Kuhn and Tucker: derivatives of all intervals at once by JAX, linear algebra by SuperLU.
"""

import functools
import sys
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table
from naiad.studies.control.optimum import METHODS

J, AXIS, ANGLE, T = np.array([1.0, 2.0, 3.0]), np.ones(3) / np.sqrt(3.0), 2.0, 2.0
EXACT = 11.383254610319  # by Pontryagin's equations, multiple shooting
ITERATIONS, TOLERANCE = 50, 1e-11
ORDERS = (2, 4, 6)
COUNTS = (8, 32, 128)
SCHEMES = ("RK4, linear controls", "trapezoidal", "Hermite-Simpson")
CHARTS = ("quaternions", "Rodrigues")


class Plan(NamedTuple):
    """Cost, how far the momentum of the problem's own symmetry varies, relative to its size, CPU seconds of a solution
    that is not the first, and iterations."""

    cost: float
    momentum: float
    seconds: float
    iterations: int

    @property
    def error(self) -> float:
        """Of the cost, relative."""
        return abs(self.cost / EXACT - 1.0)


def ours(order: int, N: int) -> Plan:
    """By `nd.control.solve`, with the methods of the studies."""
    body = nd.models.RigidBody(J)
    with jax.enable_x64(True):
        goal = body.state(R=np.asarray(body.group.exp(jnp.asarray(ANGLE * AXIS))))

    def solved() -> Any:
        return nd.control.solve(body, body.state(), goal, T, N, method=METHODS[order], tolerance=1e-10)

    found, seconds = _timed(solved)
    assert found.solved, found.message
    momenta = np.einsum("kij,kj->ki", np.asarray(found.states.g)[1:], found.costates.g)
    return Plan(found.cost, _variation(momenta), seconds, found.iterations)


def usual(scheme: str, chart: str, N: int) -> Plan:
    """By one of `SCHEMES`, in the coordinates of one of `CHARTS`."""
    with jax.enable_x64(True):
        (values, duals, cost, iterations), seconds = _timed(lambda: _newton(scheme, chart, N))
        nodes, p = _costates(scheme, chart, N, values, duals)
        momenta = np.asarray(jax.vmap(lambda y, p: _turned(chart, y) @ (_frame(chart, y).T @ p))(nodes, p))
    return Plan(cost, _variation(momenta), seconds, iterations)


def _timed(call: Any) -> tuple[Any, float]:
    call()
    started = time.process_time()
    return call(), time.process_time() - started


def _variation(momenta: np.ndarray) -> float:
    return float(np.max(np.abs(momenta - momenta[0])) / np.linalg.norm(momenta[0]))


def _frame(chart: str, y: Any) -> Any:
    """E of the rates E Omega of the coordinates of the attitude."""
    if chart == "quaternions":
        w, v = y[0], y[1:4]
        return 0.5 * jnp.concatenate([-v[None], w * jnp.eye(3) + _hat(v)])
    s = y[:3]
    return 0.25 * ((1.0 - s @ s) * jnp.eye(3) + 2.0 * _hat(s) + 2.0 * jnp.outer(s, s))


def _turned(chart: str, y: Any) -> Any:
    """The attitude as a matrix."""
    if chart == "quaternions":
        q = y[:4] / jnp.linalg.norm(y[:4])
    else:
        s = y[:3] @ y[:3]
        q = jnp.concatenate([jnp.array([1.0 - s]), 2.0 * y[:3]]) / (1.0 + s)
    skew = _hat(q[1:])
    return jnp.eye(3) + 2.0 * q[0] * skew + 2.0 * skew @ skew


def _hat(v: Any) -> Any:
    x, y, z = v
    return jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _at(chart: str, angle: Any) -> np.ndarray:
    """The coordinates of turns about the axis."""
    half = 0.5 * np.asarray(angle)[..., None]
    if chart == "quaternions":
        return np.concatenate([np.cos(half), np.sin(half) * AXIS], axis=-1)
    return np.tan(0.5 * half) * AXIS


def _interval(scheme: str, chart: str, h: float, z: Any) -> tuple[Any, Any]:
    """What an interval misses, and its cost; z has state and control at the start, in the middle, and at the end."""
    size = 7 if chart == "quaternions" else 6
    middle = 3 if scheme == "Hermite-Simpson" else 0
    y, u, um, y1, u1 = jnp.split(z, np.cumsum([size, 3, middle, size]))

    def f(y, u):
        Omega = y[-3:]
        torque = u - jnp.cross(Omega, J * Omega)
        return jnp.concatenate([_frame(chart, y) @ Omega, torque / J])

    if scheme == "trapezoidal":
        return y1 - y - 0.5 * h * (f(y, u) + f(y1, u1)), 0.25 * h * (u @ u + u1 @ u1)
    if scheme == "Hermite-Simpson":
        first, last = f(y, u), f(y1, u1)
        at = f(0.5 * (y + y1) + 0.125 * h * (first - last), um)
        return y1 - y - h / 6.0 * (first + 4.0 * at + last), h / 12.0 * (u @ u + 4.0 * um @ um + u1 @ u1)
    um = 0.5 * (u + u1)
    k1 = f(y, u)
    k2 = f(y + 0.5 * h * k1, um)
    k3 = f(y + 0.5 * h * k2, um)
    k4 = f(y + h * k3, u1)
    return y1 - y - h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), h / 6.0 * (u @ u + u @ u1 + u1 @ u1)


@functools.cache
def _derivatives(scheme: str, chart: str) -> Any:
    """Of all intervals at once: residual, its Jacobian, gradient of the cost and Hessian of cost + lam . residual."""

    def one(h, z, lam):
        def lagrange(z):
            missed, cost = _interval(scheme, chart, h, z)
            return cost + lam @ missed

        def both(z):
            return _interval(scheme, chart, h, z)

        (missed, cost), (by, slope) = both(z), jax.jacfwd(both)(z)
        return missed, cost, by, slope, jax.hessian(lagrange)(z)

    return jax.jit(jax.vmap(one, in_axes=(None, 0, 0)))


class _Layout(NamedTuple):
    """How many numbers a state, a middle control and a block of a node have, and where intervals find theirs."""

    size: int
    middle: int
    block: int
    places: np.ndarray

    @classmethod
    def of(cls, scheme: str, chart: str, N: int) -> "_Layout":
        size, middle = 7 if chart == "quaternions" else 6, 3 if scheme == "Hermite-Simpson" else 0
        block = size + 3 + middle
        return cls(size, middle, block, block * np.arange(N)[:, None] + np.arange(block + size + 3))


def _newton(scheme: str, chart: str, N: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Unknowns, multipliers, cost and iterations."""
    from scipy.sparse import bmat, coo_matrix
    from scipy.sparse.linalg import spsolve

    layout, h = _Layout.of(scheme, chart, N), T / N
    size, count = layout.size, layout.block * N + layout.size + 3
    part = np.arange(N + 1) / N
    values = np.zeros(count)
    nodes = layout.block * np.arange(N + 1)[:, None] + np.arange(size)
    rates = 6.0 * part * (1.0 - part) / T * ANGLE
    values[nodes] = np.concatenate([_at(chart, ANGLE * part**2 * (3.0 - 2.0 * part)), rates[:, None] * AXIS], axis=1)
    first, ends = values[nodes[0]].copy(), _ends(chart)
    duals, cost, rows = np.zeros(N * size), np.zeros(N), layout.places
    iterations, change = 0, np.inf
    while change > TOLERANCE and iterations < ITERATIONS:
        iterations += 1
        found = _derivatives(scheme, chart)(h, values[rows], duals.reshape(N, size))
        missed, cost, by, slope, bent = map(np.asarray, found)
        target, by_end = map(np.asarray, ends(values[nodes[-1]]))
        wide = rows.shape[1]
        hessian = coo_matrix((bent.ravel(), (np.repeat(rows, wide, 1).ravel(), np.tile(rows, (1, wide)).ravel())))
        equations = np.arange(N * size).reshape(N, size)
        at = np.repeat(equations, wide, 1).ravel(), np.tile(rows, (1, size)).ravel()
        A = coo_matrix((by.ravel(), at), shape=(N * size, count))
        own = np.concatenate([np.arange(size), np.repeat(np.arange(6), size) + size])
        where = np.concatenate([nodes[0], np.tile(nodes[-1], 6)])
        B = coo_matrix((np.concatenate([np.ones(size), by_end.ravel()]), (own, where)), shape=(size + 6, count))
        gradient = np.zeros(count)
        np.add.at(gradient, rows, slope)
        held = np.concatenate([missed.ravel(), values[nodes[0]] - first, target])
        matrix = bmat([[hessian, A.T, B.T], [A, None, None], [B, None, None]], format="csc")
        step: Any = spsolve(matrix, -np.concatenate([gradient, held]))
        values += step[:count]
        duals = step[count : count + N * size]
        change = np.max(np.abs(step[:count]))
    return values, duals, float(np.sum(cost)), iterations


def _ends(chart: str) -> Any:
    """What the last state misses of the goal, six numbers that are linear in it, and their slopes."""

    def missed(y):
        if chart == "quaternions":  # the vector part of goal^-1 q: its length is not asked for
            w, v = _at(chart, ANGLE)[0], jnp.asarray(_at(chart, ANGLE)[1:])
            return jnp.concatenate([w * y[1:4] - y[0] * v - jnp.cross(v, y[1:4]), y[-3:]])
        return jnp.concatenate([y[:3] - _at(chart, ANGLE), y[-3:]])

    return lambda y: (missed(jnp.asarray(y)), jax.jacfwd(missed)(jnp.asarray(y)))


def _costates(scheme: str, chart: str, N: int, values: np.ndarray, duals: np.ndarray) -> tuple[Any, Any]:
    """Attitude coordinates and their costates at the nodes after the first: lam . d(missed)/dy."""
    layout = _Layout.of(scheme, chart, N)
    _, _, by, _, _ = _derivatives(scheme, chart)(T / N, values[layout.places], duals.reshape(N, layout.size))
    angles = layout.size - 3
    p = np.einsum("ke,kez->kz", duals.reshape(N, layout.size), np.asarray(by))[:, layout.block :][:, :angles]
    nodes = values[layout.block * np.arange(1, N + 1)[:, None] + np.arange(angles)]
    return nodes, p


def measured(counts: Any = COUNTS) -> dict[tuple[str, int], Plan]:
    """All transcriptions with all numbers of steps."""
    found = {(f"order {order}", N): ours(order, N) for order in ORDERS for N in counts}
    for chart in CHARTS:
        found |= {(f"{name}, {chart}", N): usual(name, chart, N) for name in SCHEMES for N in counts}
    return found


def picture(found: dict[tuple[str, int], Plan], place: str) -> None:
    """Errors of the cost by the number of steps and by the time of a solution, and those of the momentum."""
    import matplotlib

    matplotlib.use("Agg")
    from naiad import viz

    names = list(dict.fromkeys(name for name, _ in found))
    with viz.house():
        figure = viz.new_figure(10.5, 3.8, "Transcriptions of one problem")
        panels: Any = figure.subplots(1, 3)
        for name in names:
            plans = {N: plan for (own, N), plan in found.items() if own == name}
            kind, _, chart = name.rpartition(", ")
            colour = viz.PALETTE[[*(f"order {order}" for order in ORDERS), *SCHEMES].index(kind or name)]
            look = {"color": colour, "marker": "o", "markersize": 3, "linestyle": "-" if not kind else "--"}
            if chart != "Rodrigues":
                label = kind or name
                panels[0].loglog(list(plans), [plan.error for plan in plans.values()], label=label, **look)
                panels[1].loglog(
                    [1e3 * plan.seconds for plan in plans.values()], [plan.error for plan in plans.values()], **look
                )
            if chart != "quaternions":
                panels[2].loglog(list(plans), [max(plan.momentum, 1e-16) for plan in plans.values()], **look)
        titles = ("cost, relative error", "the same by time", "momentum (Rodrigues parameters)")
        for ax, title, label in zip(panels, titles, ("steps N", "CPU time [ms]", "steps N"), strict=True):
            ax.set_title(title)
            ax.set_xlabel(label)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        figure.savefig(place, dpi=110)


def main(place: str | None) -> None:
    with one_core():
        found = measured()
    rows = [
        (name, N, f"{plan.error:.1e}", f"{plan.momentum:.0e}", 1e3 * plan.seconds, plan.iterations)
        for (name, N), plan in found.items()
    ]
    print(table(("", "N", "error of the cost", "variation of the momentum", "ms of CPU", "iterations"), rows))
    if place is not None:
        picture(found, place)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
