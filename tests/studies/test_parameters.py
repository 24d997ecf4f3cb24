import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naiad.errors import InputError
from naiad.studies.parameters import (
    Inertia,
    Matrix,
    NameOrMatrix,
    NameOrNumber,
    Names,
    Parameter,
    Vector,
    as_matrix,
    parameter,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


def made(annotation, default, **options) -> Parameter:
    """The parameter `p` that a study would declare."""
    options = {"help": "for the test"} | options
    holder = dataclasses.make_dataclass("Holder", [("p", annotation, parameter(default, **options))])
    return Parameter.of(dataclasses.fields(holder)[0], annotation)


def refusal(declared: Parameter, value) -> str:
    with pytest.raises(InputError) as caught:
        declared.read(value)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("annotation", "default", "text", "value"),
    [
        (float, 1.0, " 1e-3 ", 1e-3),
        (float, 1.0, "-5", -5.0),
        (int, 1, "12", 12),
        (int, 1, "1e4", 10000),
        (int, 1, "123456789012345678901", 123456789012345678901),
        (bool, False, "yes", True),
        (bool, False, "True", True),
        (bool, True, "off", False),
        (str, "a", "any text, 1;2", "any text, 1;2"),
        (Names, ("a",), "x, y", ("x", "y")),
        (Vector, (1.0,), "1, 2,3", [1.0, 2.0, 3.0]),
        (Vector, (1.0,), "7", [7.0]),
        (Matrix, ((1.0,),), "1,2;3,4", [[1.0, 2.0], [3.0, 4.0]]),
        (Matrix, ((1.0,),), "1,2", [[1.0, 2.0]]),
        (Inertia, (1.0, 2.0), "3,4", [3.0, 4.0]),
        (Inertia, (1.0, 2.0), "3,1;1,4", [[3.0, 1.0], [1.0, 4.0]]),
        (NameOrNumber, 1.0, "0.5", 0.5),
        (NameOrNumber, 1.0, "neutral", "neutral"),
        (NameOrMatrix, "straight", "1,2;3,4", [[1.0, 2.0], [3.0, 4.0]]),
        (NameOrMatrix, "straight", "bent", "bent"),
        (Vector | None, None, "none", None),
        (float | None, 1.0, "None", None),
    ],
)
def test_a_text_is_read(annotation, default, text, value):
    read = made(annotation, default).read(text)
    np.testing.assert_array_equal(read, value)
    assert isinstance(read, np.ndarray) == isinstance(value, list)


@pytest.mark.parametrize(
    ("annotation", "default", "values"),
    [
        (float, 1.0, ["nan", "inf", "-Infinity", "", "1,2", "one", "none", None, True, float("nan"), [1.0], 1j]),
        (int, 1, ["1.5", "", "nan", "inf", True, 2.5, [1], None]),
        (bool, True, ["2", "maybe", "", 1, None]),
        (str, "a", [1, None]),
        (Names, ("a",), ["", "a,,b", "a,a", (), 3]),
        (Vector, (1.0,), ["", "1,,2", "1;2", "1,nan", "1,inf", "a,b", (), [[1.0, 2.0]], ["1", "2"], [True], None]),
        (Matrix, ((1.0,),), ["1,2;3", "", "1,nan", [1.0, 2.0], [[[1.0]]]]),
        (Inertia, (1.0, 2.0), ["0,1", "-1,2", "1,2;3,4", "1,2;2,1", "1,0,0;0,1,0", "", None]),
    ],
)
def test_what_is_not_expected_is_refused(annotation, default, values):
    declared = made(annotation, default)
    for value in values:
        assert f"expected {declared.expected}" in refusal(declared, value)


@pytest.mark.parametrize(
    ("bound", "inside", "outside"),
    [("above", 1.5, 1.0), ("at_least", 1.0, 0.9), ("below", 0.9, 1.0), ("at_most", 1.0, 1.1)],
)
def test_bounds_hold_for_every_number(bound, inside, outside):
    scalar = made(float, inside, **{bound: 1.0})
    vector = made(Vector, (inside,), **{bound: 1.0})
    assert scalar.read(inside) == inside
    np.testing.assert_array_equal(vector.read((inside, inside)), (inside, inside))
    words = f"{bound.replace('_', ' ')} 1"
    assert words in refusal(scalar, outside)
    assert f"each {words}" in refusal(vector, (inside, outside))


def test_sizes_are_kept():
    assert "3 finite numbers" in refusal(made(Vector, (1.0, 2.0, 3.0), size=3), "1,2")
    assert "2 x 3 matrix" in refusal(made(Matrix, ((1.0, 2.0, 3.0),) * 2, size=(2, 3)), "1,2;3,4")
    inertia = made(Inertia, (1.0, 2.0, 3.0), size=3)
    assert "3 x 3 matrix" in refusal(inertia, "1,2")
    assert "3 x 3 matrix" in refusal(inertia, "1,0;0,1")
    assert inertia.read("1,0,0;0,2,0;0,0,3").shape == (3, 3)


def test_a_message_says_given_expected_and_remedy():
    dt = made(float, 0.01, unit="s", above=0.0)
    assert refusal(dt, "-1") == "p=-1: expected a finite number above 0 (in s); for example -p p=0.01"
    start = made(Vector | None, None, size=2)
    assert refusal(start, "x") == "p=x: expected 2 finite numbers separated by commas, or none; or leave it out"
    method = made(str, "cay", choices={"cay": "Cayley", "exp": "exponential"})
    assert refusal(method, "kay") == "p=kay: expected one of cay, exp; did you mean cay? for example -p p=cay"
    assert len(refusal(made(Vector, (1.0,)), [[1.0] * 1000])) < 200
    assert refusal(dt, "1\n2").startswith("p=1 2: ")


def test_choices_are_found_in_any_case():
    assert made(str, "cay", choices={"cay": "", "exp": ""}).read("EXP") == "exp"
    assert made(Names, ("cay",), choices={"cay": "", "exp": ""}).read("Exp,CAY") == ("exp", "cay")
    both = made(str, "sw", choices={"sw": "", "SW": ""})
    assert (both.read("sw"), both.read("SW")) == ("sw", "SW")
    refusal(both, "Sw")


def test_arrays_are_own_and_read_only():
    given_array = np.array([1, 2, 3])
    read = made(Vector, (1.0,)).read(given_array)
    assert read.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        read[0] = 5.0
    given_array[0] = 7
    assert read[0] == 1.0


def test_an_inertia_is_a_matrix_or_its_diagonal():
    np.testing.assert_array_equal(as_matrix(np.array([1.0, 2.0])), [[1.0, 0.0], [0.0, 2.0]])
    rounded = np.array([[2.0, 1.0], [1.0 + 1e-15, 2.0]])
    read = made(Inertia, (1.0, 1.0)).read(rounded)
    np.testing.assert_array_equal(read, read.T)
    assert as_matrix(read) is read


def test_a_name_or_a_number():
    declared = made(NameOrNumber, "neutral", choices={"neutral": "", "massless": ""}, at_least=0.0)
    assert [declared.read(value) for value in ("Massless", "2", 0.5)] == ["massless", 2.0, 0.5]
    assert [declared.write(value) for value in ("massless", 2.0)] == ["massless", "2"]
    for value in ("heavy", -1, "-1", "nan", None, [1.0]):
        assert "expected one of neutral, massless, or a finite number at least 0" in refusal(declared, value)


def test_declarations_are_checked():
    with pytest.raises(InputError, match="expected a finite number above 0"):
        made(float, -1.0, above=0.0)
    with pytest.raises(TypeError, match="use float, int, bool, str, Names, Vector, Matrix, Inertia, Friction, NameOr"):
        made(dict, ())
    with pytest.raises(TypeError, match="hlp"):
        made(float, 1.0, hlp="a misspelt option")


@given(finite)
def test_a_number_is_written_so_that_it_reads_back(value):
    declared = made(float, 1.0)
    assert np.float64(declared.read(declared.write(value))).tobytes() == np.float64(value).tobytes()


@given(st.integers())
def test_a_whole_number_is_written_so_that_it_reads_back(value):
    declared = made(int, 1)
    assert declared.read(declared.write(value)) == value


@given(st.lists(finite, min_size=1, max_size=5), st.integers(1, 4))
def test_arrays_are_written_so_that_they_read_back(row, rows):
    vector, matrix = made(Vector, (1.0,)), made(Matrix, ((1.0,),))
    assert vector.read(vector.write(vector.read(row))).tobytes() == np.array(row).tobytes()
    table = matrix.read([row] * rows)
    again = matrix.read(matrix.write(table))
    assert (again.tobytes(), again.shape) == (table.tobytes(), table.shape)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4), st.booleans())
def test_an_inertia_is_written_so_that_it_reads_back(moments, full):
    declared = made(Inertia, (1.0,))
    value = declared.read(np.diag(moments) if full and len(moments) > 1 else moments)
    again = declared.read(declared.write(value))
    assert (again.tobytes(), again.shape) == (value.tobytes(), value.shape)


@given(
    st.text(max_size=20), st.sampled_from([(float, 1.0), (int, 1), (bool, True), (Vector, (1.0,)), (Inertia, (1.0,))])
)
def test_any_text_is_read_or_refused_in_one_line(text, declaration):
    declared = made(*declaration)
    try:
        value = declared.read(text)
    except InputError:
        refusal(declared, text)
    else:
        np.testing.assert_array_equal(declared.read(declared.write(value)), value)
