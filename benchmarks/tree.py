"""Chains of rigid bodies by the O(N) step of a tree, beside MuJoCo and Pinocchio; and the run of Lee, Leok and
McClamroch, three ellipsoids over 1e5 steps, beside XLA.

python -m benchmarks.tree        # MuJoCo and Pinocchio are measured where they are installed (the extra `bench`)
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

import naiad as nd
from benchmarks import connected
from benchmarks.compare import one_core, table
from benchmarks.connected import march
from naiad.compiler import Compiled
from naiad.mechanics import State
from naiad.trees import Tree, TreeSystem

H = 0.001
COUNTS = (2, 8, 32, 128, 512, 1000, 4000)
RULES = {"one-sided": nd.Left(), "trapezoid": nd.Trapezoid(), "midpoint": nd.Midpoint()}
MOST = 1000  # links for the others, which hold dense matrices
LINKS = 200_000  # link-steps in a round
J, M, HALF = (0.02, 0.1, 0.1), (1.0, 1.6, 1.4), 0.5
PAPER_STEPS = 100_000
VELOCITY = (0.2, 0.1, 0.5, 0.1, -0.3, -0.2, -0.1, 0.4, -0.6, 0.0, -0.4142, -0.59)
X1 = (-0.193309680615, -0.467002332589, -0.599864012225)  # x(1)


class Bodies(TreeSystem):
    """Bodies on which nothing acts."""

    tree: Tree


def chain(count: int) -> Bodies:
    """Links of length one, each joined to the end of the one before."""
    own, other = np.tile((-HALF, 0.0, 0.0), (count, 1)), np.tile((HALF, 0.0, 0.0), (count, 1))
    own[0] = other[0] = 0.0
    return Bodies(Tree(range(-1, count - 1), [J], [M], own=own, other=other))


def thermal(system: Bodies) -> State:
    """A nearly straight chain whose momenta have the inertia as their covariance: speeds do not grow along it."""
    rng, tree = np.random.default_rng(0), system.tree
    R = [np.eye(3)]
    for parent in tree.parents[1:]:
        R.append(R[parent] @ Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix())
    noise = [np.sqrt(values) * rng.normal(size=(tree.count, 3)) for values in (M, J)]
    with jax.enable_x64(True):
        g = tree.group.random(rng)._replace(R=np.stack(R))

        def velocities(xi):
            return jnp.einsum("nji,nj->ni", g.R, tree.velocities(g, xi)), xi[: 3 * tree.count].reshape(-1, 3)

        (mu,) = jax.vjp(velocities, jnp.zeros(tree.group.dim))[1](tuple(map(jnp.asarray, noise)))
    return State(g, 0.15 * np.asarray(mu))


def paper() -> Bodies:
    """The three ellipsoids, with the four decimals of the paper."""
    ends, middle = (0.1961, 1.7889, 2.921), (1.3480, 20.15, 25.3276)
    return Bodies(
        Tree(
            (-1, 0, 0),
            (middle, ends, ends),
            ((1.0659, 2.1696, 1.6641), *[(0.2664, 0.6551, 0.3677)] * 2),
            own=((0.0, 0.0, 0.0), (-5.5, 0.0, 0.0), (5.5, 0.0, 0.0)),
            other=((0.0, 0.0, 0.0), (8.8, 0.0, 0.0), (-8.8, 0.0, 0.0)),
        )
    )


def plain(h: Any, steps: Any) -> State:
    """The same motion as one would write it in JAX: the legs of (30) by autodiff, three steps of Newton's method with
    the dense Jacobian and `jnp.linalg.solve`."""
    system, method = connected.bodies(), nd.Variational()
    xi = jnp.asarray(connected.XI0)
    g = system.group.identity()

    def step(_, last):
        state, xi = last

        def miss(xi):
            return method.legs(system, state.g, xi, 0.0, h).mu_minus - state.mu

        for _ in range(3):
            xi = xi - jnp.linalg.solve(jax.jacfwd(miss)(xi), miss(xi))
        return method.land(system, state, xi, 0.0, h)[0], xi

    return jax.lax.fori_loop(0, steps, step, (State(g, system.legendre(g, xi)), xi))[0]


def seconds(call: Callable[[], Any], rounds: int = 7) -> float:
    """CPU seconds of a call, the best of some rounds; it is called once before."""
    call()
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        call()
        best = min(best, time.process_time() - started)
    return best


def naiad_chain(count: int, rule: Any) -> tuple[float, float]:
    """Microseconds a link and step, and iterations a step."""
    system, steps = chain(count), max(10, LINKS // count)
    state = thermal(system)
    fast = Compiled(functools.partial(march, nd.TreeVariational(rule)), parameters=(0,))
    _, iterations = fast(system, state, H, steps)
    return 1e6 * seconds(lambda: fast(system, state, H, steps)) / (steps * count), float(iterations) / steps


def mujoco_chain(count: int) -> float | None:
    """Microseconds a link and step of `mj_step` (Euler), dry bodies with ball joints and no contacts."""
    try:
        import mujoco
    except ModuleNotFoundError:
        return None
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = H, (0.0, 0.0, 0.0)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    parent = spec.worldbody
    for i in range(count):
        place = (0.0 if i == 0 else 2 * HALF, 0.0, 0.0)
        parent = parent.add_body(pos=place, mass=1.0, ipos=(0.0, 0.0, 0.0), inertia=J, explicitinertial=True)
        if i == 0:
            parent.add_freejoint()
        else:
            parent.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, pos=(-HALF, 0.0, 0.0))
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:] = 0.3 * np.random.default_rng(0).normal(size=model.nv)
    steps = max(2, min(2000, int(4e6 / count**3) + 1) if count > 100 else LINKS // (4 * count))
    return 1e6 * seconds(lambda: mujoco.mj_step(model, data, steps), 3) / (steps * count)


def pinocchio_chain(count: int) -> float | None:
    """Microseconds a link of one forward dynamics by Pinocchio's `aba`: spherical joints on a free root, dry bodies."""
    try:
        import pinocchio
    except ModuleNotFoundError:
        return None
    model, parent = pinocchio.Model(), 0
    inertia = pinocchio.Inertia(1.0, np.zeros(3), np.diag(J))
    for i in range(count):
        joint = pinocchio.JointModelFreeFlyer() if i == 0 else pinocchio.JointModelSpherical()
        place = pinocchio.SE3(np.eye(3), np.array([0.0 if i == 0 else HALF if i == 1 else 2 * HALF, 0.0, 0.0]))
        parent = model.addJoint(parent, joint, place, f"joint{i}")
        centre = pinocchio.SE3(np.eye(3), np.array([0.0 if i == 0 else HALF, 0.0, 0.0]))
        model.appendBodyToJoint(parent, inertia, centre)
    try:
        data, q = model.createData(), pinocchio.neutral(model)
    except MemoryError:  # its workspace grows faster than the chain
        return None
    v, tau = 0.3 * np.random.default_rng(0).normal(size=model.nv), np.zeros(model.nv)
    calls = max(10, LINKS // count)

    def many():
        for _ in range(calls):
            pinocchio.aba(model, data, q, v, tau)

    return 1e6 * seconds(many, 5) / (calls * count)


def chains(counts: tuple[int, ...] = COUNTS) -> str:
    """The table of the chains."""
    rows = []
    for count in counts:
        ours = [naiad_chain(count, rule) for rule in RULES.values()]
        theirs = [peer(count) if count <= MOST else None for peer in (mujoco_chain, pinocchio_chain)]
        cells = [f"{cost:.3f} ({iterations:.2f})" for cost, iterations in ours]
        rows.append([count, *cells, *("" if cost is None else f"{cost:.3g}" for cost in theirs)])
    header = [
        "links",
        *(f"naiad, {rule}, µs (iterations)" for rule in RULES),
        "MuJoCo `mj_step`, µs",
        "Pinocchio `aba`, µs",
    ]
    return table(header, rows)


def paper_run() -> str:
    """The table of the paper's run."""
    system = paper()
    state, method = system.state(xi=VELOCITY), nd.TreeVariational(nd.Left(), correction=True)
    fast = Compiled(functools.partial(march, method), parameters=(0,))
    jitted, written_out = jax.jit(functools.partial(march, method)), jax.jit(plain)

    def on_xla(steps):
        with jax.enable_x64(True):
            return jax.block_until_ready(jitted(system, state, H, steps))[0]

    def plainly(steps):
        with jax.enable_x64(True):
            return jax.block_until_ready(written_out(H, steps))

    ends = [fast(system, state, H, 1000)[0], on_xla(1000), plainly(1000)]
    apart = max(float(np.abs(np.asarray(end.g.x) - X1).max()) for end in ends)
    if apart > 1e-11:
        raise AssertionError(f"x(1) is off by {apart:.1e}")
    run = functools.partial(
        nd.simulate, system, state, t1=H * PAPER_STEPS, dt=H, method=method, save_every=1000, progress=False
    )
    compiled = seconds(lambda: fast(system, state, H, PAPER_STEPS))
    whole = seconds(lambda: run(engine="compiled"))
    xla, dense = (seconds(lambda way=way: way(200)) * PAPER_STEPS / 200 for way in (on_xla, plainly))
    rows = [
        ["the steps alone, compiled", compiled, 1.0],
        ["`simulate`, with 100 saved nodes, compiled", whole, whole / compiled],
        ["the same steps on XLA (from 200)", xla, xla / compiled],
        ["plain JAX, `jnp.linalg.solve`, on XLA (from 200)", dense, dense / compiled],
    ]
    return f"x(1) is right to {apart:.0e}.\n\n{table(['1e5 steps of the paper', 's', '/ compiled'], rows)}"


def report() -> str:
    """Both tables."""
    with one_core():
        return f"{chains()}\n\n{paper_run()}"


if __name__ == "__main__":
    print(report())
