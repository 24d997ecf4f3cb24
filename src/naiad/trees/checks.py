"""The parts of a tree of bodies as users give them, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics.checks import (
    check_rotations,
    finite,
    floats,
    inertia_matrix,
    is_known,
    matrix_for_each,
    namespace,
    unit_axis,
)

JOINTS = ("ball", "hinge", "weld")
ROOTS = ("free", "pinned", "hinge")


def parent_numbers(parents: Sequence[int]) -> tuple[int, ...]:
    """The parents as whole numbers: one root, every parent before its children, or an `InputError`."""
    try:
        given = np.asarray(parents)
        numbers = given.astype(int)
        whole = given.ndim == 1 and given.size > 0 and bool(np.all(numbers == given))
    except (TypeError, ValueError):
        whole, numbers = False, np.zeros(0, int)
    if not whole:
        raise InputError(
            f"parents = {parents!r}; expected one whole number for each body: that of its parent, -1 for the root."
        )
    count = len(numbers)
    for i, parent in enumerate(numbers):
        if parent >= count or parent < -1:
            raise InputError(
                f"parents[{i}] = {parent}: there is no such body; expected a number from 0 to {count - 1}, or -1 for "
                "the root."
            )
    roots = [i for i, parent in enumerate(numbers) if parent == -1]
    if len(roots) != 1:
        raise InputError(
            f"parents has {len(roots)} roots (bodies {', '.join(map(str, roots)) or 'none'} have parent -1); a tree is "
            "connected: join all others to one root."
        )
    for i in range(count):
        _check_ends(numbers, i)
    for i, parent in enumerate(numbers):
        if parent >= i:
            raise InputError(
                f"parents[{i}] = {parent}: a parent must have a smaller number than its children; number the bodies "
                "from the root outwards."
            )
    return tuple(int(parent) for parent in numbers)


def _check_ends(parents: np.ndarray, body: int) -> None:
    """Refuse a body whose parents run in a circle."""
    if parents[body] < body:  # then it is reached from a smaller one
        return
    seen, at = [body], int(parents[body])
    while at != -1:
        if at in seen:
            circle = [*seen[seen.index(at) :], at]
            raise InputError(
                f"parents has a cycle, {' -> '.join(map(str, circle))}; a tree has none: cut one of these joints."
            )
        seen.append(at)
        at = int(parents[at])


def joint_kinds(joints: str | Sequence[str], root: str, count: int) -> tuple[str, ...]:
    """The kind of every body's joint, the root's first, or an `InputError`."""
    if root not in ROOTS:
        raise InputError(f"root = {root!r}; expected {', '.join(map(repr, ROOTS))}.")
    kinds = (joints,) * (count - 1) if isinstance(joints, str) else tuple(joints)
    if len(kinds) == count and kinds[:1] == (root,):
        kinds = kinds[1:]
    if len(kinds) != count - 1:
        raise InputError(
            f"joints has {len(kinds)} entries; expected one word for all joints, or {count - 1}: one for each body but "
            "the root."
        )
    for i, kind in enumerate(kinds):
        if kind not in JOINTS:
            raise InputError(f"joints[{i}] = {kind!r}; expected {', '.join(map(repr, JOINTS))}.")
    return (root, *kinds)


def inertias(name: str, values: Any, count: int) -> Any:
    """Return a symmetric positive definite matrix for each body (see `matrix_for_each`); a number of `M` is a mass."""
    array = _numbers(name, values)
    if array.shape == (count, 3) and count != 3:
        array = array[..., None] * np.eye(3)
    if array.shape == (count, 3, 3) and is_known(array) and _definite(array):  # of many bodies all at once
        return np.array(array)
    number = "a number (a mass)" if name == "M" else None
    return matrix_for_each(name, array, count, lambda name, each: inertia_matrix(name, each, 3), number=number)


def _definite(matrices: np.ndarray) -> bool:
    """Whether all are what `inertia_matrix` takes, which says what is wrong if one is not."""
    if not np.isfinite(matrices).all():
        return False
    largest, skew = (np.abs(each).max(axis=(1, 2)) for each in (matrices, matrices - matrices.swapaxes(1, 2)))
    return bool((skew <= 1e-12 * largest).all() and (np.linalg.eigvalsh(matrices)[:, 0] > 0.0).all())


def couplings(J: Any, M: Any, D: Any, count: int) -> Any:
    """Symmetric couplings with which the whole inertias stay positive definite; none if there are none."""
    if D is None:
        return None
    array = _numbers("D", D)
    if array.shape == (3, 3):
        array = namespace(array).broadcast_to(array, (count, 3, 3))
    if array.shape != (count, 3, 3):
        raise InputError(
            f"D has shape {array.shape}; expected a symmetric 3 x 3 matrix, for all {count} bodies or for each."
        )
    if is_known(array) and np.any(np.abs(array - array.swapaxes(1, 2)) > 1e-9 * np.abs(array).max()):
        raise InputError(
            "D is not symmetric; about its centre a coupling is: give 6 x 6 inertias about any points to "
            "Tree.of_inertias, which finds the centres."
        )
    whole = namespace(J, M, array).block([[J, array], [array, M]])
    for i in range(count):
        inertia_matrix(f"The inertia [[J, D], [D, M]] of body {i}", whole[i], 6)
    return 0.5 * (array + array.swapaxes(1, 2))


def full_inertias(name: str, values: Any, count: int) -> Any:
    """Symmetric positive definite 6 x 6 matrices, one a body, from one for all or one for each."""
    array = _numbers(name, values)
    if array.shape == (6, 6):
        array = namespace(array).broadcast_to(array, (count, 6, 6))
    if array.shape != (count, 6, 6):
        raise InputError(
            f"{name} has shape {array.shape}; expected a 6 x 6 matrix, angular first, for all {count} bodies or for "
            "each."
        )
    return namespace(array).stack([inertia_matrix(f"{name}[{i}]", each, 6) for i, each in enumerate(array)])


def vectors(name: str, values: Any, count: int) -> Any:
    """One vector of R^3 for each body."""
    array = _numbers(name, values)
    if array.shape != (count, 3):
        raise InputError(f"{name} has shape {array.shape}; expected ({count}, 3): one point for each body.")
    return array.copy()


def unit_rows(name: str, values: Any, count: int, wanted: Sequence[int]) -> Any:
    """One vector for each body, those that are wanted of length one."""
    if values is None:
        if len(wanted):
            raise InputError(f"body {wanted[0]} has a hinge, but no {name} was given; give one vector for each body.")
        return np.zeros((count, 3))
    array = _numbers(name, values)
    if array.shape == (3,):
        array = namespace(array).broadcast_to(array, (count, 3))
    array = vectors(name, array, count)
    units = [unit_axis(f"{name}[{i}]", row) if i in wanted else row for i, row in enumerate(array)]
    return namespace(array).stack(units)


def attitudes(name: str, values: Any, count: int) -> Any:
    """One rotation matrix for each body, the identity if not given."""
    if values is None:
        return np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
    array = _numbers(name, values)
    if array.shape != (count, 3, 3):
        raise InputError(f"{name} has shape {array.shape}; expected ({count}, 3, 3): one attitude for each body.")
    check_rotations(name, array)
    return array.copy()


def _numbers(name: str, values: Any) -> Any:
    array = floats(name, values)
    if not array.size:
        raise InputError(f"{name} = {values!r} is not an array of numbers.")
    if not finite(array):
        raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
    return array
