"""Three connected ellipsoids in a perfect fluid, 12 degrees of freedom, by a discrete Lagrangian of their own: (30) of
Lee, Leok and McClamroch, Dynamics of connected rigid bodies in a perfect fluid."""

import functools
import json
import os
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.compare import Work, compare, table
from naiad.compiler import Compiled

H = 0.001
E0 = 9.203817003436  # with four decimals of the inertias
X1 = np.array([-0.193309680615, -0.467002332589, -0.599864012225])  # x(1) of (30) with h = 0.001
XI0 = np.array([0.2, 0.1, 0.5, 0.0, -0.4142, -0.59, 0.1, -0.3, -0.2, -0.1, 0.4, -0.6])


class ConnectedBodies(nd.LagrangianSystem):
    """A body with two others at its ends, by ball joints: xi = (Omega0, x', Omega1, Omega2).

    Body i = 1, 2 has the joint at d_i in the frame of body 0 and at e_i in its own. M0, J0, M1, J1 are the diagonals of
    the masses and the inertias, fluid included; bodies 1 and 2 are alike.
    """

    M0: jax.Array
    J0: jax.Array
    M1: jax.Array
    J1: jax.Array
    d: jax.Array
    e: jax.Array
    group = nd.Product(R0=nd.SO3(), x=nd.Rn(3), R1=nd.SO3(), R2=nd.SO3())

    def lagrangian(self, g, xi, t):
        """The kinetic energy of the bodies and of the fluid."""
        Omega0, v, *rest = self.group.split(xi)
        V0 = g.R0.T @ v
        kinetic = V0 @ (self.M0 * V0) + Omega0 @ (self.J0 * Omega0)
        for R, Omega, d, e in zip((g.R1, g.R2), rest, self.d, self.e, strict=True):
            V = R.T @ (v + g.R0 @ jnp.cross(Omega0, d)) - jnp.cross(Omega, e)
            kinetic = kinetic + V @ (self.M1 * V) + Omega @ (self.J1 * Omega)
        return 0.5 * kinetic

    def discrete_lagrangian(self, g, xi, t, h, tau):
        """(30), with G_i = F_i - I formed from the Cayley vector."""
        f = tau.increment(self.group, h * xi)
        a0 = g.R0.T @ f.x
        action = a0 @ (self.M0 * a0) / (2.0 * h) - _trace(f.R0, half_trace(jnp.diag(self.J0))) / h
        for R, G, d, e in zip((g.R1, g.R2), (f.R1, f.R2), self.d, self.e, strict=True):
            E = hat(e)
            inertia = jnp.diag(self.J1) - E @ (self.M1[:, None] * E)
            a, b, c = R.T @ f.x, R.T @ (g.R0 @ (f.R0 @ d)), G @ e
            apart = a @ (self.M1 * a) + b @ (self.M1 * b)
            together = a @ (self.M1 * b) - a @ (self.M1 * c) - b @ (self.M1 * c)
            action = action - _trace(G, half_trace(inertia)) / h + apart / (2.0 * h) + together / h
        return action


def hat(w):
    """The matrix of w x."""
    return jnp.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def half_trace(J):
    """tr(J)/2 I - J."""
    return 0.5 * jnp.trace(J) * jnp.eye(3) - J


def _trace(A, B):
    return jnp.sum(A * B.T)


def bodies() -> ConnectedBodies:
    """The bodies of the paper, with its four decimals."""
    d, e = np.array([8.8, 0.0, 0.0]), np.array([-5.5, 0.0, 0.0])
    return ConnectedBodies(
        M0=np.array([1.0659, 2.1696, 1.6641]),
        J0=np.array([1.3480, 20.15, 25.3276]),
        M1=np.array([0.2664, 0.6551, 0.3677]),
        J1=np.array([0.1961, 1.7889, 2.921]),
        d=np.stack([d, -d]),
        e=np.stack([e, -e]),
    )


METHODS = {
    "exact Jacobian": nd.Variational(nd.Cayley()),
    "inertia as Jacobian": nd.Variational(nd.Cayley(), newton=nd.Newton(jacobian="inertia")),
}


def march(method, system, state, h, steps):
    """The state after so many steps, and the iterations of all of them."""
    carry = method.init(system, state, 0.0, h)

    def body(k, last):
        carry = method.step(system, last[0], k * h, h)
        return carry, last[1] + method.info(carry).iterations

    carry, iterations = jax.lax.fori_loop(0, steps, body, (carry, jnp.zeros((), int)))
    return method.state(system, carry), iterations


def first_step(name: str, engine: str) -> float:
    """Seconds from the Lagrangian to the end of the first step, in this process."""
    started = time.perf_counter()
    system = bodies()
    run = nd.simulate(system, system.state(xi=XI0), t1=H, dt=H, method=METHODS[name], engine=engine)
    assert run.outcome.name == "COMPLETED"
    return time.perf_counter() - started


def cold(name: str, engine: str) -> float:
    """`first_step` in a fresh process with an empty cache, without the imports."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.connected", name, engine]
        environment = {**os.environ, "NAIAD_CACHE_DIR": folder}
        answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(answer)


def report() -> str:
    """The table."""
    system = bodies()
    state = system.state(xi=XI0)
    energy = float(system.lagrangian(state.g, XI0, 0.0))
    if abs(energy - E0) > 1e-11:
        raise AssertionError(f"the kinetic energy is {energy!r}, not {E0}")
    works, said = {}, []
    for name, method in METHODS.items():
        fast, jitted = _programs(method)
        end, iterations = fast(system, state, H, 1000)
        reference, _ = jitted(system, state, H, 1000)
        apart = max(float(np.abs(np.asarray(x) - X1).max()) for x in (end.g.x, reference.g.x))
        if apart > 1e-10:
            raise AssertionError(f"x(1) is {end.g.x}, off by {apart:.1e}")
        operations = sum(fast.stats["operations"].values())
        said.append(
            f"{name}: x(1) right to {apart:.0e}, {iterations / 1000:.1f} iterations a step, {operations} operations."
        )
        works[name, "compiled"] = Work(lambda fast=fast: fast(system, state, H, 5000), 5000)
        works[name, "xla"] = Work(lambda jitted=jitted: jitted(system, state, H, 50), 50)
    best = compare(works, rounds=20)
    start = {key: min(cold(*key) for _ in range(3)) for key in works}
    rows = []
    for name in METHODS:
        fast, xla = best[name, "compiled"], best[name, "xla"]
        rows.append([f"{name}, a step, µs", fast * 1e6, xla * 1e6, xla / fast])
    for name in METHODS:
        fast, xla = start[name, "compiled"], start[name, "xla"]
        rows.append([f"{name}, Lagrangian to first step, cold, s", fast, xla, xla / fast])
    return "\n".join(said) + "\n\n" + table(["", "compiled", "XLA", "XLA / compiled"], rows)


def _programs(method):
    fast = Compiled(functools.partial(march, method), parameters=(0,))
    jitted = jax.jit(functools.partial(march, method))

    def xla(*args):
        with jax.enable_x64(True):
            return jax.block_until_ready(jitted(*args))

    return fast, xla


if __name__ == "__main__":
    print(json.dumps(first_step(*sys.argv[1:])) if len(sys.argv) > 1 else report())
