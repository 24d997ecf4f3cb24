"""The vehicle of the paper on advected parameters, and its scheme and equations as printed, in NumPy alone."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import naiad as nd

M, ADDED, J = 123.8, np.array([65.0, 70.0, 75.0]), np.array([5.46, 5.29, 5.72])
BUOYANCY, R_B, GRAVITY = 1215.8, np.array([0.0, 0.0, -0.007]), 9.81
SURPLUS = M * GRAVITY - BUOYANCY
Q0, V0, OMEGA0 = np.array([0.0, 0.0, 1.0]), np.array([0.1, 0.1, 0.8]), np.deg2rad([10.0, 0.0, 20.0])
E_Z = np.array([0.0, 0.0, 1.0])
EXACT_10 = (0.9726537439726, 0.9998587394444, 8.6677158014495)

VEHICLE = nd.models.BuoyantVehicle(M, ADDED, J, BUOYANCY, R_B)
STATE = VEHICLE.state(q=Q0, R_Omega=OMEGA0, q_v=V0)


def cayley(x):
    return np.linalg.solve(np.eye(3) - hat(x) / 2, np.eye(3) + hat(x) / 2)


def exponential(x):
    return Rotation.from_rotvec(x).as_matrix()


def hat(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def printed_terms(map, w, h):
    """(dtau^-1_{h w})* J w, eqs. (88) and (97); alpha of (95) is taken at h |w|."""
    if map == "cay":
        rest = h**2 / 4 * (w @ w * J * w + np.cross(w, np.cross(w, J * w)))
    else:
        angle = h * np.linalg.norm(w)
        alpha = (1 - angle / 2 / np.tan(angle / 2)) / angle**2
        rest = h**2 * alpha * np.cross(w, np.cross(w, J * w))
    return J * w + h / 2 * np.cross(w, J * w) + rest


def printed_scheme(map, h, steps):
    """(R, q, omega, nu) at every node, by (88) or (97) and the second line of (81)."""
    tau = cayley if map == "cay" else exponential
    R, q, w, nu = np.eye(3), Q0, OMEGA0, V0
    yield R, q, w, nu
    for _ in range(steps):
        back = tau(-h * w)
        before = printed_terms(map, w, -h)
        R, q = R @ tau(h * w), q + h * R @ nu
        a = R.T @ E_Z
        nu = (back @ ((M + ADDED) * nu) + h * SURPLUS * a) / (M + ADDED)
        right = before - h * BUOYANCY * np.cross(R_B, a) + h * np.cross((M + ADDED) * nu, nu)
        for _ in range(30):  # the chord of J: each round gains two digits
            w = w - (printed_terms(map, w, h) - right) / J
        yield R, q, w, nu


def printed_kelvin_noether(map, h, R, q, w, nu):
    """I_k of eq. (77), s_k = R_k^T q_{k+1}."""
    s = R.T @ q + h * nu
    return R.T @ E_Z @ (printed_terms(map, w, h) - np.cross((M + ADDED) * nu, s))


def solution(t1, *, current=(0.0, 0.0, 0.0), wrench=None):
    """(R, q) at t1 by DOP853 on eq. (65), with the water moving at `current` and a wrench(R, Omega, relative, t)."""

    def slope(t, y):
        R, w, nu = y[:9].reshape(3, 3), y[12:15], y[15:]
        relative = nu - R.T @ current
        munk = np.cross(ADDED * relative, relative)
        p = M * nu + ADDED * relative
        a = R.T @ E_Z
        extra = np.zeros(6) if wrench is None else wrench(R, w, relative, t)
        w_rate = (np.cross(J * w, w) - BUOYANCY * np.cross(R_B, a) + munk + extra[:3]) / J
        p_rate = SURPLUS * a - np.cross(w, p) + extra[3:]
        nu_rate = (p_rate - ADDED * np.cross(w, R.T @ current)) / (M + ADDED)  # d/dt R^T u = -w x R^T u
        return np.concatenate([(R @ hat(w)).ravel(), R @ nu, w_rate, nu_rate])

    start = np.concatenate([np.eye(3).ravel(), Q0, OMEGA0, V0])
    end = solve_ivp(slope, (0.0, t1), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return end[:9].reshape(3, 3), end[9:12]
