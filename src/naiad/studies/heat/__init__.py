"""Bodies in a heat bath."""
