"""The digest changes with what is computed, and with nothing else; what cannot be told is refused."""

import dataclasses
import enum
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections import OrderedDict, namedtuple
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler.fingerprint import Unfingerprintable, Version, fingerprint, modules, origins, walk

SOURCE = str(pathlib.Path(nd.__file__ or "").parents[1])
IMPORTS = """
import dataclasses, enum, functools, math
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import naiad as nd
"""


def made(source: str, name: str = "thing") -> Any:
    """What a user's file of this text has under `name`."""
    scope = {"__name__": "of_a_user"}
    exec(compile(IMPORTS + textwrap.dedent(source), "of_a_user.py", "exec"), scope)
    return scope[name]


def same(a: str, b: str) -> bool:
    """Whether two files of a user compute the same, by the digests of their `thing`; each must be reproducible."""
    first, second = fingerprint(made(a)), fingerprint(made(b))
    assert first == fingerprint(made(a))
    assert second == fingerprint(made(b))
    return first == second


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Alias(enum.IntEnum):
    ONE = 1


class Pair(NamedTuple):
    a: Any
    b: Any


class Other(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Record:
    a: Any
    b: Any = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    a: Any


class Plain:
    def __init__(self, a):
        self.a = a


class Net(eqx.Module):
    w: Any
    size: Any = eqx.field(static=True, default=1)

    def call(self, x):
        return self.w * x


VALUES = [
    *(None, True, False, 0, 1, -1, 255, 256, 2**70, -(2**70), 1.0, 0.0, -0.0, math.nan, math.inf, 1j, -1j, 1 + 0j),
    *("", "1", "a", b"", b"1", b"a", "\ud800", ..., NotImplemented),
    *((), (1,), (1, 2), (2, 1), ((1,), 2), (1, (2,)), (None,), [], [1], [1, 2], [[1], 2]),
    *({}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, OrderedDict(a=1)),
    *(set(), {1}, {1, 2}, {1.5, 2}, {"a", "b"}, frozenset(), frozenset({1, 2}), {frozenset({1}), frozenset({2})}),
    *(slice(1), slice(0, 1), slice(None, None, 2), range(3), range(0, 3, 2)),
    *(Colour.RED, Colour.BLUE, Alias.ONE, Colour, int, float, bool, type, Record, Slotted, Net),
    *(Pair(1, 2), Other(1, 2), Pair(2, 1), namedtuple("Point", "x y")(1, 2)),
    *(
        Record(1),
        Record(2),
        Record(1, 3),
        Slotted(1),
        Slotted(2),
        Plain(1),
        Plain(1.0),
        Net(1.0),
        Net(2.0),
        Net(1.0, 2),
    ),
    *(np.dtype("f4"), np.dtype("f8"), np.dtype(">f8"), jnp.dtype(jnp.bfloat16), jnp.float32, np.float32),
    *(np.float64(1), np.float32(1), np.int64(1), np.array(1.0), np.ones(1), np.ones((1, 1)), np.ones(1, "f4")),
    *(np.array([0.0]), np.array([-0.0]), np.array([1, 2]), np.array(["a"]), np.ma.array([1.0]), np.ones((2, 3))),
    *(np.ones((3, 2)), jnp.ones(1), jnp.zeros(1), jnp.ones((1, 1)), jnp.ones(1, int), jnp.asarray(1.0)),
    *(jax.ShapeDtypeStruct((1,), "f4"), jax.ShapeDtypeStruct((2,), "f4"), jax.ShapeDtypeStruct((1,), "i4")),
    *(len, abs, math.sin, math.cos, np.add, np.multiply, np.sin, jnp.sin, jnp.cos, jnp.add, jnp.where, np.where),
    *(jax.nn.relu, jax.nn.silu, np.linalg.norm, jnp.linalg.norm, str.join, ",".join, ";".join, [1].append, jax.vmap),
    *(functools.partial(math.pow, 1), functools.partial(math.pow, 2), functools.partial(max, key=abs)),
    *(math, np, jax, jnp, nd, nd.SO3, nd.SE3, nd.SO3(), nd.SE3(), nd.Rn(2), nd.Rn(3), nd.simulate, nd.numerics.hat),
    *(
        re.compile("a"),
        re.compile("b"),
        pathlib.PurePosixPath("a"),
        pathlib.PurePosixPath("b"),
        types.SimpleNamespace(a=1),
        int | float,
    ),
    *(object.__init__, Plain.__init__, Record.__eq__, (1).__add__, (2).__add__, Slotted.__dict__["a"]),
    *(property(len), staticmethod(len), classmethod(len), Net(1.0).call, Net(2.0).call, nd.Rn(2).compose),
]


def test_different_values_have_different_digests():
    digests = [fingerprint(value) for value in VALUES]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert not [(VALUES[i], VALUES[j]) for i in range(len(VALUES)) for j in range(i) if digests[i] == digests[j]]


def test_a_digest_is_reproducible():
    assert [fingerprint(value) for value in VALUES] == [fingerprint(value) for value in VALUES]


def test_equal_values_have_equal_digests():
    assert fingerprint([1, (2.0, "a")], {"k": {3, 1}}) == fingerprint([1, (2.0, "a")], {"k": {1, 3}})
    assert fingerprint(np.arange(6.0).reshape(2, 3)) == fingerprint(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert fingerprint(Net(jnp.ones(3))) == fingerprint(jax.tree.map(lambda x: x + 0, Net(jnp.ones(3))))


def test_the_order_of_a_set_does_not_count():
    one, other = {0, 8}, {8, 0}
    assert list(one) != list(other)
    assert fingerprint(one) == fingerprint(other)


def test_how_things_are_grouped_counts():
    assert len({fingerprint(1, 2), fingerprint((1, 2)), fingerprint(12), fingerprint("1", "2"), fingerprint("12")}) == 5
    assert fingerprint(("a", "bc")) != fingerprint(("ab", "c"))


def test_bits_of_nan_count():
    nans = np.array([0x7FF8000000000000, 0x7FF8000000000001], np.uint64).view(float)
    assert fingerprint(float(nans[0])) != fingerprint(float(nans[1]))
    assert fingerprint(nans[:1]) != fingerprint(nans[1:])


def test_weak_types_count():
    assert fingerprint(jnp.asarray(1.0)) != fingerprint(jnp.asarray(1.0).astype(jnp.asarray(1.0).dtype))


# Arrays


@pytest.mark.parametrize(
    "put",
    [
        lambda x: x,
        lambda x: (x, [x]),
        lambda x: {"a": x},
        lambda x: Pair(x, 1),
        Net,
        Plain,
        lambda x: lambda y: x * y,
        lambda x: lambda y, x=x: x * y,
        lambda x: functools.partial(np.add, x),
        lambda x: Net(x).__init__,
        lambda x: [lambda y: (x,)],
    ],
)
@pytest.mark.parametrize("array", [np.ones, jnp.ones])
def test_arrays_count_by_their_values_wherever_they_are(put, array):
    digests = [fingerprint(put(value)) for value in (array(3), 2 * array(3), array(4), array(3, int))]
    assert len(set(digests)) == 4
    assert fingerprint(put(array(3))) == digests[0]


def test_arrays_of_modules_and_classes_count_by_their_values():
    source = "A = {} * np.ones(3)\ndef thing(x): return A @ x"
    assert fingerprint(made(source.format(1))) != fingerprint(made(source.format(2)))
    source = "class Own(eqx.Module):\n    a = {} * np.ones(3)\nthing = Own()"
    assert fingerprint(made(source.format(1))) != fingerprint(made(source.format(2)))
    with pytest.warns(UserWarning, match="static"):
        static = [Net(1.0, jnp.full(3, value)) for value in (1.0, 2.0)]
    assert fingerprint(static[0]) != fingerprint(static[1])


def test_descriptions_of_arrays_count_by_type_and_shape():
    forms = [jax.ShapeDtypeStruct(shape, kind) for shape in ((3,), (4,)) for kind in (np.float64, np.int64)]
    assert len({fingerprint(form) for form in (*forms, *forms)}) == 4


# The user's functions


def test_comments_docstrings_and_places_do_not_count():
    assert same(
        "def thing(x): return 2 * x",
        '''


        def thing(x: float) -> float:
            """Twice."""
            # twice
            return 2 * x
        ''',
    )


def test_a_docstring_that_is_also_used_counts():
    assert not same("def thing(d):\n    'a'\n    return d['a']", "def thing(d):\n    'b'\n    return d['b']")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return 2 * x", "return 3 * x"),
        ("return 2 * x", "return 2.0 * x"),
        ("return 0.0 * x", "return -0.0 * x"),
        ("return 2 * x", "return 2 + x"),
        ("return x.real", "return x.imag"),
        ("return jnp.sin(x)", "return jnp.cos(x)"),
        ("return jnp.sin(x)", "return np.sin(x)"),
        ("return nd.numerics.hat(x)", "return nd.numerics.vee(x)"),
        ("return jax.vmap(lambda y: y)(x)", "return jax.vmap(lambda y: 2 * y)(x)"),
        ("return [y for y in x if y in {1, 2}]", "return [y for y in x if y in {1, 3}]"),
        ("return max(x, key=lambda y: y)", "return min(x, key=lambda y: y)"),
        ("return f(x, a=1)", "return f(x, b=1)"),
        ("import math; return math.sin(x)", "import math; return math.cos(x)"),
        ("from math import sin as f; return f(x)", "from math import cos as f; return f(x)"),
        ("try:\n        return f(x)\n    except ValueError: return 0", "return f(x)"),
    ],
)
def test_what_a_function_does_counts(one, other):
    assert not same(f"f = abs\ndef thing(x):\n    {one}", f"f = abs\ndef thing(x):\n    {other}")


@pytest.mark.parametrize(
    "source",
    [
        "def helper(x): return {} * x\ndef thing(x): return helper(x)",
        "def inner(x): return {} * x\ndef helper(x): return inner(x)\ndef thing(x): return helper(x)",
        "helper = lambda x: {} * x\ndef thing(x): return [helper(y) for y in x]",
        "@jax.jit\ndef helper(x): return {} * x\ndef thing(x): return helper(x)",
        "@functools.partial(jax.jit, static_argnums={})\ndef helper(x, y, z): return x\ndef thing(x): return helper",
        "@functools.lru_cache\ndef helper(x): return {} * x\ndef thing(x): return helper(x)",
        "@eqx.filter_jit\ndef helper(x): return {} * x\ndef thing(x): return helper(x)",
        "@nd.double\ndef helper(x): return {} * x\ndef thing(x): return helper(x)",
        "helper = jax.vmap(jax.grad(lambda x: {} * x))\ndef thing(x): return helper(x)",
        "helper = jax.checkpoint(lambda x: {} * x)\ndef thing(x): return helper(x)",
        "@jax.custom_jvp\ndef thing(x): return {} * x\nthing.defjvp(lambda p, t: (p[0], t[0]))",
        "@jax.custom_jvp\ndef thing(x): return x\nthing.defjvp(lambda p, t: (p[0], {} * t[0]))",
        "@jax.custom_vjp\ndef thing(x): return x\nthing.defvjp(lambda x: (x, ()), lambda r, t: ({} * t,))",
        "M = {}\ndef thing(x): return M * x",
        "M = np.array([1.0, {}])\ndef thing(x): return M @ x",
        "M = jnp.array([1.0, {}])\ndef thing(x): return M @ x",
        "M = dict(m=[{}])\ndef thing(x): return M['m'][0] * x",
        "class M:\n    m = {}\ndef thing(x): return M.m * x",
        "class M:\n    m: int = {}\ndef thing(x): return M().m * x",
        "M = type('M', (), dict(m={}))()\ndef thing(x): return M.__class__.m * x",
        "M = enum.Enum('M', dict(a={}))\ndef thing(x): return M.a.value * x",
        "def thing(x, m={}): return m * x",
        "def thing(x, *, m={}): return m * x",
        "def outer(m):\n    return lambda x: m * x\nthing = outer({})",
        "def outer(m):\n    return lambda x: (lambda: m * x)()\nthing = outer({})",
        "def thing(x): return thing.m * x\nthing.m = {}",
        "thing = functools.partial(lambda x, m: m * x, m={})",
        "thing = functools.partial(lambda x: {} * x)",
        "class C:\n    def f(self, x): return {} * x\nthing = C().f",
        "class C:\n    def __init__(self): self.m = {}\n    def f(self, x): return self.m * x\nthing = C().f",
        "class C:\n    __slots__ = 'm'\n    def f(self, x): return self.m * x\nc = C(); c.m = {}; thing = c.f",
        "thing = {{lambda x: {} * x}}",
        "thing = (lambda x: x, lambda x: {} * x)",
        "M = {}\nclass C:\n    f = staticmethod(lambda x: M * x)\nthing = C",
        "class C:\n    @classmethod\n    def f(cls, x): return {} * x\nthing = C",
        "class C:\n    @property\n    def f(self): return {}\nthing = C()",
        "class C:\n    @functools.cached_property\n    def f(self): return {}\nthing = C()",
        "class B:\n    def f(self, x): return {} * x\nclass C(B): pass\nthing = C()",
        "class B(type):\n    def f(self, x): return {} * x\nclass C(metaclass=B): pass\nthing = C",
        "class B:\n    def f(self): return {}\nclass C(B):\n    def f(self): return super().f()\nthing = C()",
        "@dataclasses.dataclass\nclass C:\n    m: float = {}\nthing = C",
        "@dataclasses.dataclass\nclass C:\n    m: list = dataclasses.field(default_factory=lambda: [{}])\nthing = C",
        "class C(eqx.Module):\n    m: float = {}\nthing = C()",
        "class C(eqx.Module):\n    m: float = eqx.field(static=True, default={})\nthing = C()",
        "class C(eqx.Module):\n    m: float = eqx.field(static={} == 1, default=1)\nthing = C()",
        "class C(eqx.Module):\n    def f(self, x): return {} * x\nthing = C().f",
        "class C(eqx.Module):\n    @jax.jit\n    def f(self, x): return {} * x\nthing = C()",
        "class C(eqx.Module):\n    @eqx.filter_jit\n    def f(self, x): return {} * x\nthing = C()",
        "class C: pass\njax.tree_util.register_pytree_node(C, lambda c: ((), {}), lambda a, c: C())\nthing = C()",
        "def f(x):\n    return x and g(x - 1)\ndef g(x):\n    return x and {} * f(x - 1)\nthing = f",
        "def thing(x):\n    class C:\n        m = {}\n    return C.m * x",
        "def thing(x):\n    def inner(y, m={}): return m * y\n    return inner(x)",
        "class C(nd.LagrangianSystem):\n    group = nd.Rn({})\n    def lagrangian(self, *a): return 0\nthing = C()",
        "class C(nd.LagrangianSystem):\n    group = nd.SO3()\n    def lagrangian(self, *a): return {}\nthing = C()",
        "class C(nd.models.RigidBody):\n    def force(self, x, v, t): return {} * v\nthing = C((1., 2., 3.))",
        "thing = nd.models.RigidBody((1.0, 2.0, 2.5 + 0.1 * {}))",
    ],
)  # fmt: skip
def test_everything_that_is_reached_counts(source):
    assert not same(source.format(1), source.format(2))


def test_two_lambdas_on_a_line_differ():
    a, b = (lambda x: x + 1), (lambda x: x - 1)
    assert fingerprint(a) != fingerprint(b)
    assert same("thing, b = (lambda x: x), (lambda x: -x)", "b, thing = (lambda x: -x), (lambda x: x)")


def test_closures_of_naiads_functions_count():
    double = [nd.double(f) for f in (math.sin, math.cos, lambda x: x, lambda x: -x)]
    assert len(set(map(fingerprint, double))) == 4


def test_globals_are_those_of_the_moment():
    thing = made("M = 1\ndef thing(x): return M * x")
    before = fingerprint(thing)
    thing.__globals__["M"] = 2
    assert fingerprint(thing) != before
    thing.__globals__["M"] = 1
    assert fingerprint(thing) == before
    thing.__globals__["unused"] = threading.Lock()
    assert fingerprint(thing) == before


def test_a_name_that_is_not_there_yet_counts():
    thing = made("def thing(x): return M * x")
    before = fingerprint(thing)
    thing.__globals__["M"] = 1
    assert fingerprint(thing) != before


def test_attributes_are_not_globals():
    assert same("T = 1\ndef thing(x): return x.T", "T = 2\ndef thing(x): return x.T")


def test_a_function_that_ran_is_the_same():
    thing = made("def thing(x):\n    y = 0.0\n    for i in range(x): y += math.sin(i) * 2.0\n    return y")
    before = fingerprint(thing)
    for _ in range(100):  # long enough for the interpreter to specialise its bytecode
        thing(50)
    walk._CODES.clear()
    assert fingerprint(thing) == before


@pytest.mark.parametrize(
    "source",
    [
        "def thing(x): return x and thing(x - 1)",
        "def f(x): return x and g(x - 1)\ndef g(x): return x and f(x - 1)\nthing = f",
        "class thing:\n    def f(self): return thing()",
        "class C:\n    def f(self): return D()\nclass D(C):\n    def g(self): return C()\nthing = D()",
        "class C:\n    def f(self): return self\nC.default = C()\nC.all = [C.default]\nthing = C",
        "thing = [1]\nthing.append(thing)",
        "def f(x): return S\nS = {f}\nthing = f",
        "class C: pass\nthing = C()\nthing.me = thing",
    ],
)
def test_cycles_end(source):
    assert same(source, source)


def test_cycles_of_different_shape_differ():
    a = "f = lambda x: g(x)\ng = lambda x: {}(x)\nh = lambda x: 0\nthing = f"
    assert not same(a.format("f"), a.format("g"))
    assert not same("a = []; b = [a]; a.append(b); thing = [a]", "a = []; b = [a]; a.append(a); thing = [a]")


# The user's modules


@pytest.fixture
def module(monkeypatch):
    """Make a module of a user importable."""

    def make(name: str, source: str) -> types.ModuleType:
        fresh = types.ModuleType(name)
        exec(IMPORTS + source, vars(fresh))
        monkeypatch.setitem(sys.modules, name, fresh)
        return fresh

    return make


@pytest.mark.parametrize(
    "source",
    [
        "import theirs\ndef thing(x): return theirs.f(x)",
        "import theirs as t\ndef thing(x): return [t.f(y) for y in x]",
        "from theirs import f\ndef thing(x): return f(x)",
        "def thing(x):\n    import theirs\n    return theirs.f(x)",
        "def thing(x):\n    from theirs import f as g\n    return g(x)",
        "import theirs\ndef thing(x): return getattr(theirs, 'f')(x)",
        "def thing(x):\n    def inner():\n        import theirs\n        return theirs.f(x)\n    return inner()",
        "def outer():\n    import theirs\n    return lambda x: theirs.f(x)\nthing = outer()",
        "def outer():\n    import theirs\n    return lambda x: (theirs.np, lambda: theirs.f(x))\nthing = outer()",
        "def outer(module):\n    return lambda x: getattr(module, 'f')(x)\nimport theirs\nthing = outer(theirs)",
        "import theirs\nthing = functools.partial(getattr, theirs)",
    ],
)
def test_what_is_used_of_a_users_module_counts(module, source):
    digests = []
    for value in (1, 2, 1):
        module("deeper", f"def g(x): return {value} * x")
        module("theirs", "from deeper import g\ndef f(x): return g(x)")
        digests.append(fingerprint(made(source)))
    assert digests[0] == digests[2] != digests[1]


def test_what_is_not_used_of_a_users_module_does_not_count(module):
    digests = []
    for value in ("1", "2", "open('/dev/null')"):
        theirs = module("theirs", f"unused = {value}\ndef f(x): return x")
        digests.append(fingerprint(made("import theirs\ndef thing(x): return theirs.f(x)")))
        if hasattr(theirs.unused, "close"):
            theirs.unused.close()
    assert len(set(digests)) == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def thing(x): return nd.numerics.hat(x)", {"naiad:numerics.hat"}),
        ("from naiad import numerics\ndef thing(x): return numerics.hat(x)", {"naiad.numerics:hat"}),
        ("def thing(x):\n    from naiad.numerics import hat\n    return hat(x)", {"naiad.numerics:hat"}),
        ("def thing(x):\n    import naiad.groups\n    return x", {"naiad.groups"}),
        ("def thing(x): return getattr(nd, 'SO3')", {"naiad"}),
        ("thing = nd", {"naiad"}),
        ("thing = nd.SO3()", {"naiad.groups.so3"}),
        ("thing = {nd.SO3}", {"naiad.groups.so3"}),
        ("class thing(nd.SO3): pass", {"naiad.groups.so3"}),
    ],
)
def test_a_walk_collects_the_names_in_naiad(source, names):
    followed = walk.Walk()
    followed.visit(made(source), "thing")
    assert followed.names == names


def test_a_version_within_a_process_reads_no_files(monkeypatch):
    monkeypatch.setattr(modules, "digest_of", lambda names: ",".join(sorted(names)))
    version = Version(made("def thing(x): return nd.numerics.hat(x)"))
    first = version.fingerprint()
    monkeypatch.setattr(modules, "digest_of", lambda names: "another")
    assert version.fingerprint() != first
    monkeypatch.setattr(modules, "digest_of", None)
    assert version.current() == Version(made("def thing(x): return nd.numerics.hat(x)")).current()


def test_a_function_put_into_an_installed_module_counts(monkeypatch):
    thing = made("def thing(x): return jnp.sin(x)")
    before = fingerprint(thing)
    monkeypatch.setattr(jnp, "sin", lambda x: 2 * x)
    assert fingerprint(thing) != before


def test_a_class_made_at_run_time_in_an_installed_module_is_followed():
    def make(value):
        return type("Own", (), {"__module__": "numpy", "f": lambda self: value})

    assert fingerprint(make(1)) != fingerprint(make(2))


# Whose code it is


def test_versions_count(monkeypatch):
    things = {"jax": jnp.sin, "numpy": np.linalg.norm, "equinox": eqx.Module, "naiad": nd.SO3, "python": math.sin}
    before = {name: fingerprint(thing) for name, thing in things.items()}
    whose = origins.origin_of
    monkeypatch.setattr(origins, "origin_of", lambda name: (origin := whose(name)) and origin + " changed")
    assert all(fingerprint(thing) != before[name] for name, thing in things.items())


def test_every_installed_package_counts(monkeypatch):
    before = fingerprint(nd.SO3)
    environment = origins.environment()
    assert {"jax", "jaxlib", "numpy", "equinox"} <= {name.partition("-")[0] for name in environment.split()}
    monkeypatch.setattr(origins, "environment", lambda: environment + " other-1.0.dist-info")
    assert fingerprint(nd.SO3) != before


@pytest.mark.parametrize("name", ["jax.numpy", "jaxlib._jax", "numpy.linalg", "equinox", "dateutil", "scipy.special"])
def test_installed_packages_have_a_version_and_hashes(name):
    __import__(name)
    assert re.fullmatch(r"\S+-\d[^ ]* [0-9a-f]{64}", origins.origin_of(name) or "")


def test_the_standard_library_goes_with_python_and_naiad_by_its_name():
    assert origins.origin_of("math") == origins.origin_of("collections.abc") == origins.PYTHON
    assert origins.origin_of("naiad.groups.so3") == "naiad"
    assert origins.origin_of("__main__") is origins.origin_of(__name__) is origins.origin_of("nowhere") is None


def test_a_users_module_may_shadow_the_standard_library(tmp_path, monkeypatch):
    shadow = types.ModuleType("calendar")
    shadow.__file__ = str(tmp_path / "calendar.py")
    monkeypatch.setitem(sys.modules, "calendar", shadow)
    assert origins.origin_of("calendar") is None


def test_the_start_of_the_process_is_known():
    assert 0 < time.time() - origins.started() < 24 * 3600


# What is refused


def generator():
    yield 1


class Secretive:
    def __init__(self, value):
        self.value = value

    def __getstate__(self):
        return {}


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (threading.Lock(), "lock"),
        (generator(), "generator"),
        (memoryview(b"a"), "memoryview"),
        (np.array([object()]), "object"),
        (jax.random.key(0), "PRNGKeyArray"),
        (Secretive(1), "Secretive"),
        (jax.lax.sin_p, "Primitive"),
        (np.frompyfunc(lambda x: x, 1, 1), "ufunc"),
        ((lambda: 0).__code__, "code"),
    ],
)
def test_what_cannot_be_told_is_refused(thing, kind):
    for put in (thing, [thing], Plain(thing), Record(thing), lambda: thing, functools.partial(len, thing)):
        with pytest.raises(Unfingerprintable, match=kind):
            fingerprint(put)


def test_an_open_file_is_refused(tmp_path):
    with open(tmp_path / "a", "w") as file, pytest.raises(Unfingerprintable, match="TextIOWrapper"):
        fingerprint(file)


@pytest.mark.parametrize(
    "call",
    [
        *("eval('M')", "globals()['M']", "open('M')", "exec('M')", "__import__('M')", "np.loadtxt('M')"),
        *("pathlib.Path('M').read_text()", "os.getenv('M')"),
    ],
)
def test_functions_that_reach_anything_are_refused(call):
    with pytest.raises(Unfingerprintable, match="not known before it runs"):
        fingerprint(made(f"import os, pathlib\ndef thing(x): return {call}"))
    fingerprint(made("import re\ndef thing(x): return re.compile(x)"))


def test_an_import_on_the_way_of_a_module_that_is_not_loaded_is_refused():
    with pytest.raises(Unfingerprintable, match="import it at the top"):
        fingerprint(made("def thing(x):\n    import not_loaded_anywhere\n    return x"))


def test_what_an_import_on_the_way_does_not_find_is_refused(module):
    module("theirs", "")
    with pytest.raises(Unfingerprintable, match=r"theirs\.later"):
        fingerprint(made("def thing(x):\n    from theirs import later\n    return later(x)"))


def test_a_users_code_that_fails_is_refused():
    class Failing:
        def __call__(self):
            return 1

        def __getattr__(self, name):
            raise OSError("no")

    with pytest.raises(Unfingerprintable, match=r"argument 0 > \[1\].*OSError: no"):
        fingerprint([1, Failing()])


def test_a_tracer_is_refused():
    with pytest.raises(Unfingerprintable):
        jax.make_jaxpr(lambda x: fingerprint(x) and x)(1.0)


def test_the_message_says_where():
    thing = made("import threading\nL = threading.Lock()\ndef helper(): return L\ndef thing(x): return helper()")
    with pytest.raises(Unfingerprintable, match=r"_thread\.lock .*argument 0 > helper > L"):
        fingerprint(thing)


def test_deep_nesting_is_refused():
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unfingerprintable, match="deep"):
        fingerprint(deep)


# Fresh processes

USER = (
    IMPORTS
    + """
from collections import namedtuple

M = {"a": {1.5, 2.5, "x", "y", None, (1, 2)}}
A = np.arange(3.0)
Point = namedtuple("Point", "x y")


class Kind(enum.Enum):
    A = 1
    B = "b"


@jax.jit
def helper(x):
    return jnp.sin(x) @ A * len(M) + Point(1, 2).x + (x in {"p", "q", "r"}) + (Kind.A is Kind.B)


@jax.custom_jvp
def smooth(x):
    return x


smooth.defjvp(lambda p, t: (p[0], t[0]))


class Top(nd.LagrangianSystem):
    J: jax.Array
    mgl: float
    group = nd.SO3()
    names = {"p", "q", helper, Kind.B}

    def lagrangian(self, R, Omega, t):
        spin = smooth(jnp.linalg.norm(Omega)) + jax.grad(helper)(Omega)[0]
        return 0.5 * Omega @ self.J @ Omega - self.mgl * R[2, 2] + spin + jax.nn.relu(t) + nd.numerics.hat(Omega)[0, 1]

    def force(self, R, Omega, t):
        return jax.vmap(lambda x: -0.1 * x)(Omega) + super().symmetry_dim

    @eqx.filter_jit
    def more(self, x):
        return Top(self.J, x)


top = Top(np.eye(3), 1.0)
things = [top, Top, top.lagrangian, helper, eqx.filter_grad(helper), nd.Variational(), jax.tree.structure(top), Kind]
"""
)
SAY = """
def say():
    import json
    from naiad.compiler.fingerprint import fingerprint
    print(json.dumps([fingerprint(thing) for thing in things]))

"""


def test_fresh_processes_agree(tmp_path):
    """Whatever the seed of hashes, the folder of the user's file, and whether it is imported or run."""
    runs = []
    imported = ["-c", "import of_a_user; of_a_user.say()"]
    for seed, (folder, command) in enumerate([("a", imported), ("b", imported), ("c", ["of_a_user.py"])]):
        (tmp_path / folder).mkdir()
        last = "say()\n" if command[0] == "of_a_user.py" else ""
        (tmp_path / folder / "of_a_user.py").write_text(USER + SAY + last)
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": SOURCE}
        command = [sys.executable, *command]
        runs.append(subprocess.Popen(command, env=environment, cwd=tmp_path / folder, stdout=subprocess.PIPE))
    digests = [json.loads(run.communicate()[0]) for run in runs]
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests[0])) == len(digests[0])


def test_importing_it_imports_neither_jax_nor_numpy():
    code = (
        "import sys, types; package = types.ModuleType('naiad.compiler'); package.__path__ = [sys.argv[1]]; "
        "sys.modules[package.__name__] = package; "  # without what the package itself imports
        "from naiad.compiler.fingerprint import fingerprint; fingerprint(1, len, lambda x: x); "
        "print({'jax', 'numpy', 'equinox'} & set(sys.modules))"
    )
    run = [sys.executable, "-c", code, f"{SOURCE}/naiad/compiler"]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    assert subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout == "set()\n"
