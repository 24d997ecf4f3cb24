import json

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from naiad.studies.values import found, shown, to_json


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
        (1 / 3, "0.333333"),
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
        (np.array([2.0, -1e-16, 1e-9]), "(2, 0, 1e-09)"),
        (np.array([np.nan, 1e-16]), "(nan, 1e-16)"),
    ],
)
def test_values_for_a_reader(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("energy", 12.3456789, "12.3457"),
        ("energy_error_max", 4.082985677e-06, "4.08e-06"),
        ("errors", np.array([0.12345, 1.0]), "(0.123, 1)"),
        ("terror", 1.23456, "1.23456"),
        ("plain", {"swing": 35.40097479, "energy_error": 1.2345}, "swing: 35.401 deg, energy_error: 1.23"),
        ("energy_error_max", {"euler": 1.64641e-15, "rk4": 0.25}, "euler: 1.65e-15, rk4: 0.25"),
    ],
)
def test_a_result_has_the_digits_that_its_name_deserves(name, value, text):
    assert found(name, value, {"swing": "deg"}) == text
