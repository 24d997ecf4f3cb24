"""Functions on fewer vertices: what a solution loses by them tells its error."""

from typing import Any

import numpy as np

from naiad.hydro.meshes.surface import Surface


def coarse_space(surface: Surface) -> Any:
    """A sparse matrix whose columns are functions at the vertices, one for each vertex of a set in which no two are
    neighbours and beside which every other one lies; between them they are as linear as can be."""
    import scipy.sparse

    ends, _ = surface.edges
    count = len(surface.vertices)
    links = scipy.sparse.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (count, count)).tocsr()
    links = (links + links.T).tocsr()
    kept = _apart(links, np.unique(surface.pieces.indices, return_index=True)[1])
    number = np.cumsum(kept) - 1
    rows, columns, weights = [], [], []
    for vertex in range(count):
        beside = links.indices[links.indptr[vertex] : links.indptr[vertex + 1]]
        nodes = np.array([vertex]) if kept[vertex] else beside[kept[beside]]
        rows += [vertex] * len(nodes)
        columns += number[nodes].tolist()
        weights += _between(surface.vertices[vertex], surface.vertices[nodes]).tolist()
    return scipy.sparse.csr_matrix((weights, (rows, columns)), (count, int(kept.sum())))


def _apart(links: Any, starts: np.ndarray) -> np.ndarray:
    """Vertices taken one after the other, each piece from one of its `starts` on, unless a neighbour was."""
    import scipy.sparse.csgraph

    kept, dropped = np.zeros(links.shape[0], dtype=bool), np.zeros(links.shape[0], dtype=bool)
    for start in starts:
        for vertex in scipy.sparse.csgraph.breadth_first_order(links, start, directed=False)[0]:
            if not dropped[vertex]:
                kept[vertex] = True
                dropped[links.indices[links.indptr[vertex] : links.indptr[vertex + 1]]] = True
    return kept


def _between(x: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Weights of sum 1 with which the nodes come as near to x as they can, the nearer ones weighing more."""
    if len(nodes) == 1:
        return np.ones(1)
    r = nodes - x
    size = np.sum(r * r, axis=1)
    gram = r @ r.T + 1e-3 * np.diag(size)
    weights = np.linalg.solve(gram, np.ones(len(nodes)))
    return weights / weights.sum()
