"""The command line with the study `pond`, for tests that need a process of their own."""

from naiad import studies
from naiad.cli import main

studies.STUDIES["pond"] = "tests.studies.pond:Pond"
main()
