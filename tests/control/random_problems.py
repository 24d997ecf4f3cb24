"""Random problems of optimal control: of a group, a cost, bounds, inequalities, a goal, constants and an order."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd


class Flat(nd.LagrangianSystem):
    """A mass matrix that depends on q, a potential, and drag, on R^n."""

    M: np.ndarray
    k: float
    drag: float

    @property
    def group(self):
        return nd.Rn(len(self.M))

    def lagrangian(self, q, v, t):
        bent = v * (1.0 + 0.2 * jnp.sin(q))
        return 0.5 * bent @ jnp.asarray(self.M) @ bent + self.k * jnp.sum(jnp.cos(q))

    def force(self, q, v, t):
        return -self.drag * v


class Top(nd.LagrangianSystem):
    """A body with a potential of its attitude, on SO(3)."""

    M: np.ndarray
    k: float
    drag: float
    group = nd.SO3()

    def lagrangian(self, R, W, t):
        return 0.5 * W @ jnp.asarray(self.M) @ W - self.k * R[2, 2]

    def force(self, R, W, t):
        return -self.drag * W


class Vehicle(nd.LagrangianSystem):
    """A body in a fluid with drag and a righting moment, on SE(3)."""

    M: np.ndarray
    k: float
    drag: float
    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ jnp.asarray(self.M) @ xi - self.k * (g.R[2, 2] + 0.3 * g.x[2])

    def force(self, g, xi, t):
        return -self.drag * xi


def arm(joint):
    """Two rods that hang from a hinge, joined by a hinge or a ball."""
    tree = nd.Tree(
        parents=(-1, 0),
        J=[(0.08, 0.08, 0.02)],
        M=1.0,
        own=((0, 0, 0.5), (0, 0, 0.5)),
        other=((0, 0, 0), (0, 0, -0.5)),
        joints=joint,
        root="hinge",
        axis=(0, 1, 0),
    )
    return nd.trees.JointSpace(nd.models.ConnectedBodies(tree, weight=nd.models.Weight((0, 0, -3.0), 1.0)))


def positive_matrix(rng, n):
    a = 0.3 * rng.standard_normal((n, n))
    return np.diag(rng.uniform(0.7, 2.0, n)) + a @ a.T


def system_of(rng):
    kind = rng.choice(["flat", "top", "vehicle", "hinge", "ball"], p=[0.3, 0.25, 0.2, 0.15, 0.1])
    if kind in ("hinge", "ball"):
        return kind, arm(kind)
    n = {"flat": int(rng.integers(1, 4)), "top": 3, "vehicle": 6}[kind]
    made = {"flat": Flat, "top": Top, "vehicle": Vehicle}[kind]
    return kind, made(positive_matrix(rng, n), rng.uniform(0.0, 1.0), rng.uniform(0.0, 0.3))


def problem_of(seed):
    """What is asked of a system, as the arguments of `solve`, and words for it."""
    rng = np.random.default_rng(seed)
    kind, system = system_of(rng)
    n, group = system.group.dim, system.group
    order, N = int(rng.choice([2, 4, 6])), int(rng.integers(4, 9))
    T = rng.uniform(1.0, 2.0)
    start = system.state(group.random(rng) if rng.random() < 0.3 else group.identity(), xi=0.2 * rng.standard_normal(n))
    way = 0.6 * rng.standard_normal(n)
    goal = nd.State(group.compose(start.g, group.exp(jnp.asarray(way))), 0.1 * rng.standard_normal(n))
    words, options = [kind, f"order {order}", f"N {N}"], {"order": order}
    weights = rng.uniform(0.5, 2.0, n)
    if rng.random() < 0.3:
        B = np.eye(n) + 0.2 * rng.standard_normal((n, n))
        options |= {"actuation": lambda g, u, t: jnp.asarray(B) @ u * (1.0 + 0.1 * jnp.sin(t)), "controls": n}
        words.append("force map")
    free_time = rng.random() < 0.35
    price = rng.uniform(0.5, 3.0) if free_time else 0.0

    def cost(g, xi, u, t):
        return price + 0.5 * u @ (jnp.asarray(weights) * u) + 0.1 * xi @ xi + 0.05 * jnp.sin(t) * u[0]

    options["cost"] = cost
    if free_time:
        options |= {"free_time": True}
        words.append("free time")
        if rng.random() < 0.5:
            options["times"] = (0.8 * T, 1.3 * T)
            words.append("times")
    end = rng.choice(["goal", "ending", "end cost"], p=[0.5, 0.3, 0.2])
    parameter = rng.random() < 0.35
    words.append(end)
    place, mu = goal.g, goal.mu

    def off(state):
        return nd.Cayley().inverse(group, group.compose(group.inverse(place), state.g))

    if end == "ending":

        def ending(state, t, *theta):
            return jnp.concatenate([off(state), state.mu[:1] - mu[:1]])

        goal, options["ending"] = None, ending
        options["end_cost"] = lambda state, t, *theta: 0.5 * state.mu @ state.mu + 0.1 * t
    elif end == "end cost":
        goal = None
        options["end_cost"] = lambda state, t, *theta: 5.0 * off(state) @ off(state) + state.mu @ state.mu
    if parameter and kind not in ("hinge", "ball"):
        words.append("theta")
        M, first, usual = system.M, start.mu, options.get("end_cost", lambda state, t, *theta: 0.0 * t)
        options |= {
            "model": lambda system, theta: system.replaced(M=jnp.asarray(M) * theta[0]),
            "theta": (1.0, 0.0),
            "end_cost": lambda state, t, theta: (
                usual(state, t) + 2.0 * (theta[0] - 1.3) ** 2 + 3.0 * theta[1] ** 2 + 0.2 * theta[1]
            ),
        }
        g0 = start.g
        start = lambda theta: nd.State(g0, jnp.asarray(first) + theta[1] * jnp.ones(n))  # noqa: E731
        if rng.random() < 0.5:
            options["theta_bounds"] = ((0.8, -0.5), (1.1, 0.5))
            words.append("theta bounds")
    limits = rng.choice(["none", "bounds", "path", "both"], p=[0.25, 0.3, 0.25, 0.2])
    words.append(f"limits {limits}")
    return words, (system, start, goal, T, N), options, limits, rng


def limited(plan, options, limits, rng):
    """Bounds and inequalities that the plan without any breaks a little."""
    options = dict(options)
    if limits in ("bounds", "both"):
        largest = np.abs(plan.u).max(axis=(0, 1))
        upper = np.maximum(rng.uniform(0.75, 0.95) * largest, 1e-2)
        lower = -1.2 * upper
        if rng.random() < 0.3:
            lower[0] = -np.inf
        options["bounds"] = (lower, upper)
    if limits in ("path", "both"):
        rates = [plan.problem.system.velocity(*jax.tree.map(jnp.asarray, row)) for row in _rows(plan)]
        fast = rng.uniform(0.85, 0.97) * max(float(xi @ xi) for xi in rates)
        strong = rng.uniform(0.8, 0.95) * np.max(np.sum(plan.u**2, axis=2))
        options["path"] = lambda g, xi, u, t: jnp.stack([xi @ xi - fast, u @ u - strong])
    return options


def _rows(plan):
    for k in range(len(plan.t)):
        yield jax.tree.map(lambda a, k=k: a[k], plan.states.g), plan.states.mu[k]
