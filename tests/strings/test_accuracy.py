"""A string with everything on it, against Runge-Kutta of high order: order of accuracy and balance of energy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.mechanics import State
from naiad.strings import StringVariational
from tests.strings.test_extensions import moving, system

T1 = 0.2


def reference(pendulum, start):
    """The state at T1 by DOP853, and the integral of the power."""
    leaves, tree = jax.tree.flatten(start.g)
    ends = np.cumsum([leaf.size for leaf in leaves])

    def unpacked(y):
        parts = jnp.split(y, ends)
        shaped = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=False)]
        return State(jax.tree.unflatten(tree, shaped), parts[-1][:-1])

    def rate(t, y):
        state = unpacked(y)
        xi, mu, _ = pendulum.equations(state, t)
        changes = jax.tree.leaves(pendulum.group.tangent(state.g, xi))
        return jnp.concatenate([*map(jnp.ravel, changes), mu, pendulum.power(state, t)[None]])

    with jax.enable_x64(True):
        y0 = np.concatenate([*map(np.ravel, leaves), start.mu, [0.0]])
        fast = jax.jit(rate)
        found = solve_ivp(lambda t, y: np.asarray(fast(t, y)), (0.0, T1), y0, method="DOP853", rtol=1e-12, atol=1e-12)
        end = jax.tree.map(np.asarray, unpacked(found.y[:, -1]))
        energies = [float(jax.jit(pendulum.energy)(state, t)) for state, t in ((start, 0.0), (end, T1))]
    return end, energies[1] - energies[0], found.y[-1, -1]


@pytest.mark.long
@pytest.mark.parametrize("name", ["all, turning", "all, driven"])
def test_orders_and_balance(name):
    pendulum = system(name, elements=3)
    start = moving(pendulum)
    end, gained, work = reference(pendulum, start)
    np.testing.assert_allclose(gained, work, atol=1e-11)
    assert abs(work) > 0.05
    for rule, order in ((nd.Midpoint(), 2), (nd.Implicit(), 2), (nd.Left(), 1)):
        method, off = StringVariational(rule), []
        assert method.order(pendulum) == order
        for dt in (0.004, 0.002):
            run = nd.simulate(pendulum, start, t1=T1, dt=dt, method=method, save_every=10**9)
            off.append(max(np.max(np.abs(a - b)) for a, b in zip(run.final.g, end.g, strict=True)))
        np.testing.assert_allclose(np.log2(off[0] / off[1]), order, atol=0.05)
