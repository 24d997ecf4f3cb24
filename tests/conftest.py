"""Settings of all tests."""

import os

# Tests compile many short programs and run each for a moment: let XLA compile quickly rather than well.
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

from hypothesis import settings

settings.register_profile("naiad", deadline=None)
settings.load_profile("naiad")
