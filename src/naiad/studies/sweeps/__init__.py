"""Sweeps of a study: every combination of parameters as one row of a table, run by many processes, with a report."""

SWEEP = "sweep.toml"
"""The file that says what is swept: a folder with it holds a sweep."""
ROWS = ".rows"
"""The folder beside it with a file for each row, until the table is made."""
