"""Names, shapes, precision, pytrees and clear errors."""

import copy
import pickle

import jax
import numpy as np
import pytest

import naiad.errors
from naiad.groups import S3, SE2, SE3, SO2, SO3, Names, Power, Product, Rn, SOn
from naiad.numerics import double
from tests.sampling import GROUPS, distance

every_group = pytest.mark.parametrize("name", GROUPS)


@pytest.mark.parametrize("name", ["R3", "SO2", "SE2", "SO3", "S3", "SE3", "SO3^2 x SE2 x R3"])
def test_double_precision_whatever_the_setting(name):
    """Results are float64 although JAX's own switch is off, and stays off."""
    G = GROUPS[name]
    assert not jax.config.jax_enable_x64
    x = np.full(G.dim, 0.1)
    g = G.exp(x)
    for result in (G.identity(), g, G.Ad(g, x), G.ad_dual(x, x), G.tangent(g, x), G.split(x)):
        assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(result))
    assert not jax.config.jax_enable_x64


@every_group
def test_names_fit_components(name):
    G = GROUPS[name]
    names = G.names
    assert len(names.element) == len(jax.tree.leaves(G.identity()))
    assert len(names.velocity) == len(names.momentum) == len(G.split(np.zeros(G.dim)))
    for components in names:
        assert len(set(components)) == len(components)


@every_group
def test_shapes_agree(name):
    """Every way to make an element gives the same pytree of the same shapes and types."""
    G = GROUPS[name]
    g, x = G.random(np.random.default_rng(0)), np.full(G.dim, 0.1)

    def form(function, *arguments):
        result = double(jax.eval_shape)(function, *arguments)
        return jax.tree.structure(result), [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(result)]

    expected = form(lambda g: g, g)
    assert form(G.identity) == form(G.exp, x) == form(G.tangent, g, x) == expected
    assert form(G.compose, g, g) == form(G.inverse, g) == form(G.renormalise, g) == expected
    assert (
        form(G.log, g)
        == form(G.Ad, g, x)
        == form(G.ad, x, x)
        == form(lambda x: G.vee(G.hat(x)), x)
        == form(lambda x: x, x)
    )


def test_names():
    assert SO3().names == Names(("R",), ("Omega",), ("Pi",))
    assert SE3().names == Names(("R", "x"), ("Omega", "v"), ("Pi", "p"))
    assert SE2().names == Names(("beta", "x"), ("Omega", "v"), ("Pi", "p"))
    assert SO2().names == Names(("beta",), ("Omega",), ("Pi",))
    assert S3().names == Names(("q",), ("Omega",), ("Pi",))
    assert SOn(4).names == Names(("R",), ("Omega",), ("Pi",))
    assert Rn(2).names == Names(("q",), ("v",), ("p",))
    assert Power(SE3(), 2).names == SE3().names
    assert Product(R=SO3(), body=SE3()).names == Names(
        ("R", "body_R", "body_x"), ("R_Omega", "body_Omega", "body_v"), ("R_Pi", "body_Pi", "body_p")
    )


def test_split():
    x = np.arange(9.0)
    parts = Product(R=SO3(), body=SE3()).split(x)
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    Omega, v = Power(SE2(), 3).split(x)
    assert (Omega.tolist(), v.tolist()) == ([0, 3, 6], [[1, 2], [4, 5], [7, 8]])
    assert SO2().split(x[:1])[0].shape == ()


def test_products_with_the_same_labels_share_their_element_class():
    g, f = Product(R=SO3(), x=Rn(3)).identity(), Product(R=SO3(), x=Rn(3)).identity()
    assert type(g) is type(f)
    assert g._fields == ("R", "x")


@pytest.mark.parametrize("duplicate", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy])
def test_elements_can_be_pickled(duplicate):
    g = Product(R=SO3(), x=Rn(3)).random(np.random.default_rng(0))
    assert type(duplicate(g)) is type(g)
    assert distance(duplicate(g), g) == 0


def test_groups_are_static_values():
    """A group has no array leaves, so it can be a constant of a compiled function; equal groups are equal."""
    for G in GROUPS.values():
        assert jax.tree.leaves(G) == []
    assert SOn(4) == SOn(4)
    assert SOn(4) != SOn(5)
    assert Product(R=SO3()) != Product(x=SO3())


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Rn(0), "Rn(0): the dimension must be a positive integer"),
        (lambda: Rn(2.5), "Rn: n = 2.5; expected a whole number"),
        (lambda: SOn(1), "SOn(1): n must be an integer of at least 2"),
        (lambda: SOn("4"), "SOn: n = '4'; expected a whole number"),
        (lambda: Product(), "no factors were given; name at least one"),
        (lambda: Product(R=SO3), "expected a group. Give an instance of it: SO3(...)"),
        (lambda: Product(x=3), "Product: factors['x'] = 3; expected a group"),
        (lambda: Product(**{"not a name": SO3()}), "name the factors by plain words"),
        (lambda: Power(SO3(), 0), "the count must be a positive integer"),
        (lambda: Power(3, SO3()), "Power: base = 3; expected a group"),
    ],
)
def test_clear_errors(build, said):
    with pytest.raises(naiad.errors.InputError) as caught:
        build()
    assert said in str(caught.value)


@double
def test_a_rotation_is_corrected_only_where_that_can_be_resolved():
    """Less than a few units in the last place is left alone: done to the small entries only, it would turn R."""
    R = np.asarray(SO3().exp(np.array([0.3, -0.2, 0.9])))
    near = R.copy()
    near[0, 0] = np.nextafter(near[0, 0], 2.0)
    for g in (R, near):
        assert SO3().error(g) < 8e-16
        np.testing.assert_array_equal(SO3().renormalise(g), g)
    off = R * (1.0 + 1e-9)
    assert SO3().error(SO3().renormalise(off)) < 1e-15
