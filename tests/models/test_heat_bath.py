"""Models in a heat bath: what they refuse, and their energies."""

import numpy as np
import pytest

import naiad as nd


def test_bad_parameters_are_refused():
    for options, message in (
        ({"m": 0.0}, r"m = 0\.0; expected a finite number above 0"),
        ({"c": -1.0}, r"c = -1\.0; expected a finite number of at least 0"),
        ({"potential": "bowl"}, r"potential = 'bowl'; expected one of none, harmonic, quartic, cosine"),
        ({"noise": "loud"}, r"noise = 'loud'; expected one of 'isothermal', 'translation'"),
    ):
        with pytest.raises(nd.InputError, match=message):
            nd.models.SlidingDisk(**options)
    with pytest.raises(nd.InputError, match=r"temperature = -1\.0; expected a finite number of at least 0"):
        nd.models.IsothermalRigidBody((1, 2, 3), (1, 1, 1), -1.0)
    with pytest.raises(nd.InputError, match=r"C has the eigenvalue -1; friction must not give energy"):
        nd.models.IsothermalRigidBody((1, 2, 3), (1, -1, 1), 1.0)
    assert nd.models.IsothermalRigidBody((1, 2, 3), (1, 0, 0), 1.0).dissipation[1, 1] == 0.0


def test_energies():
    x, v, omega = 0.7, 0.3, -1.1
    for name, U in (("none", 0.0), ("harmonic", x**2), ("quartic", 0.5 * x**4), ("cosine", 2 * (1 - np.cos(x)))):
        disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, k=2.0, potential=name)
        state = disk.state(q=(x, 5.0), v=(v, omega))
        assert float(disk.energy(state)) == pytest.approx(0.5 * 1.3 * v**2 + 0.5 * 0.4 * omega**2 + U, rel=1e-14)
    body = nd.models.IsothermalRigidBody((1, 2, 3), (1, 1, 1), 1.0, kappa=0.7)
    assert float(body.energy(body.state(Omega=(0.1, 0.2, 0.3)))) == pytest.approx(0.5 * 0.36 - 0.7, rel=1e-14)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [({}, (5.0, 2.0)), ({"m": 1.4, "J": 0.6, "r": 0.8, "c": 0.7, "alpha": 0.9, "k": 1.7}, (2.859889, 0.602604))],
)
def test_noise_in_the_translation_alone_settles_above_or_below_the_temperature(numbers, expected):
    """The stationary covariance of the linear motion, A S + S A^T + Q = 0, as the study's text has it."""
    from scipy.linalg import solve_continuous_lyapunov

    disk = nd.models.SlidingDisk(**numbers, noise="translation")
    M, C = np.diag([disk.m, disk.J]), np.asarray(disk.dissipation(None, 0.0))
    A = np.zeros((3, 3))  # of x, v, omega
    A[0, 1], A[1, 0] = 1.0, -disk.k / disk.m
    A[1:, 1:] = -np.linalg.solve(M, C)
    noise = np.linalg.solve(M, np.asarray(disk.diffusion(None, 0.0)))
    Q = np.zeros((3, 3))
    Q[1:, 1:] = noise @ noise.T
    S = solve_continuous_lyapunov(A, -Q)
    found = np.diagonal(S)[1:] * np.diagonal(M) / (disk.alpha**2 / (2.0 * disk.c))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
