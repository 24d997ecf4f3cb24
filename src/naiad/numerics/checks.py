"""Numbers, vectors, rotations and inertias as users give them, checked: each comes back as NumPy has it, or raises an
`InputError` that says what was expected. Of what JAX traces the shape is checked, and its values are not known."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import core
from jaxtyping import Float

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.double import check_double

OFF = 1e-8
"""How far R^T R may be from I, in the Frobenius norm."""
ROUNDING = 1e-9
"""How far, relatively, a principal moment may be above the sum of the others."""


def is_known(array: Any) -> bool:
    """Whether the values are there to be looked at: JAX does not trace them."""
    return not isinstance(array, core.Tracer)


def namespace(*arrays: Any) -> Any:
    """NumPy, or `jax.numpy` where JAX traces one of the arrays."""
    return np if all(map(is_known, arrays)) else jnp


def floats(name: str, value: Any) -> Any:
    """The numbers in double precision; none where there are other things than numbers."""
    check_double(name, value)
    try:
        return np.asarray(value, dtype=float)
    except (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError):
        return jnp.asarray(value, float)
    except (TypeError, ValueError):
        return np.zeros(0)


def finite(array: Any) -> bool:
    """Whether all numbers are finite, as far as they are known."""
    return not is_known(array) or bool(np.isfinite(array).all())


def number(name: str, value: Any) -> Any:
    """A finite number."""
    array = floats(name, value)
    if array.size != 1 or not finite(array):
        raise InputError(f"{name} = {value!r}; expected a finite number.")
    return float(array.reshape(())) if is_known(array) else array.reshape(())


def generator(seed: int) -> np.random.Generator:
    """Random numbers that are the same for the same seed."""
    if seed < 0:
        raise InputError(f"seed = {seed}; expected a whole number that is not negative.")
    return np.random.default_rng(seed)


def positive(name: str, value: Any, *, zero: bool = False) -> Any:
    """A finite number above zero (or zero, where allowed)."""
    if type(value) is float and 0.0 < value < np.inf:  # as nearly all are: the rest takes longer
        return value
    array = floats(name, value)
    fits = array.size == 1 and finite(array)
    if fits and is_known(array):
        fits = bool(array > 0) or (zero and bool(array == 0))
    if not fits:
        raise InputError(f"{name} = {value!r}; expected a finite number {'of at least' if zero else 'above'} 0.")
    return float(array.reshape(())) if is_known(array) else array.reshape(())


def positives(name: str, value: Any, count: int, *, zeros: int = 0) -> Any:
    """`count` finite numbers above zero, of which at most `zeros` are zero."""
    array = floats(name, value)
    fits = array.shape == (count,)
    if fits and is_known(array):
        fits = bool(np.all(np.isfinite(array) & (array >= 0))) and np.count_nonzero(array) >= count - zeros
    if not fits:
        some = f" ({zeros} of them may be 0)" if zeros else ""
        raise InputError(f"{name} = {value!r}; expected {count} finite numbers above 0{some}.")
    return array


def masses(value: Any) -> Any:
    """One or more positive masses."""
    array = floats("m", value)
    if array.ndim != 1 or not array.size or (is_known(array) and not np.all(np.isfinite(array) & (array > 0))):
        raise InputError(f"m = {value!r}; expected one positive mass for each body.")
    return array


def vector(name: str, value: Any, size: int = 3) -> Any:
    """`size` finite numbers."""
    array = floats(name, value)
    if array.shape != (size,) or not finite(array):
        raise InputError(f"{name} = {value!r}; expected {size} finite number{'s' * (size > 1)}.")
    return array


def unit_axis(name: str, value: Any) -> Any:
    """A direction in R^3 of length one."""
    array = floats(name, value)
    if array.shape == (3,) and not is_known(array):
        return array / jnp.linalg.norm(array)
    length = float(np.linalg.norm(array)) if array.shape == (3,) else float("nan")
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"{name} = {value!r} is not a direction; expected three finite numbers, not all zero.")
    return array / length


def check_rotations(name: str, R: Float[np.ndarray, "*rows n n"]) -> None:
    """R^T R = I and det R = 1 for every one of these matrices: a reflection is none."""
    if not is_known(R):
        return
    matrices: Any = R.reshape(-1, *R.shape[-2:])
    excess = matrices.swapaxes(1, 2) @ matrices - np.eye(R.shape[-1])
    errors, determinants = np.sqrt(np.einsum("kij,kij->k", excess, excess)), np.linalg.det(matrices)
    good = (errors <= OFF) & (determinants > 0.0)
    if not good.all():
        i = int(np.argmin(good))
        which = name if R.ndim == 2 else f"{name}[{i}]"
        raise InputError(
            f"{which} is not a rotation: |R^T R - I| = {errors[i]:.3g}, det R = {determinants[i]:.6g}; expected 0 and "
            "1."
        )


@checked_throughout
def check_moments(name: str, J: Any, remedy: str = "") -> None:
    """Some distribution of mass has the inertia J, a symmetric 3 x 3 matrix: the largest principal moment is at most
    the sum of the others, and equal to it for a flat body."""
    if not is_known(J):
        return
    low, middle, high = np.linalg.eigvalsh(J)
    if high > (low + middle) * (1.0 + ROUNDING):
        raise InputError(
            f"{name} has the principal moments {low:.6g}, {middle:.6g}, {high:.6g}: no body has them, as the largest "
            f"is at most the sum of the others. Correct them{remedy}."
        )


@checked_throughout
def inertia_matrix(name: str, value: Any, size: int) -> Any:
    """A symmetric positive definite matrix from its diagonal or its entries."""
    array = _symmetric_matrix(name, value, size)
    if is_known(array) and (lowest := float(np.linalg.eigvalsh(array)[0])) <= 0:
        raise InputError(
            f"{name} is not positive definite (smallest eigenvalue {lowest:.6g}); every direction must have inertia."
        )
    return array


@checked_throughout
def body_inertia(name: str, value: Any, *, unphysical: bool = False) -> Any:
    """The inertia of a rigid body without a fluid: positive definite, and such as a body can have unless
    `unphysical`."""
    array = inertia_matrix(name, value, 3)
    if not unphysical:
        check_moments(name, array, remedy=", or take them with unphysical=True")
    return array


def semidefinite_inertia(name: str, value: Any, size: int) -> Any:
    """A symmetric positive semidefinite matrix, where some directions may have no inertia."""
    return _semidefinite_matrix(name, value, size, "the kinetic energy is never negative")


@checked_throughout
def friction_matrix(name: str, value: Any, size: int) -> Any:
    """A symmetric positive semidefinite matrix from its diagonal or its entries."""
    return _semidefinite_matrix(name, value, size, "friction must not give energy")


def matrix_for_each(
    name: str, value: Any, count: int, check: Callable[[str, Any], Any], *, number: str | None = None
) -> Any:
    """Return a 3 x 3 matrix for each of `count` bodies, each as `check` returns it from a diagonal or a matrix.

    The value is one matrix or one row (a diagonal) for all bodies, or a matrix or a row for each. Where a `number` has
    a meaning ("a mass"), it is also a number for all or for each: a multiple of the identity. Numbers without rows are
    never a diagonal. Three rows for three bodies that are also a matrix for all are refused.
    """
    array = floats(name, value)
    if count == 3 and array.shape == (3, 3) and _is_one_matrix(name, array, check):
        array = array[None]
    xp, shape = namespace(array), array.shape
    if number and shape in ((), (count,)):
        given = xp.broadcast_to(array[..., None], (count, 3))
    elif shape in ((1, 3), (count, 3)):
        given = xp.broadcast_to(array, (count, 3))
    elif shape in ((3, 3), (1, 3, 3), (count, 3, 3)):
        given = xp.broadcast_to(array, (count, 3, 3))
    else:
        numbers = f"{number} for all bodies, {count} of them, " if number else ""
        what = f"has shape {shape}" if array.size else f"= {value!r} is not an array of numbers"
        raise InputError(
            f"{name} {what}; expected {numbers}a row of three numbers (a diagonal) or a 3 x 3 matrix for each of "
            f"{count} bodies, or one for all, as in [(a, b, c)]."
        )
    if len(given) and shape[:1] != (count,):
        return xp.broadcast_to(check(name, given[0]), (count, 3, 3)).copy()
    return xp.stack([check(f"{name}[{i}]", each) for i, each in enumerate(given)])


def _is_one_matrix(name: str, array: Any, check: Callable[[str, Any], Any]) -> bool:
    """Whether a 3 x 3 array for three bodies is one matrix, and not three diagonals; refused if it may be both."""

    def passes(*each: Any) -> bool:
        try:
            return all(check(name, one) is not None for one in each)
        except InputError:
            return False

    one, rows = passes(array), passes(*array)
    if (one and rows) or not is_known(array):
        raise InputError(
            f"{name} can be read in two ways: as three rows, a diagonal for each body, or as one matrix for all three. "
            "Give [matrix] for all, or [np.diag(row), ...] for each."
        )
    return one


def _semidefinite_matrix(name: str, value: Any, size: int, reason: str) -> Any:
    array = _symmetric_matrix(name, value, size)
    if is_known(array) and (values := np.linalg.eigvalsh(array))[0] < -1e-12 * max(values[-1], 0.0):
        raise InputError(f"{name} has the eigenvalue {values[0]:.6g}; {reason}: expected none < 0.")
    return array


def _symmetric_matrix(name: str, value: Any, size: int) -> Any:
    array = floats(name, value)
    if array.shape == (size,):
        array = namespace(array).diag(array)
    if array.shape != (size, size):
        given = f"has shape {array.shape}" if array.size else f"= {value!r} is not an array of numbers"
        raise InputError(f"{name} {given}; expected {size} numbers (the diagonal) or a {size} x {size} matrix.")
    if not is_known(array):
        return array
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
    asymmetry = np.abs(array - array.T).max()
    if asymmetry > 1e-12 * np.abs(array).max():
        raise InputError(f"{name} is not symmetric (largest difference {asymmetry:.3g}); give a symmetric matrix.")
    return array
