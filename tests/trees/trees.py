"""Trees of bodies for the tests, and the discrete Lagrangians of `TreeVariational` written out for autodiff."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.compiler import execute
from naiad.mechanics import State
from naiad.numerics import hat, static
from naiad.trees import Tree, TreeSystem, motion

RULES = [(nd.Left(), False), (nd.Left(), True), (nd.Trapezoid(), False), (nd.Trapezoid(), True), (nd.Midpoint(), False)]
FIVE = (-1, 0, 0, 1, 1)
EIGHT = (-1, 0, 1, 0, 3, 3, 2, 5)


class Bodies(TreeSystem):
    """Bodies on which nothing acts."""

    tree: Tree


class HeavyBodies(TreeSystem):
    """Bodies with weights along -z, and springs that pull every body to its parent's attitude."""

    tree: Tree
    weights: np.ndarray
    stiffness: float = 0.0

    def potential(self, g, t):
        """The weights' and the springs'."""
        above = jnp.asarray(g.R)[np.maximum(self.tree.parents, 0)]
        aligned = jnp.sum(above * g.R, axis=(1, 2)) - 3.0
        return jnp.sum(self.weights * self.tree.centres(g)[:, 2]) - 0.5 * self.stiffness * jnp.sum(aligned)


class DampedBodies(TreeSystem):
    """Bodies in a thick fluid: a moment against every turn, a force against the root's motion."""

    tree: Tree
    drag: float

    def force(self, g, xi, t):
        """-c xi, and a torque that changes with time."""
        return -self.drag * xi + 0.3 * jnp.cos(t) * jnp.ones_like(xi)


class Written(TreeSystem):
    """The discrete Lagrangian of a rule, body by body as the definition says, for the dense legs."""

    tree: Tree
    inner: TreeSystem
    rule: Any = nd.Trapezoid()
    correction: bool = static(default=False)

    @property
    def force(self):
        """That of the system within."""
        return self.inner.force

    @property
    def potential(self):
        """That of the system within."""
        return self.inner.potential

    def discrete_lagrangian(self, g, xi, t, h, tau):
        """(1/h) sum_i (1/2 u . S* u + tr((I - F) J_d)) - h (V_k + V_{k+1})/2."""
        tree, group = self.tree, self.group
        f = tau.increment(group, h * xi)
        middle = group.compose(g, tau.tau(group, tau.half(group, h * xi)))
        end = group.advance(g, f)
        changes = g.R @ f.R
        own = jnp.einsum("nij,nj->ni", changes, tree.own)
        other = jnp.einsum("nij,nj->ni", changes[np.maximum(tree.parents, 0)], tree.other)
        u = [(0.0 if tree.pinned else f.x) - own[0]]
        for i in range(1, tree.count):
            u.append(u[tree.parents[i]] + other[i] - own[i])
        S, S1, Sm = (jnp.einsum("nij,njk,nlk->nil", R, tree.M, R) for R in (g.R, end.R, middle.R))
        mass = {nd.Left: S, nd.Trapezoid: 0.5 * (S + S1), nd.Midpoint: Sm}[type(self.rule)]
        J, rows = jnp.asarray(tree.J), jnp.stack(u)
        action = 0.5 * jnp.einsum("ni,nij,nj->", rows, mass, rows)
        if tree.D is not None:
            spins = h * xi[: 3 * tree.count].reshape(-1, 3)
            at = {nd.Left: (g.R,), nd.Trapezoid: (g.R, end.R), nd.Midpoint: (middle.R,)}[type(self.rule)]
            for R in at:
                V = jnp.einsum("nji,nj->ni", R, rows)
                action = action + jnp.einsum("ni,nij,nj->", spins, tree.D, V) / len(at)
        if self.correction:
            arms = jax.vmap(hat)(jnp.asarray(tree.own))
            J = J - arms @ tree.M @ arms
            action = action - 0.5 * jnp.einsum("ni,nij,nj->", own, mass, own)
        half = 0.5 * jnp.trace(J, axis1=1, axis2=2)[:, None, None] * jnp.eye(3) - J
        action = action - jnp.sum(f.R * half.swapaxes(1, 2))
        if self.potential is not None:
            action = action - 0.5 * h**2 * (self.potential(g, t) + self.potential(end, t + h))
        return action / h


def random_tree(parents, seed=1, **about) -> Tree:
    """Full inertias and joints anywhere."""
    rng, count = np.random.default_rng(seed), len(parents)

    def positive():
        A = rng.normal(size=(count, 3, 3))
        return A @ A.swapaxes(1, 2) + 0.5 * np.eye(3)

    own, other = rng.normal(size=(2, count, 3))
    if about.get("root", "free") == "free":
        own[0] = other[0] = 0.0
    return Tree(parents, positive(), positive(), own=own, other=other, **about)


def coupled_tree(parents, seed=1, **about) -> Tree:
    """Full 6 x 6 inertias about points that are no centres, and joints anywhere."""
    rng, count = np.random.default_rng(seed), len(parents)
    A = rng.normal(size=(count, 6, 6))
    own, other = rng.normal(size=(2, count, 3))
    if about.get("root", "free") == "free":
        own[0] = other[0] = 0.0
    return Tree.of_inertias(parents, A @ A.swapaxes(1, 2) + np.eye(6), own=own, other=other, **about)


def mixed_tree(seed=3, root="free", make=random_tree) -> Tree:
    """Eight bodies with balls, hinges and welds."""
    rng = np.random.default_rng(seed)
    joints = ("hinge", "ball", "weld", "hinge", "hinge", "hinge", "weld")
    rest = [nd.SO3().random(rng) for _ in EIGHT]
    return make(EIGHT, seed, root=root, joints=joints, axis=rng.normal(size=(8, 3)), rest=np.array(rest))


def random_state(system: TreeSystem, seed=2, size=1.0) -> State:
    """Any attitudes that the joints allow, with velocities that they allow."""
    rng, tree = np.random.default_rng(seed), system.tree
    g = tree.group.random(rng)
    R = np.array(g.R)
    for i, kind in enumerate(tree.joints):
        if kind in ("hinge", "weld"):
            angle = rng.normal() if kind == "hinge" else 0.0
            above = R[tree.parents[i]] if i else np.eye(3)
            R[i] = above @ tree.rest[i] @ Rotation.from_rotvec(angle * tree.axis[i]).as_matrix()
    state = system.state(g=g._replace(R=R), xi=size * rng.normal(size=tree.group.dim)) if tree.balls else None
    if state is None:
        free = Bodies(tree.freed()).state(g=g._replace(R=R), xi=size * rng.normal(size=tree.group.dim))
        state = system.state(g=free.g, xi=execute(motion, tree, free.g, free.mu, parameters=(0,)).xi)
    return state
