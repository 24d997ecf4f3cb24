"""Mistakes in the functions that a user writes: one line that names the function, the place and the remedy."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.mechanics.functions import takes_system


def system(lagrangian, **others):
    return type("Own", (nd.LagrangianSystem,), {"group": nd.Rn(2), "lagrangian": lagrangian, **others})()


def kinetic(self, q, v, t):
    return 0.5 * v @ v


def vector(self, q, v, t):
    return 0.5 * v * v


def complex_number(self, q, v, t):
    return 0.5 * v @ v + 1j * q[0]


def whole_number(self, q, v, t):
    return jnp.sum(v).astype(int)


def nothing(self, q, v, t):
    0.5 * v @ v


def branch(self, q, v, t):
    return 0.5 * v @ v if q[0] > 0 else v @ v


def numpy_function(self, q, v, t):
    return 0.5 * v @ v - np.sin(q[0])


def python_number(self, q, v, t):
    return float(v @ v)


def python_index(self, q, v, t):
    return 0.5 * v @ v * [1.0, 2.0][jnp.argmax(q)]


def condition(self, q, v, t):
    return 0.5 * v @ v + jnp.sum(q[q > 0])


def unknown_name(self, q, v, t):
    return 0.5 * v @ v - mass * q[0]  # noqa: F821


def two_arguments(self, q, v):
    return 0.5 * v @ v


def lengths(self, q, v, t):
    return 0.5 * v @ v - q @ jnp.ones(3)


def loop(self, q, v, t):
    return 0.5 * v @ v - jax.lax.while_loop(lambda x: x < 9.0, lambda x: 2.0 * x, 1.0 + q[0] ** 2)


MISTAKES = {
    vector: "gives an array of shape (2,); expected one real number",
    complex_number: "gives complex128; expected real numbers",
    whole_number: "gives int64; expected real numbers",
    nothing: "is its `return` missing",
    branch: "write jnp.where(condition, a, b)",
    numpy_function: "take the function of the same name in jax.numpy",
    python_number: "leave it an array",
    python_index: "an index or a length",
    condition: "write jnp.where(condition, array, 0)",
    unknown_name: "name 'mass' is not defined",
    two_arguments: "it is called with (g, xi, t)",
    lengths: "got (2,) and (3,)",
    loop: "Reverse-mode differentiation does not work for lax.while_loop",
}
TRACED = (branch, numpy_function, python_number, python_index, condition, unknown_name, lengths)


@pytest.mark.parametrize("lagrangian", MISTAKES, ids=lambda f: f.__name__)
def test_a_bad_lagrangian_is_told_in_one_line(lagrangian):
    own = system(lagrangian)

    def run():
        nd.simulate(own, own.state(q=(0.5, 0.2), v=(1.0, 0.0)), t1=0.1, dt=0.05)

    with pytest.raises(InputError) as caught:
        run()
    message = str(caught.value)
    assert "Own.lagrangian" in message
    assert MISTAKES[lagrangian] in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    line = lagrangian.__code__.co_firstlineno + (lagrangian in TRACED)
    if lagrangian is not two_arguments:
        assert f"{__file__}, line {line}" in message


def test_propagate_says_the_same():
    own = system(kinetic, force=lambda self, q, v, t: -np.tanh(q))
    state = own.state(q=(0.5, 0.2), v=(1.0, 0.0))
    with pytest.raises(InputError, match=r"Own.force \(.*test_functions.py, line .*jax.numpy"):
        nd.propagate(own, state, dt=0.1, steps=2)


@pytest.mark.parametrize(
    ("part", "function", "words"),
    [
        ("force", lambda self, q, v, t: -q[0], r"Own.force .* gives an array of shape \(\); expected .* \(2,\)"),
        ("dissipation", lambda self, q, t: np.eye(2) * np.cos(q), "Own.dissipation .*jax.numpy"),
        ("constraint", lambda self, q, t: np.sin(q[0]), "Own.constraint .*jax.numpy"),
        ("symmetry", lambda self, s, q: q + jnp.ones(3) * s, "Own.symmetry .*incompatible shapes"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_other_functions_of_a_system(part, function, words):
    own = system(kinetic, **{part: function})
    with pytest.raises(InputError, match=words):
        nd.simulate(own, own.state(q=(0.5, 0.2), v=(1.0, 0.0)), t1=0.1, dt=0.05)


@pytest.mark.parametrize(
    ("option", "function", "words"),
    [
        ("outputs", lambda state, t: np.sin(state.g), "jax.numpy"),
        ("outputs", lambda state: state.g, "it is called with (state, t)"),
        ("monitors", lambda state, t: state.g, "gives an array of shape (2,)"),
        ("sections", nd.Section(lambda state, t: state.g), "gives an array of shape (2,)"),
    ],
)
@pytest.mark.parametrize("run", [nd.simulate, lambda own, state, **options: nd.simulate_many(own, [state], **options)])
def test_functions_that_observe(option, function, words, run):
    own = system(kinetic)
    state = own.state(q=(0.5, 0.2), v=(1.0, 0.0))
    with pytest.raises(InputError, match=re.escape(f"{option}['own']")) as caught:
        run(own, state, t1=0.1, dt=0.05, **{option: {"own": function}})
    assert words in str(caught.value)


def test_one_number_is_a_force_on_one_coordinate():
    class Spring(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v

        def force(self, q, v, t):
            return -q[0]

    run = nd.simulate(Spring(), Spring().state(q=[1.0]), t1=1.0, dt=1e-3, method=nd.RKMK())
    assert run.states.g[-1, 0] == pytest.approx(np.cos(1.0), abs=1e-9)


def test_an_error_of_a_user_s_own_progress_is_left_alone():
    own = system(kinetic)

    class EnoughError(Exception):
        pass

    def progress(fraction):
        raise EnoughError

    with pytest.raises(EnoughError):
        nd.simulate(own, own.state(q=(0.5, 0.2), v=(1.0, 0.0)), t1=0.1, dt=0.05, progress=progress)


def observed(system, state, t):
    return t


@functools.wraps(observed)
def wrapped(*args):
    return observed(*args)


class Observer:
    def __call__(self, state, t):
        return t

    def of_all(self, system, state, t):
        return t

    @staticmethod
    def of_any(state, t, *rest, unit=1.0):
        return t


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (observed, True),
        (lambda state, t: t, False),
        (lambda system, state, t: t, True),
        (lambda state, t, scale=2.0: t, False),
        (lambda system, state, t, scale=2.0: t, True),
        (lambda *given: given[-1], False),
        (lambda system, state, t, *, unit=1.0: t, True),
        (functools.partial(observed, None), False),
        (wrapped, True),
        (Observer(), False),
        (Observer().of_all, True),
        (Observer.of_any, False),
        (jax.jit(observed), True),
    ],
)
def test_a_function_of_three_arguments_takes_the_system(function, takes):
    assert takes_system(function) is takes
