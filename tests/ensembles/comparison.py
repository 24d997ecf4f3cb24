"""Ensembles and runs compared bit for bit, wherever their arrays are."""

import numpy as np


def same(one, other):
    for known in ("arrays", "met"):
        mine, its = getattr(one, known), getattr(other, known)
        assert set(mine) == set(its)
        for name, (dims, values) in mine.items():
            assert dims == its[name][0]
            np.testing.assert_array_equal(np.asarray(values), np.asarray(its[name][1]), err_msg=name)


def same_run(one, alone):
    assert one.outcome is alone.outcome
    np.testing.assert_equal(one.record.attrs, alone.record.attrs)
    assert set(one.record.variables) == set(alone.record.variables)
    for name in alone.record.variables:
        np.testing.assert_array_equal(one.record[name], alone.record[name], err_msg=str(name))
