"""Ctrl-C is heard where it comes or at the next look, never lost, and the user's own handlers stay."""

import gc
import signal
import threading

import pytest

from naiad import interrupts
from naiad.interrupts import interruptible, listening


@pytest.fixture(autouse=True)
def _heard_as_by_a_terminal(python_hears_ctrl_c):
    """Whatever the shell that started the tests does with the signal."""


def press():
    signal.raise_signal(signal.SIGINT)


def pressed_again_and_looked_at():
    with pytest.raises(KeyboardInterrupt):
        press()
    with pytest.raises(KeyboardInterrupt):
        interrupts.check()


def test_the_first_is_written_down_and_the_second_raises():
    def twice():
        with listening():
            press()
            pressed_again_and_looked_at()

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interrupts.check()  # nobody listens any more


def test_what_was_acted_upon_is_not_raised_at_the_end():
    with listening() as ear:
        press()
        ear.forget()


@pytest.mark.parametrize("at_once", [True, False])
def test_an_interrupt_that_a_callback_drops_is_found_at_the_next_look(at_once, monkeypatch):
    dropped = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: dropped.append(what.exc_type))

    class Finalised:
        def __del__(self):
            press()

    def run():
        with listening(at_once=at_once):
            Finalised()
            gc.collect()
            assert dropped == ([KeyboardInterrupt] if at_once else [])
            interrupts.check()
            pytest.fail("lost")

    with pytest.raises(KeyboardInterrupt):
        run()


def test_the_inner_block_uses_the_outer_ear():
    with listening(at_once=True) as outer, listening() as inner:
        assert inner is outer
        with pytest.raises(KeyboardInterrupt):
            press()
        outer.forget()


def test_what_is_closed_is_done_to_its_end():
    with listening(at_once=True):
        interrupts.close()
        press()
        interrupts.check()

    def too_late():
        with listening() as ear:
            press()
            ear.close()

    with pytest.raises(KeyboardInterrupt):
        too_late()


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_a_handler_of_the_users_own_stays(handler):
    signal.signal(signal.SIGINT, handler)
    with listening(at_once=True) as ear:
        assert signal.getsignal(signal.SIGINT) is handler
        press()
        assert ear.heard is None


def test_other_threads_listen_to_nothing():
    heard = []

    def work():
        with listening() as ear:
            heard.append(signal.getsignal(signal.SIGINT))
            press_main.wait(5.0)
            heard.append(ear.heard)

    press_main = threading.Event()
    thread = threading.Thread(target=work)
    with listening() as ear:
        mine = signal.getsignal(signal.SIGINT)
        thread.start()
        press()
        press_main.set()
        thread.join()
        ear.forget()
    assert heard == [mine, None]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_long_call_outside_of_python_is_left_behind(at_once):
    over = threading.Event()
    threading.Timer(0.2, press).start()
    with pytest.raises(KeyboardInterrupt), listening(at_once=at_once):
        interruptible(over.wait, 60.0)  # which no signal ends
    over.set()


def test_results_and_errors_come_back():
    assert interruptible(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)
    with listening():
        assert interruptible(divmod, 7, 2) == (3, 1)
