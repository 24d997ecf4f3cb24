"""Systems with any subset of the features, drawn from a seed, and their equations of motion written out by hand.

Each family is a small system in NumPy: its configuration and velocity as a flat vector y, and y' = f(t, y), from
Newton's, Euler's and Newton-Euler's equations. Nothing of naiad is in them.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.mechanics.features import FEATURES

E3 = np.array([0.0, 0.0, 1.0])
T1 = 0.4


@dataclass(frozen=True)
class Drawn:
    """A system, its state at t = 0, and the same by hand: y at t = 0, y', and y of a state of naiad."""

    family: str
    features: frozenset[str]
    system: Any
    state: nd.State
    y: np.ndarray
    rate: Callable[[float, np.ndarray], np.ndarray]
    flat: Callable[[nd.State, float], np.ndarray]
    wave: Callable[[Any], Any]

    def reference(self, t: float) -> np.ndarray:
        """y at t, by DOP853."""
        found = solve_ivp(self.rate, (0.0, t), self.y, method="DOP853", rtol=1e-11, atol=1e-12)
        assert found.success
        return found.y[:, -1]

    def increments(self, times: np.ndarray, h: float) -> np.ndarray:
        """The rows dW of steps that begin at these times, of a smooth path."""
        return (self.wave(times + 0.5 * h) * h)[:, None]


def swing(numbers: Any, t: Any, features: frozenset[str], where: Any) -> Any:
    """By what a potential is multiplied: 1, or a wave in time."""
    return 1.0 + numbers["a"] * where.cos(3.0 * t) if "time" in features else 1.0


def moved(numbers: Any, t: Any, features: frozenset[str]) -> tuple[Any, Any, Any]:
    """Where a constraint is held, with its two derivatives: it moves if time matters."""
    size = 0.1 * numbers["a"] if "time" in features else 0.0
    return size * np.sin(2.0 * t), 2.0 * size * np.cos(2.0 * t), -4.0 * size * np.sin(2.0 * t)


def numbers_of(rng: np.random.Generator) -> dict[str, Any]:
    """Parameters of all families."""
    root = rng.normal(size=(3, 3))
    return {
        "J": np.diag(rng.uniform(1.0, 3.0, 3)) + 0.05 * root @ root.T,
        "C": 0.4 * (np.diag(rng.uniform(0.5, 1.5, 3)) + 0.1 * root @ root.T),
        "b": rng.uniform(0.4, 1.0, 3),
        "f": rng.uniform(0.5, 1.0, 3),
        "S": rng.uniform(0.4, 0.8, 3),
        "k": rng.uniform(0.8, 1.5),
        "a": rng.uniform(0.3, 0.6),
        "w": rng.uniform(0.4, 1.0, 3) * rng.choice([-1.0, 1.0], 3),
    }


def wave(t: Any) -> Any:
    return np.cos(2.0 * t) + 0.5


FIELDS = ("J", "C", "b", "f", "S", "k", "a")


def class_of(name: str, base: type, given: dict[str, Any]) -> Any:
    """A system's class with the parameters as fields, so that draws of one class share programs."""
    kinds = {field: Any for field in FIELDS}
    return type(name, (base,), {"__annotations__": kinds, "__module__": __name__, "__qualname__": name, **given})


def common(features: frozenset[str], dim: int) -> dict[str, Any]:
    """The hooks that are alike in all families."""
    found: dict[str, Any] = {}
    if "dissipation" in features:
        found["dissipation"] = lambda self, g, t: jnp.asarray(self.C)[:dim, :dim]
    if "noise" in features:
        found["diffusion"] = lambda self, g, t: jnp.asarray(self.S)[:dim, None]
    if "limit" in features:
        found["limit"] = lambda self, g, t, h: jnp.asarray(1.0)
    if "discrete_lagrangian" in features:
        found |= {"discrete_order": 2, "discrete_symmetric": True}
        found["discrete_lagrangian"] = trapezoid
    return found


def trapezoid(self, g, xi, t, h, tau):
    end = self.group.compose(g, tau.tau(self.group, h * xi))
    return 0.5 * h * (self.lagrangian(g, xi, t) + self.lagrangian(end, xi, t + h))


# a point in the plane, in a potential and a magnetic field


@functools.cache
def plane_class(features: frozenset[str]) -> Any:
    def lagrangian(self, q, v, t):
        V = 0.5 * self.k * q @ q + 0.25 * (q @ q) ** 2
        turning = self.b[0] * (q[0] * v[1] - q[1] * v[0]) if "linear" in features else 0.0
        return 0.5 * v @ jnp.asarray(self.J)[:2, :2] @ v - V * swing(vars_of(self), t, features, jnp) + turning

    given = {"group": nd.Rn(2), "lagrangian": lagrangian, **common(features, 2)}
    if "force" in features:
        given["force"] = lambda self, q, v, t: jnp.stack([self.f[0] * jnp.cos(q[1]), self.f[1] * jnp.sin(q[0])])
    if "constraint" in features:

        def constraint(self, q, t):
            x = 0.1 * self.a * jnp.sin(2.0 * t) if "time" in features else 0.0
            p = q - jnp.stack([jnp.asarray(x), jnp.zeros(())])
            return jnp.reshape(0.5 * (p @ p - 1.0), (1,))

        given["constraint"] = constraint
    return class_of("InThePlane", nd.LagrangianSystem, given)


def vars_of(self: Any) -> dict[str, Any]:
    return {field: getattr(self, field) for field in FIELDS}


def plane(features: frozenset[str], rng: np.random.Generator) -> Drawn:
    p = numbers_of(rng)
    M, b = p["J"][:2, :2], p["b"][0] if "linear" in features else 0.0

    def rate(t, y):
        q, v = y[:2], y[2:]
        F = -(p["k"] + q @ q) * q * swing(p, t, features, np) + 2.0 * b * np.array([v[1], -v[0]])
        if "force" in features:
            F = F + np.array([p["f"][0] * np.cos(q[1]), p["f"][1] * np.sin(q[0])])
        if "dissipation" in features:
            F = F - p["C"][:2, :2] @ v
        if "noise" in features:
            F = F + p["S"][:2] * wave(t)
        if "constraint" in features:
            x, x1, x2 = moved(p, t, features)
            n, u = q - np.array([x, 0.0]), v - np.array([x1, 0.0])
            Mn = np.linalg.solve(M, n)
            F = F - n * (u @ u + n @ (np.linalg.solve(M, F) - np.array([x2, 0.0]))) / (n @ Mn)
        return np.concatenate([v, np.linalg.solve(M, F)])

    q, v = np.array([np.cos(0.4), np.sin(0.4)]), p["w"][:2]
    if "constraint" in features:
        u = v - np.array([moved(p, 0.0, features)[1], 0.0])
        v = v - q * (q @ u)
    system = plane_class(features)(**{field: p[field] for field in FIELDS})
    state = system.state(q=q, v=v)

    def flat(state, t):
        q, mu = np.asarray(state.g), np.asarray(state.mu)
        return np.concatenate([q, np.linalg.solve(M, mu - b * np.array([-q[1], q[0]]))])

    return Drawn("plane", features, system, state, np.concatenate([q, v]), rate, flat, wave)


# a body about a fixed point: with its Lagrangian, as an EulerPoincareSystem, and with an advected direction


@functools.cache
def body_class(features: frozenset[str], kind: str) -> Any:
    def kinetic(self, w):
        turning = jnp.asarray(self.b) @ w if "linear" in features else 0.0
        return 0.5 * w @ jnp.asarray(self.J) @ w + turning

    def lagrangian(self, R, w, t):
        return kinetic(self, w) - self.k * R[2, 2] * swing(vars_of(self), t, features, jnp)

    given = {"group": nd.SO3(), **common(features, 3)}
    base: Any = nd.LagrangianSystem
    if kind == "free":
        base = nd.EulerPoincareSystem
        given["reduced_lagrangian"] = kinetic
        if "override" in features:
            given["lagrangian"] = lagrangian
    elif kind == "top":
        base = nd.AdvectedSystem
        given |= {"base": nd.SO3(), "a0": E3}
        given.pop("group")

        def reduced(self, xi, n, nu, a, t):
            return kinetic(self, xi) - self.k * a[2] * swing(vars_of(self), t, features, jnp)

        given["reduced_lagrangian"] = reduced
        if "override" in features:
            given["lagrangian"] = lambda self, R, w, t: lagrangian(self, R, w, t) - self.f[0] * R[2, 0]
    else:
        given["lagrangian"] = lagrangian
    if "force" in features:
        given["force"] = lambda self, R, w, t: self.f[0] * R[0] - self.f[1] * jnp.sqrt(1.0 + w @ w) * w
    if "constraint" in features:

        def constraint(self, R, t):
            x = 0.1 * self.a * jnp.sin(2.0 * t) if "time" in features else 0.0
            return jnp.reshape(R[2, 2] - 0.5 - x, (1,))

        given["constraint"] = constraint
    return class_of(f"Body{kind.capitalize()}", base, given)


def pulled(p: dict[str, Any], features: frozenset[str], kind: str, r: np.ndarray, t: float) -> np.ndarray:
    """The torque of the potential, which depends on r = R^T e_3."""
    k = p["k"] * swing(p, t, features, np)
    if kind == "free" and "override" not in features:
        k = 0.0
    torque = -k * np.cross(E3, r)
    if kind == "top" and "override" in features:
        torque = torque - p["f"][0] * np.cross([1.0, 0.0, 0.0], r)
    return torque


def body(features: frozenset[str], rng: np.random.Generator, kind: str) -> Drawn:
    p = numbers_of(rng)
    J, b = p["J"], p["b"] if "linear" in features else np.zeros(3)

    def rate(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        r = R[2]
        tau = np.cross(J @ w + b, w) + pulled(p, features, kind, r, t)
        if "force" in features:
            tau = tau + p["f"][0] * R[0] - p["f"][1] * np.sqrt(1.0 + w @ w) * w
        if "dissipation" in features:
            tau = tau - p["C"] @ w
        if "noise" in features:
            tau = tau + p["S"] * wave(t)
        if "constraint" in features:
            n, turned = np.cross(E3, r), np.cross(E3, np.cross(r, w))
            Jn = np.linalg.solve(J, n)
            tau = tau - n * (turned @ w + n @ np.linalg.solve(J, tau) - moved(p, t, features)[2]) / (n @ Jn)
        hat = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        return np.concatenate([(R @ hat).ravel(), np.linalg.solve(J, tau)])

    angle = np.arccos(0.5)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[np.cos(0.7), -np.sin(0.7), 0.0], [np.sin(0.7), np.cos(0.7), 0.0], [0.0, 0.0, 1.0]])
    R, w = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) @ turn, p["w"]
    if "constraint" in features:
        n = np.cross(E3, R[2])
        w = w - n * (n @ w - moved(p, 0.0, features)[1]) / (n @ n)
    system = body_class(features, kind)(**{field: p[field] for field in FIELDS})
    state = system.state(R=R, Omega=w)

    def flat(state, t):
        return np.concatenate([np.ravel(state.g), np.linalg.solve(J, np.asarray(state.mu) - b)])

    return Drawn(kind, features, system, state, np.concatenate([R.ravel(), w]), rate, flat, wave)


# two point masses under gravity


@functools.cache
def planets_class(features: frozenset[str]) -> Any:
    given = common(features - {"dissipation", "noise"}, 6)
    if "force" in features:
        given["force"] = lambda self, q, v, t: self.push * jnp.cos(jnp.reshape(q, -1))
    if "dissipation" in features:
        given["dissipation"] = lambda self, g, t: self.push * jnp.eye(6)
    if "noise" in features:
        given["diffusion"] = lambda self, g, t: self.push * jnp.ones((6, 1))
    if features & {"override", "time", "linear"}:

        def lagrangian(self, q, v, t):
            whole = nd.models.PointMasses.lagrangian(self, q, v, t)
            size = 1.0 + 0.5 * jnp.cos(3.0 * t) if "time" in features else 1.0
            field = self.push * (q[0, 0] * v[1] - q[0, 1] * v[0]) if "linear" in features else 0.0
            return whole - 0.5 * size * self.push * jnp.sum(q * q) + field

        given["lagrangian"] = lagrangian
    return type(
        "Planets",
        (nd.models.PointMasses,),
        {
            "__annotations__": {"push": float},
            "__module__": __name__,
            "__init__": lambda self, m, push: (
                nd.models.PointMasses.__init__(self, m),
                setattr(self, "push", push),
            )[0],
            **given,
        },
    )


def planets(features: frozenset[str], rng: np.random.Generator) -> Drawn:
    m, push = np.array([2.0, rng.uniform(0.2, 0.4)]), rng.uniform(0.1, 0.3)
    overridden = bool(features & {"override", "time", "linear"})

    def rate(t, y):
        q, v = y[:6].reshape(2, 3), y[6:].reshape(2, 3)
        gap = q[0] - q[1]
        F = m[0] * m[1] * np.stack([-gap, gap]) / np.linalg.norm(gap) ** 3
        if overridden:
            F = F - push * (1.0 + 0.5 * np.cos(3.0 * t) if "time" in features else 1.0) * q
        if "linear" in features:
            F[0] += 2.0 * push * np.array([v[0, 1], -v[0, 0], 0.0])
        if "force" in features:
            F = F + push * np.cos(q)
        if "dissipation" in features:
            F = F - push * v
        if "noise" in features:
            F = F + push * wave(t)
        return np.concatenate([y[6:], (F / m[:, None]).ravel()])

    q = np.array([[0.0, 0.1, 0.0], [1.2, 0.0, 0.3]])
    v = np.array([[0.1, 0.0, 0.0], [0.0, 1.1, 0.2]])
    system = planets_class(features)(m, push)
    state = system.state(q=q, v=v)

    def flat(state, t):
        q, mu = np.asarray(state.g), np.asarray(state.mu).reshape(2, 3).copy()
        if "linear" in features:
            mu[0] -= push * np.array([-q[0, 1], q[0, 0], 0.0])
        return np.concatenate([q.ravel(), (mu / m[:, None]).ravel()])

    return Drawn("planets", features, system, state, np.concatenate([q.ravel(), v.ravel()]), rate, flat, wave)


# two bodies, the first pinned, the second on it by a ball joint

OWN = np.array([[0.0, 0.1, 0.5], [0.2, 0.0, 0.4]])
OTHER = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, -0.5]])
MASSES, GRAVITY = np.array([1.0, 0.7]), 3.0


@functools.cache
def tree_class(features: frozenset[str]) -> Any:
    from naiad.trees import TreeSystem

    given = common(features - {"dissipation", "noise"}, 6)
    if "dissipation" in features:
        given["dissipation"] = lambda self, g, t: self.drag * jnp.eye(6)
    if "noise" in features:
        given["diffusion"] = lambda self, g, t: self.drag * jnp.ones((6, 1))
    if "force" in features:
        given["force"] = lambda self, g, xi, t: -2.0 * self.drag * xi * jnp.abs(xi)

    def potential(self, g, t):
        size = 1.0 + 0.5 * jnp.cos(3.0 * t) if "time" in features else 1.0
        return size * GRAVITY * jnp.asarray(MASSES) @ self.tree.centres(g)[:, 2]

    given["potential"] = potential
    if features & {"override", "linear"}:

        def lagrangian(self, g, xi, t):
            turning = self.drag * jnp.sum(xi[:3]) if "linear" in features else 0.0
            return TreeSystem.lagrangian(self, g, xi, t) - g.R[0, 2, 2] + turning

        given["lagrangian"] = lagrangian
    if "constraint" in features:
        given["constraint"] = lambda self, g, t: jnp.reshape(g.R[0, 2, 2] - self.height, (1,))
    kinds = {"tree": nd.Tree, "drag": float, "height": float}
    return type("TwoBodies", (TreeSystem,), {"__annotations__": kinds, "__module__": __name__, **given})


def tree(features: frozenset[str], rng: np.random.Generator) -> Drawn:
    J, drag = rng.uniform(0.2, 0.5, (2, 3)), rng.uniform(0.1, 0.3)

    def rate(t, y):
        R, w = y[:18].reshape(2, 3, 3), y[18:].reshape(2, 3)
        size = 1.0 + 0.5 * np.cos(3.0 * t) if "time" in features else 1.0
        torque = np.cross(J * w, w)
        if "force" in features:
            torque = torque - 2.0 * drag * w * np.abs(w)
        if "dissipation" in features:
            torque = torque - drag * w
        if "noise" in features:
            torque = torque + drag * wave(t)
        if features & {"override", "linear"}:
            torque[0] -= np.cross(E3, R[0, 2])
        if "linear" in features:
            torque[0] += np.cross(drag * np.ones(3), w[0])
        A, right = np.zeros((19, 19)), np.zeros(19)
        A[18, 18] = 1.0
        if "constraint" in features:  # its multiplier turns the first body
            n, change = np.cross(E3, R[0, 2]), np.cross(E3, np.cross(R[0, 2], w[0]))
            A[6:9, 18], A[18, 6:9], A[18, 18], right[18] = -n, n, 0.0, -change @ w[0]
        for i in range(2):
            A[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = MASSES[i] * np.eye(3)
            A[6 + 3 * i : 9 + 3 * i, 6 + 3 * i : 9 + 3 * i] = np.diag(J[i])
            right[3 * i : 3 * i + 3] = -size * GRAVITY * MASSES[i] * E3
            right[6 + 3 * i : 9 + 3 * i] = torque[i]
        rows = [(0, OWN[0], 1.0, 12), (0, OTHER[1], -1.0, 15), (1, OWN[1], 1.0, 15)]
        for i, arm, sign, at in rows:  # the joint's force acts at the arm; the arms' accelerations are equal
            turn = -R[i] @ skew(arm)
            A[3 * i : 3 * i + 3, at : at + 3] -= sign * np.eye(3)
            A[6 + 3 * i : 9 + 3 * i, at : at + 3] -= sign * turn.T
            A[at : at + 3, 3 * i : 3 * i + 3] += sign * np.eye(3)
            A[at : at + 3, 6 + 3 * i : 9 + 3 * i] += sign * turn
            right[at : at + 3] -= sign * R[i] @ np.cross(w[i], np.cross(w[i], arm))
        turned = np.linalg.solve(A, right)[6:12]
        return np.concatenate([np.concatenate([(R[i] @ skew(w[i])).ravel() for i in range(2)]), turned])

    first, second = np.array([0.3, -0.2, 0.1]), np.array([-0.1, 0.4, 0.2])
    R = np.stack([np.asarray(nd.SO3().exp(each), float) for each in (first, second)])
    R = np.stack([np.linalg.svd(each)[0] @ np.linalg.svd(each)[2] for each in R])
    w = np.concatenate([numbers_of(rng)["w"][None], [[0.3, -0.2, 0.5]]])
    if "constraint" in features:
        n = np.cross(E3, R[0, 2])
        w[0] -= n * (n @ w[0]) / (n @ n)
    bodies = nd.Tree([-1, 0], J, np.outer(MASSES, np.ones(3)), own=OWN, other=OTHER, root="pinned")
    kind = tree_class(features - {"constraint"})
    numbers = (bodies, drag, float(R[0, 2, 2]))
    system = tree_class(features)(*numbers)
    start = kind(*numbers).state(R=R, R_Omega=w)

    def flat(state, t):
        xi = kind(*numbers).velocity(state.g, state.mu, t)
        return np.concatenate([np.ravel(state.g.R), np.asarray(xi)])

    return Drawn("tree", features, system, start, np.concatenate([R.ravel(), w.ravel()]), rate, flat, wave)


def skew(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


FAMILIES: dict[str, tuple[Callable[..., Drawn], frozenset[str]]] = {
    "plane": (plane, frozenset(FEATURES) - {"override"}),
    "body": (functools.partial(body, kind="body"), frozenset(FEATURES) - {"override"}),
    "free": (functools.partial(body, kind="free"), frozenset(FEATURES) - {"time"}),
    "top": (functools.partial(body, kind="top"), frozenset(FEATURES)),
    "planets": (planets, frozenset(FEATURES) - {"constraint"}),
    "tree": (tree, frozenset(FEATURES)),
}
"""How each family is drawn, and which features it can have."""


def draw(family: str, features: frozenset[str], seed: int) -> Drawn:
    """A system of a family with these features."""
    return FAMILIES[family][0](features, np.random.default_rng(seed))
