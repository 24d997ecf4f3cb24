"""Functions that are compiled at the same time."""

import threading

import pytest

from naiad.compiler.cores import one_core
from naiad.compiler.telling import making, telling
from naiad.compiler.together import together


def test_all_are_made_in_their_order_by_two_at_a_time():
    meeting = threading.Barrier(2, timeout=30.0)

    def maker(k):
        def make():
            if k < 2:
                meeting.wait()  # which passes only if both are at work
            return k

        return make

    assert together([maker(k) for k in range(5)]) == [0, 1, 2, 3, 4]
    with one_core():
        assert together([maker(k) for k in (2, 3)]) == [2, 3]


def test_an_error_of_one_is_raised():
    def fail():
        raise ZeroDivisionError("one of them")

    with pytest.raises(ZeroDivisionError, match="one of them"):
        together([lambda: 1, fail, lambda: 3])


def test_who_listens_is_told_once_of_all():
    told = []
    first, second = threading.Event(), threading.Event()

    def early():
        with making():
            second.wait(30.0)
        first.set()

    def late():
        with making():
            second.set()
            first.wait(30.0)

    with telling(told.append):
        together([early, late])
    assert told == [True, False]
