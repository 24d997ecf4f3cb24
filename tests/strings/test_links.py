"""A chain of nodes and links, eliminated from its start, beside the whole matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.strings.links import LinkPiece, eliminate_links, substitute_links


def places(index, count, border):
    """Which unknowns of all, (x_1, ..., x_N, y_1, ..., y_N, v), those of an element are; none for the start."""
    near = [3 * (index - 1) + k if index else None for k in range(3)]
    far = [3 * index + k for k in range(3)]
    return [*near, *far, 4 * count if border else None, 3 * count + index]


@pytest.mark.parametrize("border", [False, True])
def test_elimination_solves_the_whole_system(border):
    count, rng = 5, np.random.default_rng(3)
    r = rng.normal(size=(count, 8))
    J = 0.3 * rng.normal(size=(count, 8, 8)) + 2.0 * np.diag([1, 1, 1, 1, 1, 1, 1, -1.0])
    size = 4 * count + border
    matrix, right = np.zeros((size, size)), np.zeros(size)
    for index in range(count):
        own = places(index, count, border)
        kept = [k for k in range(8) if own[k] is not None]
        rows = [own[k] for k in kept]
        matrix[np.ix_(rows, rows)] += J[index][np.ix_(kept, kept)]
        right[rows] -= r[index][kept]
    with jax.enable_x64(True):
        each = (jnp.arange(count), (jnp.asarray(r), jnp.asarray(J)))
        factors, last = eliminate_links(
            lambda index, near, far: LinkPiece(*far), (jnp.zeros(8), jnp.zeros((8, 8))), each, border=border
        )
        at_end = np.linalg.solve(*map(np.asarray, last.equations(4 + border)))
        x, y = substitute_links(factors, jnp.asarray(at_end[:3]), jnp.asarray(at_end[3]), jnp.asarray(at_end[4:].sum()))
    found = np.concatenate([np.ravel(x), y, at_end[4:]])
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), atol=1e-12)
