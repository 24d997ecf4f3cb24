"""The variational step of a tree of rigid bodies, in O(N): sweeps down to the leaves and up to the root."""

from naiad.integrators.tree.variational import TreeVariational

__all__ = ["TreeVariational"]
