"""The equations of the three-link fish as the paper derives them, body by body, with the corrections that it needs:
another route to the motion, in plain NumPy."""

import numpy as np

SIGNS = (1.0, -1.0)


def pose(theta, s, arm):
    """x_alpha of (7.1), in the frame of the middle link: (angle, x, y)."""
    return np.array([theta, s * arm * (1.0 + np.cos(theta)), s * arm * np.sin(theta)])


def velocities(theta, arm):
    """xi_alpha = zeta_alpha + Ad_{x_alpha^-1} xi_3 as a 9 x 5 matrix of (xi_3, theta'), links in the order 1, 2, 3."""
    blocks = []
    for a, (s, angle) in enumerate(zip(SIGNS, theta, strict=True)):
        _, x, y = pose(angle, s, arm)
        c, t = np.cos(angle), np.sin(angle)
        zeta = np.zeros((3, 2))
        zeta[:, a] = 1.0, 0.0, s * arm
        back = np.array([[1.0, 0.0, 0.0], [-y * c + x * t, c, t], [y * t + x * c, -t, c]])
        blocks.append(np.hstack([back, zeta]))
    return np.vstack([*blocks, np.eye(3, 5)])


def accelerations(M, dM, theta, v, torque, arm):
    """v' for v = (xi_3, theta'), inertias M (9 x 9) and dM[a] = dM/dtheta_a in body frames, with

    Pi' - (Px vy - Py vx) + s l (Py' + Omega Px) = tau + Xi . (dM/dtheta_alpha) Xi / 2 for links 1 and 2,
    mu' = ad*_xi mu for the whole, mu = sum_i Ad*_{x_i^-1} P_i.
    """
    rates = v[3:]
    B = velocities(theta, arm)
    step = 1e-30  # a complex step: the derivative to round-off
    dB = np.imag(velocities(theta + 1j * step * rates, arm)) / step
    Xi = B @ v
    P = M @ Xi
    steady = M @ dB @ v + np.einsum("a,aij,j->i", rates, dM, Xi)  # P' without v'
    rows, right = [], []
    for a, s in enumerate(SIGNS):
        Omega, vx, vy = Xi[3 * a : 3 * a + 3]
        Px, Py = P[3 * a + 1 : 3 * a + 3]
        pick = np.zeros(9)
        pick[3 * a], pick[3 * a + 2] = 1.0, s * arm
        rows.append(pick @ M @ B)
        gyroscopic = Px * vy - Py * vx - s * arm * Omega * Px
        right.append(torque[a] + 0.5 * Xi @ dM[a] @ Xi + gyroscopic - pick @ steady)
    mu = B[:, :3].T @ P
    Omega, vx, vy = v[:3]
    change = np.array([mu[1] * vy - mu[2] * vx, Omega * mu[2], -Omega * mu[1]])
    rows += list(B[:, :3].T @ M @ B)
    right += list(change - dB[:, :3].T @ P - B[:, :3].T @ steady)
    return np.linalg.solve(np.array(rows), np.array(right))


def rates_of_change(inertia, torque, arm):
    """y' of y = (beta, x, y, theta, v), for `inertia(theta)` = (M, dM) and `torque(theta, rates, t)`."""

    def f(t, y):
        beta, theta, v = y[0], y[3:5], y[5:]
        c, s = np.cos(beta), np.sin(beta)
        return np.concatenate(
            [
                [v[0], c * v[1] - s * v[2], s * v[1] + c * v[2]],
                v[3:],
                accelerations(*inertia(theta), theta, v, torque(theta, v[3:], t), arm),
            ]
        )

    return f
