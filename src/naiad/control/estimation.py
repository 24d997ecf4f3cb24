"""Estimation: parameters and an initial state from noisy measurements of parts of the state, with standard errors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.control.doors import end_states, shaped
from naiad.control.linear import displaced, stepped
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, check_method, default_method
from naiad.mechanics import LagrangianSystem, State
from naiad.mechanics.functions import with_system
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, number, positive

NOTHING = 1e-13  # of the largest: the information that is none
SMALLEST_GAIN = 1e-10  # the relative decrease of the misfit that a further step promises, at which it ends


class Estimate(NamedTuple):
    """Parameters and the initial state that fit measurements best, by weighted least squares.

    `theta_errors` and `state_errors` are standard errors, of the parameters and of the increments (eta, dmu) of the
    state, from `covariance`, that of (eta, dmu, theta), the inverse of their `information`: infinite for what the
    measurements do not tell, zero for what is held. `residuals` are measured less computed values, NaN for those that
    are missing; `misfit` is half the weighted sum of their squares.
    """

    theta: np.ndarray
    theta_errors: np.ndarray
    state: State
    state_errors: np.ndarray
    covariance: np.ndarray
    information: np.ndarray
    residuals: np.ndarray
    misfit: float
    iterations: int
    converged: bool


class Prior(NamedTuple):
    """What is known before: a state, parameters, and the information (the inverse covariance) of (eta, dmu, theta)."""

    state: State
    theta: np.ndarray
    information: np.ndarray


class _Fit(NamedTuple):
    """What is fitted: the system, the function model(system, theta), what is measured, the method, the steps, the time
    of the first measurement, and the weights."""

    system: LagrangianSystem
    model: Any
    measure: Any
    method: AbstractMethod
    h: float
    every: int
    t0: float
    weights: np.ndarray

    def segment(self, state: State, theta: Any, k: int) -> Any:
        """From measurement k to the next (see `_segment`)."""
        parts = (self.system, self.model, self.measure, self.method, self.h, self.every)
        return execute(_segment, *parts, state, theta, self.t0 + k * self.every * self.h, parameters=())


@checked
def estimate(
    system: LagrangianSystem,
    state: State,
    measured: Any,
    *,
    measure: Callable[..., Any],
    dt: float,
    every: int = 1,
    t0: float = 0.0,
    model: Callable[..., Any] | None = None,
    theta: Any = (),
    weights: Any = None,
    prior: Prior | None = None,
    free_state: bool = True,
    method: AbstractMethod | None = None,
    iterations: int = 50,
) -> Estimate:
    """The parameters and the initial state with which the motion fits measurements best.

    - `state`, `theta`: where to begin; `model(system, theta)` is the system with these parameters.
    - `measured`: a row for each time, every `every` steps of `dt`, of what `measure(state, t)`, or
      `measure(system, state, t)`, gives; the first is of the initial state, at t0.
    - `weights`: one over the variance of each measured number (a number, one for each column, or of the shape of
      `measured`; 0 for what is missing, as NaN in `measured` is). Without them all count alike, and their variance is
      estimated.
    - `prior`: what is known before; `free_state=False` holds the initial state.

    Gauss-Newton with a shift (Levenberg-Marquardt), the derivatives by those of the steps, on the group.
    """
    theta = floats("theta", theta)
    if theta.ndim != 1 or not np.all(np.isfinite(theta)):
        raise InputError(f"theta = {theta!r}; expected a vector of finite numbers.")
    if (model is None) != (theta.size == 0):
        raise InputError("model and theta go together: model(system, theta) is the system with the parameters theta.")
    if not theta.size and not free_state:
        raise InputError("nothing is unknown: give theta and model, or leave the state free.")
    if every < 1 or iterations < 1:
        raise InputError(f"every = {every!r}, iterations = {iterations!r}; expected both at least 1.")
    (state,) = end_states(system, state=state)
    (count,) = shaped(
        "measure", with_system(measure, system), {"state": _shapes(state), "t": jax.ShapeDtypeStruct((), float)}, None
    )
    rows = floats("measured", measured)
    if rows.ndim != 2 or rows.shape[1] != count or not len(rows):
        raise InputError(f"measured has shape {rows.shape}; expected a row of {count} numbers for each time.")
    if np.any(np.isinf(rows)):
        raise InputError("measured holds infinite values; expected numbers, and NaN for what is missing.")
    known, weights = weights is not None, _weights(weights, rows)
    if prior is not None:
        _check(prior, 2 * system.group.dim, theta.size)
    method = default_method(system) if method is None else method
    check_method(method, system)
    fit = _Fit(system, model, measure, method, positive("dt", dt), every, number("t0", t0), weights)
    return _minimised(fit, state, theta, rows, prior, free_state, known, iterations)


def _minimised(
    fit: _Fit,
    state: State,
    theta: np.ndarray,
    rows: np.ndarray,
    prior: Prior | None,
    free_state: bool,
    known: bool,
    iterations: int,
) -> Estimate:
    n = 2 * fit.system.group.dim
    free = np.r_[np.arange(n) if free_state else np.zeros(0, int), n + np.arange(theta.size)]
    misfit, slope, matrix, residuals = _normal(fit, state, theta, rows, prior)
    shift, done, count = 1e-3, False, 0
    while not done and count < iterations:
        count += 1
        own = matrix[np.ix_(free, free)]
        done = 0.5 * float(slope[free] @ np.linalg.lstsq(own, slope[free], rcond=None)[0]) <= SMALLEST_GAIN * misfit
        if done:
            break
        change = np.zeros(n + theta.size)
        change[free] = -np.linalg.lstsq(own + shift * np.diag(np.diag(own)), slope[free], rcond=None)[0]
        moved = execute(displaced, fit.system, state, change[:n], parameters=())
        trial = jax.tree.map(np.asarray, moved), theta + change[n:]
        result = _normal(fit, *trial, rows, prior)
        if np.isfinite(result[0]) and result[0] <= misfit * (1.0 + 1e-14):
            (state, theta), (misfit, slope, matrix, residuals) = trial, result
            shift = max(0.1 * shift, 1e-12)
        else:
            shift *= 10.0
            if shift > 1e12:
                break
    own, covariance, information = matrix[np.ix_(free, free)], np.zeros_like(matrix), np.zeros_like(matrix)
    variance, more = 1.0, np.count_nonzero(fit.weights) - free.size
    if not known:  # it is that of the residuals, if there are more of them than unknowns
        variance = 2.0 * misfit / more if more > 0 else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance[np.ix_(free, free)], information[np.ix_(free, free)] = _inverse(own) * variance, own / variance
    errors = np.sqrt(np.diag(covariance))
    return Estimate(
        theta, errors[n:], state, errors[:n], covariance, information, residuals, float(misfit), count, bool(done)
    )


def _inverse(information: np.ndarray) -> np.ndarray:
    """The covariance, with infinite variances of what has a part in a direction of which nothing is known."""
    size = np.sqrt(np.diag(information))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    known = values > NOTHING
    found = (vectors[:, known] / values[known]) @ vectors[:, known].T / np.outer(scale, scale)
    lost = np.max(np.abs(vectors[:, ~known]), axis=1, initial=0.0) > np.sqrt(NOTHING)
    found[lost, lost] = np.inf
    return found


def _normal(fit: _Fit, state: State, theta: np.ndarray, rows: np.ndarray, prior: Prior | None) -> Any:
    """Half the sum of the weighted squares, its slope and Gauss-Newton matrix in (eta, dmu, theta), and the
    residuals."""
    n, size = 2 * fit.system.group.dim, 2 * fit.system.group.dim + theta.size
    at, response = state, np.eye(size)  # rows: derivatives of (x, theta) now in those of the beginning
    misfit, slope, matrix, residuals = 0.0, np.zeros(size), np.zeros((size, size)), np.empty_like(rows)
    for k, row in enumerate(rows):
        at_next, value, slopes, after = fit.segment(at, theta, k)
        J = slopes.T @ response
        residuals[k] = row - value
        weight, there = fit.weights[k], np.where(fit.weights[k] > 0.0, residuals[k], 0.0)
        misfit += 0.5 * float(weight @ there**2)
        slope -= J.T @ (weight * there)
        matrix += J.T @ (weight[:, None] * J)
        step = np.eye(size)
        step[:n] = after.T
        at, response = at_next, step @ response
    if prior is not None:
        away = execute(_apart, fit.system, prior.state, state, parameters=())
        difference = np.concatenate([away, theta - prior.theta])
        misfit += 0.5 * float(difference @ prior.information @ difference)
        slope += prior.information @ difference
        matrix += prior.information
    return misfit, slope, matrix, residuals


def _segment(system: Any, model: Any, measure: Any, method: Any, h: Any, every: Any, state: State, theta: Any, t: Any):
    """From a measurement at t to the next: the state there, what is measured here, and the derivatives of both in rows
    of (eta, dmu, theta)."""
    n = 2 * system.group.dim

    def moved(z):
        own = system if model is None else model(system, theta + z[n:])
        begin = displaced(system, state, z[:n])
        end = jax.lax.fori_loop(0, every, lambda j, at: stepped(own, method, at, t + j * h, h), begin)
        return jnp.atleast_1d(with_system(measure, own)(begin, t)), end

    value, end = moved(jnp.zeros(n + theta.shape[0]))

    def increments(z):
        now, after = moved(z)
        return now, _apart(system, end, after)

    def along(index):
        size = n + theta.shape[0]
        direction = jnp.where(jnp.arange(size) == index, 1.0, 0.0)
        return jax.jvp(increments, (jnp.zeros(size),), (direction,))[1]

    slopes, after = jax.lax.map(along, jnp.arange(n + theta.shape[0]))
    return end, value, slopes, after


def _apart(system: LagrangianSystem, origin: State, state: State) -> Any:
    """(eta, dmu) of a state from another."""
    eta = system.group.log(system.group.compose(system.group.inverse(origin.g), state.g))
    return jnp.concatenate([eta, state.mu - origin.mu])


def _shapes(state: State) -> State:
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(np.shape(a), float), state)


def _weights(weights: Any, rows: np.ndarray) -> np.ndarray:
    array = np.ones(()) if weights is None else floats("weights", weights)
    try:
        found = np.broadcast_to(array, rows.shape).astype(float)
    except ValueError:
        raise InputError(f"weights have shape {array.shape}; expected one that fits {rows.shape}.") from None
    if not np.all(np.isfinite(found) & (found >= 0.0)):
        raise InputError("weights hold negative or infinite values, or NaN; expected one over each variance, or 0.")
    return np.where(np.isnan(rows), 0.0, found)


def _check(prior: Prior, n: int, count: int) -> None:
    """What is known before fits n increments of the state and so many parameters."""
    information, size = floats("prior.information", prior.information), n + count
    if np.shape(prior.theta) != (count,) or information.shape != (size, size):
        raise InputError(
            f"prior has {np.size(prior.theta)} parameters and information of shape {information.shape}; expected "
            f"{count} and {(size, size)}, for the increments of the state and the parameters."
        )
    values = np.linalg.eigvalsh(information) if np.all(np.isfinite(information)) else np.full(1, -np.inf)
    if not np.allclose(information, information.T, rtol=1e-9) or values[0] < -1e-9 * abs(values[-1]):
        raise InputError("prior.information is not the inverse of a covariance: expected a symmetric matrix, >= 0.")


class MovingHorizon:
    """The state and the parameters now, from the last `window` measurements and what is known from those before.

    `options` are those of `estimate`, `measure` among them; t0 is the time of the first measurement. Calling it with a
    row of measurements gives the `Estimate` of the window's first state; `now` is the state at the last measurement.
    """

    @checked
    def __init__(
        self,
        system: LagrangianSystem,
        prior: Prior,
        *,
        window: int,
        dt: float,
        every: int = 1,
        t0: float = 0.0,
        **options: Any,
    ):
        if window < 2:
            raise InputError(f"MovingHorizon: window = {window!r}; expected at least 2 measurements.")
        self._system, self._prior, self._window, self._options = system, prior, window, options
        self._dt, self._every, self._t0 = positive("dt", dt), every, number("t0", t0)
        self._rows: list[np.ndarray] = []
        self._passed = 0
        self.now: State | None = None

    @double
    def __call__(self, row: Any) -> Estimate:
        """Take up a row of measurements."""
        self._rows.append(np.atleast_1d(floats("row", row)))
        if len(self._rows) > self._window:
            self._prior = self._arrived()
            self._rows.pop(0)
            self._passed += 1
        prior, options = self._prior, self._given()
        found = estimate(self._system, prior.state, np.array(self._rows), prior=prior, **options)
        self.now = self._rolled(found)
        return found

    def _arrived(self) -> Prior:
        """What is known at the second state of the window, from the prior and the first measurement."""
        options = self._given()
        first = estimate(
            self._system,
            self._prior.state,
            np.array(self._rows[:1]),
            prior=self._prior,
            weights=options.pop("weights", 1.0),
            **options,
        )
        fit = self._fit(len(self._rows[0]))
        n = 2 * self._system.group.dim
        end, _, _, after = fit.segment(first.state, first.theta, 0)
        step = np.eye(len(first.covariance))
        step[:n] = after.T
        back = np.linalg.inv(step)
        return Prior(end, first.theta, back.T @ first.information @ back)

    def _rolled(self, found: Estimate) -> State:
        fit, at = self._fit(len(self._rows[0])), found.state
        for k in range(len(self._rows) - 1):
            at = fit.segment(at, found.theta, k)[0]
        return at

    def _given(self) -> dict[str, Any]:
        """The options of the window: it begins with the first measurement that is still in it."""
        t0 = self._t0 + self._passed * self._every * self._dt
        own = {"theta": self._prior.theta, "dt": self._dt, "every": self._every, "t0": t0}
        return {"iterations": 4, **self._options, **own}

    def _fit(self, count: int) -> _Fit:
        given = self._given()
        method = given.get("method") or default_method(self._system)
        steps = (given["dt"], given["every"], given["t0"])
        return _Fit(self._system, given.get("model"), given["measure"], method, *steps, np.ones(count))
