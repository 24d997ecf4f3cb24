"""States of a swimmer from what one knows of it: its shape, how that changes, and its momentum."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.locomotion.shapes import in_rows
from naiad.mechanics import State, identity
from naiad.numerics.checks import floats

if TYPE_CHECKING:
    from naiad.locomotion.swimmer import Swimmer


def moving(swimmer: "Swimmer", theta: Any, rates: Any, pose: Any, momentum: Any, xi: Any) -> State:
    """A checked state: mu = K (xi, rates), where xi, unless it is given, is K_gg^-1 (Ad*_g J - K_gt rates)."""
    if momentum is not None and xi is not None:
        raise InputError("start: both momentum and xi were given; give the momentum in space or the base's velocity.")
    d = swimmer.frame.dim
    rows, _ = in_rows(swimmer.links.shape, identity(swimmer.links.shape) if theta is None else theta)
    theta, rates = jax.tree.map(lambda leaf: leaf[0], rows), _vector("rates", rates, swimmer.joints)
    g = jax.tree.map(np.asarray, swimmer.frame.identity() if pose is None else pose)
    K = swimmer.inertias(theta)[0]
    if xi is None:
        body = execute(_in_body, swimmer.frame, g, _vector("momentum", momentum, d), parameters=(0,))
        velocity = np.linalg.solve(K[:d, :d], body - K[:d, d:] @ rates)
    else:
        velocity = _vector("xi", xi, d)
    return swimmer.state(swimmer.group.identity()._replace(g=g, theta=theta), mu=K @ [*velocity, *rates])


def locked(swimmer: "Swimmer", state: State) -> State:
    """The state after the hinges are stopped at once: the momentum stays, K_gg xi = mu_g, and the angles rest."""
    d = swimmer.frame.dim
    K, body = swimmer.inertias(state.g.theta)[0], np.asarray(state.mu)[:d]
    return State(state.g, K[:, :d] @ np.linalg.solve(K[:d, :d], body))


def _in_body(frame: AbstractGroup, g: Any, J: Any) -> Any:
    return frame.Ad_dual(g, J)


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    array = np.zeros(size) if value is None else np.atleast_1d(floats(name, value))
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected {size} finite number{'' if size == 1 else 's'}.")
    return array
