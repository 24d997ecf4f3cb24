"""Chebyshev series against NumPy's, and their derivatives against those of the function."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.numerics import ChebyshevSeries, chebyshev_points

LOW, HIGH = np.array([-1.0, 0.5]), np.array([2.0, 1.5])


def function(x):
    return jnp.stack([jnp.exp(0.3 * x[0]) * jnp.sin(x[1]), x[0] ** 2 - x[0] * x[1]])


@functools.cache
@nd.double
def series():
    points = chebyshev_points((14, 12), LOW, HIGH)
    return ChebyshevSeries.through(np.asarray(jax.jit(jax.vmap(function))(points)).reshape(14, 12, 2), LOW, HIGH)


@nd.double
def test_values_and_derivatives():
    made, x = series(), jnp.array([0.7, 1.2])
    for k in range(3):
        derive, exact = made.__call__, function
        for _ in range(k):
            derive, exact = jax.jacfwd(derive), jax.jacfwd(exact)
        np.testing.assert_allclose(jax.jit(derive)(x), jax.jit(exact)(x), rtol=0, atol=1e-13 * 30**k)
    np.testing.assert_allclose(
        jax.jit(jax.jacrev(jax.jacfwd(made.__call__)))(x), jax.jit(jax.hessian(function))(x), rtol=0, atol=1e-10
    )


@nd.double
def test_values_against_numpy():
    made, x = series(), np.array([0.7, 1.2])
    unit = (2.0 * x - LOW - HIGH) / (HIGH - LOW)
    expected = np.polynomial.chebyshev.chebval2d(*unit, np.asarray(made.coefficients))
    np.testing.assert_allclose(made(jnp.asarray(x)), expected, rtol=1e-14)


@nd.double
def test_derivative_with_respect_to_the_coefficients():
    made, x = series(), jnp.array([0.7, 1.2])
    twice = made.replaced(coefficients=2.0 * np.asarray(made.coefficients))
    change = jax.jvp(lambda c: made.replaced(coefficients=c)(x), (made.coefficients,), (made.coefficients,))[1]
    np.testing.assert_allclose(change, twice(x) - made(x), rtol=1e-13)


@nd.double
def test_outside_it_is_not_a_number():
    made = series()
    assert np.all(np.isfinite(made(jnp.asarray(LOW))))
    assert np.all(np.isnan(made(jnp.array([0.0, 1.6]))))


def test_compiled_derivatives_are_those_of_jax():
    made, x = series(), np.array([0.7, 1.2])

    def both(made, x):
        return made(x), jax.jacfwd(made)(x), jax.hessian(made)(x)

    with jax.enable_x64(True):
        expected = both(made, jnp.asarray(x))
    for one, other in zip(nd.compile(both)(made, x), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
