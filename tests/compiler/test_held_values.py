"""What a function holds is part of its code: another value is another function, on disk too."""

import functools
import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler.backends import LLVM
from naiad.errors import InputError
from naiad.numerics import Module


class Gain(Module):
    k: jax.Array

    def __call__(self, x, t=0.0):
        return self.k[0] * x

    def of_momentum(self, state, t):
        return self.k[0] * state.mu[0]


class Net(eqx.Module):
    weight: jax.Array

    def __call__(self, x):
        return self.weight[0] * x


def closed(k):
    return lambda x: k[0] * x


@pytest.mark.parametrize(
    "hold",
    [
        Gain,
        Net,
        closed,
        lambda k: functools.partial(lambda k, x: k[0] * x, k),
        lambda k: functools.partial(lambda held, x: held["k"][0][0] * x, {"k": [k]}),
        lambda k: Gain(k).__call__,
        lambda k: lambda x, k=k: k[0] * x,
    ],
    ids=["module", "network", "closure", "partial", "partial of a tree", "method", "default"],
)
def test_functions_that_hold_other_arrays_have_other_code(hold):
    for value in (2.0, 3.0, 2.0):
        assert nd.compile(hold(np.array([value, 0.0])))(1.5) == value * 1.5
        assert nd.compile(hold(np.array([value, 0.0]))).batch(np.array([1.5]))[0] == value * 1.5


@pytest.mark.parametrize("hold", [lambda k: lambda s, t: Gain(k).of_momentum(s, t), lambda k: Gain(k).of_momentum])
def test_what_is_watched_may_hold_arrays(hold):
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    state = body.state(Omega=(1.0, 0.0, 0.0))
    for value in (2.0, 3.0):
        watch = hold(np.array([value]))
        section = nd.Section(lambda s, t, watch=watch: t * watch(s, t) - 0.1)
        run = nd.simulate(
            body, state, t1=0.1, dt=0.01, outputs={"o": watch}, monitors={"m": watch}, sections={"s": section}
        )
        np.testing.assert_allclose(run.record["o"], value, rtol=1e-14)
        assert run.monitors["m"].max == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(run.crossings["s"]["time"], 0.1 / value, rtol=1e-9)


@jax.tree_util.register_pytree_node_class
class Checked:
    """A result that looks at what it holds when it is made."""

    def __init__(self, x):
        if x.shape != (2,):
            raise ValueError(f"{x!r} is no vector")
        self.x = x

    def tree_flatten(self):
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


class Doubting(Checked):
    """One that takes nothing but arrays, so that no code for it can be kept."""

    def __init__(self, x):
        if isinstance(x, jax.ShapeDtypeStruct):
            raise ValueError("no number")
        super().__init__(x)


jax.tree_util.register_pytree_node_class(Doubting)


@pytest.mark.parametrize("kind", [Checked, Doubting])
@pytest.mark.parametrize("cache", [True, False])
def test_results_may_check_what_they_hold(kind, cache):
    for _ in range(2):  # the second finds what the first has kept
        np.testing.assert_array_equal(nd.compile(lambda y: kind(2.0 * y.x), cache=cache)(kind(np.ones(2))).x, 2.0)


@nd.compile
def decorated(x):
    return 3.0 * x


def plain(x):
    return 5.0 * x


def test_compiled_functions_travel():
    assert decorated(2.0) == 6.0
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    exact = nd.compile(plain, fma=False, parameters=(0,), lanes=1, cache=False)
    there = pickle.loads(pickle.dumps(exact))
    assert there(2.0) == 10.0
    assert pickle.loads(pickle.dumps(nd.compile(functools.partial(plain))))(2.0) == 10.0
    assert there.__reduce__()[0].keywords == exact.__reduce__()[0].keywords
    options = {"fma": False, "parameters": (0,), "lanes": 1, "cache": False, "backend": LLVM(), "most_scalars": None}
    assert there.__reduce__()[0].keywords == options


@pytest.mark.parametrize("transform", [jax.jit, jax.grad, lambda f: lambda x: jax.vmap(f)(jnp.full(3, x))])
def test_machine_code_cannot_be_traced(transform):
    with pytest.raises(InputError, match=r"call its `\.function`"):
        transform(decorated)(1.0)
    transform(decorated.function)(1.0)
