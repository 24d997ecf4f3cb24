"""Implicit Euler and projections: what they keep, what they lose, what they refuse."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march
from naiad.integrators import check_method
from naiad.integrators.projected import orthonormal

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))


class Oscillator(nd.LagrangianSystem):
    damping: float
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q

    def force(self, q, v, t):
        return -self.damping * v


def test_implicit_euler_is_the_textbook_map_of_the_damped_oscillator():
    """(1 + h c) v' + h q' = v, q' = q + h v'."""
    h, c = 0.3, 0.2
    system = Oscillator(c)
    end = march(system, nd.ImplicitEuler(), system.state(q=(1.0, 0.0), v=(0.0, 0.5)), dt=h, steps=1)
    v = (np.array([0.0, 0.5]) - h * np.array([1.0, 0.0])) / (1 + h * c + h**2)
    np.testing.assert_allclose(end.mu, v, rtol=1e-14)
    np.testing.assert_allclose(end.g, np.array([1.0, 0.0]) + h * v, rtol=1e-14)


def test_implicit_euler_loses_energy_that_the_variational_method_keeps():
    ends = {
        name: march(BODY, method, START, dt=0.05, steps=2000)
        for name, method in (("implicit", nd.ImplicitEuler()), ("variational", nd.Variational()))
    }
    energy = {name: float(BODY.energy(end)) / float(BODY.energy(START)) - 1 for name, end in ends.items()}
    assert energy["implicit"] < -0.3
    assert abs(energy["variational"]) < 1e-3


def test_projection_keeps_what_it_projects_onto_and_only_that():
    energy, momentum = float(BODY.energy(START)), BODY.momentum(START)
    kept = {}
    for name, invariants in (("energy", ("energy",)), ("both", ("energy", "momentum")), ("own", (BODY.energy,))):
        end = march(BODY, nd.Projected(nd.RKMK("euler"), invariants), START, dt=0.05, steps=400)
        change = float(np.max(np.abs(BODY.momentum(end) - momentum)))
        kept[name] = abs(float(BODY.energy(end)) / energy - 1), change, end
        assert float(BODY.group.error(end.g)) < 1e-14
    assert max(kept["energy"][0], kept["both"][0], kept["own"][0]) < 1e-14
    assert kept["both"][1] < 1e-14
    assert kept["energy"][1] > 1e-3
    np.testing.assert_allclose(kept["own"][2].mu, kept["energy"][2].mu, atol=1e-12)


def test_rows_that_others_span_are_left_out():
    rows = np.array([[2.0, 0.0, 0.0, 0.0], [1.0, 3.0, 0.0, 0.0], [4.0, -5.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.5]])
    with jax.enable_x64(True):
        normals, independent = orthonormal(rows)
    np.testing.assert_allclose(normals, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(independent, [1.0, 1.0, 0.0, 1.0])


def test_what_does_not_fit_is_refused():
    system = Oscillator(0.1)
    with pytest.raises(nd.InputError, match="Oscillator has a force, which Projected does not honour"):
        check_method(nd.Projected(nd.RK4()), system)
    with pytest.raises(nd.InputError, match="Projected onto momentum, but Bead declares no symmetry"):
        check_method(nd.Projected(nd.RK4(), ("momentum",)), Bead())
    with pytest.raises(nd.InputError, match=r"invariants = \('mass',\); expected a tuple of 'energy', 'momentum'"):
        nd.Projected(nd.RK4(), ("mass",))


class Bead(nd.LagrangianSystem):
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def constraint(self, q, t):
        return q[:1]


def test_implicit_euler_refuses_constraints():
    with pytest.raises(nd.InputError, match="Bead has a constraint, which ImplicitEuler does not honour"):
        check_method(nd.ImplicitEuler(), Bead())
