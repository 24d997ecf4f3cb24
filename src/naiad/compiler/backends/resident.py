"""Arrays that lie in another memory than the process's, and come over when someone asks for their numbers."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Resident(NDArrayOperatorsMixin):
    """An array of rows where a back end left it. It is accepted again as an argument where it lies; anything else that
    is done with it is done with a NumPy array of its numbers."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape = shape
        self.dtype = dtype
        self._numbers: np.ndarray | None = None

    @abstractmethod
    def fetched(self, most: int | None = None) -> np.ndarray:
        """The numbers; of those with more axes than one, the first `most` along the second only."""

    @property
    def ndim(self) -> int:
        """How many axes there are, the rows' first."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._numbers is None:
            self._numbers = self.fetched()
            self._numbers.flags.writeable = False
        return np.array(self._numbers, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, Resident) else x for x in inputs), **kwargs)

    def __getitem__(self, index: Any) -> Any:
        """What NumPy gives; of `[:, :most]` no more comes over than is wanted."""
        if self._numbers is None and isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None):
            part = index[1]
            if isinstance(part, slice) and part.start is None and part.step is None and (part.stop or 0) >= 0:
                return self.fetched(min(part.stop, self.shape[1]) if part.stop is not None else None)
        return np.asarray(self)[index]

    def __reduce__(self) -> Any:
        """To another process it goes as its numbers."""
        return np.array, (np.asarray(self),)
