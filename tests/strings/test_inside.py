"""A string that stretches on its drum too: the energies by another route, exact motions of a bar, and the capstan."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import naiad as nd
from naiad.compiler import execute, execute_rows
from naiad.diagnostics import convergence, reversibility_defect, symplecticity_defect
from naiad.errors import InputError
from naiad.models import Hooke, Inextensible, Reel, StringPendulum
from naiad.strings import StringRule, StringVariational, Tip
from tests.strings.strings import BODY
from tests.strings.test_step import off_the_legs

SHARES = (3.0, 2.0, 1.0)


def coiled(*, elements=3, locked=False, friction=0.0, inside=SHARES, carnot=None, **options) -> StringPendulum:
    """A string of 20 m, about half of which is inside."""
    reel = Reel(radius=0.4, inertia=0.7, guide=0.3, inside=inside, friction=friction, carnot=carnot, locked=locked)
    options = {"stiffness": 40.0, "body": BODY, "wound": 11.0 if locked else 0.0} | options
    return StringPendulum(length=20.0, mass_per_length=0.05, elements=elements, reel=reel, **options)


def stirred(pendulum: StringPendulum, t: float = 0.0) -> nd.State:
    """A state in which everything moves."""
    rng = np.random.default_rng(0)
    state = pendulum.straight((0.6, 0.0, 0.8), s=10.0, strain=0.1, t=t)
    parts = {name: np.asarray(getattr(state.g, name)) for name in state.g._fields}
    parts["q"] = parts["q"] + 0.1 * rng.normal(size=parts["q"].shape)
    if "w" in parts:
        parts["w"] = parts["w"] + 0.1 * rng.normal(size=parts["w"].shape)
        parts["w_v"] = 0.5 * rng.normal(size=parts["w"].shape)
    velocity = {"q_v": rng.normal(size=parts["q"].shape), "s_v": [0.4], "R_Omega": rng.normal(size=3)}
    return pendulum.state(t=t, **parts, **velocity)


def depth(reel: Reel, way):
    """Of a point of the string inside, below the guide way."""
    return np.where(way < reel.guide, 0.0, reel.drop - reel.radius * np.sin((way - reel.guide) / reel.radius))


@pytest.mark.parametrize("locked", [False, pytest.param(True, marks=pytest.mark.long)])
def test_energies_are_those_of_the_points_of_the_string(locked):
    """Each point of the string inside keeps its place along it: its speed by differences, its depth by geometry."""
    pendulum = coiled(locked=locked)
    state = stirred(pendulum)
    reel, mu = pendulum.reel, pendulum.mass_per_length
    xi = np.asarray(execute(lambda p, s: p.velocity(s.g, s.mu), pendulum, state, parameters=(0,)))
    place = 3 * pendulum.elements
    s, s_v = float(state.g.s[0]), xi[place]
    free = len(state.g.w)
    w, w_v = np.asarray(state.g.w), xi[place + 1 : place + 1 + free]
    if locked:
        w, w_v = np.append(11.0, w), np.append(0.0, w_v)
    cuts = np.append(0.0, np.cumsum(SHARES)) / np.sum(SHARES)
    points, weights = np.polynomial.legendre.leggauss(400)
    kinetic, first_moment, elastic = 0.5 * reel.inertia * w_v[0] ** 2, 0.0, 0.0
    for j in range(3):
        along = s * (cuts[j] + 0.5 * (cuts[j + 1] - cuts[j]) * (1.0 + points))  # from the end at the drum
        ways, rates = np.append(w, 0.0), np.append(w_v, 0.0)

        def way(dt, along=along, ways=ways, rates=rates):
            return np.interp(along, cuts * (s + dt * s_v), ways + dt * rates)

        h = 1e-6
        speed = (way(h) - way(-h)) / (2.0 * h)
        part = 0.5 * weights * s * (cuts[j + 1] - cuts[j])
        kinetic += 0.5 * mu * np.sum(part * speed**2)
        first_moment += np.sum(part * depth(reel, way(0.0)))
        strain = (ways[j] - ways[j + 1]) / (s * (cuts[j + 1] - cuts[j])) - 1.0
        elastic += s * (cuts[j + 1] - cuts[j]) * 20.0 * strain**2

    with jax.enable_x64(True):
        tip = pendulum.tip_place(pendulum.tip_element(state.g))
        rate = pendulum.tip_rate(pendulum.tip_element(pendulum.group.tangent(state.g, xi)))
        bare = pendulum.replaced(body=None)
        np.testing.assert_allclose(bare.tip_kinetic(tip, rate), kinetic, rtol=1e-8)
        np.testing.assert_allclose(bare.tip_potential(tip, 0.0), -mu * 9.81 * first_moment, rtol=1e-4)
        np.testing.assert_allclose(pendulum.inner_energy(tip, 0.0), elastic, rtol=1e-13)
        outside = float(jnp.sum(pendulum.elastic_energies(state.g)))
        np.testing.assert_allclose(pendulum.elastic_energy(state.g), elastic + outside, rtol=1e-13)


def test_a_guide_way_that_moves_carries_the_string_inside():
    """T with the velocity of the guide way added to that of each point, whose share along gravity is its sinking."""
    reel = Reel(radius=0.4, inertia=0.7, guide=0.0, inside=2)  # so that no slope jumps where the drum begins
    string = StringPendulum(length=20.0, mass_per_length=0.05, stiffness=40.0, elements=1, reel=reel)
    s, s_v, w, w_v, V = 10.0, 0.4, np.array([11.0, 5.2]), np.array([0.3, -0.2]), np.array([0.5, -0.7, 1.1])
    cuts, h = np.array([0.0, 0.5, 1.0]), 1e-5
    points, weights = np.polynomial.legendre.leggauss(1000)
    along = 0.25 * s * np.concatenate([1.0 + points, 3.0 + points])  # of both elements

    def sunk(dt):
        return depth(reel, np.interp(along, cuts * (s + dt * s_v), np.append(w + dt * w_v, 0.0)))

    sinking = np.sum(0.25 * s * np.tile(weights, 2) * (sunk(h) - sunk(-h))) / (2.0 * h)
    with jax.enable_x64(True):
        at, rate = Tip(jnp.zeros(3), s, None, jnp.zeros(3), w), Tip(jnp.zeros(3), s_v, None, jnp.zeros(3), w_v)
        gained = float(string.tip_kinetic(at, rate._replace(start=jnp.asarray(V))) - string.tip_kinetic(at, rate))
    np.testing.assert_allclose((gained / 0.05 - 0.5 * s * V @ V) / V[2], sinking, rtol=1e-6)


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        (nd.Midpoint(), {"friction": 0.2}),
        pytest.param(nd.Implicit(), {"damping": 0.5, "locked": True}, marks=pytest.mark.long),
        pytest.param(nd.Left(), {}, marks=pytest.mark.long),
        pytest.param(nd.Implicit(), {"friction": 0.2}, marks=pytest.mark.long),
        pytest.param(nd.Midpoint(), {"inside": 1, "locked": True}, marks=pytest.mark.long),
    ],
)
def test_the_step_is_that_of_the_general_integrator(rule, options):
    pendulum, h = coiled(**options), 0.002
    found = nd.simulate(pendulum, stirred(pendulum), t1=6 * h, dt=h, method=StringVariational(rule), save_every=1)
    before, after = (jax.tree.map(lambda leaf, part=part: leaf[part], found.states) for part in (np.s_[:-1], np.s_[1:]))
    about = pendulum, nd.Variational(nd.Cayley(), StringRule(rule)), h
    off = execute_rows(off_the_legs, about, before, after, found.t.to_numpy()[:-1], parameters=(0,))
    assert np.max(np.abs(off)) < 3e-11


@pytest.mark.long
def test_the_flow_keeps_the_structure():
    pendulum = coiled(elements=1, inside=2)
    state, method = stirred(pendulum), StringVariational()
    assert symplecticity_defect(pendulum, method, state, dt=0.002, steps=1) < 1e-12
    assert reversibility_defect(pendulum, method, state, dt=0.002, steps=1) < 1e-12
    run = nd.simulate(pendulum, state, t1=2.0, dt=0.002, method=method, save_every=10)
    assert run.outcome is nd.Outcome.COMPLETED
    assert np.ptp(run.momentum.to_numpy()) < 1e-13
    energy = run.energy.to_numpy()
    half = nd.simulate(pendulum, state, t1=2.0, dt=0.001, method=method, save_every=20).energy.to_numpy()
    assert np.ptp(energy) / np.ptp(half) == pytest.approx(4.0, abs=0.2)


@pytest.mark.long
@pytest.mark.parametrize("rule", [nd.Midpoint(), nd.Implicit()])
@pytest.mark.parametrize("locked", [False, True])
def test_orders_against_the_exact_motion(rule, locked):
    pendulum = coiled(elements=2, friction=0.1, damping=0.3, locked=locked)
    found = convergence(pendulum, StringVariational(rule), stirred(pendulum), t1=0.1, steps=(40, 80, 160))
    assert found.order == pytest.approx(2, abs=0.1), found


def straight_bar(elements: int, *, load: float = 0.3, drum: float = 0.7) -> StringPendulum:
    """No gravity, no friction: a uniform bar of 20 m with a mass at each end, half of it inside."""
    reel = Reel(radius=0.4, inertia=drum, guide=0.3, inside=elements)
    body = nd.models.HangingBody(load)
    return StringPendulum(
        length=20.0,
        mass_per_length=0.05,
        stiffness=40.0,
        elements=elements,
        gravity=(0.0, 0.0, 0.0),
        reel=reel,
        body=body,
    )


def test_the_guide_way_does_not_bother_a_bar_that_slides_through():
    """Sliding without strain is uniform, whatever of it is inside."""
    bar, speed = straight_bar(4), 1.5
    s, parts = 10.0, np.arange(4, 0, -1) / 4.0
    start = bar.straight((1.0, 0.0, 0.0), s=s)
    growing = speed * parts[::-1, None] * np.array((1.0, 0.0, 0.0))  # the nodes stay evenly along it
    state = bar.state(q=start.g.q, s=[s], w=s * parts, s_v=[-speed], w_v=-speed * parts, q_v=growing)
    run = nd.simulate(bar, state, t1=2.0, dt=0.01, save_every=50)
    np.testing.assert_allclose(run.states.g.s[:, 0], s - speed * run.t.to_numpy(), atol=1e-12)
    np.testing.assert_allclose(run.states.g.w[:, 0], s - speed * run.t.to_numpy(), atol=1e-12)
    np.testing.assert_allclose(run.states.g.q[:, -1, 0], 10.0 + speed * run.t.to_numpy(), atol=1e-12)


@pytest.mark.parametrize("elements", [8, pytest.param(16, marks=pytest.mark.long)])
def test_small_vibrations_are_those_of_a_bar_with_masses_at_its_ends(elements):
    """tan(k L) (k^2 m M - mu^2) = - mu k (m + M), omega = k sqrt(EA/mu): the whole bar, inside and outside, in one."""
    mu, EA, L, m, M = 0.05, 40.0, 20.0, 0.3, 0.7

    def off(k):
        return np.sin(k * L) * (k**2 * m * M - mu**2) - mu * k * (m + M) * np.cos(k * L)

    grid = np.linspace(0.01, 0.6, 4000)
    values = off(grid)
    roots = [brentq(off, a, b) for a, b, u, v in zip(grid, grid[1:], values, values[1:], strict=False) if u * v < 0.0]
    exact = np.array(roots[:2]) * np.sqrt(EA / mu)
    bar = straight_bar(elements)
    state = bar.straight((1.0, 0.0, 0.0), s=10.0)
    n = 3 * elements
    along = np.append(np.arange(0, n, 3), np.arange(n, n + 1 + elements))  # lengthways: x of nodes, s, w

    def matrices(bar, g):
        xi = jnp.zeros(bar.group.dim)

        def potential(shift):
            return bar.potential(bar.group.compose(g, bar.group.exp(shift)), 0.0)

        return jax.hessian(lambda xi: bar.lagrangian(g, xi, 0.0))(xi), jax.hessian(potential)(xi)

    M2, K = (np.asarray(each)[np.ix_(along, along)] for each in execute(matrices, bar, state.g, parameters=(0,)))
    values = np.sort(np.linalg.eigvals(np.linalg.solve(M2, K)).real)
    found = np.sqrt(values[values > 1e-6][:2])
    bound = 0.012 * (8 / elements) ** 2
    np.testing.assert_allclose(found, exact, rtol=bound)
    assert np.all(found > exact)  # consistent masses: from above


def test_damping_inside_takes_the_power_of_its_tension():
    """The tension c strain' along the unstretched string: in all c times the integral of strain'^2, by differences."""
    pendulum = coiled(damping=0.3)
    state, rates = stirred(pendulum), np.array([0.4, 0.5, -0.2, 0.3])

    def strain(h):
        s, w = float(state.g.s[0]) + h * rates[0], np.append(np.asarray(state.g.w) + h * rates[1:], 0.0)
        length = np.array(SHARES) / np.sum(SHARES) * s
        return (w[:-1] - w[1:]) / length - 1.0, length

    rate, length = (strain(1e-5)[0] - strain(-1e-5)[0]) / 2e-5, strain(0.0)[1]
    on_s, on_w = execute(lambda p, g, rates: p.inner_force(g, rates), pendulum, state.g, rates, parameters=(0,))
    free = execute(lambda p, g, rates: p.inner_force(g, rates), coiled(), state.g, rates, parameters=(0,))
    power = (on_s - free[0]) * rates[0] + (on_w - free[1]) @ rates[1:]
    np.testing.assert_allclose(power, -0.3 * np.sum(length * rate**2), rtol=1e-8)


@pytest.mark.long
def test_friction_makes_the_tension_fall_as_on_a_capstan():
    """A drum that is held, its string pulled out slowly: T exp(-friction angle) inside, as far as it slides."""
    friction, elements, tension, t1 = 0.25, 24, 20.0, 3.0
    reel = Reel(radius=0.5, inertia=1.0, guide=0.0, inside=elements, friction=friction, slip=1e-3, locked=True)
    string = StringPendulum(
        length=6.0,
        mass_per_length=0.01,
        stiffness=200.0,
        elements=2,
        gravity=(0.0, 0.0, 0.0),
        reel=reel,
        wound=4.0,
        damping=0.5,
        body=nd.models.HangingBody(0.05, forces=lambda m: jnp.zeros(6).at[5].set(tension * m.t / t1)),
    )
    state = string.straight((0.0, 0.0, 1.0), s=4.0)
    run = nd.simulate(string, state, t1=t1, dt=1e-3, method=StringVariational(nd.Implicit()), save_every=10**6)
    g = run.final.g
    ways = np.concatenate([[4.0], g.w, [0.0]])
    found = 200.0 * (-np.diff(ways) / (float(g.s[0]) / elements) - 1.0)
    middle = 0.5 * (ways[1:] + ways[:-1])
    slid = middle < 3.0
    np.testing.assert_allclose(found[slid], tension * np.exp(-friction * middle[slid] / 0.5), rtol=0.005)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="inside = -1"):
        Reel(inside=-1)
    with pytest.raises(InputError, match="inside"):
        Reel(inside=(1.0, 0.0))
    with pytest.raises(InputError, match="do not jump"):
        Reel(inside=2, carnot="dissipative")
    with pytest.raises(InputError, match="cannot slide"):
        Reel(friction=0.2)
    with pytest.raises(InputError, match="inextensible"):
        coiled(stiffness=Inextensible())
    with pytest.raises(InputError, match="unstable"):
        coiled(kinetic="paper")
    with pytest.raises(InputError, match="get shorter"):
        coiled().state(q=np.eye(3), s=[10.0], w=[3.0, 4.0, 1.0])


@pytest.mark.long
def test_a_stiff_string_is_that_of_the_paper():
    """As EA grows, what stretches inside does not matter any more; Carnot's term goes with it."""
    ends = []
    for inside in (0, 2):
        string = coiled(elements=2, inside=inside, carnot="none", stiffness=Hooke(4e6))
        state = string.straight((0.6, 0.0, 0.8), s=10.0, tip_velocity=(0.0, 0.3, 0.0))
        run = nd.simulate(string, state, t1=0.5, dt=1e-3, method=StringVariational(nd.Implicit()), save_every=10**6)
        ends.append(np.append(np.ravel(run.final.g.q), run.final.g.s))
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-4)
    assert np.max(np.abs(ends[1] - ends[0])) > 1e-9


@pytest.mark.long
@pytest.mark.parametrize("inside", [1, 3])
def test_the_moment_that_drives_the_drum(inside):
    """The moment that a driven drum takes, given to one that turns, accelerates it just so."""
    reel = Reel(radius=0.4, inertia=0.7, guide=0.3, inside=inside, friction=0.1, locked=True)
    options = {"length": 20.0, "mass_per_length": 0.05, "stiffness": 40.0, "elements": 2, "body": BODY, "damping": 0.3}
    driven = StringPendulum(**options, reel=reel, wound=lambda t: 11.0 - 0.3 * t + 0.2 * jnp.sin(3.0 * t))
    t, place = 0.3, 6
    state = stirred(driven, t=t)

    def accelerated(about, state, t):
        driven, free = about
        moment, xi = driven.reel_moment(state, t), driven.velocity(state.g, state.mu, t)
        w, rate = driven.inside(state.g, t), -0.3 + 0.6 * jnp.cos(3.0 * t)
        g = free.group.element([state.g.q, state.g.s, w, state.g.R])
        velocity = jnp.concatenate([xi[: place + 1], rate[None], xi[place + 1 :]])
        turning = free.replaced(reel=free.reel.replaced(moment=moment))
        start = nd.State(g, turning.legendre(g, velocity, t))
        xi, mu_rate, _ = turning.equations(start, t)
        moving = turning.group.tangent(g, xi), mu_rate
        return jax.jvp(lambda g, mu: turning.velocity(g, mu, t), (g, start.mu), moving)[1][place + 1]

    free = StringPendulum(**options, reel=reel.replaced(locked=False))
    found = execute(accelerated, (driven, free), state, t, parameters=(0,))
    np.testing.assert_allclose(found, -1.8 * np.sin(3.0 * t), rtol=1e-9)
