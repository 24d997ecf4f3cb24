"""Hooks of a class: names that are nearly one, and closed forms of a Lagrangian that is overridden."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd

J = np.array([1.0, 2.0, 3.0])


class Spun(nd.models.RigidBody):
    """A rigid body with a rotor, whose axis turns with space, and a quartic term."""

    def lagrangian(self, R, Omega, t):
        return super().lagrangian(R, Omega, t) + 0.3 * R[2] @ Omega + 0.2 * Omega[0] ** 4


class Weighted(nd.models.RigidBody):
    """A rigid body with a potential: the closed velocity stays right."""

    def lagrangian(self, R, Omega, t):
        return super().lagrangian(R, Omega, t) - 0.5 * R[2, 2]


def spun():
    system = Spun(J)
    return system, system.state(Omega=(0.4, 0.3, 0.2))


def test_a_closed_velocity_is_derived_again_where_the_lagrangian_is_another():
    system, state = spun()
    np.testing.assert_allclose(system.velocity(state.g, state.mu), [0.4, 0.3, 0.2], rtol=0, atol=1e-14)
    energy = 0.5 * J @ np.array([0.4, 0.3, 0.2]) ** 2 + 3 * 0.2 * 0.4**4
    assert float(system.energy(state)) == pytest.approx(energy, abs=1e-14)


def test_its_motion_is_that_of_the_lagrangian():
    """Euler's equations by hand; the rotor adds b = 0.3 R^T e_3, which does not turn in space."""
    system, state = spun()

    def rate(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        mu = J * w + 0.3 * R[2] + np.array([0.8 * w[0] ** 3, 0.0, 0.0])
        inertia = np.diag(J + np.array([2.4 * w[0] ** 2, 0.0, 0.0]))
        turned = np.cross(R[2], w)
        torque = np.cross(mu, w) + 0.3 * np.cross(w, R[2])  # for a turn eta, R^T e_3 changes by (R^T e_3) x eta
        return np.concatenate([(R @ hat).ravel(), np.linalg.solve(inertia, torque - 0.3 * turned)])

    exact = solve_ivp(
        rate, (0, 1), np.concatenate([np.eye(3).ravel(), [0.4, 0.3, 0.2]]), method="DOP853", rtol=1e-11, atol=1e-12
    )
    run = nd.simulate(system, state, t1=1.0, dt=0.01, method=nd.RKMK(), progress=False)
    found = system.velocity(run.final.g, run.final.mu)
    np.testing.assert_allclose(found, exact.y[9:, -1], rtol=0, atol=1e-8)


def test_a_closed_velocity_that_is_right_is_taken_as_it_is():
    system = Weighted(J)
    state = system.state(Omega=(0.4, 0.3, 0.2))
    np.testing.assert_array_equal(system.velocity(state.g, state.mu), nd.models.RigidBody(J).velocity(None, state.mu))
    assert float(system.energy(state)) == pytest.approx(0.5 * J @ np.array([0.4, 0.3, 0.2]) ** 2 + 0.5)


def test_a_velocity_of_ones_own_that_is_not_the_inverse_is_refused():
    class Wrong(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return v @ v

        def velocity(self, q, mu, t=0.0):
            return mu

    with pytest.raises(nd.InputError, match=r"Wrong\.velocity is not the inverse of d ell/d xi: .* is off by 0\.5"):
        Wrong().state(q=[0.0], v=[1.0])


@pytest.mark.parametrize(
    ("name", "hook"),
    [("forces", "force"), ("constraints", "constraint"), ("symmetries", "symmetry"), ("limits", "limit")],
)
def test_a_method_that_is_nearly_a_hook_is_refused(name, hook):
    def written(self, g, xi, t):
        return -xi

    with pytest.raises(
        nd.InputError, match=rf"defines `{name}`, which nothing calls; is it meant to be the hook `{hook}`"
    ):
        type("Mine", (nd.LagrangianSystem,), {name: written, "__module__": __name__})


def test_a_constraint_on_the_velocity_alone_is_refused_by_name():
    with pytest.raises(nd.InputError, match="defines `nonholonomic`, which naiad does not know"):

        class Rolling(nd.LagrangianSystem):
            def nonholonomic(self, q, t):
                return q


def test_methods_that_the_class_calls_or_naiad_defines_may_be_called_nearly_as_hooks():
    class Mine(nd.LagrangianSystem):
        group = nd.Rn(1)

        def forces(self, v):
            return -v

        def force(self, q, v, t):
            return self.forces(v)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v

    assert Mine().force(None, 2.0, 0.0) == -2.0
    given = {"potential": lambda self, g, t: jnp.zeros(())}
    assert type("Bodies", (nd.trees.TreeSystem,), given)


def test_a_state_of_a_constrained_body_moves_by_collocation():
    """Its momentum depends on the configuration, so its stages hold both."""

    class Leaning(nd.EulerPoincareSystem):
        group = nd.SO3()

        def reduced_lagrangian(self, Omega):
            return 0.5 * Omega @ (jnp.asarray(J) * Omega)

        def constraint(self, R, t):
            return R[2, 2:]

    system, R = Leaning(), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    start = system.state(R=R, Omega=(0.0, 0.5, 0.8))
    ends = []
    for dt, method in ((0.1, nd.Collocation()), (0.2, nd.Collocation()), (0.0005, nd.RKMK())):
        run = nd.simulate(system, start, t1=2.0, dt=dt, method=method, progress=False)
        ends.append(run.final.mu)
        assert abs(run.final.g[2, 2]) < 1e-10
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(ends[0], ends[2], rtol=0, atol=1e-9)
