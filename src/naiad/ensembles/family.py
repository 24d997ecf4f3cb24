"""Systems of one structure that differ in some of their numbers: one program serves them all."""

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler.compiled import NEITHER
from naiad.errors import InputError, RunWarning
from naiad.mechanics import LagrangianSystem
from naiad.numerics import Module, static
from naiad.simulation.checks import check_system


class Family(Module):
    """A system with the places, as numbers of leaf and element, where its members have numbers of their own."""

    system: LagrangianSystem
    places: tuple[tuple[int, int], ...] = static(default=())

    def member(self, own: Any) -> LagrangianSystem:
        """The system with its own numbers at the places."""
        if not self.places:
            return self.system
        leaves, structure = jax.tree.flatten(self.system)
        for number in {leaf for leaf, _ in self.places}:
            elements = [(element, k) for k, (leaf, element) in enumerate(self.places) if leaf == number]
            where, which = map(list, zip(*elements, strict=True))
            leaf = jnp.asarray(leaves[number])
            leaves[number] = leaf.ravel().at[np.array(where)].set(own[np.array(which)]).reshape(leaf.shape)
        return jax.tree.unflatten(structure, leaves)

    def known(self, own: np.ndarray | None) -> LagrangianSystem:
        """The same as NumPy arrays, from known numbers."""
        if own is None:
            return self.system
        leaves, structure = jax.tree.flatten(self.system)
        leaves = [np.array(leaf) if number in dict(self.places) else leaf for number, leaf in enumerate(leaves)]
        for (number, element), value in zip(self.places, own, strict=True):
            leaves[number].reshape(-1)[element] = value
        return jax.tree.unflatten(structure, leaves)


def family(systems: LagrangianSystem | Sequence[LagrangianSystem]) -> tuple[Family, np.ndarray | None, int | None]:
    """The family of some systems, the numbers that each has of its own (a row each; None if there are none), and how
    many there are (None: one system for whatever comes)."""
    if isinstance(systems, LagrangianSystem):
        count = _rows(systems)
        if count is None:
            return Family(check_system(systems)), None, None
        leaves, structure = jax.tree.flatten(systems)
        stacks = [np.asarray(leaf) if _is_array(leaf) else leaf for leaf in leaves]
        example = [leaf[0] if _is_array(leaf) else leaf for leaf in stacks]
    else:
        count, stacks, structure = _stacked(systems)
        example = jax.tree.leaves(systems[0])
    places = [(k, int(e)) for k, leaf in enumerate(stacks) if _is_array(leaf) for e in _different(leaf)]
    first = check_system(jax.tree.unflatten(structure, example))
    if not places:
        return Family(first), None, count
    own = np.stack([stacks[k].reshape(count, -1)[:, e] for k, e in places], axis=1)
    wrong = [k for k, _ in places if stacks[k].dtype != np.float64]
    if wrong:
        raise InputError(
            f"the systems differ in whole numbers ({_path(first, wrong[0])}); only real numbers can differ."
        )
    bad = np.argwhere(~np.isfinite(own))
    if len(bad):
        row, column = bad[0]
        raise InputError(f"{_path(first, places[column][0])} of run {row} is not finite; give finite numbers.")
    leaves = [np.array(leaf) if k in dict(places) else leaf for k, leaf in enumerate(jax.tree.leaves(first))]
    for k, e in places:
        leaves[k].reshape(-1)[e] = NEITHER  # 0 and 1 would become part of the code
    return Family.unchecked(system=jax.tree.unflatten(structure, leaves), places=tuple(places)), own, count


def _stacked(systems: Sequence[LagrangianSystem]) -> tuple[int, list[Any], Any]:
    """The leaves of systems of one structure, those that are numbers stacked."""
    if not len(systems):
        raise InputError("simulate_many: no systems were given; give one, or a sequence of at least one.")
    for number, each in enumerate(systems):
        if not isinstance(each, LagrangianSystem):
            raise InputError(f"simulate_many: system {number} is {each!r:.60}; expected a LagrangianSystem.")
    rows = [jax.tree.flatten(each) for each in systems]
    structure = rows[0][1]
    alike = [other == structure for _, other in rows]
    if not all(alike):
        raise _other_structure(systems, alike.index(False))
    columns = list(zip(*(leaves for leaves, _ in rows), strict=True))
    return len(systems), [_column(systems, k, column) for k, column in enumerate(columns)], structure


def _column(systems: Sequence[LagrangianSystem], number: int, leaves: Sequence[Any]) -> Any:
    """A leaf of all systems: stacked if it is a number, the same if it is not."""
    if _is_array(leaves[0]):
        try:
            return np.stack(leaves)
        except (TypeError, ValueError):
            shapes = [np.shape(leaf) for leaf in leaves]
            raise _other_structure(systems, [shape == shapes[0] for shape in shapes].index(False)) from None
    same = [leaf is leaves[0] or leaf == leaves[0] for leaf in leaves]
    if not all(same):
        raise InputError(
            f"simulate_many: systems 0 and {same.index(False)} differ in {_path(systems[0], number)}, which is no real "
            "number; call it once for each."
        )
    return leaves[0]


def _other_structure(systems: Sequence[LagrangianSystem], number: int) -> InputError:
    return InputError(
        f"simulate_many: system {number} ({type(systems[number]).__name__}) is of another structure than system 0 "
        f"({type(systems[0]).__name__}): the systems of one call have the same class, the same sizes and the same "
        "constants, and differ in numbers only. Call it once for each structure."
    )


def _rows(system: LagrangianSystem) -> int | None:
    """How many systems one is whose arrays have a leading axis; None if it is a single one."""
    length = _leading_length(system)
    return None if length is None or _gives_a_number(system) or not _gives_a_number(_first_row(system)) else length


def warn_of_doubt(system: LagrangianSystem, runs: int) -> None:
    """Warn of a system that was taken for a single one, but could be one for each of so many runs."""
    if runs > 1 and _leading_length(system) == runs and _gives_a_number(_first_row(system)):
        name = type(system).__name__
        warnings.warn(
            f"{name}: its arrays all have a leading axis of {runs}, and there are {runs} runs, but its Lagrangian "
            "gives one number with the whole arrays: it is taken for one system that all share. If each run has "
            f"a row of its own, give a list of systems; if not, [system] * {runs} says so.",
            RunWarning,
            stacklevel=6,
        )


def _leading_length(system: LagrangianSystem) -> int | None:
    """The length of the leading axis of all arrays of a system; None if they have none in common."""
    lengths = {np.shape(leaf)[:1] for leaf in jax.tree.leaves(system) if _is_array(leaf)}
    return lengths.pop()[0] if len(lengths) == 1 and lengths != {()} else None


def _first_row(system: LagrangianSystem) -> LagrangianSystem:
    return jax.tree.map(lambda leaf: leaf[0] if _is_array(leaf) else leaf, system)


def _gives_a_number(system: LagrangianSystem) -> bool:
    """Whether its Lagrangian is one number."""
    try:
        with jax.enable_x64(True):
            group = system.group
            form = jax.eval_shape(lambda: system.lagrangian(group.identity(), jnp.zeros(group.dim), jnp.zeros(())))
    except Exception:  # of any kind: it is the user's function with arrays that do not fit
        return False
    return np.shape(form) == ()


def _different(stack: np.ndarray) -> np.ndarray:
    """The elements in which not all rows are the same, bit for bit."""
    flat = np.ascontiguousarray(stack).reshape(len(stack), -1)
    if flat.dtype == np.float64:
        flat = flat.view(np.int64)
    return np.flatnonzero(np.any(flat != flat[0], axis=0))


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, float | np.ndarray | np.generic | jax.Array)


def _path(system: LagrangianSystem, number: int) -> str:
    return f"{type(system).__name__}{jax.tree_util.keystr(jax.tree.leaves_with_path(system)[number][0])}"
