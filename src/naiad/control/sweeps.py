"""The two sweeps through the steps of problems: one problem alone, or sets of them in lanes."""

from typing import Any

import numpy as np

from naiad.compiler.tables import Fields, Table
from naiad.control.kernels import Kernels


class Sweeps:
    """The tables of the sweeps: of every set of problems, a group for each step, with the problems in lanes."""

    def __init__(self, kernels: Kernels, problems: int, steps: int, swept: Table, bounded: Table, change: Table):
        """For steps of all problems in these tables, one after the other."""
        self.P, self.N, self.lanes, forms = problems, steps, kernels.lanes, kernels.forms
        self.sets, self.columns = -(-problems // self.lanes), kernels.sizes.columns
        self.steps = (swept, bounded, change)

        def tables(form: Fields, count: int, **options: Any) -> list[Table]:
            return [Table(form, count, self.lanes, **options) for _ in range(self.sets)]

        self.gains, self.values = tables(forms.gains, steps), tables(forms.value, steps + 1)
        self.x, self.barrier = tables(forms.x, steps + 1), tables(forms.barrier, 1, same=True)
        own = zip(self.steps, (forms.swept, forms.bounded, forms.change), strict=True)
        self.swept, self.bounded, self.change = ([t] if problems == 1 else tables(form, steps) for t, form in own)
        self.sizes, each = Table.same(kernels.sizes, self.lanes), range(self.sets)
        self._back = [
            kernels.backward.scan(
                self.sizes,
                self.values[k],
                [self.swept[k], self.bounded[k], self.barrier[k]],
                [self.gains[k]],
                reverse=True,
            )
            for k in each
        ]
        self._on = [
            kernels.forward.scan(
                self.sizes, self.x[k], [self.swept[k], self.gains[k], self.values[k].after()], [self.change[k]]
            )
            for k in each
        ]

    def back(self, V: np.ndarray, v: np.ndarray, barrier: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cost to go of each problem before its first step, and its smallest pivot, from that at its end."""
        nx, P, columns = v.shape[1], self.P, self.columns
        last = np.zeros((P, nx * columns + 1))
        last[:, -1] = np.inf
        whole = last[:, :-1].reshape(P, nx, columns)
        whole[..., :nx], whole[..., nx] = V, v
        last, barriers = self.packed(last), self.packed(barrier)
        if P > 1:  # one alone lies as it is wanted
            self._from_steps(self.steps[0], self.swept)
            self._from_steps(self.steps[1], self.bounded)
        for k, call in enumerate(self._back):
            self.values[k].memory[-1], self.barrier[k].memory[0] = last[k], barriers[k]
            call()
        found = self._unpacked([table.memory[0] for table in self.values])
        whole = found[:, :-1].reshape(P, nx, columns)
        return whole[..., :nx], whole[..., nx], found[:, -1]

    def on(self, x: np.ndarray) -> np.ndarray:
        """The changes of all steps from increments of the first nodes, and the increments of the last ones."""
        first, change = self.packed(x), self.steps[2]
        for k, call in enumerate(self._on):
            self.x[k].memory[0] = first[k]
            call()
        if self.P == 1:
            change.memory[self.N :] = change.memory[self.N - 1]
        else:
            rows = np.concatenate([each.memory.transpose(2, 0, 1) for each in self.change])[: self.P]
            change.put(rows.reshape(self.P * self.N, -1))
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
        """Steps of all problems, one after the other, to sets of problems."""
        rows = source.matrix(self.P * self.N).reshape(self.P, self.N, -1)
        rows = rows[np.minimum(np.arange(self.sets * self.lanes), self.P - 1)]
        for k, target in enumerate(targets):
            target.memory[...] = rows[k * self.lanes : (k + 1) * self.lanes].transpose(1, 2, 0)
