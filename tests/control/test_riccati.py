"""The sweeps against a dense solution of the same equations."""

import numpy as np
import pytest

from naiad.compiler.tables import Fields, OverTables, Table
from naiad.control.riccati import Barrier, Bounded, Sizes, Swept, Value, backward, forward

BARRIER, SHIFT = 0.3, 0.1


def swept_rows(sizes, lead, H, slope):
    """What the sweeps take: where steps lead to, of (x, 1, U), and the slopes of the model of the cost in (x, U)."""
    nx, own = sizes.state, sizes.control
    apart = ((0, 0), (0, 0), (0, sizes.columns - nx - 1 - own))

    def spread(by_y, one):
        return np.concatenate([np.pad(np.dstack([by_y[..., :nx], one]), apart), by_y[..., nx:]], axis=2)

    one = np.eye(1, sizes.columns, nx)
    leads = spread(lead[:, :-1].transpose(0, 2, 1), lead[:, -1])
    return Swept(np.concatenate([leads, np.repeat(one[None], len(leads), axis=0)], axis=1), spread(H, slope))


@pytest.mark.parametrize(("nx", "nu", "lanes"), [(4, 2, 1), (4, 6, 1), (12, 6, 1), (6, 12, 1), (12, 6, 4), (6, 12, 4)])
def test_the_sweeps_are_the_dense_recursion(nx, nu, lanes):
    count, ny, rng = 5, nx + nu, np.random.default_rng(0)
    A, H = 0.3 * rng.normal(size=(count, ny + 1, nx)), rng.normal(size=(count, ny + 1, ny))
    H[:, :ny] = H[:, :ny] @ H[:, :ny].transpose(0, 2, 1) + np.eye(ny)
    q, stiff, push = rng.normal(size=(count, ny)), rng.uniform(size=(count, nu)), rng.normal(size=(count, nu))
    V, v, x = np.eye(nx), rng.normal(size=nx), rng.normal(size=nx)
    sizes = Sizes(nx, nu)
    rows = swept_rows(sizes, A, H[:, :ny], H[:, ny] + q)
    whole = np.zeros((nx, sizes.columns))
    whole[:, :nx], whole[:, nx] = V, v
    given = (
        Value(whole, np.inf),
        Swept(rows.lead[0], rows.cost[0]),
        Bounded(stiff[0], push[0]),
        Barrier(BARRIER, SHIFT),
    )
    forms = [Fields.of(each) for each in given]
    back = OverTables(backward, sizes, *forms, lanes=lanes, most_scalars=sizes.most_scalars)
    on = OverTables(
        forward, sizes, Fields.of(x), forms[1], back.results[1], forms[0], lanes=lanes, most_scalars=sizes.most_scalars
    )
    values, swept, bound = (Table(form, n, lanes) for form, n in zip(forms[:3], (count + 1, count, count), strict=True))
    at, shared = Table(forms[3], 1, lanes, same=True), Table.same(sizes)
    gains, change = (Table(each.results[1], count, lanes) for each in (back, on))
    xs = Table(Fields.of(x), count + 1, lanes)
    values.memory[-1] = np.r_[whole.ravel(), np.inf][:, None]
    swept.memory[...] = np.concatenate([each.reshape(count, -1) for each in rows], axis=1)[..., None]
    bound.memory[...] = np.concatenate([stiff, push], axis=1)[..., None]
    at.memory[...], xs.memory[0] = np.array([BARRIER, SHIFT])[:, None], x[:, None]
    back.scan(shared, values, [swept, bound, at], [gains], reverse=True)()
    on.scan(shared, xs, [swept, gains, values.part(1)], [change])()
    feedbacks, to_go = [], []
    for k in reversed(range(count)):
        lead, b = A[k, :ny].T, A[k, ny]
        to_go.append((V, v))
        matrix = H[k, :ny] + lead.T @ V @ lead
        matrix[nx:, nx:] += np.diag(stiff[k] + SHIFT)
        gradient = q[k] + H[k, ny] + lead.T @ (v + V @ b) + np.r_[np.zeros(nx), BARRIER * push[k]]
        gain = -np.linalg.solve(matrix[nx:, nx:], np.c_[matrix[nx:, :nx], gradient[nx:]])
        feedbacks.append(gain)
        V = matrix[:nx, :nx] + matrix[:nx, nx:] @ gain[:, :-1]
        v = gradient[:nx] + matrix[:nx, nx:] @ gain[:, -1]
    found = values.memory[0, :-1, -1].reshape(nx, -1)
    np.testing.assert_allclose(found[:, :nx], V, rtol=1e-11)
    np.testing.assert_allclose(found[:, nx], v, rtol=1e-11)
    assert values.memory[0, -1, 0] > 0
    for k in range(count):
        U = feedbacks[-1 - k] @ np.r_[x, 1.0]
        after = A[k].T @ np.r_[x, U, 1.0]
        costate = to_go[-1 - k][0] @ after + to_go[-1 - k][1]
        np.testing.assert_allclose(change.memory[k, :, -1], np.r_[x, after, U, costate], rtol=1e-10)
        x = after
