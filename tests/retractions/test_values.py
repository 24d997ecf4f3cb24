"""Precision and clear errors."""

import jax
import numpy as np
import pytest

import naiad.errors
from naiad.groups import S3, SE3, SO2, SO3, Power, Product, Rn, SOn
from naiad.retractions import Cayley, Exponential, Newmark, PerFactor, Skew


@pytest.mark.parametrize("retraction", [Cayley(), Newmark(), Exponential(2)], ids=repr)
def test_double_precision_whatever_the_setting(retraction):
    """Results are float64 although JAX's own switch is off, and stays off."""
    G, x, y = SO3(), np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, 3.0])
    results = [retraction.tau(G, x), retraction.half(G, x), retraction.dtau_inv_dual(G, x, y)]
    assert all(result.dtype == np.float64 for result in results)
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("retraction", [Exponential(), Cayley(), Skew(), Newmark()], ids=repr)
def test_the_identity_on_vector_spaces(retraction):
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert retraction.tau(Rn(2), x).tolist() == [1.0, 2.0]
    assert retraction.half(Rn(2), x).tolist() == [0.5, 1.0]
    assert retraction.dtau(Rn(2), x, y).tolist() == retraction.dtau_inv(Rn(2), x, y).tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("retraction", "group"),
    [
        (Exponential(), Product(R=Power(SOn(4), 3), q=S3())),
        (Cayley(), Product(R=Power(SE3(), 3), q=SO2())),
        (Skew(), Product(R=SOn(5), x=Rn(3))),
        (Newmark(), Power(SO3(), 2)),
        (PerFactor(R=Skew(), x=Cayley()), Product(x=SE3(), R=SO3())),
    ],
)
def test_check_accepts(retraction, group):
    retraction.check(group)


@pytest.mark.parametrize(
    ("retraction", "group", "said"),
    [
        (Newmark(), SE3(), "Newmark was given SE3(), but it lives on SO3, and on products and powers"),
        (Newmark(), Product(R=SO3(), body=SE3()), "Newmark was given SE3()"),
        (Skew(), Power(SO2(), 2), "Skew was given SO2(), but it lives on SO3, SOn"),
        (Skew(), S3(), "use Exponential() or Cayley() there"),
        (PerFactor(R=Cayley()), SO3(), "but the group has no factors: SO3()"),
        (
            PerFactor(R=Cayley()),
            Product(R=SO3(), x=Rn(3)),
            "maps for the factors R, but the group has the factors R, x",
        ),
        (PerFactor(R=Newmark(), x=Cayley()), Product(R=SE3(), x=Rn(3)), "Newmark was given SE3()"),
    ],
)
def test_check_refuses(retraction, group, said):
    with pytest.raises(naiad.errors.InputError) as caught:
        retraction.check(group)
    assert said in str(caught.value)


@pytest.mark.parametrize("method", ["tau", "half"])
def test_a_map_on_a_foreign_group_says_so(method):
    with pytest.raises(naiad.errors.InputError, match="Newmark was given SE3"):
        getattr(Newmark(), method)(SE3(), np.zeros(6))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Exponential(-1), "Exponential(order=-1)"),
        (lambda: Exponential(2.0), "Exponential: order = 2.0; expected a whole number or None"),
        (lambda: PerFactor(), "no maps were given"),
        (lambda: PerFactor(R=SO3()), "PerFactor: retractions['R'] = SO3(); expected a retraction"),
    ],
)
def test_clear_errors(build, said):
    with pytest.raises(naiad.errors.InputError) as caught:
        build()
    assert said in str(caught.value)
