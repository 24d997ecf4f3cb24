"""A disk that fills up."""

import contextlib

import pytest

from naiad.io import places


@pytest.fixture
def fail_after(monkeypatch):
    """A context in which a number of files can be written, and no more."""

    @contextlib.contextmanager
    def failing(survivors: int, failure: BaseException):
        put, left = places.put, iter(range(survivors))

        def limited(*args, **kwargs):
            if next(left, None) is None:
                raise failure
            return put(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(places, "put", limited)
            yield

    return failing
