"""The audit of a system: what is right is found to be right, and each mistake is named."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import engine
from naiad.diagnostics import audit, reference, shortest_time
from naiad.diagnostics.audit import FRACTION
from naiad.diagnostics.facts import facts


class Top(nd.LagrangianSystem):
    """A symmetric top; turns about the vertical leave it alone."""

    group = nd.SO3()
    vertical = (0.0, 0.0, 1.0)

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (jnp.array([1.0, 1.0, 0.5]) * xi) - g[2, 2]

    def symmetry(self, s, g):
        return self.group.compose(self.group.exp(s[0] * jnp.array(self.vertical)), g)


class WrongSymmetry(Top):
    vertical = (0.0, 1.0, 0.0)


class Pushed(Top):
    def force(self, g, xi, t):
        return 0.1 * g[2]


class Driven(Top):
    def lagrangian(self, g, xi, t):
        return super().lagrangian(g, xi, t) + 0.1 * jnp.sin(t)


@jax.custom_jvp
def height(x):
    return x**2


@height.defjvp
def _(primals, tangents):
    return height(primals[0]), 2.02 * primals[0] * tangents[0]


class WrongDerivative(Top):
    def lagrangian(self, g, xi, t):
        return super().lagrangian(g, xi, t) - height(g[2, 2])


class Weightless(Top):
    """Its discrete Lagrangian leaves the weight out."""

    def discrete_lagrangian(self, g, xi, t, h, tau):
        return h * (self.lagrangian(g, xi, t) + g[2, 2])


def start(system):
    return system.state(g=system.group.exp(np.array([0.9, 0.2, 0.0])), xi=np.array([0.0, 0.1, 5.0]))


def verdicts(found):
    return {finding.name: finding.good for finding in found.findings}


def test_a_sound_system_passes():
    top = Top()
    found = audit(top, start(top), steps=200)
    assert found.passed
    assert set(verdicts(found).values()) == {True}
    assert {finding.name: finding.found for finding in found.findings}["order"] == "2.00"
    assert "momentum" in str(found) and "BAD" not in str(found)  # noqa: PT018


class Weight(nd.LagrangianSystem):
    """Something heavy on a rail that bends; its energy is zero where it begins."""

    group = nd.Rn(2)
    mass: float

    def lagrangian(self, g, xi, t):
        return self.mass * (0.5 * xi @ xi - 9.81 * (g[0] + 0.1 * g[0] ** 2))

    def symmetry(self, s, g):
        return g + s[0] * jnp.array([0.0, 1.0])


@pytest.mark.parametrize("mass", [1e-9, 1e9])
def test_what_begins_at_rest_is_measured_by_how_it_moves(mass):
    weight = Weight(mass)
    found = audit(weight, weight.state(g=np.zeros(2)), nd.Variational(), dt=0.02, steps=100)
    assert found.passed, found
    large = audit(weight, weight.state(g=np.zeros(2)), nd.Variational(), dt=2.0, steps=20)
    assert verdicts(large)["error after 64 steps"] is False
    assert verdicts(large)["energy"] is False


def test_of_what_rests_nothing_is_said():
    body = nd.models.RigidBody((1.0, 2.0, 2.5))
    found = audit(body, body.state(), steps=20)
    assert found.passed
    assert verdicts(found)["order"] is None
    assert "nothing moves" in str(found)


def test_a_momentum_that_is_zero_is_measured_by_its_terms():
    pair = Pair()
    found = audit(pair, pair.state(xi=np.array([3e6, -1e6])), steps=200)
    assert verdicts(found)["momentum"] is True


class Pair(nd.LagrangianSystem):
    """Two masses, 1 and 3, on a spring between them; together they may go anywhere."""

    group = nd.Rn(2)

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (jnp.array([1.0, 3.0]) * xi) - 0.5 * (g[1] - g[0]) ** 2

    def symmetry(self, s, g):
        return g + s[0]


def test_a_step_that_is_too_large_is_named():
    top = Top()
    found = audit(top, start(top), nd.RK4(), dt=0.4, steps=20)
    assert not found.passed
    assert verdicts(found)["error after 64 steps"] is False
    assert "dt = 0.4 s is too large" in str(found)
    assert verdicts(found)["distance from the group"] is False
    assert verdicts(found)["symplectic form"] is None


def test_a_force_that_the_step_leaves_out_is_named():
    top = Weightless()
    found = audit(top, start(top), nd.Variational(nd.Cayley()), steps=20)
    assert verdicts(found)["order"] is False
    assert "the error does not fall with dt" in str(found)
    assert verdicts(found)["symplectic form"] is True


@pytest.mark.parametrize(
    ("system", "derivatives", "symmetries", "pushed", "changing"),
    [
        (Top(), 0.0, 0.0, 0.0, 0.0),
        (WrongSymmetry(), 0.0, 0.0086, 0.0, 0.0),
        (Pushed(), 0.0, 0.0, 0.0054, 0.0),
        (Driven(), 0.0, 0.0, 0.0, 0.0054),
        (WrongDerivative(), 5.6e-5, 0.0, 0.0, 0.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_a_system_is(system, derivatives, symmetries, pushed, changing):
    state = start(system)
    g, xi = state.g[None], np.array([[0.0, 0.1, 5.0]])
    with jax.enable_x64(True):
        found = facts(system, g, xi, np.zeros(1))
    expected = (derivatives, symmetries, pushed, changing)
    for value, size in zip(
        (found.derivatives, found.symmetries[0], found.pushed[0], found.changing), expected, strict=True
    ):
        assert value < 1e-12 if size == 0.0 else value == pytest.approx(size, rel=0.05)


def test_the_shortest_time():
    """Of a pendulum l/g = 0.25 that hangs: sqrt(l/g); of a body that turns at 4 rad/s: 0.25 s."""

    class Pendulum(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, g, xi, t):
            return 0.5 * xi @ xi + 4.0 * jnp.cos(g[0])

    pendulum, body = Pendulum(), nd.models.RigidBody((1.0, 1.0, 1.0))
    assert shortest_time(pendulum, pendulum.state()) == pytest.approx(0.5)
    assert shortest_time(body, body.state(Omega=(0.0, 0.0, 4.0))) == pytest.approx(0.25)
    assert shortest_time(body, body.state()) == 1.0


@pytest.mark.parametrize(
    ("options", "words"),
    [({"dt": -1.0}, "dt = -1.0; expected a step above 0"), ({"steps": 3}, "steps = 3; expected 10 or more")],
)
def test_bad_input(options, words):
    with pytest.raises(nd.InputError, match=words):
        audit(Top(), start(Top()), **options)


def test_a_heat_bath_is_for_another_measurement():
    body = nd.models.IsothermalRigidBody((1.0, 2.0, 2.5), (1.0, 1.0, 1.0), 0.1)
    with pytest.raises(nd.InputError, match="equilibrium"):
        audit(body, body.state(), nd.StochasticVariational())


def test_the_symplectic_form_is_not_measured_under_a_force():
    top = Pushed()
    found = audit(top, start(top), steps=20)
    assert {each.name: each.found for each in found.findings}["symplectic form"] == ""
    assert "symplectic form: not measured: a force acts" in str(found)


def test_the_step_is_the_callers_and_the_default_is_said():
    state = Top().state(R=(0.5, 0.0, 0.0), Omega=(0.0, 0.0, 2.0))
    assert audit(Top(), state, dt=0.0125, steps=10).title == "Top by Variational, dt = 0.0125 s, 10 steps"
    own = FRACTION * shortest_time(Top(), state)
    found = audit(Top(), state, steps=10, order=False, symplectic=False)
    assert found.title == f"Top by Variational, dt = {own:.4g} s (a twentieth of the shortest time), 10 steps"
    assert pytest.approx(1 / 20) == FRACTION
    left_out = {each.name: (each.found, each.good, each.remark) for each in found.findings[:5]}
    assert left_out["order"] == ("?", None, "left out by order=False")
    assert left_out["symplectic form"] == ("", None, "left out by symplectic=False")


def test_an_audit_of_a_body_is_compiled_by_naiad_alone(monkeypatch):
    """XLA takes three times as long for programs of this size."""

    def refuse(function):
        raise AssertionError(f"{function} goes through XLA")

    monkeypatch.setattr(engine, "_jitted", refuse)
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    assert audit(body, body.state(Omega=(0.3, 1.0, 0.2)), steps=50).passed


def test_an_audit_of_a_body_needs_no_labelled_arrays():
    """Importing xarray and what it draws in takes a second."""
    script = (
        "import sys, naiad as nd\n"
        "body = nd.models.RigidBody((1.0, 2.0, 3.0))\n"
        "print(nd.audit(body, body.state(Omega=(0.3, 1.0, 0.2)), dt=0.05, steps=50).passed)\n"
        "print([name for name in ('xarray', 'pandas', 'dask') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True", "[]"]


def test_the_reference_is_the_same_by_both_compilers():
    state = Top().state(R=(0.5, 0.0, 0.0), Omega=(0.1, 0.0, 2.0))
    ours, by_xla = (reference(Top(), state, t1=2.0, engine=each) for each in ("compiled", "xla"))
    np.testing.assert_allclose(ours.g, by_xla.g, rtol=0, atol=1e-11)
    np.testing.assert_allclose(ours.mu, by_xla.mu, rtol=0, atol=1e-11)
