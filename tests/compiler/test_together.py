"""Functions that are compiled at the same time."""

import signal
import sys
import threading
import time

import pytest

from naiad.compiler.cores import one_core
from naiad.compiler.telling import making, telling
from naiad.compiler.together import outside, together
from naiad.interrupts import listening


def test_all_are_made_in_their_order_one_at_a_time_and_two_outside():
    meeting, working = threading.Barrier(2, timeout=30.0), []

    def maker(k):
        def make():
            working.append(k)
            assert len(working) == 1
            time.sleep(0.01)
            working.pop()
            if k < 2:
                outside(meeting.wait)  # which passes only if both are at work
            return k

        return make

    assert together([maker(k) for k in range(5)]) == [0, 1, 2, 3, 4]
    with one_core():
        assert together([maker(k) for k in (2, 3)]) == [2, 3]


def test_the_interpreter_changes_threads_as_before_afterwards():
    usual = sys.getswitchinterval()
    assert together([sys.getswitchinterval, lambda: 1])[0] < usual
    assert sys.getswitchinterval() == usual


def test_the_interpreter_changes_threads_as_before_when_the_last_of_several_is_done():
    usual, begun, ended = sys.getswitchinterval(), threading.Event(), threading.Event()
    longer = threading.Thread(target=together, args=([lambda: ended.wait(30.0), lambda: 1],))

    def shorter():
        longer.start()
        while sum(thread.name.startswith("naiad-compile") for thread in threading.enumerate()) < 4:
            begun.wait(1e-3)

    together([shorter, lambda: 1])
    assert sys.getswitchinterval() < usual
    ended.set()
    longer.join(30.0)
    assert sys.getswitchinterval() == usual


def test_an_error_of_one_is_raised():
    def fail():
        raise ZeroDivisionError("one of them")

    with pytest.raises(ZeroDivisionError, match="one of them"):
        together([lambda: 1, fail, lambda: 3])


def test_after_an_interrupt_those_that_wait_for_their_turn_are_not_made(python_hears_ctrl_c):
    begun, heard, made = threading.Event(), threading.Event(), []

    def long():
        begun.set()
        heard.wait(30.0)

    def interrupt():
        begun.wait(30.0)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt), listening():
        together([long, lambda: made.append(1), lambda: made.append(2)])
    waiting = [thread for thread in threading.enumerate() if thread.name.startswith("naiad-compile")]
    heard.set()
    for thread in waiting:
        thread.join(30.0)
    assert len(waiting) == 3
    assert not made


def test_who_listens_is_told_once_of_all():
    told = []
    first, second = threading.Event(), threading.Event()

    def early():
        with making():
            outside(second.wait, 30.0)
        first.set()

    def late():
        with making():
            second.set()
            outside(first.wait, 30.0)

    with telling(told.append):
        together([early, late])
    assert told == [True, False]
