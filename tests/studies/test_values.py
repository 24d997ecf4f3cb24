import json

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from naiad.studies.values import shown, to_json


def test_numpy_becomes_json():
    value = {"a": np.arange(3), "b": np.float32(0.5), "c": np.bool_(True), "d": xr.DataArray([1.0]), 5: (None, "é")}
    assert json.loads(to_json(value)) == {"a": [0, 1, 2], "b": 0.5, "c": True, "d": [1.0], "5": [None, "é"]}


def test_what_is_not_finite_is_null():
    assert (
        to_json([float("nan"), np.inf, np.array([-np.inf, 1.0]), np.float64("nan")])
        == "[null, null, [null, 1.0], null]"
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_all_digits(value):
    assert json.loads(to_json(np.float64(value))) == value


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="not object"):
        to_json({"a": object()})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 3, "0.3333333333"),
        (np.float64(2.0), "2"),
        (7, "7"),
        (True, "yes"),
        (np.bool_(False), "no"),
        (None, "none"),
        ("cay", "cay"),
        (np.array([1.0, 0.5]), "(1, 0.5)"),
        ([[1.0], [2.0]], "((1), (2))"),
        (np.arange(7), "(0, 1, ..., 6; 7 values)"),
        ({"max": 1e-15, "n": 2}, "max: 1e-15, n: 2"),
    ],
)
def test_values_for_a_reader(value, text):
    assert shown(value) == text
