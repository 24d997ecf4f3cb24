"""Steps that turn too far are told."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.simulation.turn import angle, versine
from tests.sampling import GROUPS

BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))


def spinning(speed):
    return BODY.state(Omega=(0.0, 0.0, speed))


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
@nd.double
def test_groups_tell_how_far_they_turn(group):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(group.dim)
    g = group.random(rng)
    x = x * (0.3 / max(float(group.spin(x)), 0.3))
    turned = float(group.versine(g, group.compose(g, group.exp(x))))
    several = 1e-3 if isinstance(group, nd.SOn) else 0.0  # turns in two planes together
    np.testing.assert_allclose(angle(turned), float(group.spin(x)), atol=1e-7, rtol=several)


@nd.double
def test_an_angle_and_its_versine():
    angles = np.array([0.0, 1e-3, 1.0, 3.1, 3.2, 47.0])
    np.testing.assert_allclose([angle(versine(each)) for each in angles], angles, rtol=1e-9)
    assert angle(np.zeros(0)) == 0.0
    assert angle(np.array([-2.3e-16])) == 0.0  # round-off, of a body at rest


@pytest.mark.parametrize("retraction", [nd.Cayley(), nd.Exponential()])
@pytest.mark.parametrize("turn", [47.0, 14 * np.pi])
def test_a_run_that_turns_too_far_says_so(retraction, turn):
    message = rf"RigidBody: a step of 0\.1 s turns by up to {turn:.3g} rad; .*take dt well below 0\.002\d* s"
    with pytest.warns(nd.RunWarning, match=message):
        run = nd.simulate(BODY, spinning(turn / 0.1), t1=1.0, dt=0.1, method=nd.Variational(retraction))
    np.testing.assert_allclose(run.statistics["turn_max"], turn, rtol=1e-12)
    with pytest.warns(nd.RunWarning, match=message):
        nd.simulate_many(BODY, [spinning(1.0), spinning(turn / 0.1)], t1=1.0, dt=0.1, method=nd.Variational(retraction))


@pytest.mark.parametrize("many", [True, False])
def test_how_far_the_steps_turn_is_known(many):
    options = {"t1": 1.0, "dt": 0.1, "method": nd.Variational(nd.Exponential())}
    run = nd.simulate_many(BODY, [spinning(5.0)], **options)[0] if many else nd.simulate(BODY, spinning(5.0), **options)
    np.testing.assert_allclose(run.statistics["turn_max"], 0.5, rtol=1e-12)
    cayley = nd.simulate(BODY, spinning(1.0), t1=1.0, dt=0.1)
    np.testing.assert_allclose(cayley.statistics["turn_max"], 0.1, rtol=1e-12)  # h |Omega|, not 2 arctan of half of it


class Driven(nd.LagrangianSystem):
    """A body that a constant moment spins up."""

    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ Omega

    def force(self, R, Omega, t):
        return jnp.array([0.0, 0.0, 1.0])


def test_a_body_that_comes_to_turn_too_fast_is_seen_on_the_way():
    body = Driven()
    slow = nd.simulate(body, body.state(), t1=15.0, dt=0.1)
    x = slow.statistics["turn_max"]  # of the last step: 2 arctan(h xi/2) with (1 + (h xi/2)^2) xi = Omega
    np.testing.assert_allclose(2 * np.tan(x / 2) * (1 + np.tan(x / 2) ** 2), 0.1 * 14.95, rtol=1e-2)
    with pytest.warns(nd.RunWarning, match=r"Driven: a step of 0\.1 s turns by up to [12]\.\d+ rad"):
        nd.simulate(body, body.state(), t1=60.0, dt=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.resume(slow, t1=20.0)
