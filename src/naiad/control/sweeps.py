"""The two sweeps through the steps of problems: one problem alone, or sets of them in lanes."""

import numpy as np

from naiad.compiler import Table
from naiad.control.kernels import Kernels


class Sweeps:
    """The tables of the sweeps: of every set of problems, a group for each step, with the problems in lanes."""

    def __init__(self, kernels: Kernels, problems: int, steps: int, groups: int):
        self.kernels, self.P, self.N = kernels, problems, steps
        self.lanes, forms = kernels.lanes, kernels.forms
        self.sets = -(-problems // self.lanes)
        room = groups * kernels.width if problems == 1 else steps  # all rows of the steps' tables, if it is alone
        self.sizes = Table.same(kernels.sizes, self.lanes)

        def tables(form, count):
            return [Table(form, count, self.lanes) for _ in range(self.sets)]

        self.swept, self.bounded, self.change = (tables(f, room) for f in (forms.swept, forms.bounded, forms.change))
        self.gains, self.values, self.x = (
            tables(forms.gains, steps),
            tables(forms.value, steps + 1),
            tables(forms.x, steps + 1),
        )
        self.barrier = [Table(forms.barrier, 1, self.lanes, same=True) for _ in range(self.sets)]

    def back(
        self, swept: Table, bounded: Table, V: np.ndarray, v: np.ndarray, barrier: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cost to go of each problem before its first step, and its smallest pivot, from that at its end."""
        nx, P = v.shape[1], self.P
        last = self.packed(np.concatenate([V.reshape(P, -1), v, np.full((P, 1), np.inf)], axis=1))
        barriers = self.packed(barrier)
        for source, target in ((swept, self.swept), (bounded, self.bounded)):
            self._from_steps(source, target)
        for k in range(self.sets):
            self.values[k].memory[-1], self.barrier[k].memory[0] = last[k], barriers[k]
            inputs = [self.swept[k], self.bounded[k], self.barrier[k]]
            self.kernels.backward.scan(self.sizes, self.values[k], inputs, [self.gains[k]], reverse=True)
        found = self._unpacked([table.memory[0] for table in self.values])
        return found[:, : nx * nx].reshape(P, nx, nx), found[:, nx * nx : -1], found[:, -1]

    def on(self, x: np.ndarray, change: Table) -> np.ndarray:
        """The changes of all steps from increments of the first nodes, and the increments of the last ones."""
        first = self.packed(x)
        for k in range(self.sets):
            self.x[k].memory[0] = first[k]
            inputs = [self.swept[k], self.gains[k], self.values[k].after()]
            self.kernels.forward.scan(self.sizes, self.x[k], inputs, [self.change[k]])
        self._to_steps(self.change, change)
        return self._unpacked([table.memory[-1] for table in self.x])

    def packed(self, array: np.ndarray) -> np.ndarray:
        """Rows of problems as sets, elements and lanes."""
        if self.P == 1:
            return array[:, :, None]
        rows = array[np.minimum(np.arange(self.sets * self.lanes), self.P - 1)]
        return rows.reshape(self.sets, self.lanes, -1).transpose(0, 2, 1)

    def _unpacked(self, sets: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([each.T for each in sets])[: self.P]

    def _from_steps(self, source: Table, targets: list[Table]) -> None:
        """From steps in lanes."""
        groups, size, width = source.memory.shape
        if self.P == 1:
            targets[0].memory.reshape(groups, width, size)[...] = source.memory.transpose(0, 2, 1)
            return
        rows = source.matrix(self.P * self.N).reshape(self.P, self.N, size)
        rows = rows[np.minimum(np.arange(self.sets * self.lanes), self.P - 1)]
        for k, target in enumerate(targets):
            target.memory[...] = rows[k * self.lanes : (k + 1) * self.lanes].transpose(1, 2, 0)

    def _to_steps(self, sources: list[Table], target: Table) -> None:
        if self.P == 1:
            rows = sources[0].memory[..., 0]
            rows[self.N :] = rows[self.N - 1]
            target.memory[...] = rows.reshape(-1, target.lanes, target.fields.size).transpose(0, 2, 1)
            return
        rows = np.concatenate([source.memory.transpose(2, 0, 1) for source in sources])[: self.P]
        target.put(rows.reshape(self.P * self.N, -1))
