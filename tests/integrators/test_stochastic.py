"""The stochastic variational integrator: laws of linear schemes in closed form, equipartition, its quiet limit."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov, solve_discrete_lyapunov

import naiad as nd
from naiad.diagnostics import march
from naiad.mechanics import noise_matrix
from naiad.numerics import semidefinite_root
from tests.strings.strings import moving_case

EULER = nd.StochasticVariational()
IMPLICIT = nd.StochasticVariational(lagged=False)
TRAPEZOID = nd.StochasticVariational(quadrature=nd.Trapezoid(), lagged=False)
MIDPOINT = nd.StochasticVariational(quadrature=nd.Midpoint(), lagged=False)
METHODS = {"euler": EULER, "implicit": IMPLICIT, "trapezoid": TRAPEZOID, "midpoint": MIDPOINT}
DISK = nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7)


class Particle(nd.LagrangianSystem):
    """Langevin's particle, free or on a spring."""

    m: float
    dissipation: Any
    temperature: float
    k: float
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - 0.5 * self.k * q @ q


class Swimmer(nd.LagrangianSystem):
    """A body on SE(3) whose friction depends on its attitude."""

    inertia: Any
    temperature: float
    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (self.inertia * xi) - 0.5 * g.x @ g.x

    def dissipation(self, g, t):
        return jnp.diag(jnp.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.9])) * (1.0 + 0.5 * g.R[2, 2])


PARTICLE = Particle(2.0, np.array([[0.7]]), 0.3, 0.0)


@nd.double
@jax.jit
def linearised(system, method, h):
    """One step (g, mu, dW) -> (g, mu) from where all entries are one, and its derivatives."""
    n = system.group.dim

    def step(z, increments):
        carry = method.init(system, nd.State(z[:n], z[n:]), 0.0, h)
        return jnp.concatenate(method.step(system, carry, 0.0, h, increments / h).state)

    at = jnp.ones(2 * n), jnp.ones(method.noise_size(system))
    return step(*at), *jax.jacfwd(step, (0, 1))(*at)


def linear_map(system, method, h):
    """A and B of z -> A z + B dW for a linear system, from the step itself."""
    at, A, B = (np.asarray(each) for each in linearised(system, method, h))
    np.testing.assert_allclose(at, A.sum(1) + B.sum(1), atol=1e-14)  # linear indeed
    return A, B


def excess(disk, method, h):
    """By how much m v^2, J omega^2 and k x^2 over kT exceed 1 in the stationary law of the scheme."""
    A, B = linear_map(disk, method, h)
    kept = [0, 2, 3]  # the angle itself spreads for ever
    A, B = A[np.ix_(kept, kept)], B[kept]
    x, p, L = np.diagonal(solve_discrete_lyapunov(A, h * B @ B.T))
    return np.array([p / disk.m, L / disk.J, disk.k * x]) / disk.kT - 1.0


@pytest.mark.parametrize("rank", [1, 2, 4, 20])
def test_root_of_a_semidefinite_matrix(rank):
    n = 4 if rank <= 4 else 20
    scales = 10.0 ** np.linspace(-6, 6, n)
    factor = scales[:, None] * np.random.default_rng(rank).standard_normal((n, rank))
    A = factor @ factor.T
    with jax.enable_x64(True):
        L = np.asarray(semidefinite_root(A))
    np.testing.assert_allclose((L @ L.T) / np.outer(scales, scales), A / np.outer(scales, scales), atol=3e-13)
    assert np.all(np.triu(L, 1) == 0)
    assert np.count_nonzero(np.any(L != 0, axis=0)) == rank


def test_noise_balances_the_friction():
    """Sigma Sigma^T = 2 kT C, for a declared temperature and for the disk's own noise."""
    C = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, 0.1], [0.0, 0.1, 0.4]])
    body = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), C, 0.7)
    with jax.enable_x64(True):
        sigma, own = np.asarray(noise_matrix(body, jnp.eye(3), 0.0)), np.asarray(noise_matrix(DISK, jnp.zeros(2), 0.0))
        friction = np.asarray(DISK.dissipation(jnp.zeros(2), 0.0))
    np.testing.assert_allclose(sigma @ sigma.T, 1.4 * C, atol=1e-15)
    np.testing.assert_allclose(own @ own.T, 2 * DISK.kT * friction, atol=1e-15)
    assert DISK.kT == pytest.approx(0.9**2 / 1.4, rel=1e-15)


def test_one_step_of_the_disk_is_the_scheme_of_the_thesis():
    """(7.5.7)-(7.5.9), written out."""
    m, J, r, c, alpha, k, h = 1.3, 0.4, 0.8, 0.7, 0.9, 1.7, 0.05
    A = np.array([[1 / m**2, r / (m * J)], [r / (m * J), r**2 / J**2]])
    root = A / np.sqrt(1 / m**2 + r**2 / J**2)
    np.testing.assert_allclose(root @ root, A, rtol=1e-14)
    x, v, dB = np.array([0.4, -0.3]), np.array([0.6, 1.1]), np.array([0.13, -0.21])
    expected = v + h * np.array([-k * x[0] / m, 0.0]) - h * c * A @ [m * v[0], J * v[1]] + alpha * root @ dB
    run = nd.simulate(DISK, DISK.state(q=x, v=v), t1=h, dt=h, method=EULER, noise=dB[None])
    np.testing.assert_allclose(run.xi[-1], expected, rtol=1e-14)
    np.testing.assert_allclose(run.g[-1], x + h * expected, rtol=1e-14)
    pushed = nd.models.SlidingDisk(m, J, r, c=c, alpha=alpha, k=k, noise="translation")
    run = nd.simulate(pushed, DISK.state(q=x, v=v), t1=h, dt=h, method=EULER, noise=dB[None])
    np.testing.assert_allclose(run.xi[-1], expected - alpha * root @ dB + [alpha * dB[0], 0.0], rtol=1e-14)


@pytest.mark.parametrize("name", METHODS)
def test_a_free_particle_has_the_variance_of_the_closed_form(name):
    """<p^2>/(m kT) is 1/(1 - a/2), 1/(1 + a/2) and 1, a = h c/m; measured over a run, with its statistical error."""
    h, steps = 0.5, 400_000
    a = h * 0.7 / 2.0
    decay = {"euler": 1 - a, "implicit": 1 / (1 + a)}.get(name, (1 - a / 2) / (1 + a / 2))
    exact = {"euler": 1 / (1 - a / 2), "implicit": 1 / (1 + a / 2)}.get(name, 1.0)
    A, B = linear_map(PARTICLE, METHODS[name], h)
    assert A[1, 1] == pytest.approx(decay, rel=1e-14)
    assert h * B[1, 0] ** 2 / (1 - A[1, 1] ** 2) == pytest.approx(2.0 * 0.3 * exact, rel=1e-14)
    square = {"square": lambda state, t: state.mu[0] ** 2 / 0.6}
    run = nd.simulate(
        PARTICLE, PARTICLE.state(), t1=steps * h, dt=h, method=METHODS[name], noise=nd.Noise(5), monitors=square
    )
    error = exact * np.sqrt(2.0 / steps * (1 + decay**2) / (1 - decay**2))
    assert abs(float(run.monitors["square"].mean) - exact) < 4 * error < 0.03


def test_the_mean_decays_as_without_noise():
    """The scheme is linear: the mean of two runs with opposite noise is the run without noise, to round-off."""
    rows = nd.Noise(1).increments(100, 1, 0.1)
    start = PARTICLE.state(v=[1.0])
    ends = [
        nd.simulate(PARTICLE, start, t1=10.0, dt=0.1, method=EULER, noise=sign * rows).final.mu[0] for sign in (1, -1)
    ]
    assert np.mean(ends) == pytest.approx(2.0 * (1 - 0.1 * 0.7 / 2.0) ** 100, rel=1e-13)


@pytest.mark.parametrize(("name", "order"), [("euler", 1), ("implicit", 1), ("trapezoid", 2)])
def test_the_bias_of_equipartition_has_its_order(name, order):
    """In the stationary law of the disk on its spring, from the step itself: exact, no statistics."""
    kinetic = slice(0, 1 if name == "trapezoid" else 2)  # the trapezoid is exact in the rotation
    coarse, fine = (np.abs(excess(DISK, METHODS[name], h))[kinetic] for h in (0.008, 0.004))
    np.testing.assert_allclose(np.log2(coarse / fine), order, atol=0.02)
    assert np.all(coarse > 1e-5)
    if name == "euler":
        np.testing.assert_allclose(excess(DISK, EULER, 1e-3)[1], 1e-3 * 0.7 * 0.8**2 / 0.4 / 2, rtol=2e-3)


def test_symmetric_rules_sample_a_spring_exactly():
    """Midpoint: all of the law, at any step. Trapezoid: the position, and the velocity along which no spring acts."""
    for h in (0.01, 0.3, 1.0):
        np.testing.assert_allclose(excess(DISK, MIDPOINT, h), 0.0, atol=2e-12)
        np.testing.assert_allclose(excess(DISK, TRAPEZOID, h)[1:], 0.0, atol=2e-12)


def test_strong_order_on_one_path():
    """Against the exact map with the same Wiener path, summed to coarser steps: order 1, as the noise is additive."""
    fine, T, paths = 2048, 2.0, 20
    system = Particle(1.3, np.array([[0.8]]), 0.5, 1.7)
    generator = np.array([[0.0, 1 / 1.3], [-1.7, -0.8 / 1.3]])
    flow, push = expm(generator * T / fine), np.array([0.0, np.sqrt(2 * 0.5 * 0.8)])
    errors = {32: [], 64: [], 128: []}
    for seed in range(paths):
        dW = nd.Noise(seed).increments(fine, 1, T / fine)
        z = np.array([0.5, 0.2])
        half = expm(generator * T / fine / 2) @ push  # the increment acts in the middle: off by O((T/fine)^(3/2))
        for w in dW[:, 0]:
            z = flow @ z + half * w
        for count, found in errors.items():
            rows = dW.reshape(count, -1, 1).sum(1)
            end = nd.simulate(system, system.state(q=[0.5], p=[0.2]), t1=T, dt=T / count, method=EULER, noise=rows)
            found.append(np.hypot(*(np.concatenate(end.final) - z)))
    rms = [np.sqrt(np.mean(np.square(found))) for found in errors.values()]
    np.testing.assert_allclose(np.log2(np.array(rms[:-1]) / rms[1:]), 1.0, atol=0.15)


@pytest.mark.parametrize("name", METHODS)
def test_without_friction_and_noise_it_is_the_variational_method(name):
    method = METHODS[name]
    cold = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), 0.0, 0.7)
    state = cold.state(Omega=(0.3, -0.5, 0.4))
    end = nd.simulate(cold, state, t1=5.0, dt=0.05, method=method, noise=nd.Noise(3)).final

    class Top(nd.LagrangianSystem):
        group = nd.SO3()

        def lagrangian(self, R, Omega, t):
            return cold.lagrangian(R, Omega, t)

    plain = nd.simulate(Top(), state, t1=5.0, dt=0.05, method=nd.Variational(quadrature=method.quadrature)).final
    np.testing.assert_allclose(end.mu, plain.mu, rtol=0, atol=1e-14)
    np.testing.assert_allclose(end.g, plain.g, rtol=0, atol=1e-14)


def test_friction_alone_needs_no_noise_and_follows_the_equations():
    class Damped(nd.LagrangianSystem):
        dissipation: Any
        group = nd.SO3()

        def lagrangian(self, R, Omega, t):
            return 0.5 * Omega @ (jnp.array([1.0, 2.0, 3.0]) * Omega) - R[2, 2]

    system = Damped(np.diag([0.3, 0.4, 0.5]))
    state = system.state(Omega=(0.3, -0.5, 0.4))
    exact = nd.diagnostics.reference(system, state, t1=2.0)
    errors = []
    for count in (100, 200):
        end = march(system, TRAPEZOID, state, dt=2.0 / count, steps=count)
        errors.append(np.max(np.abs(end.mu - exact.mu)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_without_a_potential_the_disk_keeps_a_momentum_and_is_not_ergodic():
    disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, potential="none")
    watched = {
        "kinetic": lambda state, t: state.mu[0] ** 2 / disk.m / disk.kT,
        "kept": lambda state, t: state.mu[1] - disk.r * state.mu[0],
    }
    run = nd.simulate(disk, disk.state(), t1=40_000.0, dt=0.2, method=TRAPEZOID, noise=nd.Noise(2), monitors=watched)
    assert run.monitors["kept"].largest < 1e-12
    rate = 0.7 * (1 / 1.3 + 0.8**2 / 0.4)  # of the only direction that has friction
    expected = 1 / (1 + 1.3 * 0.8**2 / 0.4)
    assert float(run.monitors["kinetic"].mean) == pytest.approx(expected, abs=4 * expected * np.sqrt(2 / rate / 40_000))


def test_noise_in_the_translation_alone_drives_the_disk_as_the_moment_equation_says():
    disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, c=0.7, alpha=0.9, k=1.7, noise="translation")
    drift = np.array([[0, 1 / 1.3, 0], [-1.7, -0.7 / 1.3, -0.7 * 0.8 / 0.4], [0, -0.7 * 0.8 / 1.3, -0.7 * 0.64 / 0.4]])
    push = np.array([0.0, 1.3 * 0.9, 0.0])
    x, p, L = np.diagonal(solve_continuous_lyapunov(drift, -np.outer(push, push)))
    exact = np.array([p / 1.3, L / 0.4, 1.7 * x]) / disk.kT - 1.0
    assert exact[0] > 1.0
    np.testing.assert_allclose(excess(disk, MIDPOINT, 1e-3), exact, rtol=1e-5)
    np.testing.assert_allclose(excess(disk, EULER, 1e-3), exact, rtol=1e-2)


def test_what_does_not_fit_together_is_refused():
    class Warm(nd.LagrangianSystem):
        temperature: float
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v

    class Both(Warm):
        dissipation: Any
        diffusion: Any

    class Pushed(nd.LagrangianSystem):
        diffusion: Any
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v

    one = np.ones((1, 1))
    for system, message in (
        (Warm(1.0), "declares a `temperature` but no `dissipation`"),
        (Both(1.0, one, one), "declares both `temperature` and `diffusion`"),
        (Particle(1.0, np.eye(2), 1.0, 0.0), r"`dissipation` has shape \(2, 2\); expected a 1 x 1 matrix"),
        (Particle(1.0, one, -1.0, 0.0), r"temperature = -1; expected kT in J, at least 0"),
        (Pushed(np.ones(1)), r"`diffusion` has shape \(1,\); expected 1 rows"),
    ):
        with pytest.raises(nd.InputError, match=message):
            nd.simulate(system, system.state(), t1=1.0, dt=0.1, method=EULER, noise=nd.Noise(1))


def batch_means(system, state, method, observables, *, dt, steps, seed, batches=40):
    """Means over every step, and their standard errors from batches."""
    run = nd.simulate(system, state, t1=50.0, dt=dt, method=method, noise=nd.Noise(seed))
    found = []
    for _ in range(batches):
        run = nd.resume(run, t1=run.attrs["t"] + steps // batches * dt, monitors=observables)
        found.append([float(run.monitors[name].mean) for name in observables])
    return np.mean(found, 0), np.std(found, 0, ddof=1) / np.sqrt(batches)


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_equipartition_of_the_disk(name):
    """The averages of a long run are those of the scheme's own law, within their standard error."""
    observables = {
        "v": lambda state, t: state.mu[0] ** 2 / DISK.m / DISK.kT,
        "omega": lambda state, t: state.mu[1] ** 2 / DISK.J / DISK.kT,
        "x": lambda state, t: DISK.k * state.g[0] ** 2 / DISK.kT,
    }
    mean, error = batch_means(DISK, DISK.state(), METHODS[name], observables, dt=0.1, steps=2_000_000, seed=9)
    assert np.all(np.abs(mean - 1 - excess(DISK, METHODS[name], 0.1)) < 4 * error)
    assert np.all(error < 0.01)
    if name == "euler":
        assert mean[1] - 1 > 5 * error[1]  # the bias shows


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_gibbs_law_of_the_rigid_body_and_its_bias(name):
    """<Omega_i Pi_i> = kT and <e3.R e3> = coth(x) - 1/x; Euler's bias is that of the friction, h C/(2 J) a direction,
    the implicit one's minus that, and the symmetric rules have none that shows."""
    J, C, kT, kappa, h = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.5, 4.0]), 0.6, 0.9, 0.1
    body = nd.models.IsothermalRigidBody(J, C, kT, kappa)
    observables = {f"{i}": lambda state, t, i=i: state.mu[i] ** 2 / body.J[i, i] / kT for i in range(3)}
    observables["u"] = lambda state, t: state.g[2, 2]
    mean, error = batch_means(body, body.state(), METHODS[name], observables, dt=h, steps=1_000_000, seed=4)
    size = 0.5 * h * C / J
    bias = {"euler": size / (1 - size), "implicit": -size / (1 + size)}.get(name, np.zeros(3))
    assert np.all(np.abs(mean[:3] - 1 - bias) < 4 * error[:3] + 0.005)
    assert mean[3] == pytest.approx(1 / np.tanh(1.5) - 1 / 1.5, abs=4 * error[3] + 0.005)
    assert np.all(error < 0.012)
    if name in ("euler", "implicit"):
        assert np.all(np.abs(bias) > 0.02)


@pytest.mark.long
def test_the_bias_of_the_rigid_body_halves_with_the_step():
    """Common noise: the excess at 2h minus that at h, over the excess at h minus that at h/2, is 2."""
    body = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), (1.0, 1.5, 4.0), 0.6, 0.9)
    kinetic = {"kinetic": lambda state, t: state.mu @ (state.mu / jnp.diagonal(body.J)) / 0.6 / 3}
    steps, means = 4_000_000, []
    rows = nd.Noise(8).increments(steps, 3, 0.05)
    for coarser in (1, 2, 4):
        given = rows.reshape(-1, coarser, 3).sum(1)
        h = 0.05 * coarser
        run = nd.simulate(
            body, body.state(), t1=len(given) * h, dt=h, method=EULER, noise=given, monitors=kinetic, save_every=10**6
        )
        means.append(float(run.monitors["kinetic"].mean))
    fine, middle, coarse = means
    assert (coarse - middle) / (middle - fine) == pytest.approx(2.1, abs=0.2)


@pytest.mark.long
def test_gibbs_law_with_friction_that_depends_on_the_attitude():
    """On SE(3), a spring at the origin: <xi_i mu_i> = kT, <x_i^2> = kT."""
    body = Swimmer(np.array([1.0, 1.5, 2.0, 1.0, 2.0, 1.5]), 0.4)
    observables = {f"{i}": lambda state, t, i=i: state.mu[i] ** 2 / body.inertia[i] / 0.4 for i in range(6)}
    observables["x"] = lambda state, t: state.g.x @ state.g.x / 0.4 / 3
    mean, error = batch_means(body, body.state(), TRAPEZOID, observables, dt=0.1, steps=600_000, seed=6)
    assert np.all(np.abs(mean - 1) < 4 * error + 0.005)
    assert np.all(error < 0.02)


def test_tiny_noise_at_rest_moves_a_body_in_proportion():
    """From rest the momentum is linear in the root of the temperature, however small that is."""

    def momentum(temperature: float) -> np.ndarray:
        body = nd.models.IsothermalRigidBody((1.0, 2.0, 2.5), C=(0.1, 0.1, 0.1), temperature=temperature)
        method = nd.StochasticVariational(quadrature=nd.Midpoint())
        run = nd.simulate(body, body.state(), t1=1.0, dt=0.01, method=method, noise=nd.Noise(3))
        assert run.outcome is nd.Outcome.COMPLETED
        return run.final.mu / np.sqrt(temperature)

    np.testing.assert_allclose(momentum(1e-40), momentum(1e-30), rtol=1e-12)
    assert np.linalg.norm(momentum(1e-40)) > 0.1


def submerged() -> tuple[nd.LagrangianSystem, nd.State]:
    hull, drag = nd.hydro.Ellipsoid((1.0, 0.4, 0.3)), nd.models.Drag(np.full(6, 40.0))
    body = nd.models.SubmergedBody.from_shape(hull, 1000.0, gravity=(0.0, 0.0, -9.81), forces=[drag])
    return body, body.state(Omega=(0.3, 0.2, -0.1), v=(0.5, 0.1, 0.0))


def connected() -> tuple[nd.LagrangianSystem, nd.State]:
    joints = {"own": ((0, 0, 0), (-1.2, 0, 0)), "other": ((0, 0, 0), (1.2, 0, 0))}
    bodies = nd.models.ConnectedBodies.ellipsoids((1.0, 0.5, 0.4), (-1, 0), stiffness=2.0, damping=0.3, **joints)
    return bodies, bodies.state(xi=0.1 * np.arange(1.0, 1.0 + bodies.group.dim))


def swimming() -> tuple[nd.LagrangianSystem, nd.State]:
    fish = nd.locomotion.three_link_fish(density=1.0)
    swimmer = nd.locomotion.DrivenSwimmer(fish, torque=(1.0, -0.5), damping=0.2)
    return swimmer, swimmer.state(xi=0.1 * np.arange(1.0, 1.0 + swimmer.group.dim))


LONG = pytest.mark.long
CASES = [
    pytest.param(submerged, id="body"),
    pytest.param(connected, id="tree", marks=LONG),
    pytest.param(swimming, id="swimmer", marks=LONG),
    pytest.param(lambda: moving_case(3), id="string", marks=LONG),
]


@pytest.mark.parametrize("case", CASES)
def test_friction_joins_forces_that_are_properties(case):
    system, state = case()
    kind, C = type(system), 0.1 * np.max(np.abs(state.mu)) * np.eye(system.group.dim)
    free = kind.force.fget

    class InABath(kind):
        def dissipation(self, g, t):
            return C

    class WithFriction(kind):
        @property
        def force(self):
            return lambda g, xi, t: -C @ xi + free(self)(g, xi, t)

    bath, peer = (object.__new__(each) for each in (InABath, WithFriction))
    vars(bath).update(vars(system)), vars(peer).update(vars(system))
    rule = nd.Trapezoid()
    heated = march(bath, nd.StochasticVariational(quadrature=rule, lagged=False), state, dt=0.01, steps=5)
    forced = march(peer, nd.Variational(quadrature=rule), state, dt=0.01, steps=5)
    undamped = march(system, nd.Variational(quadrature=rule), state, dt=0.01, steps=5)
    np.testing.assert_allclose(heated.mu, forced.mu, rtol=1e-10, atol=1e-11 * np.max(np.abs(forced.mu)))
    assert np.max(np.abs(heated.mu - undamped.mu)) > 1e-4 * np.max(np.abs(forced.mu))
