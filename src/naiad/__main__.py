"""`python -m naiad` is the command line."""

from naiad.cli import main

main()
