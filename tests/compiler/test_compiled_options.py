"""Options of compiled functions that would do nothing, or not what they say: each is refused in one line."""

import functools
import itertools

import numpy as np
import pytest

import naiad as nd

ROWS = np.ones((4, 2))


def one(x):
    return 2.0 * x


def two(x, y):
    return x * y


def many(*numbers):
    return sum(numbers)


BAD = [(3,), (-1,), (0, 2), (0.0,), (True,), ("x",), (None,), "0", "x", 1.5, None, {0}, {0: 1}, np.ones(1), object()]


@pytest.mark.parametrize(("function", "bad"), [*itertools.product([one, two, many, functools.partial(two, 2.0)], BAD)])
def test_parameters_that_are_no_arguments_are_refused(function, bad):
    args = (1.0,) * (2 if function is two else 1)
    with pytest.raises(nd.InputError, match="parameters = ") as error:
        nd.compile(function, parameters=bad, cache=False)(*args)
    assert "\n" not in str(error.value)


def test_parameters_that_are_arguments_are_taken():
    """Also an argument that has a default, and of a function whose arguments only the call tells."""
    for good in ((), (1,), [0, 1], np.array([0]), (np.int64(1), 0), range(2)):
        assert nd.compile(two, parameters=good, cache=False)(2.0, 3.0) == 6.0
        assert nd.compile(many, parameters=good, cache=False)(2.0, 3.0) == 5.0
        assert nd.compile(lambda x, y=3.0: x * y, parameters=good, cache=False)(2.0) == 6.0

    @functools.wraps(one)
    def wider(x, y):
        return one(x) * y

    assert nd.compile(wider, parameters=(1,), cache=False)(2.0, 3.0) == 12.0


@pytest.mark.parametrize("bad", [*BAD, 1])
def test_shared_that_are_no_arguments_are_refused(bad):
    with pytest.raises(nd.InputError, match="batch: shared = "):
        nd.compile(two).batch(ROWS, ROWS, shared=bad)


def test_a_batch_has_rows():
    compiled = nd.compile(two)
    with pytest.raises(nd.InputError, match="batch: no argument has rows"):
        compiled.batch(ROWS, ROWS, shared=(0, 1))
    np.testing.assert_array_equal(compiled.batch(ROWS, 2.0, shared=(1,)), 2.0 * ROWS)


def test_whose_zeros_and_ones_fold_is_part_of_the_key_on_disk(tmp_path, monkeypatch):
    """The same numbers are 0 and 1 in either argument."""
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path))
    known, free = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    for number in (0, 1, 0):
        compiled = nd.compile(two, parameters=(number,))
        compiled(known, known)
        args = (known, free) if number == 0 else (free, known)
        np.testing.assert_array_equal(compiled(*args), [0.0, 3.0])


@pytest.mark.parametrize(
    "options", [{"lanes": 3}, {"lanes": True}, {"lanes": 2.0}, {"fma": 1}, {"cache": "no"}, {"backend": "llvm"}]
)
def test_other_options_of_another_kind_are_refused(options):
    with pytest.raises(nd.InputError, match=f"{next(iter(options))} = "):
        nd.compile(one, **options)
