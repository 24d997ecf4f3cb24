"""The string pendulum: its energies by other routes, its special cases, its laws, and bad input."""

import jax
import numpy as np
import pytest
from scipy.integrate import quad_vec

import naiad as nd
from naiad.compiler import execute
from naiad.models import HangingBody, Hooke, Reel, Rubber, StringPendulum, TensionOnly
from naiad.strings import Span
from naiad.strings.kinetic import KINETIC
from naiad.strings.problem import Problem, element_legs, piece
from naiad.strings.rules import RULES, moved
from tests.strings.strings import BODY, INERTIA, moving_case, paper_case

N = 4


def velocity_field(pendulum, g, v, speed, material):
    """r'(material) of the finite element string, from [lee2010, eq. (27)]."""
    s, L = float(g.s[0]), 100.0
    length = (L - s) / N
    a = min(int((material - s) / length), N - 1)
    zeta = (material - s) / length - a
    q, dq = np.vstack([np.zeros(3), g.q]), np.vstack([np.zeros(3), v])
    carried = (L - material) / (L - s) * (q[a] - q[a + 1]) / length * speed
    return (1 - zeta) * dq[a] + zeta * dq[a + 1] + carried


@pytest.mark.parametrize("kinetic", ["exact", "paper"])
def test_kinetic_energy_of_the_elements(kinetic):
    pendulum, state = moving_case(3, kinetic=kinetic)
    rng, speed = np.random.default_rng(1), 0.7
    v = rng.normal(size=(N, 3))
    q, dq = np.vstack([np.zeros(3), state.g.q]), np.vstack([np.zeros(3), v])
    s, length = 90.0, 10.0 / N

    def square(material):
        return 0.5 * 0.025 * np.sum(velocity_field(pendulum, state.g, v, speed, material) ** 2, keepdims=True)

    for a in range(N):
        with jax.enable_x64(True):
            found = pendulum.element_kinetic(float(a), Span(q[a], q[a + 1], s), Span(dq[a], dq[a + 1], speed))
        exact = quad_vec(square, s + a * length + 1e-12, s + (a + 1) * length - 1e-12)[0][0]
        if kinetic == "paper":  # M^3 as printed
            M3 = 0.025 * length / 3 * (3 * N**2 + 3 * N + 1 - 6 * N * (a + 1) - 3 * (a + 1) + 3 * (a + 1) ** 2) / N**2
            stretch = np.sum((q[a + 1] - q[a]) ** 2) / length**2
            exact += 0.5 * M3 * speed**2 * (1.0 - stretch)
        np.testing.assert_allclose(found, exact, rtol=1e-9)


@pytest.mark.parametrize("kinetic", KINETIC)
@pytest.mark.parametrize("rule", RULES.values(), ids=[each.__name__ for each in RULES])
def test_slopes_of_an_element_are_those_of_its_mean(kinetic, rule):
    """The closed form of the kinetic part, and the momenta at the start without what cancels, against autodiff."""
    pendulum, state = moving_case(3, kinetic=kinetic)
    rng, t, h = np.random.default_rng(2), 0.3, 0.02
    at = Span(state.g.q[1], state.g.q[2], 90.0)
    rate = Span(rng.normal(size=3), rng.normal(size=3), 0.7)
    with jax.enable_x64(True):
        by_at, legs = rule.element_slopes(pendulum, 2.0, at, rate, t, h)
        mean_by_at, mean_by_rate = jax.grad(rule.element_mean, argnums=(2, 3))(pendulum, 2.0, at, rate, t, h)
        expected = mean_by_rate.flat() - h * mean_by_at.flat()
        np.testing.assert_allclose(by_at.flat(), mean_by_at.flat(), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(legs.flat(), expected, rtol=1e-12, atol=1e-13)
        if rule.implicit:
            return
        _, by_s, by_speed = rule.forms(pendulum, 2.0, at.s, rate.s, h)
        found = moved(by_speed, by_s, -h).value_and_slopes(rate.near, rate.far, at.near - at.far)

        def of_the_reel(near, far):
            return rule.element_slopes(pendulum, 2.0, at, Span(near, far, rate.s), t, h)[1].s

        value, slopes = jax.value_and_grad(of_the_reel, argnums=(0, 1))(rate.near, rate.far)
        np.testing.assert_allclose(found[0], value, rtol=1e-12)
        np.testing.assert_allclose(found[1:], slopes, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("kinetic", "more"), [("paper", {}), ("exact", {"damping": 0.3}), ("lumped", {"law": Rubber(40.0)})]
)
@pytest.mark.parametrize("rule", RULES.values(), ids=[each.__name__ for each in RULES])
def test_the_equations_of_an_element_have_the_derivatives_of_its_legs(rule, kinetic, more):
    pendulum, state = moving_case(3, kinetic=kinetic)
    problem = Problem(pendulum.replaced(**more), rule, state.g, None, None, 0.3, 0.02)
    (near, far), (x, y, momentum) = state.g.q[1:3], np.random.default_rng(2).normal(size=(3, 3))
    at, rate = Span(near, far, 90.0), Span(x, y, 0.7)

    def legs(numbers):
        return element_legs(problem, 2.0, at, Span.of(numbers)).flat()

    with jax.enable_x64(True):
        found = piece(problem, 2.0, (near, momentum, x), (far, momentum, y), 90.0, 0.7)
        expected = legs(rate.flat()) - np.concatenate([np.zeros(3), momentum, np.zeros(1)])
        np.testing.assert_allclose(found.residual, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.jacobian, jax.jacfwd(legs)(rate.flat()), rtol=1e-11, atol=1e-13)


def legendre_and_back(pendulum, state):
    return pendulum.velocity(state.g, state.mu), pendulum.legendre(state.g, pendulum.velocity(state.g, state.mu))


@pytest.mark.parametrize("options", [{}, {"kinetic": "exact"}])
def test_velocity_is_the_inverse_of_the_legendre_transform(options):
    pendulum, state = moving_case(3, **options)
    xi, mu = execute(legendre_and_back, pendulum, state, parameters=(0,))
    np.testing.assert_allclose(mu, state.mu, atol=1e-14)
    assert xi[3 * N] == pytest.approx(0.4, abs=1e-13)


def test_the_momentum_of_turns_is_noethers():
    pendulum, state = moving_case(2)
    by_autodiff = execute(
        lambda pendulum, state: pendulum.noether(state, pendulum.symmetry, dim=1), pendulum, state, parameters=(0,)
    )
    np.testing.assert_allclose(pendulum.noether(state), by_autodiff, rtol=1e-12)


@pytest.mark.parametrize("law", [Hooke(40.0), TensionOnly(40.0), Rubber(40.0)])
def test_laws_have_their_stiffness_at_rest(law):
    assert float(law.energy(0.0)) == 0.0
    np.testing.assert_allclose(law.stiffness(1e-9), 40.0, rtol=1e-7)
    slack = {Hooke: -4.0, TensionOnly: 0.0, Rubber: 40.0 * (0.9 - 0.9**-2) / 3}[type(law)]
    np.testing.assert_allclose(law.tension(-0.1), slack, atol=1e-12)


def test_special_cases_run():
    string = {"length": 2.0, "mass_per_length": 0.025, "stiffness": 40.0, "elements": 3}
    for more in ({}, {"body": HangingBody(0.1)}, {"body": HangingBody(0.1), "reel": Reel(), "length": 4.0}):
        pendulum = StringPendulum(**(string | more))
        start = pendulum.straight((1.0, 0.0, 0.0), s=2.0 if "reel" in more else None, tip_velocity=(0.0, 0.3, 0.0))
        run = nd.simulate(pendulum, start, t1=0.02, dt=0.001, method=nd.StringVariational(), engine="compiled")
        assert run.outcome is nd.Outcome.COMPLETED
        work = 0.0 if "reel" not in more else 1e-4
        assert np.ptp(run.energy.to_numpy()) < 2e-6 + work
    data = run.dataset
    assert data.guide.shape == (21, 3)
    assert data.elastic.shape == (21, 3)
    np.testing.assert_array_equal(data.x, data.q[:, -1])


def test_the_picture_of_a_body_is_an_ellipsoid_with_its_second_moments():
    half, wide, height = 0.5, 0.4, 0.8  # the elliptic cylinder of the paper
    np.testing.assert_allclose(BODY.semi_axes**2 / 5, (half**2 / 4, wide**2 / 4, height**2 / 12), rtol=1e-12)
    assert HangingBody(0.1).semi_axes is None
    pendulum, state = moving_case(1)
    picture = pendulum.picture
    np.testing.assert_array_equal(picture.shapes, [BODY.semi_axes])
    np.testing.assert_array_equal(picture.down, pendulum.gravity)
    seen = execute(lambda seen, g: seen(g, 0.0), picture.seen, state.g, parameters=(0,))
    np.testing.assert_allclose(seen["x"], state.g.q[-1] + state.g.R @ (0.3, 0.2, 0.4), atol=1e-15)


def test_moments_of_time_and_state():
    _, state = moving_case(3)
    moments = (2.09, lambda t: 2.09 + 0.0 * t, lambda g, speed, t: 2.09 + 0.0 * speed)
    forces = []
    for moment in moments:
        pendulum, _ = paper_case(3, elements=N, moment=moment)
        forces.append(float(pendulum.reel_force(state.g, np.array([0.4]), 0.1)[0]))
    np.testing.assert_allclose(forces, forces[0], rtol=1e-15)


def test_carnots_terms():
    force = {}
    for kind in ("paper", "dissipative", "none"):
        pendulum, state = moving_case(2, carnot=kind)
        force[kind] = [float(pendulum.carnot_force(state.g, speed)) for speed in (0.4, -0.4)]
    strain = np.linalg.norm(state.g.q[0]) / (1.0 / N) - 1.0
    loss = 0.5 * 0.025 * (strain * 0.4) ** 2 + 0.5 * 40.0 * strain**2
    np.testing.assert_allclose(force["paper"], (-loss, -loss), rtol=1e-12)
    np.testing.assert_allclose(force["dissipative"], (-loss, loss), rtol=1e-5)
    assert force["none"] == [0.0, 0.0]


STRING = {"length": 10.0, "mass_per_length": 0.025, "stiffness": 40.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StringPendulum(**STRING, elements=0), "elements = 0; expected a whole number"),
        (
            lambda: StringPendulum(**(STRING | {"stiffness": -1.0})),
            "stiffness = -1.0; expected a finite number above 0",
        ),
        (lambda: StringPendulum(**(STRING | {"stiffness": lambda x: np.ones(2)})), "expected a number, the energy"),
        (lambda: StringPendulum(**STRING, kinetic="wrong"), "kinetic = 'wrong'; expected one of 'paper', 'exact'"),
        (lambda: StringPendulum(**STRING, wound=2.0), "wound = 2.0 is for a locked reel"),
        (lambda: StringPendulum(**STRING, reel=Reel(locked=True), wound=0.1), "at least the guide way's 0.5 m"),
        (lambda: Reel(carnot="wrong"), "carnot = 'wrong'; expected one of"),
        (lambda: Reel(moment=lambda a, b: a), "moment is a function of 2 arguments"),
        (lambda: HangingBody(0.1, (0.3, 0.2, 0.4), INERTIA - 0.02 * np.eye(3)), "not positive definite"),
        (lambda: HangingBody(0.1, (0.3, 0.2, 0.4)), "give its inertia"),
        (lambda: StringPendulum(**STRING).straight((0.0, 0.0, 0.0)), "is not a direction"),
        (lambda: StringPendulum(**STRING).state(q=np.zeros((20, 3))), "coincide"),
        (lambda: StringPendulum(**STRING, reel=Reel(), body=BODY).straight((1, 0, 0), s=11.0), "s = 11 m of string"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(nd.InputError, match=message):
        make()


def test_a_reel_that_runs_out_ends_the_run_and_keeps_it():
    pendulum, _ = paper_case(2, elements=N, moment=-2.0)
    start = pendulum.straight((0.0, 0.0, 1.0), s=0.52)
    with pytest.warns(RuntimeWarning, match="the string on the reel ran out"):
        run = nd.simulate(pendulum, start, t1=2.0, dt=0.002, method=nd.StringVariational(), engine="compiled")
    assert run.outcome.failed
    assert 0.49 < run.final.g.s[0] < 0.5  # the step in which it happened
    assert len(run.t) > 10


def test_the_method_needs_a_string():
    with pytest.raises(nd.InputError, match="StringVariational needs a StringSystem"):
        nd.StringVariational().check(nd.models.RigidBody((1.0, 2.0, 3.0)))
    with pytest.raises(nd.InputError, match=r"rule = Trapezoid\(\); expected Left\(\), Midpoint\(\) or Implicit\(\)"):
        nd.StringVariational(nd.Trapezoid())
