"""`naiad audit FILE:NAME`."""

import json

import pytest

SOURCE = """
import jax.numpy as jnp
import naiad as nd


class Spring(nd.LagrangianSystem):
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q

    def symmetry(self, s, q):
        return q + s[0] * jnp.array([1.0, 0.0])


def example():
    spring = Spring()
    return spring, spring.state(q=(1.0, 0.0), v=(0.0, 0.5))


one = Spring()


def broken():
    return 1 / 0
"""


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "spring.py"
    place.write_text(SOURCE)
    return place


def test_a_wrong_symmetry_is_found(naiad, file):
    done = naiad("audit", f"{file}:example", "--steps", "20", "--json")
    found = json.loads(done.stdout)
    verdicts = {finding["name"]: finding["good"] for finding in found["findings"]}
    assert done.exit_code == 1
    assert not found["passed"]
    assert [name for name, good in verdicts.items() if good is False] == ["declared symmetry"]
    text = naiad("audit", f"{file}:example", "--steps", "20", "--dt", "0.1").stdout
    assert "Spring by Variational, dt = 0.1 s, 20 steps" in text
    assert "ell is not invariant" in " ".join(text.split())


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere.py:example", "There is no file 'nowhere.py'"),
        ("spring.py", "'spring.py' names no function; expected FILE:NAME"),
        ("spring.py:none", "spring.py has no 'none'"),
        ("spring.py:broken", "spring.py:broken raised ZeroDivisionError"),
        ("spring.py:one", "expected (system, state)"),
        ("syntax.py:example", "raised SyntaxError"),
        ("text.txt:example", "is no Python file"),
    ],
)
def test_places_that_name_no_system(naiad, file, place, words):
    (file.parent / "syntax.py").write_text("def (")
    (file.parent / "text.txt").write_text("a")
    done = naiad("audit", place)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
