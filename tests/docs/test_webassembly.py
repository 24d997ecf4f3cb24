"""The JavaScript of the page on WebAssembly runs, with the files that its Python writes."""

import json
import subprocess
import sys
import types

import numpy as np
import pytest

from benchmarks.javascript import engines, node_path
from tests.docs.test_examples import ROOT, blocks

PAGE = ROOT / "docs/webassembly.md"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """What the Python of the page names, in the folder that it writes to."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for _, code in blocks(PAGE, "python"):
        exec(compile(code, str(PAGE), "exec"), vars(module))
    return module


def test_the_script_of_the_page_gives_what_python_gives(written):
    (_, script), *_ = blocks(PAGE, "js")
    done = subprocess.run([str(node_path()), "-e", script], capture_output=True, text=True, check=True)
    first, second = map(json.loads, done.stdout.splitlines())
    top, state = written.top, written.state
    np.testing.assert_allclose(first, written.compiled(top, state, 0.01, 1000).mu, rtol=0, atol=1e-12)
    other = written.compiled(top.replaced(mgl=0.9), state._replace(mu=np.array([0.0, 0.1, 2.0])), 0.01, 10)
    np.testing.assert_allclose(second, other.mu, rtol=0, atol=1e-14)


def test_the_page_draws(written):
    """In Chromium, if it is here: the axis that is drawn is that of the steps that were taken."""
    script = written.page.partition("<script>")[2].partition("</script>")[0]
    drawn = "canvas.stroke(); if (++frames === 5) report(JSON.stringify([...g]));"
    elements = """for (const [id, kind] of [["view", "canvas"], ["weight", "input"]]) {
      const made = Object.assign(document.createElement(kind), { id, value: "1.3" });
      document.documentElement.append(made);
    }
    let frames = 0;"""
    state = written.state
    for _ in range(5):
        state = written.compiled(written.top, state, 0.01, 2)
    for run in [run for name, run in engines().items() if name == "Chromium"]:
        found = json.loads(run(elements + script.replace("canvas.stroke();", drawn)))
        np.testing.assert_allclose(found, np.ravel(state.g), rtol=0, atol=1e-13)
