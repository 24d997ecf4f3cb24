"""The cheapest gait for a distance, against the limit of small loops."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.locomotion import (
    FourierGait,
    cheapest_gait,
    gait_torques,
    net_motion,
    score,
    small_gait,
    three_link_fish,
)
from naiad.locomotion.cheapest import metric
from naiad.locomotion.cycle import cycle
from naiad.locomotion.effort import action

FISH = three_link_fish(10.0, 1.0, 2.0, fluid=1.0 / np.pi)


def ellipse(gait):
    """The matrix c c^T + s s^T of the first harmonic, whatever its phase."""
    return np.outer(gait.cosines[0], gait.cosines[0]) + np.outer(gait.sines[0], gait.sines[0])


def test_the_metric_is_the_kinetic_energy_of_a_change_of_shape():
    gait = FourierGait.of([0.3, -0.2], [[0.2, 0.1]], [[0.1, -0.3]])
    t = np.linspace(0.0, 1.0, 5)
    found = gait_torques(FISH, gait, t)
    for time, energy in zip(t, found.kinetic_energy, strict=True):
        theta = gait.mean + np.cos(time) * gait.cosines[0] + np.sin(time) * gait.sines[0]
        rates = -np.sin(time) * gait.cosines[0] + np.cos(time) * gait.sines[0]
        assert np.isclose(0.5 * rates @ metric(FISH, theta) @ rates, energy, rtol=1e-12)


def test_a_small_loop_gets_as_far_and_costs_as_much_as_it_should():
    off = []
    for distance in (0.04, 0.01):
        small = small_gait(FISH, distance, period=3.0)
        reached = np.linalg.norm(net_motion(FISH, small.gait, 48).x)
        cost = action(cycle(FISH, small.gait, 48)).value
        off.append((reached / distance - 1.0, cost / small.cost - 1.0))
    assert np.max(np.abs(off[1])) < 2e-3
    assert np.allclose(np.divide(*off), 4.0, rtol=0.05)  # of second order in the amplitude


def test_the_cheapest_gait_tends_to_the_isoperimetric_ellipse():
    """Cost and shape, to second order in the amplitude: of first order in the distance."""
    over, apart = [], []
    for distance in (2.0, 0.5):
        small, found = small_gait(FISH, distance), cheapest_gait(FISH, distance)
        assert found.converged
        assert np.isclose(np.linalg.norm(found.g.x), distance, rtol=1e-6)
        assert abs(found.g.beta) < 1e-8
        over.append(found.cost / small.cost - 1.0)
        apart.append(np.abs(ellipse(found.gait) / ellipse(small.gait) - 1.0).max())
    assert 0.0 < over[1] < 0.03
    assert np.isclose(over[0] / over[1], 4.0, rtol=0.05)
    assert apart[1] < 0.01
    assert np.isclose(apart[0] / apart[1], 4.0, rtol=0.1)


def test_harmonics_and_a_free_centre_do_not_cost_more():
    one, three = (cheapest_gait(FISH, 10.0, harmonics=count) for count in (1, 3))
    assert three.cost < one.cost
    small = small_gait(FISH, 10.0).gait
    aside = FourierGait.of((0.1, -0.05), small.cosines, small.sines)
    free = cheapest_gait(FISH, 10.0, centre="free", start=aside)
    assert np.isclose(free.cost, three.cost, rtol=1e-8)  # it is best about the straight fish
    assert np.abs(free.gait.mean).max() < 1e-4


def test_the_period_and_the_work():
    short, long = (cheapest_gait(FISH, 5.0, period=period, harmonics=1) for period in (1.0, 4.0))
    assert np.isclose(short.cost, 4.0 * long.cost, rtol=1e-6)
    works = {cost: cheapest_gait(FISH, 5.0, cost=cost, harmonics=2) for cost in ("action", "work")}
    assert works["work"].converged
    value = score(FISH, works["action"].gait, "work", 96).value  # |x|^3 / (W T^2)
    assert works["work"].cost < 5.0**3 / (value * (2.0 * np.pi) ** 2)


def test_refusals():
    with pytest.raises(InputError, match="cost = 'money'"):
        cheapest_gait(FISH, 1.0, cost="money")
    with pytest.raises(InputError, match="distance"):
        cheapest_gait(FISH, -1.0)
    with pytest.raises(InputError, match="centre"):
        small_gait(FISH, 1.0, centre=(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match="harmonics = 0"):
        cheapest_gait(FISH, 1.0, harmonics=0)
