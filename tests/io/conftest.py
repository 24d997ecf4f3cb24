"""A disk that fills up."""

import contextlib

import pytest
import zarr.storage._local as local


@pytest.fixture
def fail_after(monkeypatch):
    """A context in which a number of files can be written, and no more."""

    @contextlib.contextmanager
    def failing(survivors: int, failure: BaseException):
        put, left = local._put, iter(range(survivors))

        def limited(*args, **kwargs):
            if next(left, None) is None:
                raise failure
            return put(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(local, "_put", limited)
            yield

    return failing
