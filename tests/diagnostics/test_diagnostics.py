"""The measurements themselves, against known values."""

import numpy as np
import pytest

import naiad as nd
from naiad.compiler import engine
from naiad.diagnostics import (
    convergence,
    energy_error,
    lyapunov_exponent,
    momentum_error,
    poisson_defect,
    relative_change,
    symplecticity_defect,
)
from naiad.errors import InputError
from naiad.studies.trees.three_ellipsoids import OMEGA, XDOT, three_ellipsoids
from tests.verification.problems import PROBLEMS

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(R=nd.SO3().random(np.random.default_rng(1)), Pi=(0.7, 0.8, -1.5))


class Damped(nd.LagrangianSystem):
    """A free particle with friction, whose step contracts by a known factor."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def force(self, q, v, t):
        return -0.4 * v


def test_sizes_are_positive():
    system = Damped()
    with pytest.raises(InputError, match="sizes"):
        symplecticity_defect(system, nd.Variational(), system.state(v=[1.0]), dt=0.1, sizes=(1.0, 0.0))


def test_symplecticity_defect_is_the_contraction_of_area():
    """Trapezoid with friction c: p' = p (1 - c h/2)/(1 + c h/2), so the area form shrinks by that factor."""
    h, c = 0.1, 0.4
    factor = (1 - c * h / 2) / (1 + c * h / 2)
    assert symplecticity_defect(Damped(), nd.Variational(), Damped().state(v=[1.0]), dt=h) == pytest.approx(
        1 - factor, rel=1e-12
    )


def test_poisson_defect_tells_lie_poisson_methods_from_others():
    assert poisson_defect(BODY, nd.Variational(nd.Cayley()), START, dt=0.1) < 1e-15
    assert poisson_defect(BODY, nd.RK4(), START, dt=0.1) > 1e-9
    top = PROBLEMS["heavy-top"]
    with pytest.raises(nd.InputError, match=r"system = HeavyTop.*expected an EulerPoincareSystem"):
        poisson_defect(top.system, nd.Variational(), top.state, dt=0.1)


def test_relative_change():
    np.testing.assert_allclose(relative_change([2.0, 2.5, 1.0]), [0, 0.25, 0.5])
    np.testing.assert_allclose(relative_change([0.0, 0.5]), [0, 0.5])
    np.testing.assert_allclose(relative_change([[3.0, 4.0], [3.0, 5.0]]), [0, 0.2])


def test_errors_of_a_run():
    run = nd.simulate(BODY, START, t1=5.0, dt=0.05)
    assert energy_error(run).max() == pytest.approx(np.abs(run.energy / run.energy[0] - 1).max().item(), rel=1e-9)
    assert 1e-6 < energy_error(run).max() < 1e-3
    assert momentum_error(run).max() < 1e-14


def test_momentum_error_needs_a_symmetry():
    top = PROBLEMS["heavy-top"]
    run = nd.simulate(top.system, top.state, t1=0.1, dt=0.05)
    assert "momentum" not in run.dataset
    with pytest.raises(nd.InputError, match="HeavyTop declares no symmetry"):
        momentum_error(run)


def test_convergence_reports_both_parts():
    measured = convergence(BODY, nd.RKMK("heun2"), START, t1=1.0, steps=(20, 40))
    np.testing.assert_allclose(measured.dt, [0.05, 0.025])
    assert measured.order == pytest.approx(2.0, abs=0.1)
    assert measured.error_mu[0] > 3 * measured.error_mu[1] > 0


class Saddle(nd.LagrangianSystem):
    """The unstable oscillator q'' = k^2 q: its exponent is k."""

    k: float
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + 0.5 * self.k**2 * q[0] ** 2 - 0.5 * q[1] ** 2


def test_lyapunov_exponent_of_a_saddle_and_of_a_torus():
    saddle = Saddle(1.5)
    exponent = lyapunov_exponent(saddle, saddle.state(q=(1e-9, 0.3)), dt=0.01, steps=500, transient=500)
    assert exponent == pytest.approx(
        2 / 0.01 * np.arcsinh(0.01 * 1.5 / 2), rel=1e-6
    )  # of the Verlet step, not of the flow
    torus = lyapunov_exponent(BODY, START, dt=0.1, steps=4000)
    assert torus == pytest.approx(np.log(400.0) / 400.0, rel=0.3)  # a vector on a torus grows linearly with time


def test_derivatives_of_long_steps_are_machine_code(monkeypatch):
    """The step of three connected ellipsoids, on a group of 12 dimensions, which XLA takes half a minute for."""
    monkeypatch.setattr(engine, "_jitted_rows", None)
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    assert symplecticity_defect(bodies, nd.TreeVariational(), state, dt=0.01) < 2e-15


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda *given: symplecticity_defect(*given, dt=0.1, steps=0), "symplecticity_defect: steps = 0; expected at"),
        (lambda *given: symplecticity_defect(*given, dt=0.1, steps=-1), "symplecticity_defect: steps = -1"),
        (lambda *given: symplecticity_defect(*given, dt=0.0), "dt = 0; expected a step of another size"),
        (lambda *given: poisson_defect(*given, dt=0.0), "dt = 0; expected a step of another size"),
        (
            lambda *given: nd.diagnostics.reversibility_defect(*given, dt=0.1, steps=0),
            "reversibility_defect: steps = 0",
        ),
        (lambda *given: nd.diagnostics.step_jacobian(*given, dt=0.1, steps=0), "step_jacobian: steps = 0"),
        (lambda *given: nd.diagnostics.march(*given, dt=0.1, steps=-1), "march: steps = -1; expected at least 0"),
        (lambda *given: nd.diagnostics.march(*given, dt=np.float32(0.1), steps=1), "dt is float32"),
        (lambda *given: nd.diagnostics.timed_run(*given, dt=0.0, steps=9), "dt = 0; expected a step of another size"),
        (lambda body, _, start: lyapunov_exponent(body, start, dt=0.0, steps=9), "dt = 0; expected a step of another"),
        (lambda body, _, start: lyapunov_exponent(body, start, dt=0.1, steps=9, transient=-1), "transient = -1"),
        (lambda *given: convergence(*given, t1=1.0, steps=(16, 16)), "expected two numbers of steps or more"),
        (lambda *given: convergence(*given, t1=0.0, steps=(16, 32)), "t1 = 0 is not after t0 = 0"),
        (lambda *given: convergence(*given, t1=-1.0, steps=(16, 32)), "t1 = -1 is not after t0 = 0"),
        (lambda *_: nd.diagnostics.action_defect(nd.SO3(), lambda g, x: g @ x, np.ones(3), seed=-1), "seed = -1"),
    ],
)
def test_nothing_is_measured_where_nothing_moves(measure, message):
    """Of no steps, or of steps of no size, the defect would be zero for any method."""
    with pytest.raises(InputError, match=message):
        measure(BODY, nd.Variational(), START)
