"""The record's comparison: it sees a bit, a sign and a lost refusal, and no words."""

import re

import numpy as np
import pytest

from tests.record.compare import differences
from tests.record.refusals import named_and_given


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ({"q": np.array([1.0, 2.0])}, {"q": np.array([1.0, np.nextafter(2.0, 3.0)])}, r"q\[1\]: old .*1 of 2 numbers"),
        (0.0, -0.0, "old 0.0, new -0.0"),
        (np.zeros(2), -np.zeros(2), "2 of 2 numbers"),
        (np.zeros(2), np.zeros(3), r"old float64\[2\], new float64\[3\]"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), r"\[1\]: old .*nan"),
        ({"a": 1}, {"b": 1}, "a: only old: 1"),
        ([1, {"b": 1.5}], [1, {"b": 1.25}], r"\[1\] b: old 1.5, new 1.25"),
        ({"ends": "InputError"}, {"ends": "done"}, "ends: old 'InputError', new 'done'"),
        (1, 1.0, "old 1, new 1.0"),
    ],
)
def test_what_differs_is_told(old, new, line):
    assert re.search(line, differences(old, new)[0])


def test_what_is_the_same_is_not_told():
    same = {"x": np.array([np.nan, -0.0, np.inf]), "y": [float("nan"), "text", None], "z": np.array(["a"])}
    again = {"x": np.array([np.nan, -0.0, np.inf]), "y": [float("nan"), "text", None], "z": np.array(["a"])}
    assert differences(same | {"~text": "some words"}, again | {"~text": "others"}) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RigidBody: J = (1, -2); expected positive moments.", (["J"], "(1, -2)")),
        ("J = (1, -2) is not positive; give others, as t1 = 3.", (["J"], "(1, -2)")),
        ("simulate: missing a required argument: 'dt'; it takes t1=, dt=.", (["dt"], None)),
        ("simulate: dt is float32.", (["dt"], None)),
        ("simulate: t1 = <object at 0x7f00aa11bb22>; expected", (["t1"], "<object at 0x>")),
        ("the run never comes to t1 in steps of dt", ([], None)),
    ],
)
def test_a_refusal_is_its_arguments_and_its_value(text, found):
    assert named_and_given(text, ["t1", "dt", "J"]) == found
