"""A sweep that was ended with SIGKILL at any moment goes on, and its table is that of one that was not."""

import json

import pytest


@pytest.mark.parametrize("kills", [30, pytest.param(100, marks=pytest.mark.long)])
def test_a_killed_sweep_goes_on_to_the_same_table(process, kills):
    done = process(str(kills), "7", module="tests.cli.sweep_killer")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == kills
    assert report["chains"] >= kills / 6
    assert (report["rows"], report["different"], report["left"]) == (12, [], [])
    assert report["inside"] == ["report.html", "summary.json", "sweep.toml", "table.csv", "table.zarr"]
