"""Settings of the compiler's tests."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Nothing is read from the user's cache, or written there."""
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
