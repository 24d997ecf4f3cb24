"""Ways of any length: the same motions as of a metre, for each part of a system."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd

DRAWS = 12
N = 20
TIGHT = 1e-11  # a tolerance at which a bound that is almost met shows


class Carts(nd.LagrangianSystem):
    """Two equal masses, one on a line, one in a plane."""

    mass: float
    group = nd.Product(x=nd.Rn(1), y=nd.Rn(2))

    def lagrangian(self, q, v, t):
        return 0.5 * self.mass * v @ v


CARTS = Carts(1.0)


def at(x, y=0.0):
    return CARTS.state(x=[x], y=[0.6 * y, 0.8 * y])


def drawn(count, seed, parts=2):
    """Sizes from 1e-12 to 1e9."""
    return 10.0 ** np.random.default_rng(seed).uniform(-12.0, 9.0, (count, parts))


def carts(x, y, order, share=np.inf, **options):
    """The plan over ways x and y, its controls relative to the way of each; with bounds of a share of it."""
    sizes = np.array([x, y, y])
    bounds = None if np.isinf(share) else share * sizes
    plan = nd.control.solve(CARTS, at(0.0), at(x, y), 2.0, N, order=order, bounds=bounds, **options)
    return plan, plan.u / sizes


@pytest.mark.parametrize("order", [2, 4, 6])
def test_the_controls_of_a_way_of_any_length_are_those_of_a_metre(order):
    """Against u = 6 d (1 - 2 t / T) / T^2, which the steps have to their order, and bounds against those of a metre."""
    plain, controls = carts(1.0, 1.0, order)
    exact = 1.5 * (1.0 - plain.t_u[..., None]) * np.array([1.0, 0.6, 0.8])
    np.testing.assert_allclose(controls, exact, atol={2: 5e-3}.get(order, 1e-6))
    _, bounded = carts(1.0, 1.0, order, 1.2, tolerance=TIGHT)
    assert np.abs(bounded).max() == pytest.approx(1.2, abs=1e-6)
    for x, y in drawn(DRAWS, order):
        plan, found = carts(x, y, order)
        assert plan.solved
        assert plan.cost == pytest.approx(plain.cost * 0.5 * (x**2 + y**2), rel=1e-6)
        np.testing.assert_allclose(found, controls, atol=1e-6)
        plan, found = carts(x, y, order, 1.2, tolerance=TIGHT)
        assert plan.solved
        np.testing.assert_allclose(found, bounded, atol=1e-5)
        again, found = carts(x, y, order, 1.2, tolerance=TIGHT, guess=plan)
        assert again.solved
        np.testing.assert_allclose(found, bounded, atol=1e-5)


def test_plans_that_run_together_have_units_of_their_own():
    sizes = drawn(5, 0)
    plans = nd.control.solve_many(CARTS, [at(0.0)] * 5, [at(*each) for each in sizes], 2.0, N, order=2)
    _, controls = carts(1.0, 1.0, 2)
    for (x, y), plan in zip(sizes, plans, strict=True):
        assert plan.solved
        np.testing.assert_allclose(plan.u / np.array([x, y, y]), controls, atol=1e-6)


def test_a_controller_takes_a_cart_over_any_way():
    def run(x, y):
        steer = nd.control.MPC(
            CARTS, at(x, y), 2.0, N, bounds=1.2 * np.array([x, y, y]), iterations=30, tolerance=TIGHT
        )
        loop = steer.run(at(0.0), 8, substeps=1)
        return loop.u / np.array([x, y, y])

    plain = run(1.0, 1.0)
    for x, y in drawn(3, 1):
        np.testing.assert_allclose(run(x, y), plain, atol=1e-4)


def test_a_part_that_stays_and_a_start_that_is_fast_have_the_units_of_the_motion():
    """A cart that brakes, and comes back to where it began: its velocity says how far it goes."""
    plain = nd.control.solve(CARTS, CARTS.state(x_v=[1.0]), at(0.0), 2.0, N, order=2)
    assert plain.cost == pytest.approx(1.0, rel=1e-2)  # 2 v^2 / T
    for (v,) in drawn(4, 2, 1):
        plan = nd.control.solve(CARTS, CARTS.state(x_v=[v]), at(0.0), 2.0, N, order=2)
        assert plan.solved
        np.testing.assert_allclose(plan.u / v, plain.u, atol=1e-6)


def test_a_short_plan_is_carried_out_and_has_its_derivatives():
    for x, y in drawn(2, 7):
        plan, _ = carts(x, y, 2)
        change = nd.control.sensitivity(plan, lambda system, theta: system.replaced(mass=theta[0]), (1.0,))
        assert change.cost[0] == pytest.approx(2.0 * plan.cost, rel=1e-4)
        np.testing.assert_allclose(change.eta[0] / np.array([x, y, y]), 0.0, atol=1e-6)
        np.testing.assert_allclose(change.u[0] / np.array([x, y, y]), plan.u / np.array([x, y, y]), atol=1e-4)
    size = 1e-9
    plan, _ = carts(size, size, 2)
    follower = nd.control.steered(plan)
    assert follower.holds
    off = nd.control.steered(plan).replaced(system=Carts(1.3))
    run = nd.simulate(off, at(0.0), t1=4.0, dt=follower.length, method=follower.method, progress=False)
    assert abs(run.final.g.x[0] / size - 1.0) < 0.02


class Slow(nd.numerics.Module):
    most: float

    def __call__(self, g, xi, u, t):
        return jnp.stack([xi[0] - self.most, g.x[0] - 2.0 * self.most])


class Hurried(nd.numerics.Module):
    weight: float

    def __call__(self, g, xi, u, t):
        return 1.0 + 0.5 * self.weight * u @ u


class There(nd.numerics.Module):
    x: float

    def __call__(self, state, t):
        return jnp.stack([state.g.x[0] - self.x, *state.mu])


class Near(nd.numerics.Module):
    x: float
    weight: float

    def __call__(self, state, t):
        return 0.5 * self.weight * ((state.g.x[0] - self.x) ** 2 + state.mu @ state.mu)


def hurried(x):
    """Over a way with a limit of its velocity, in a free duration."""
    options = {"cost": Hurried(0.3 / x**2), "bounds": 1.8 * x, "path": Slow(0.7 * x), "free_time": True}
    return nd.control.solve(CARTS, at(0.0), at(x), 2.5, N, order=2, **options)


def test_durations_and_inequalities_are_those_of_a_metre():
    plain = hurried(1.0)
    assert np.max(plain.states.mu[:, 0]) == pytest.approx(0.7, abs=0.02)
    for (x,) in drawn(6, 3, 1):
        plan = hurried(x)
        assert plan.solved
        assert pytest.approx(plain.T, rel=1e-6) == plan.T
        np.testing.assert_allclose(plan.u / x, plain.u, atol=1e-5)


@pytest.mark.parametrize("end", [lambda x: {"ending": There(x)}, lambda x: {"end_cost": Near(x, 10.0)}])
def test_ends_without_a_goal_say_how_far_it_is(end):
    def plan(x):
        return nd.control.solve(CARTS, at(0.0), None, 2.0, N, order=2, **end(x))

    plain = plan(1.0)
    assert np.abs(plain.u).max() > 1.0
    for (x,) in drawn(6, 4, 1):
        found = plan(x)
        assert found.solved
        np.testing.assert_allclose(found.u / x, plain.u, atol=1e-6)


class Vehicle(nd.LagrangianSystem):
    """A body whose turning moves it, by an offset of its mass."""

    group = nd.SE3()
    offset: float

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (jnp.array([1.0, 2.0, 3.0, 1.0, 1.5, 1.2]) * xi) + self.offset * xi[2] * xi[3]


TURNED = np.array([[np.cos(1.0), -np.sin(1.0), 0.0], [np.sin(1.0), np.cos(1.0), 0.0], [0.0, 0.0, 1.0]])
WAY = np.array([0.6, 0.3, 0.8])


def turning(way, offset=0.0, R=TURNED):
    body = Vehicle(offset)
    return nd.control.solve(body, body.state(), body.state(R=R, x=way * WAY), 2.0, 16, order=2)


def test_a_vehicle_moves_by_little_while_it_turns():
    """Of a short way, forces are linear in it; a turn that costs c = 6 J a^2 J / T^3 alone takes nothing of them."""
    plain = turning(1e-2)
    for (size,) in drawn(5, 5, 1):
        size = min(size, 1.0 / size) * 1e-3
        plan = turning(size)
        assert plan.solved
        np.testing.assert_allclose(plan.u[..., 3:] / size, plain.u[..., 3:] / 1e-2, atol=2e-4)
        np.testing.assert_allclose(plan.states.g.x[-1] / size, WAY, rtol=1e-6)
    small = [turning(0.0 if R is TURNED else 1.0, R=R) for R in (TURNED, np.eye(3))]
    assert all(plan.solved for plan in small)


def test_a_vehicle_that_its_turning_moves_far_comes_back_to_where_it_is_nearly():
    """Places move by a tenth of a metre, whatever little the goal is away: not in units of that."""
    plain = turning(0.0, 0.5)
    assert np.ptp(plain.states.g.x) > 0.02
    for (size,) in drawn(6, 6, 1):
        size = min(size, 1.0 / size) * 1e-6
        plan = turning(size, 0.5)
        assert plan.solved
        np.testing.assert_allclose(plan.u, plain.u, atol=1e-5)


def test_a_turn_of_next_to_nothing_is_turned():
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    for angle in (1e-4, 1e-7, 1e-10):
        plan = nd.control.solve(
            body, body.state(), body.state(R=body.group.exp(np.array([0, 0, angle]))), 2.0, 12, order=2
        )
        assert plan.solved
        assert plan.cost == pytest.approx(0.75 * 9.0 * angle**2, rel=1e-2)


def test_a_short_way_far_from_the_origin_is_gone_as_exactly_as_places_are_known():
    plain, _ = carts(1.0, 1.0, 2)
    for place, way in ((1.0, 1e-9), (1e3, 1e-6), (1e6, 1e-3)):
        plan = nd.control.solve(CARTS, at(place), at(place + way), 2.0, N, order=2)
        assert plan.cost == pytest.approx(0.5 * plain.cost * (place + way - place) ** 2, rel=1e-4)


def test_a_short_way_that_bounds_do_not_allow_is_infeasible():
    for size in (1e-9, 1.0, 1e6):
        plan, _ = carts(size, size, 2, 0.6)
        assert plan.status is nd.control.Status.INFEASIBLE
        assert "the goal's" in plan.message


class Over(nd.numerics.Module):
    x: float

    def __call__(self, g, xi, u, t):
        return jnp.stack([self.x * jnp.sin(0.5 * jnp.pi * t) ** 2 - g.x[0]])


def test_a_loop_has_the_units_of_what_makes_it_move():
    """Back to where it begins, over a hill that inequalities make; else, those of the guess."""

    def loop(x, **options):
        return nd.control.solve(CARTS, at(0.0), at(0.0), 2.0, N, order=2, **options)

    plain = loop(1.0, path=Over(1.0))
    for (x,) in drawn(4, 8, 1):
        plan = loop(x, path=Over(x))
        assert plan.solved
        np.testing.assert_allclose(plan.u / x, plain.u, atol=1e-4)
        assert loop(1.0, guess=plan).problem.units.place[0] == pytest.approx(np.max(plan.states.g.x), rel=0.5)


def test_units_of_ordinary_problems_are_those_of_the_user():
    for x, y in 10.0 ** np.random.default_rng(9).uniform(-1.0, 1.0, (5, 2)):
        plan, _ = carts(x, y, 2)
        assert plan.problem.units.plain
