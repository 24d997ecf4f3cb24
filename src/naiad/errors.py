"""The errors that naiad raises for a user's mistake or a failed run; the command line shows each as one line."""


class NaiadError(Exception):
    """Base of every error whose message is meant to be read by a user: one line, whatever was given."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.split()))


class InputError(NaiadError, ValueError):
    """What was given cannot be used: the message says what was given, what was expected, and what to do."""


class RunWarning(RuntimeWarning):
    """A run goes on or has ended, but not as one would expect: the message says how, and what to do."""


class RunError(NaiadError, RuntimeError):
    """A run failed on the way: the message says where, and what remedy there is."""


class DeviceError(RunError):
    """A GPU is not there, is lost, or has not enough memory: another processor could do the work."""
