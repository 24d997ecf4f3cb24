"""A sweep that was ended with SIGKILL at any moment goes on, and its table is that of one that was not."""

import json

import pytest

LONG = [pytest.param(50, seed, marks=pytest.mark.long) for seed in (1, 2)]


@pytest.mark.parametrize(("kills", "seed"), [(8, 7), *LONG])
def test_a_killed_sweep_goes_on_to_the_same_table(process, kills, seed):
    done = process(str(kills), str(seed), module="tests.cli.sweep_killer")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == kills
    assert report["chains"] >= kills / 6
    assert (report["rows"], report["different"], report["left"]) == (12, [], [])
    assert report["inside"] == ["report.html", "summary.json", "sweep.toml", "table.csv", "table.zarr"]
