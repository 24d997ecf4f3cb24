"""The direction of Newton's step, whose pivots are positive."""

import numpy as np

from naiad.control.newton import NewtonTables

LARGEST_SHIFT = 1e8
CURVED = ("swept", "kept", "closing")  # the tables that depend on the curvature of the equations, linearly
DIRECTION = ("kept", "change", "x")  # those that a step is made of


def directed(newton: NewtonTables, barrier: float, shift: float, halvings: int) -> bool:
    """Solve for the changes of all steps; whether all pivots are positive.

    Where they are not, the curvature of the equations is left out (Gauss-Newton), or a share of it, found by so many
    `halvings`, that leaves them positive: it is slower from afar, and faster away from a saddle. Where that does not
    help, the diagonal of the controls and of the constants is shifted more and more.
    """
    if newton.sweep(barrier, shift) > 0.0:
        return True
    full = _copied(newton, CURVED)
    newton.linearise(barrier, 0.0)
    if newton.sweep(barrier, shift) > 0.0:
        _soften(newton, barrier, shift, full, halvings)
        return True
    while shift < LARGEST_SHIFT:
        shift = max(10.0 * shift, 1e-6)
        if newton.sweep(barrier, shift) > 0.0:
            return True
    return False


def _soften(newton: NewtonTables, barrier: float, shift: float, full: dict[str, np.ndarray], halvings: int) -> None:
    """The direction with as much of the curvature as leaves pivots positive, which they are without any."""
    plain, best = _copied(newton, CURVED), _copied(newton, DIRECTION)
    least, most = 0.0, 1.0
    for _ in range(halvings):
        share = 0.5 * (least + most)
        _put(newton, {name: memory + share * (full[name] - memory) for name, memory in plain.items()})
        if newton.sweep(barrier, shift) > 0.0:
            least, best = share, _copied(newton, DIRECTION)
        else:
            most = share
    _put(newton, best)


def _copied(newton: NewtonTables, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {name: getattr(newton, name).memory.copy() for name in names}


def _put(newton: NewtonTables, tables: dict[str, np.ndarray]) -> None:
    for name, memory in tables.items():
        getattr(newton, name).memory[...] = memory
