"""Linear analysis of a controlled step: its derivatives, feedback, what can be steered and seen, and Floquet's
multipliers. Increments are x = (eta, dmu) of (g exp(eta), mu + dmu)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.control.plant import AbstractActuated
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Variational, check_method
from naiad.mechanics import LagrangianSystem, State, check_state
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, positive

ROUNDING = 1e-12  # how far below zero, relatively, an eigenvalue of weights may be


class LinearStep(NamedTuple):
    """x_{k+1} = A x_k + B u_k about a state and controls, and the state after the step."""

    A: np.ndarray
    B: np.ndarray
    end: State


class Regulator(NamedTuple):
    """The feedback u = - K x of least sum of x . Q x + u . R u, its cost x . V x, and the eigenvalues of the closed
    loop A - B K, which are less than one in size if it is stable."""

    K: np.ndarray
    V: np.ndarray
    eigenvalues: np.ndarray


class Reach(NamedTuple):
    """How many directions can be steered (or seen), the singular values, and a basis of the directions that cannot, in
    columns."""

    rank: int
    singular_values: np.ndarray
    missing: np.ndarray


class Orbit(NamedTuple):
    """A state that comes back after T, up to what the group's motion adds, and Floquet's multipliers: the eigenvalues
    of the derivative of the map, largest first."""

    state: State
    multipliers: np.ndarray
    miss: float


@checked
def linear_step(
    plant: AbstractActuated, state: State, *, dt: float, t: float = 0.0, method: AbstractMethod | None = None
) -> LinearStep:
    """The derivatives of a step of a controlled system from a state, in the increments x and in the controls."""
    dt = positive("dt", dt)
    method = Variational() if method is None else method
    check_method(method, plant)
    state = jax.tree.map(np.asarray, check_state(plant, state, t))
    slopes, end = execute(slopes_of_a_step, plant, method, state, float(t), dt, parameters=())
    n = 2 * plant.group.dim
    return LinearStep(slopes[:n].T, slopes[n:].T, end)


@checked
def lqr(A: np.ndarray, B: np.ndarray, Q: Any, R: Any) -> Regulator:
    """The linear-quadratic regulator of x_{k+1} = A x_k + B u_k over an infinite horizon; `Q` and `R` are matrices or
    diagonals."""
    from scipy.linalg import LinAlgError, solve_discrete_are

    A, B = _system(A, B)
    Q, R = weight("Q", Q, len(A)), weight("R", R, B.shape[1])
    try:
        V = solve_discrete_are(A, B, Q, R)
    except (LinAlgError, ValueError) as error:
        raise InputError(
            f"lqr: {str(error).rstrip('.')}; there is no stabilising feedback: look at controllability(A, B), or weigh "
            "all directions that move."
        ) from None
    K = np.linalg.solve(R + B.T @ V @ B, B.T @ V @ A)
    return Regulator(K, V, np.linalg.eigvals(A - B @ K))


@checked
def controllability(A: np.ndarray, B: np.ndarray, *, tolerance: float = 1e-9) -> Reach:
    """What the controls of x_{k+1} = A x_k + B u_k can steer: the span of B, A B, A^2 B, ..."""
    A, B = _system(A, B)
    return _reach(A, B, positive("tolerance", tolerance))


@checked
def observability(A: np.ndarray, C: np.ndarray, *, tolerance: float = 1e-9) -> Reach:
    """What measurements C x of x_{k+1} = A x_k can tell: the span of C^T, A^T C^T, ..."""
    A, C = floats("A", A), floats("C", C)
    if C.ndim != 2 or A.shape != (C.shape[1], C.shape[1]):
        raise InputError(f"A has shape {A.shape} and C {C.shape}; expected (n, n) and (m, n).")
    return _reach(A.T, C.T, positive("tolerance", tolerance))


@checked
def floquet(
    system: LagrangianSystem, state: State, T: float, *, steps: int, method: AbstractMethod | None = None
) -> Orbit:
    """The multipliers of the motion from a state over a period T, in `steps` steps, and by how much it misses the
    momentum that it began with."""
    T = positive("T", T)
    steps = step_count(steps)
    method = Variational() if method is None else method
    check_method(method, system)
    state = jax.tree.map(np.asarray, check_state(system, state, 0.0))
    slopes, end = execute(_period, system, method, state, T / steps, steps, parameters=())
    if not np.all(np.isfinite(slopes)):
        raise InputError(f"the motion over T = {T:g} s in {steps} steps cannot be computed; take more steps.")
    values = np.linalg.eigvals(slopes.T)
    order = np.argsort(-np.abs(values))
    return Orbit(state, values[order], float(np.max(np.abs(end.mu - state.mu))))


def slopes_of_a_step(
    plant: AbstractActuated, method: AbstractMethod, state: State, t: Any, h: Any
) -> tuple[Any, State]:
    """The derivatives in rows of (x, u), direction by direction in a loop, and the state after the step; u is what is
    added to the controls throughout the step."""
    n, nu = 2 * plant.group.dim, plant.u.shape[-1]

    def after(z):
        return stepped(plant.controlled(plant.u + z[n:], t), method, displaced(plant, state, z[:n]), t, h)

    return _along(plant, after, n + nu)


def _period(system: LagrangianSystem, method: AbstractMethod, state: State, h: Any, steps: Any) -> tuple[Any, State]:
    def after(z):
        begin = displaced(system, state, z)
        return jax.lax.fori_loop(0, steps, lambda k, at: stepped(system, method, at, k * h, h), begin)

    return _along(system, after, 2 * system.group.dim)


def _along(system: LagrangianSystem, after: Any, size: int) -> tuple[Any, State]:
    end = after(jnp.zeros(size))

    def increments(z):
        return increment(system, end, after(z))

    def along(index):
        direction = jnp.where(jnp.arange(size) == index, 1.0, 0.0)
        return jax.jvp(increments, (jnp.zeros(size),), (direction,))[1]

    return jax.lax.map(along, jnp.arange(size)), end


def stepped(system: LagrangianSystem, method: AbstractMethod, state: State, t: Any, h: Any) -> State:
    """The state after a step."""
    carry = method.step(system, method.init(system, state, t, h), t, h)
    return method.state(system, method.bounded(system, carry, t + h, h))


def displaced(system: LagrangianSystem, state: State, x: Any) -> State:
    """(g exp(eta), mu + dmu)."""
    n = system.group.dim
    return State(system.group.compose(state.g, system.group.exp(x[:n])), state.mu + x[n:])


def step_count(steps: Any) -> int:
    """The number of steps of a period; or an `InputError`."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps <= 10**8:
        raise InputError(f"steps = {steps!r}; expected 1 to 100 million.")
    return int(steps)


def increment(system: LagrangianSystem, state: State, other: State) -> Any:
    """x = (eta, dmu) from a state to another: the inverse of `displaced`."""
    eta = system.group.log(system.group.compose(system.group.inverse(state.g), other.g))
    return jnp.concatenate([eta, other.mu - state.mu])


def _system(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
    A, B = floats("A", A), floats("B", B)
    if B.ndim != 2 or A.shape != (B.shape[0], B.shape[0]) or not B.size:
        raise InputError(f"A has shape {A.shape} and B {B.shape}; expected (n, n) and (n, nu).")
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(B))):
        raise InputError("A or B holds NaN or infinite values; give finite numbers.")
    return A, B


def weight(name: str, value: Any, size: int) -> np.ndarray:
    """A matrix from a number, a diagonal or a matrix."""
    array = floats(name, value)
    array = np.diag(array) if array.ndim == 1 else array * np.eye(size) if array.ndim == 0 else array
    if array.shape != (size, size):
        raise InputError(f"{name} has shape {array.shape}; expected a number, {size} of them, or {size} x {size}.")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
    values = np.linalg.eigvalsh(array := 0.5 * (array + array.T))
    if values[0] < (1e-300 if name == "R" else -ROUNDING * values[-1]):
        raise InputError(f"{name} is not positive {'semi' * (name != 'R')}definite; expected weights that are.")
    return array


def _reach(A: np.ndarray, B: np.ndarray, tolerance: float) -> Reach:
    """Staircase by orthogonal bases, so that powers of A do not swamp small directions."""
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(B))):
        raise InputError("the matrices hold NaN or infinite values; give finite numbers.")
    basis = np.zeros((len(A), 0))
    new, sizes = B, []
    while new.size and basis.shape[1] < len(A):
        new = new - basis @ (basis.T @ new)
        left, values, _ = np.linalg.svd(new, full_matrices=False)
        keep = values > tolerance * max(1.0, float(np.linalg.norm(A)))
        sizes += values.tolist()
        if not keep.any():
            break
        basis = np.concatenate([basis, left[:, keep]], axis=1)
        new = A @ left[:, keep]
    missing = np.linalg.svd(basis, full_matrices=True)[0][:, basis.shape[1] :] if basis.size else np.eye(len(A))
    return Reach(basis.shape[1], np.array(sizes), missing)
