"""States brought onto a constraint, beside the nearest points that SciPy finds from equations written anew."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import naiad as nd

LENGTHS, MASSES = np.array([0.4, 1.0, 0.8]), np.array([1.0, 2.0, 1.5])


class FourBar(nd.LagrangianSystem):
    """Three bars in a plane, joined at their ends."""

    ground: float = 1.0
    group = nd.Product(crank=nd.SE2(), coupler=nd.SE2(), rocker=nd.SE2())

    def lagrangian(self, g, xi, t):
        xi = xi.reshape(3, 3)
        spin = 0.5 * jnp.sum(MASSES * LENGTHS**2 / 12 * xi[:, 0] ** 2)
        return spin + 0.5 * jnp.sum(MASSES * (xi[:, 1] ** 2 + xi[:, 2] ** 2)) - MASSES[0] * g.crank.x[1]

    def constraint(self, g, t):
        def end(pose, length):
            return pose.x + 0.5 * length * jnp.array([jnp.cos(pose.beta), jnp.sin(pose.beta)])

        first, second, third = LENGTHS
        return jnp.concatenate(
            [
                end(g.crank, -first),
                end(g.crank, first) - end(g.coupler, -second),
                end(g.coupler, second) - end(g.rocker, third),
                end(g.rocker, -third) - jnp.array([self.ground, 0.0]),
            ]
        )


class Guided(nd.LagrangianSystem):
    """A body with a point on an ellipsoid that grows, an axis at a given angle to a direction, and coupled inertia."""

    K: jax.Array
    A: jax.Array
    r: jax.Array
    cosine: float
    group = nd.Product(R=nd.SO3(), x=nd.Rn(3))

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ self.K @ xi - g.x[2]

    def constraint(self, g, t):
        point = g.x + g.R @ self.r
        return jnp.array([point @ self.A @ point - (1.0 + 0.3 * t), g.R[2, 0] - self.cosine])


def planar_step(here, there):
    """The logarithm of the motion from one pose (angle, centre) of a plane to another, by complex numbers."""
    turn = there[0] - here[0]
    way = complex(*(there[1:] - here[1:])) * np.exp(-1j * here[0]) * (1j * turn / np.expm1(1j * turn) if turn else 1.0)
    return np.array([turn, way.real, way.imag])


def four_bar_ends(q):
    """The eight numbers that vanish when the bars are joined; q holds angle and centre of each."""
    beta, x = q.reshape(3, 3)[:, 0], q.reshape(3, 3)[:, 1:]
    half = 0.5 * LENGTHS[:, None] * np.stack([np.cos(beta), np.sin(beta)], axis=1)
    first, last = x - half, x + half
    return np.concatenate([first[0], last[0] - first[1], last[1] - last[2], first[2] - (1.0, 0.0)])


def test_a_four_bar_from_a_sketch_is_the_nearest_that_scipy_finds():
    sketch = np.array([1.0, 0.1, 0.2, 0.5, 0.6, 0.6, 2.2, 1.0, 0.3])
    names = [f"{bar}_{part}" for bar in ("crank", "coupler", "rocker") for part in ("beta", "x")]
    given = [each for q in sketch.reshape(3, 3) for each in (q[0], q[1:])]
    state = FourBar().state(**dict(zip(names, given, strict=True)), crank_Omega=2.0, onto_constraint=True)
    found = np.concatenate([np.append(pose.beta, pose.x) for pose in state.g])
    inertia = np.stack([MASSES * LENGTHS**2 / 12, MASSES, MASSES], axis=1)

    def distance(q):
        total = 0.0
        for weights, here, there in zip(inertia, sketch.reshape(3, 3), q.reshape(3, 3), strict=True):
            total += weights @ planar_step(here, there) ** 2
        return total

    options = {"maxiter": 500, "ftol": 1e-15}
    best = minimize(distance, sketch, constraints={"type": "eq", "fun": four_bar_ends}, options=options)
    assert np.max(np.abs(four_bar_ends(found))) < 1e-13
    assert np.max(np.abs(four_bar_ends(sketch))) > 0.25
    np.testing.assert_allclose(found, best.x, atol=2e-5)
    np.testing.assert_allclose(distance(found), best.fun, rtol=1e-8)
    assert 0.01 < state.mu[0] / (2.0 * inertia[0, 0]) < 0.9  # the crank turns on, and takes the other bars along


@pytest.mark.parametrize("seed", range(6))
def test_drawn_states_come_to_the_nearest_configuration_and_velocity(seed):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(6, 6))
    K = half @ half.T + 2.0 * np.eye(6)
    R, x, xi, r = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3), rng.normal(size=6), 0.3 * rng.normal(size=3)
    A, point, t = np.diag(rng.uniform(0.5, 2.0, 3)), x + R @ r, float(rng.uniform(0.0, 2.0))
    A *= rng.uniform(0.6, 1.4) * (1.0 + 0.3 * t) / (point @ A @ point)
    body = Guided(K, A, r, float(np.clip(R[2, 0] + rng.uniform(-0.4, 0.4), -0.8, 0.8)))

    def moved(eta):
        return R @ Rotation.from_rotvec(eta[:3]).as_matrix(), x + eta[3:]

    def constraint(eta, t=t):
        turned, place = moved(eta)
        point = place + turned @ r
        return np.array([point @ A @ point - (1.0 + 0.3 * t), turned[2, 0] - body.cosine])

    options = {"maxiter": 1000, "ftol": 1e-16}
    best = minimize(
        lambda eta: eta @ K @ eta,
        np.zeros(6),
        jac=lambda eta: 2 * K @ eta,
        constraints={"type": "eq", "fun": constraint},
        options=options,
    )
    state = body.state(R=R, x=x, xi=xi, t=t, onto_constraint=True)
    turned, place = moved(best.x)
    assert np.max(np.abs(constraint(np.zeros(6)))) > 0.05
    np.testing.assert_allclose(state.g.x, place, atol=3e-6)
    np.testing.assert_allclose(state.g.R, turned, atol=3e-6)

    def onward(eta, t):
        point = state.g.x + eta[3:] + state.g.R @ expm(np.cross(np.eye(3), eta[:3])) @ r
        axis = state.g.R @ expm(np.cross(np.eye(3), eta[:3]))
        return np.array([point @ A @ point - (1.0 + 0.3 * t), axis[2, 0]])

    steps = 1e-6 * np.eye(6)
    J = np.stack([(onward(e, t) - onward(-e, t)) / 2e-6 for e in steps], axis=1)
    rate = J @ xi - (0.3, 0.0)
    nearest = xi - np.linalg.solve(K, J.T @ np.linalg.solve(J @ np.linalg.solve(K, J.T), rate))
    np.testing.assert_allclose(state.mu, K @ nearest, atol=1e-7)
    by_momentum = body.state(R=R, x=x, mu=K @ xi, t=t, onto_constraint=True)
    np.testing.assert_allclose(by_momentum.mu, state.mu, atol=1e-12)
    again = body.state(g=state.g, mu=state.mu, t=t, onto_constraint=True)
    np.testing.assert_allclose(again.mu, state.mu, atol=1e-13)
    np.testing.assert_allclose(again.g.R, state.g.R, atol=1e-13)


class Ball(nd.LagrangianSystem):
    """A point mass held on a sphere."""

    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - q[2]

    def constraint(self, q, t):
        return q @ q - 1.0


def test_a_start_far_off_comes_to_the_near_side():
    state = Ball().state(q=(0.0, 3.0, 4.0), v=(1.0, 4.0, -3.0), onto_constraint=True)
    np.testing.assert_allclose(state.g, (0.0, 0.6, 0.8), atol=1e-14)
    np.testing.assert_allclose(state.mu, (1.0, 4.0, -3.0), atol=1e-13)


def test_a_search_that_fails_says_how_far_it_came():
    with pytest.raises(nd.InputError, match=r"from 10\.\d it came to \d\.\d+ .* nearer to the constraint"):
        FourBar(10.0).state(coupler_x=(0.5, 0.5), onto_constraint=True)
    with pytest.raises(nd.InputError, match=r"from 1 it came to 1 .* rank 0 of 1"):
        Ball().state(onto_constraint=True)


def test_a_start_off_the_constraint_is_told_by_how_much_and_what_to_do():
    with pytest.raises(nd.InputError, match=r"value 24, rate 2.*onto_constraint=True"):
        nd.simulate(Ball(), nd.State(np.array([5.0, 0, 0]), np.array([0.2, 0, 0])), t1=1.0, dt=0.1)
    free = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(nd.InputError, match=r"RigidBody has no constraint; leave onto_constraint out"):
        free.state(onto_constraint=True)
    with pytest.raises(nd.InputError, match=r"onto_constraint=True needs numbers"), jax.enable_x64(True):
        jax.eval_shape(lambda q: Ball().state(q=q, onto_constraint=True).mu, np.ones(3))


def test_a_constraint_that_is_no_number_is_refused():
    class Broken(Ball):
        def constraint(self, q, t):
            return jnp.log(q[:1] - 2.0)

    with pytest.raises(nd.InputError, match=r"violates the constraint \(value nan"):
        Broken().state(q=(1.0, 0.0, 0.0))
