"""Two spheres in an ideal fluid by multipoles about both centres, and their motion by a method of order 8."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import comb


def inertias(a, b, c, terms=40):
    """(along, across) for density 1: 2 x 2 each, velocities of both along or across the line from the first to the
    second. phi = sum A_n (a/r)^(n+1) P_n^m + sum B_n (b/s)^(n+1) P_n^m, each seen from the other centre as
    P_n^m(s) / s^(n+1) = sum_k C(n + k, n + m) r^k / c^(n+k+1) P_k^m(r)."""
    n = np.arange(1, terms + 1)
    found = []
    for m in (0, 1):
        C = comb(n[:, None] + n, n[None] + m)  # row k, column n
        here = np.diag(-(n + 1.0))
        from_b = n[:, None] * C * (a / c) ** n[:, None] * (b / c) ** (n[None] + 1)
        from_a = n[:, None] * C * (b / c) ** n[:, None] * (a / c) ** (n[None] + 1)
        right = np.zeros((2 * terms, 2))
        right[0, 0], right[terms, 1] = a, b
        X = np.linalg.solve(np.block([[here, from_b], [from_a, here]]), right)
        at_a = X[0] + (comb(n + 1, n + m) * (a / c) * (b / c) ** (n + 1)) @ X[terms:]
        at_b = X[terms] + (comb(n + 1, n + m) * (b / c) * (a / c) ** (n + 1)) @ X[:terms]
        M = -4.0 / 3.0 * np.pi * np.stack([a**2 * at_a, b**2 * at_b])
        found.append(M * np.array([[1.0, -1.0], [-1.0, 1.0]]) if m == 0 else M)  # both measured to the other one
    return found


def slopes(a, b, c):
    """d/dc of both, by a complex step."""
    return [each.imag / 1e-30 for each in inertias(a, b, c + 1e-30j)]


def pull(a, b, r, rows, density):
    """The force on the second sphere at r from the first, velocities in rows; that on the first is the opposite."""
    c = np.linalg.norm(r)
    n = r / c
    s, (along, across), (by_along, by_across) = rows @ n, inertias(a, b, c), slopes(a, b, c)
    found = 0.5 * n * (np.sum(by_across * (rows @ rows.T)) + s @ (by_along - by_across) @ s)
    return density * (found + ((along - across) @ s) @ (rows - np.outer(s, n)) / c)


def motion(a, b, m1, m2, x2, v1, v2, t1, density=1.0):
    """Positions and velocities at t1, rows for both spheres; the first begins at the origin."""
    dry = np.diag([m1, m2])

    def inertia(r):
        along, across = inertias(a, b, np.linalg.norm(r))
        n = np.outer(r, r) / (r @ r)
        return np.kron(dry + density * across, np.eye(3)) + density * np.kron(along - across, n)

    def rates(_, y):
        x, p = y[:6].reshape(2, 3), y[6:]
        r = x[1] - x[0]
        v = np.linalg.solve(inertia(r), p)
        force = pull(a, b, r, v.reshape(2, 3), density)
        return np.concatenate([v, -force, force])

    x = np.concatenate([np.zeros(3), x2])
    p = inertia(np.asarray(x2, float)) @ np.concatenate([v1, v2])
    end = solve_ivp(rates, (0.0, t1), np.concatenate([x, p]), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return end[:6].reshape(2, 3), np.linalg.solve(inertia(end[3:6] - end[:3]), end[6:]).reshape(2, 3)
