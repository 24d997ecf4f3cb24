"""Ensembles compared bit for bit, wherever their arrays are."""

import numpy as np


def same(one, other):
    for known in ("arrays", "met"):
        mine, its = getattr(one, known), getattr(other, known)
        assert set(mine) == set(its)
        for name, (dims, values) in mine.items():
            assert dims == its[name][0]
            np.testing.assert_array_equal(np.asarray(values), np.asarray(its[name][1]), err_msg=name)
