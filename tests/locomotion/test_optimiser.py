"""The area rule, the cost of gaits, and the best of them."""

import jax
import numpy as np
import pytest

from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.hydro import Ellipse
from naiad.hydro.crossing import overlap
from naiad.locomotion import (
    FORWARD,
    FourierGait,
    GivenGait,
    SplineGait,
    area_rule,
    curvature_map,
    net_motion_with_gradient,
    net_motions,
    optimise_gait,
    reconstruct,
    score,
    tabulated,
    three_link_fish,
)
from naiad.locomotion.clearance import Clearance
from naiad.locomotion.effort import positive_work, torques
from naiad.locomotion.loop import loop, once_around, winding
from naiad.locomotion.numbers import numbers, with_numbers

FISH = three_link_fish()
TWISTED = FourierGait.of([0.1, -0.2], [[0.7, 0.1], [0.05, 0.1]], [[0.1, 0.8], [-0.1, 0.03]], period=3.0)
PAPER = 44.4985647818  # |(41.4127260433, -16.2821494068)|


def circle(radius, middle=(0.3, -0.5)):
    return FourierGait.of(middle, [[-radius, 0.0]], [[0.0, radius]])


def vector(gait):
    with jax.enable_x64(True):
        return np.asarray(numbers(gait))


def test_area_rule_is_exact_for_small_loops_and_carried_of_third_order():
    errors = []
    for radius in (0.05, 0.1):
        exact = net_motion_with_gradient(FISH, circle(radius)).g
        found = area_rule(FISH, circle(radius), rays=64, nodes=8)
        np.testing.assert_allclose([each.beta for each in found], exact.beta, rtol=0, atol=1e-12)  # angles commute
        errors.append([np.linalg.norm(each.x - exact.x) / np.linalg.norm(exact.x) for each in found])
    (_, first, carried), (_, first_twice, carried_twice) = errors
    assert 0.9 < np.log2(first_twice / first) < 1.3
    assert 2.8 < np.log2(carried_twice / carried) < 3.3
    assert carried < 1e-4


def test_area_rule_of_the_forward_gait():
    distances = [np.linalg.norm(each.x) / PAPER - 1.0 for each in area_rule(FISH, FORWARD)]
    np.testing.assert_allclose(distances, (0.139, 0.067, -0.012), atol=1e-3)


def test_area_rule_does_not_mind_where_the_rays_come_from_for_angles():
    one, other = (area_rule(FISH, circle(0.6), centre=c).curvature.beta for c in (None, (0.0, 0.1)))
    np.testing.assert_allclose(one, other, atol=1e-9)
    with pytest.raises(InputError, match="at least 8 rays"):
        area_rule(FISH, FORWARD, rays=2)


def test_curvature_map():
    drawn = curvature_map(FISH, (-1.0, -0.5), 1.0, count=5)
    np.testing.assert_allclose(drawn.F[4, 0], (0.0613162395, 0.7156480971, 1.6005500699), rtol=0, atol=1e-9)
    with pytest.raises(InputError, match="two different angles"):
        curvature_map(FISH, -1.0, 1.0, plane=(0, 2))


def test_torques_of_a_gait():
    neutral = three_link_fish(density=1.0 / np.pi)
    found = execute(torques, neutral, FORWARD.motion(1.0), parameters=(0,))
    np.testing.assert_allclose(found, (4462.3868215905, -4824.3342998776), rtol=1e-10)


@pytest.mark.parametrize("objective", ["displacement", "turning", "efficiency", "work"])
def test_scores_have_their_slopes(objective):
    found, step, p = score(FISH, TWISTED, objective, 32), 1e-5, vector(TWISTED)
    for k in (0, 3, 7):
        ends = [score(FISH, with_numbers(TWISTED, p + d * np.eye(10)[k]), objective, 32) for d in (step, -step)]
        np.testing.assert_allclose(found.slopes[k], (ends[0].value - ends[1].value) / (2.0 * step), rtol=2e-6)
        np.testing.assert_allclose(found.turn_slopes[:, k], (ends[0].turn - ends[1].turn) / (2.0 * step), rtol=2e-6)


@pytest.mark.parametrize("objective", ["displacement", "efficiency", "work"])
def test_scores_do_not_depend_on_the_period(objective):
    values = [score(FISH, TWISTED.replaced(period=T), objective, 32).value for T in (3.0, 7.0)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


def test_work_by_a_finer_sum():
    times = 3.0 / 20000 * np.arange(20000)
    motion = execute_rows(FourierGait.motion, TWISTED, times, parameters=(0,))
    power = execute_rows(torques, FISH, motion, parameters=(0,)) * motion.rates
    exact = 3.0 / 20000 * np.sum(np.maximum(power, 0.0))
    np.testing.assert_allclose(positive_work(FISH, TWISTED).value, exact, rtol=1e-4)
    with pytest.raises(InputError, match="tabulated"):
        positive_work(three_link_fish(coupled=True), TWISTED)


def test_going_round_once_is_told_from_twice():
    twice = FourierGait.of([0.0, 0.0], [[0.05, 0.0], [0.8, 0.0]], [[0.0, 0.05], [0.0, 0.8]])
    eight = FourierGait.of([0.0, 0.0], [[0.8, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.5]])
    assert winding(loop(FORWARD, 64)) == pytest.approx(1.0)
    assert winding(loop(twice, 64)) == pytest.approx(2.0)
    assert np.all(once_around(loop(TWISTED, 64), 1.0).values > 0.0)
    assert np.min(once_around(loop(eight, 64), 1.0).values) < 0.0


def test_distances_of_links():
    links = Clearance.of(FISH.links, [Ellipse(10.0, 1.0)] * 3, 0.0)
    shapes = np.random.default_rng(0).uniform(-3.1, 3.1, (100, 2))
    z = Ellipse(10.0, 1.0).sample(200).z
    for theta, distance in zip(shapes, links.distances(shapes), strict=True):
        if abs(distance) > 0.02:
            outer = [
                np.exp(1j * t) * z + 12.0 * sign * (1.0 + np.exp(1j * t))
                for t, sign in zip(theta, (1, -1), strict=True)
            ]
            placed = [*outer, z]
            touching = any(overlap(placed[i], placed[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
            assert touching == (distance < 0.0)
    np.testing.assert_allclose(links.distances([0.0, 0.0]), 4.0)


def test_the_best_ellipse_beats_the_paper_from_every_start():
    found = optimise_gait(FISH, harmonics=1, starts=4)
    assert found.converged
    assert found.agreeing == 4
    np.testing.assert_allclose(found.value, 78.1501109, rtol=1e-6)
    assert found.value > 1.7 * PAPER
    assert found.spread < 1e-9
    theta = loop(found.gait, 4096).theta
    assert 1.0 - 1e-6 < np.max(np.abs(theta)) <= 1.0
    motion = reconstruct(FISH, found.gait, [0.0, 2.0 * np.pi])
    np.testing.assert_allclose(np.linalg.norm(motion.g.x[-1]), found.value, rtol=1e-8)
    np.testing.assert_allclose(motion.g.beta[-1], 0.0, atol=1e-9)


def test_no_ellipse_is_better():
    """The best of ten thousand random ones within the bounds comes near, and none is above."""
    rng = np.random.default_rng(1)
    size, phase = np.sqrt(rng.uniform(size=(10000, 2))), rng.uniform(0.0, 2.0 * np.pi, (10000, 2))
    size[:2000] = 1.0
    cosines, sines = size * np.cos(phase), size * np.sin(phase)
    g = net_motions(FISH, FourierGait(np.zeros((10000, 2)), cosines[:, None], sines[:, None]), steps=32)
    best = np.max(np.linalg.norm(g.x, axis=1))
    assert 77.5 < best < 78.1502


def test_objectives_from_several_starts():
    turning = optimise_gait(FISH, objective="turning", harmonics=1, starts=2)
    efficiency = optimise_gait(FISH, objective="efficiency", harmonics=1, bound=2.0, starts=2)
    assert turning.agreeing == efficiency.agreeing == 2
    assert abs(turning.g.beta) == pytest.approx(turning.value)
    assert efficiency.value > 1.3 * score(FISH, FORWARD, "efficiency", 96).value
    assert np.max(np.abs(loop(efficiency.gait, 64).theta)) < 1.9  # a maximum that the bound does not make


def test_links_that_would_touch_keep_their_distance():
    curves = [Ellipse(10.0, 1.0)] * 3
    links = Clearance.of(FISH.links, curves, 0.3)
    options = {"objective": "turning", "bound": 2.6, "harmonics": 1, "starts": 1}
    free, held = (optimise_gait(FISH, curves=given, gap=0.3, **options) for given in (None, curves))
    assert np.min(links.distances(loop(free.gait, 400).theta)) < 0.0
    assert np.min(links.distances(loop(held.gait, 400).theta)) > 0.25
    assert held.value < free.value


def test_a_spline_from_a_given_start():
    start = SplineGait.of(0.7 * loop(FORWARD, 8).theta)
    found = optimise_gait(FISH, start, starts=1)
    assert found.converged
    assert isinstance(found.gait, SplineGait)
    assert found.value > 78.0
    assert np.max(np.abs(loop(found.gait, 4096).theta)) <= 1.0 + 1e-9


def test_what_cannot_be_optimised():
    for options, words in (
        ({"objective": "speed"}, "expected one of displacement"),
        ({"bound": (1.0, 1.0, 1.0)}, "one for each of 2 angles"),
        ({"harmonics": 0}, "harmonics = 0"),
        ({"start": GivenGait(lambda t: t)}, "GivenGait"),
    ):
        with pytest.raises(InputError, match=words):
            optimise_gait(FISH, **options)


@pytest.mark.long
def test_coupled_links_with_and_without_a_table():
    fish = three_link_fish(coupled=True)
    slow = optimise_gait(fish, harmonics=1, starts=1, steps=24)
    fast = optimise_gait(tabulated(fish, -1.05, 1.05), harmonics=1, starts=3, steps=24)
    assert fast.agreeing == 3
    np.testing.assert_allclose(slow.value, fast.value, rtol=1e-7)
    np.testing.assert_allclose(fast.value, 82.472307, rtol=1e-6)


@pytest.mark.long
def test_more_harmonics_go_further_and_agree():
    values = [optimise_gait(FISH, harmonics=n, starts=4) for n in (3, 5, 7)]
    assert all(found.agreeing == 4 for found in values)
    np.testing.assert_allclose([found.value for found in values], (79.0437527, 79.8665273, 79.9429649), rtol=1e-6)


def test_a_table_may_end_at_the_bound():
    """Steps on the way go beyond it, where the inertia is not known: they are cut, and the climb goes on."""
    table = tabulated(three_link_fish(coupled=True), -1.0, 1.0, tolerance=1e-3)
    found = optimise_gait(table, harmonics=1, starts=1, steps=24, bound=1.0)
    assert found.converged
    np.testing.assert_allclose(found.value, 82.472307, rtol=1e-5)
