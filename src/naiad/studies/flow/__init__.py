"""The fluid around bodies."""
