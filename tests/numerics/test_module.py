"""`Module`: a frozen dataclass that is a tree for JAX."""

import abc
import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.numerics import Module, double, static


class Spring(Module):
    stiffness: Any
    power: int = static(default=1)
    rest: Any = None

    def force(self, x):
        return -self.stiffness * jnp.asarray(x) ** self.power

    @property
    def third(self):
        return jnp.asarray(self.stiffness) / 3.0


class Halved(Spring):
    def __init__(self, stiffness):
        self.stiffness = stiffness / 2
        self.power = 3


class Named(Halved):
    label: str = static(default="spring")


def test_fields_are_branches_and_static_ones_are_not():
    leaves, tree = jax.tree.flatten(Spring(np.ones(2), power=3, rest=(1.0, 2.0)))
    assert len(leaves) == 3
    assert tree != jax.tree.structure(Spring(np.ones(2), power=2, rest=(1.0, 2.0)))
    back = jax.tree.unflatten(tree, leaves)
    assert type(back) is Spring
    assert back.power == 3
    assert back.rest == (1.0, 2.0)
    assert next(jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(back)) == ".stiffness"


def test_derivative_and_jit_go_through_it():
    by = jax.jit(jax.grad(lambda spring: spring.force(3.0)))(Spring(2.0, power=2))
    assert type(by) is Spring
    assert by.stiffness == -9.0
    assert by.power == 2


def test_constructor_of_its_own_is_inherited_unless_there_are_new_fields():
    assert Halved(3.0).stiffness == 1.5
    assert Halved(3.0).rest is None
    assert Named(3.0).stiffness == 3.0
    assert Named(3.0).label == "spring"


def test_frozen():
    for spring in (Spring(1.0), Halved(1.0)):
        with pytest.raises(dataclasses.FrozenInstanceError, match="stiffness cannot be set; make a new one"):
            spring.stiffness = 2.0
        with pytest.raises(dataclasses.FrozenInstanceError, match="colour"):
            spring.colour = "red"
        with pytest.raises(dataclasses.FrozenInstanceError, match="deleted"):
            del spring.stiffness


def test_equality_and_hash_by_value():
    with jax.enable_x64(True):
        assert Spring(np.ones(2)) == Spring(jnp.ones(2)) != Spring(np.array([1.0, 2.0]))
    assert Spring(1.0) != Spring(1.0, power=2)
    assert Spring(1.0) != Halved(2.0)
    assert hash(Spring(1.0)) == hash(Spring(1.0))
    assert len({nd.SOn(3), nd.SOn(3), nd.SOn(4)}) == 2
    assert (Spring(1.0) == 1.0) is False


def test_public_methods_are_in_double_precision():
    assert Spring(2.0).force(1.0).dtype == np.float64
    assert Spring(2.0).third == 2.0 / 3.0
    assert jnp.ones(1).dtype == np.float32


def test_what_comes_out_is_gone_on_with_in_double_precision():
    """JAX, in 32 bits, multiplies matrices of float64 in float32 and calls the result float64: 3e-8 off."""
    R, S = (nd.SO3().exp(np.array(each)) for each in ((0.3, -0.8, 0.5), (1.1, 0.2, -0.4)))
    expected = [[sum(float(R[i, k]) * float(S[k, j]) for k in range(3)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(R @ S, expected, rtol=0.0, atol=1e-15)
    pose = nd.SE3().exp(np.full(6, 0.1))
    assert all(type(each) is np.ndarray and each.flags.writeable for each in pose)
    key = jax.random.key(0)
    assert double(lambda: (key, 1.0))()[0] is key
    spring = Spring(np.ones(2))
    assert double(lambda: spring)() is spring
    with jax.enable_x64(True):
        assert isinstance(nd.SO3().identity(), jax.Array)


def test_replaced():
    assert Halved(3.0).replaced(stiffness=7.0).stiffness == 7.0

    class Fixed(Module):
        @property
        def a0(self):
            return 1.0

    with pytest.raises(InputError, match="a0 is a property; it must be a field"):
        Fixed().replaced(a0=2.0)


def test_pickle():
    spring = pickle.loads(pickle.dumps(Spring(2.0, power=3)))
    assert spring == Spring(2.0, power=3)


def test_what_is_missing_is_named():
    class Abstract(Module):
        needs = ("base",)

        @abc.abstractmethod
        def f(self): ...

    class Incomplete(Abstract):
        def f(self):
            return self.base

    class Complete(Incomplete):
        base: Any

    with pytest.raises(InputError, match="Incomplete has no `base`; give the class one"):
        Incomplete()
    with pytest.raises(InputError, match="Half lacks f; give the class that"):
        type("Half", (Abstract,), {"base": 1})()
    assert Complete(2).f() == 2


def test_class_methods_are_checked_at_the_door():
    with pytest.raises(InputError, match=r"ellipsoid: missing a required argument: 'density'; it takes axes, density"):
        nd.models.KirchhoffBody.ellipsoid((1.0, 2.0, 3.0))
    with pytest.raises(InputError, match=r"reference: too many positional arguments; it takes system, state, t1=, t0="):
        nd.diagnostics.reference(None, None, 1.0)
    with pytest.raises(InputError, match=r"ellipsoid: got an unexpected keyword .* 'heavy'; it takes nothing else"):
        nd.models.KirchhoffBody.ellipsoid((1.0, 2.0, 3.0), 1.0, heavy=True)
    with pytest.raises(InputError, match=r"KirchhoffBody.ellipsoid: density = 'heavy'; expected a number"):
        nd.models.KirchhoffBody.ellipsoid((1.0, 2.0, 3.0), "heavy")
    with pytest.raises(InputError, match=r"SubmergedBody.from_shape: missing a required argument: 'gravity'"):
        nd.models.SubmergedBody.from_shape(nd.hydro.Ellipsoid((1.0, 2.0, 3.0)), 1000.0)


def test_a_class_that_another_process_does_not_know_goes_along():
    """As from a notebook: the class is made there without its fields, which come later."""

    class Pair(Module):
        first: float
        second: float
        name: str = static(default="pair")

        def total(self):
            return self.first + self.second

    sent = cloudpickle.dumps(Pair(1.5, 2.0, name="two"))
    code = "import sys, pickle, jax; p = pickle.load(sys.stdin.buffer); print(p.total(), jax.tree.leaves(p), p.name)"
    came = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert came.stdout.decode().split() == ["3.5", "[1.5,", "2.0]", "two"]
