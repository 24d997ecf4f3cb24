"""Samplers and helpers that the tests of groups and retractions share."""

import functools

import jax
import numpy as np
from hypothesis import strategies as st

from naiad.groups import S3, SE2, SE3, SO2, SO3, Power, Product, Rn, SOn
from naiad.groups.son import basis
from naiad.numerics import double

EPS = np.finfo(float).eps
BATCH = 8

GROUPS = {
    "R3": Rn(3),
    "SO2": SO2(),
    "SE2": SE2(),
    "SO3": SO3(),
    "S3": S3(),
    "SE3": SE3(),
    "SO(4)": SOn(4),
    "SE3^2": Power(SE3(), 2),
    "SO3^2 x SE2 x R3": Product(links=Power(SO3(), 2), base=SE2(), q=Rn(3)),
}

seeds = st.integers(min_value=0, max_value=2**32 - 1)


def log_uniform(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers whose logarithm is uniform: as many between 1e-9 and 1e-8 as between 0.1 and 1."""
    return st.floats(min_value=np.log(low), max_value=np.log(high)).map(lambda x: float(np.exp(x)))


angles = log_uniform(1e-12, 3.0)


def vector(group, rng: np.random.Generator, angle: float, translation: float = 1.0) -> np.ndarray:
    """A vector of the algebra whose (largest) rotation angle is `angle` and whose translations have the given size."""
    match group:
        case Product():
            return np.concatenate([vector(factor, rng, angle, translation) for factor in group.factors])
        case Power():
            return np.concatenate([vector(group.base, rng, angle, translation) for _ in range(group.count)])
        case SE2() | SE3():
            rotation = SO2() if isinstance(group, SE2) else SO3()
            shift = Rn(2 if isinstance(group, SE2) else 3)
            return np.concatenate([vector(rotation, rng, angle), vector(shift, rng, angle, translation)])
        case Rn():
            return translation * direction(rng, group.dim)
        case SOn():
            x = rng.standard_normal(group.dim)
            return x * angle / np.linalg.norm(np.tensordot(x, basis(group.n), 1), 2)
        case _:
            return angle * direction(rng, group.dim)


def vectors(group, rng: np.random.Generator, angle: float, translation: float = 1.0) -> np.ndarray:
    """A batch of such vectors."""
    return np.stack([vector(group, rng, angle, translation) for _ in range(BATCH)])


def elements(group, rng: np.random.Generator):
    """A batch of random elements."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *[group.random(rng) for _ in range(BATCH)])


def direction(rng: np.random.Generator, n: int) -> np.ndarray:
    x = rng.standard_normal(n)
    return x / np.sqrt(x @ x)


def compiled(function):
    """`function` compiled, in double precision, with NumPy results."""
    run = double(jax.jit(function))
    return lambda *arguments: jax.tree.map(np.asarray, run(*arguments))


def batched(function):
    """`function` over batches on axis 0 of every argument, compiled as by `compiled`."""
    return compiled(jax.vmap(function))


def distance(a, b) -> float:
    """The largest difference between the leaves of two pytrees of the same shapes; nan counts as infinite."""
    leaves_a, leaves_b = jax.tree.leaves(a), jax.tree.leaves(b)
    assert [np.shape(x) for x in leaves_a] == [np.shape(x) for x in leaves_b]
    worst = max(float(np.max(np.abs(np.asarray(x) - np.asarray(y)))) for x, y in zip(leaves_a, leaves_b, strict=True))
    return np.inf if np.isnan(worst) else worst


def size(a) -> float:
    """One plus the largest entry of the leaves of a pytree: the scale of its rounding errors."""
    return 1.0 + max(float(np.max(np.abs(np.asarray(x)))) for x in jax.tree.leaves(a))


def matrix(group, g) -> np.ndarray:
    """The element as a (homogeneous, or left-multiplication) matrix."""
    match group:
        case Rn():
            return homogeneous(np.eye(group.n), g)
        case SO2():
            return plane(g)
        case SE2():
            return homogeneous(plane(g.beta), g.x)
        case S3():
            w, x, y, z = np.asarray(g)
            return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        case SE3():
            return homogeneous(g.R, g.x)
        case Product():
            return block_diagonal([matrix(factor, part) for factor, part in zip(group.factors, g, strict=True)])
        case Power():
            copies = [jax.tree.map(lambda leaf, k=k: leaf[k], g) for k in range(group.count)]
            return block_diagonal([matrix(group.base, copy) for copy in copies])
        case _:
            return np.asarray(g)


def algebra_matrix(group, x) -> np.ndarray:
    """The vector of the algebra in the matrices of `matrix`."""
    match group:
        case Rn():
            return homogeneous(np.zeros((group.n, group.n)), x) - np.diag(np.eye(group.n + 1)[-1])
        case S3():
            return matrix(group, group.hat(x))
        case Product():
            parts = zip(group.factors, group.parts(x), strict=True)
            return block_diagonal([algebra_matrix(factor, part) for factor, part in parts])
        case Power():
            return block_diagonal([algebra_matrix(group.base, part) for part in group.stack(x)])
        case _:
            return np.asarray(group.hat(x))


def plane(beta) -> np.ndarray:
    c, s = np.cos(beta), np.sin(beta)
    return np.array([[c, -s], [s, c]])


def homogeneous(R, x) -> np.ndarray:
    n = len(x)
    result = np.eye(n + 1)
    result[:n, :n], result[:n, n] = R, x
    return result


def block_diagonal(blocks) -> np.ndarray:
    total = sum(len(block) for block in blocks)
    result, start = np.zeros((total, total)), 0
    for block in blocks:
        end = start + len(block)
        result[start:end, start:end] = block
        start = end
    return result


def per_group(build):
    """Cache what `build` makes for a group of `GROUPS`, by its name, so that each function compiles once."""
    return functools.cache(lambda name: build(GROUPS[name]))
