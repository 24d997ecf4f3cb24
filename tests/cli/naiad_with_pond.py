"""The command line with the studies `pond` and `tide`, for tests that need a process of their own."""

from naiad import studies
from naiad.cli import main

studies.STUDIES["pond"] = "tests.studies.pond:Pond"
studies.STUDIES["tide"] = "tests.studies.tide:Tide"
main()
