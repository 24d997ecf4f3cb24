"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("naiad", deadline=None)
settings.load_profile("naiad")
