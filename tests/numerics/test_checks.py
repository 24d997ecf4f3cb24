"""Numbers, directions, rotations and inertias that are taken, and those that are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.errors import InputError
from naiad.numerics import checks

TURN = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("check", "taken", "refused"),
    [
        (checks.number, [0, -2.5, [3.0]], [np.inf, "x", (1.0, 2.0), None, np.nan]),
        (checks.positive, [1, 1e-300, np.array([2.0])], [0, -1.0, np.nan, np.inf, (1.0, 2.0)]),
        (lambda name, value: checks.positive(name, value, zero=True), [0, 0.0, 2.0], [-1e-300, np.nan]),
        (lambda name, value: checks.positives(name, value, 2), [(1.0, 2.0)], [(1.0, 0.0), (1.0,), (1.0, np.inf)]),
        (
            lambda name, value: checks.positives(name, value, 2, zeros=1),
            [(1.0, 0.0), (1.0, 2.0)],
            [(0.0, 0.0), (1.0, -1.0), (1.0, 2.0, 3.0)],
        ),
        (lambda _, value: checks.masses(value), [[1.0], (1.0, 2.0)], [1.0, [], [0.0], [1.0, np.inf], [[1.0]]]),
        (checks.vector, [(0.0, 0.0, 0.0), [1, 2, 3]], [(1.0, 2.0), (1.0, np.nan, 0.0), 1.0, np.eye(3)]),
        (checks.unit_axis, [(0.6, 0.0, 0.8)], [(0.0, 0.0, 0.0), (1.0, 0.0), (np.inf, 0.0, 0.0), np.eye(3), "x"]),
        (
            lambda name, value: checks.inertia_matrix(name, value, 2),
            [np.diag([1.0, 2.0]), [[2.0, 1.0], [1.0, 2.0]]],
            [(1.0, 0.0), [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.1], [0.0, 1.0]], (1.0, 1.0, 1.0), (1.0, np.nan)],
        ),
        (
            lambda name, value: checks.friction_matrix(name, value, 2),
            [np.diag([1.0, 0.0]), [[1.0, 1.0], [1.0, 1.0]]],
            [(1.0, -1e-6), [[0.0, 1.0], [1.0, 0.0]]],
        ),
        (checks.body_inertia, [np.diag([1.0, 2.0, 3.0])], [(1.0, 2.0, 3.001), (1.0, 1.0, 5.0)]),
    ],
)
def test_what_is_taken_is_given_back_and_the_rest_refused_by_name(check, taken, refused):
    for value in taken:
        np.testing.assert_allclose(check("it", value), np.reshape(value, np.shape(check("it", value))), rtol=1e-15)
    for value in refused:
        with pytest.raises(InputError, match=r"^(it|m) "):
            check("it", value)


def test_directions_have_length_one_traced_or_not():
    np.testing.assert_allclose(checks.unit_axis("axis", (3.0, 0.0, -4.0)), (0.6, 0.0, -0.8), rtol=1e-15)
    with jax.enable_x64(True):
        traced = jax.jit(lambda x: checks.unit_axis("axis", x))(jnp.array([3.0, 0.0, -4.0]))
    np.testing.assert_allclose(traced, (0.6, 0.0, -0.8), rtol=1e-15)


def test_a_diagonal_stands_for_its_matrix():
    np.testing.assert_array_equal(checks.inertia_matrix("J", (1.0, 2.0), 2), np.diag([1.0, 2.0]))


def test_rotations_are_neither_reflections_nor_nearly_rotations():
    checks.check_rotations("R", TURN)
    checks.check_rotations("R", np.stack([TURN, TURN.T]))
    with pytest.raises(InputError, match=r"R is not a rotation: .* det R = -1"):
        checks.check_rotations("R", np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(InputError, match=r"R\[1\] is not a rotation"):
        checks.check_rotations("R", np.stack([TURN, 1.001 * TURN]))


def test_the_same_seed_draws_the_same():
    assert checks.generator(3).random() == np.random.default_rng(3).random()
    with pytest.raises(InputError, match="seed = -1"):
        checks.generator(-1)
