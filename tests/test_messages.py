"""What a user reads where something is wrong: the mistake, what was expected, and what to do."""

import inspect
import re
import struct
import time
import traceback
import types

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import telling
from naiad.errors import InputError
from naiad.studies.config import read_toml

GROUPS = [
    nd.SO2(),
    nd.SE2(),
    nd.SO3(),
    nd.S3(),
    nd.SE3(),
    nd.SOn(4),
    nd.Rn(3),
    nd.Product(a=nd.SO3(), b=nd.Rn(2)),
    nd.Power(nd.SE3(), 2),
]
WRONG = ["text", None, {"a": 1}, object(), [1, "x"], 1j, np.ones((2, 2)), np.ones(7), lambda: 0, b"bytes", slice(None)]


def methods(group):
    """The methods of a group that take arguments, with the names of these."""
    for name, method in inspect.getmembers(group, inspect.ismethod):
        names = list(inspect.signature(method).parameters)
        if not name.startswith("_") and names and name not in ("replaced", "unchecked", "random", "stack", "element"):
            yield name, method, names


def good(group, name):
    """An argument as it should be."""
    if name in ("g", "f", "d"):
        return group.random(np.random.default_rng(0))
    return group.hat(np.ones(group.dim)) if name == "X" else np.ones(group.dim)


def refusal(call, *args, **named):
    """The message of what refuses a call; None where it is done, the kind of what is raised otherwise."""
    try:
        call(*args, **named)
    except InputError as error:
        return str(error)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: type(group).__name__)
def test_methods_of_groups_refuse_what_they_cannot_take_in_a_line(group):
    rng, kind = np.random.default_rng(7), type(group).__name__
    bad = []
    for name, method, names in methods(group):
        for place, parameter in enumerate(names):
            for wrong in [WRONG[k] for k in rng.permutation(len(WRONG))[:5]]:
                given = [wrong if k == place else good(group, each) for k, each in enumerate(names)]
                message = refusal(method, *given)
                named = isinstance(message, str) and re.match(r"\w+\.\w+: .", message) and "\n" not in message
                if message is not None and not named:
                    bad.append(f"{name}({parameter}={wrong!r:.30}): {message!r:.200}")
        message = refusal(method)
        if not (isinstance(message, str) and message.startswith(f"{kind}.{name}: missing")):
            bad.append(f"{name}(): {message!r:.200}")
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nd.SO3().log("up"), r"SO3\.log: g = 'up'; expected an element of the group.*R: \(3, 3\)"),
        (lambda: nd.SO3().exp([1.0, 2.0]), r"SO3\.exp: x = \[1\.0, 2\.0\]; expected 3 numbers"),
        (lambda: nd.SE3().Ad(np.eye(3), np.ones(6)), r"SE3\.Ad: g = .*R: \(3, 3\), x: \(3,\)"),
    ],
)
def test_the_method_that_was_called_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("group", [nd.SE2(), nd.SO3()], ids=lambda group: type(group).__name__)
def test_right_arguments_are_taken(group):
    for name, method, names in methods(group):
        if name != "act":
            assert refusal(method, *(good(group, each) for each in names)) is None, name


def plus(a, b):
    return a + b


PLUS = nd.compile(plus)
ROWS = np.ones((3, 2))
SHARED = ["a", None, 5, (7,), [0.5], (True,), {0}, np.array(0), (None,), b"0", -1, (-1,), (0, 1), slice(None), (0, "x")]


@pytest.mark.parametrize("shared", SHARED, ids=repr)
def test_batch_refuses_what_is_shared_in_no_sense(shared):
    assert "shared" in refusal(PLUS.batch, ROWS, ROWS, shared=shared)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PLUS(1.0), r"plus .*called with 1 arguments: missing a required argument: 'b'"),
        (lambda: PLUS(1.0, 2.0, 3.0), r"called with 3 arguments: too many positional"),
        (lambda: PLUS.batch(ROWS), r"called with 1 arguments: missing"),
        (lambda: PLUS(a=1.0, b=2.0), r"was given a=, b=; give its arguments by their place"),
    ],
)
def test_compiled_functions_refuse_calls_that_do_not_fit(call, message):
    with pytest.raises(InputError, match=message):
        call()


class Spring(nd.LagrangianSystem):
    """Three springs, six numbers, of which nothing is drawn."""

    group = nd.Rn(6)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q


SPRING = Spring()
STATE = SPRING.state(q=np.ones(6))


@pytest.mark.parametrize("tell", [lambda a, b: None, lambda: None])
def test_a_progress_that_does_not_take_the_fraction_is_refused(tell):
    message = r"progress: <lambda> cannot be called with one number"
    with pytest.raises(InputError, match=message):
        nd.simulate(SPRING, STATE, t1=1.0, dt=0.1, progress=tell)
    with pytest.raises(InputError, match=message):
        nd.simulate_many(SPRING, [STATE] * 2, t1=1.0, dt=0.1, progress=tell)
    heard = []
    nd.simulate(SPRING, STATE, t1=1.0, dt=0.1, progress=lambda fraction, unit="%": heard.append(fraction))
    assert heard[-1] == 1.0


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("rk4", r"Give an instance: nd\.RK4\(\)\."),
        ("Variational", r"nd\.Variational\(\)"),
        ("simo-wong", r"nd\.SimoWong\(\)"),
        ("implicit_euler", r"nd\.ImplicitEuler\(\)"),
        ("gauss", r"expected a method or None\.$"),
    ],
)
def test_the_name_of_a_method_is_answered_by_how_it_is_made(name, remedy):
    with pytest.raises(InputError, match=remedy):
        nd.simulate(SPRING, STATE, t1=1.0, dt=0.1, method=name)


def test_names_of_other_things_are_answered_too():
    with pytest.raises(InputError, match=r"retraction = 'cayley'.*Give an instance: nd\.Cayley\(\)"):
        nd.Variational(retraction="cayley")


def test_what_is_not_drawn_names_the_picture(tmp_path):
    run = nd.simulate(SPRING, STATE, t1=1.0, dt=0.1)
    for write in (run.animate, run.live):
        with pytest.raises(
            InputError, match=r"nothing to animate.*picture = naiad\.mechanics\.Picture\(seen=lambda g, t"
        ):
            write(tmp_path / "spring.html")

    class Drawn(Spring):
        picture = nd.mechanics.Picture(seen=lambda g, t: {"x": jnp.reshape(g, (2, 3))})

    nd.simulate(Drawn(), STATE, t1=1.0, dt=0.1).animate(tmp_path / "drawn.html")  # as the message says


def frames(error):
    return traceback.extract_tb(error.__traceback__)


def push(motion):
    return nothing_of_that_name * motion.v  # noqa: F821


class Pushed(Spring):
    """A spring with a mistake in its force."""

    def force(self, q, v, t):
        return nothing_of_that_name * v  # noqa: F821


def test_a_mistake_in_a_force_is_headed_by_the_force():
    with pytest.raises(InputError, match=r"^Pushed\.force \(.*test_messages\.py, line \d+: return nothing_of") as found:
        nd.simulate(Pushed(), STATE, t1=1.0, dt=0.1)
    assert len(frames(found.value)) < 10
    assert not getattr(found.value, "__notes__", [])
    with pytest.raises(
        InputError, match=r"^The force push \(.*test_messages\.py, line \d+: return nothing_of"
    ) as found:
        nd.models.SubmergedBody(2 * np.eye(6), np.eye(6), displaced=1.0, gravity=(0, 0, 9.8), forces=(push,))
    assert len(frames(found.value)) < 10


def test_a_force_of_the_wrong_arguments_is_told_what_it_gets():
    def thrust(R, x, V, t):
        return V

    with pytest.raises(InputError, match=r"The force thrust .*missing 3 required.*it is called with \(motion\)"):
        nd.models.SubmergedBody(2 * np.eye(6), np.eye(6), displaced=1.0, gravity=(0, 0, 9.8), forces=(thrust,))


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
BINARY = (
    b"\0" * 80 + struct.pack("<I", 4) + b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[f].ravel(), 0) for f in FACES)
)
LINES = [*("v {:g} {:g} {:g}".format(*x) for x in CORNERS), *("f {} {} {}".format(*(f + 1)) for f in FACES), ""]
OBJ = "\n".join(LINES)
FACET = "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n"
TEXT = "".join(FACET.format("".join("vertex {:g} {:g} {:g}\n".format(*CORNERS[k]) for k in f)) for f in FACES)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.stl", BINARY[:-30], r"254 bytes; a binary STL has 284 bytes for its 4 triangles"),
        ("head.stl", BINARY[:50], r"50 bytes; a binary STL has 84 bytes or more"),
        ("cut-text.stl", f"solid a\n{TEXT}".encode()[:200], r"a text STL without `endsolid`"),
        ("wide.obj", OBJ.encode("utf-16"), r"a text in UTF-16.*expected UTF-8"),
        ("wide-unmarked.obj", OBJ.encode("utf-16-le"), r"a text in UTF-16"),
        ("latin.obj", f"# größe\n{OBJ}".encode("latin-1"), r"no text in UTF-8 \(byte 4 is 0xf6\)"),
        ("marked.obj", OBJ.encode("utf-8-sig"), r"a byte order mark"),
        ("empty.ply", b"", r"the file is empty"),
    ],
)
def test_damaged_meshes_say_what_is_wrong_with_the_file(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        nd.hydro.Mesh.read(tmp_path / name, unit="m")


def test_whole_meshes_are_read(tmp_path):
    contents = {
        "a.stl": BINARY,
        "solid.stl": b"solid".ljust(80) + BINARY[80:],
        "b.stl": f"solid a\n{TEXT}endsolid a\n".encode(),
        "c.obj": OBJ.encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        assert nd.hydro.Mesh.read(tmp_path / name, unit="m").volume == pytest.approx(1 / 6)


def test_deeply_nested_parameters_are_refused(tmp_path):
    path = tmp_path / "deep.toml"
    path.write_text('study = "rigid-body"\n[parameters]\nJ = ' + "[" * 5000 + "]" * 5000)
    with pytest.raises(InputError, match=r"deep\.toml: lists or tables nested too deeply"):
        read_toml(path)


class Terminal:
    """A stream that says that it is a terminal, and keeps what is written."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture
def terminal(monkeypatch):
    found = Terminal()
    monkeypatch.setattr(telling, "sys", types.SimpleNamespace(stderr=found, modules={}))
    monkeypatch.setattr(telling, "PATIENCE", 0.05)
    return found


def slow(x):
    time.sleep(0.2)  # while it is traced
    return x * 2.0


def test_long_compiling_says_what_it_compiles(terminal):
    compiled = nd.compile(slow, cache=False)
    compiled(np.ones(3))
    assert terminal.text.count("\n") == 1
    assert "naiad: compiling slow (" in terminal.text
    assert f"test_messages.py:{slow.__code__.co_firstlineno}), which takes a while" in terminal.text
    terminal.text = ""
    compiled(np.ones(3))
    assert terminal.text == ""
    compiled.batch(np.ones((40, 3)))
    assert "compiling slow (" in terminal.text
    assert "for many rows" in terminal.text


class Slow(Spring):
    """A Lagrangian that takes long to trace."""

    def lagrangian(self, q, v, t):
        time.sleep(0.1)
        return super().lagrangian(q, v, t)


def test_long_compiling_of_a_run_names_the_system(terminal, monkeypatch):
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    nd.simulate(Slow(), STATE, t1=0.2, dt=0.1, progress=False)
    assert "naiad: compiling naiad.simulation.loop.start for Slow, which takes a while" in terminal.text


def test_where_nobody_looks_nothing_is_said(capfd, monkeypatch):
    monkeypatch.setattr(telling, "PATIENCE", 0.05)
    nd.compile(lambda x: slow(x), cache=False)(np.ones(2))
    assert capfd.readouterr().err == ""
