"""Code within a process is made again when what a function names has changed, and only then."""

import collections
import copy
import functools
import sys
import types

import numpy as np
import pytest

from naiad import compiler as nc
from naiad.compiler.engine import execute
from naiad.compiler.fingerprint import Version
from naiad.compiler.fingerprint.sights import is_unchanged
from naiad.numerics.module import Module

NUMBER = 2.0
ARRAY = np.array([2.0, 1.0])
LIST = [2.0]
TABLE = {"k": 2.0}
NAMES = {"two"}


class Counter:
    """Plain, with state that anybody may change."""

    def __init__(self, k):
        self.k = k

    def times(self, x):
        return self.k * x


class Slim:
    """Plain, without a dictionary."""

    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class Items(list):
    """A list of one's own."""


ITEMS = Items([2.0])
COUNTER = Counter(2.0)
PAIR = collections.namedtuple("PAIR", "a b")(1.0, 2.0)
SLIM = Slim(2.0)
HOME = types.ModuleType("somebodys_own")
HOME.k = 2.0


class Base(Module):
    """Its factor is a method, for a subclass to inherit."""

    def factor(self):
        return 2.0


class Gain(Base):
    """Times the factor."""

    def __call__(self, x):
        return self.factor() * x


def helper(x, k=2.0):
    return k * x


def of_number(x):
    return NUMBER * x


def of_module(x):
    return HOME.k * x


def times_two(x):
    return 2.0 * x


def times_nine(x):
    return 9.0 * x


def cell(monkeypatch):
    k = 2.0

    def function(x):
        return k * x

    def change():
        nonlocal k
        k = 9.0

    return function, change


def attribute(monkeypatch):
    def function(x):
        return function.k * x

    function.k = 2.0
    return function, lambda: setattr(function, "k", 9.0)


def code(monkeypatch):
    def function(x):
        return 2.0 * x

    return function, lambda: setattr(function, "__code__", times_nine.__code__)


def keyword(monkeypatch):
    function = functools.partial(helper, k=2.0)
    return function, lambda: function.keywords.update(k=9.0)


def unreadable(monkeypatch):
    """What cannot be followed to its end is watched all the same."""

    def function(x):
        globals()
        return NUMBER * x

    return function, lambda: monkeypatch.setitem(globals(), "NUMBER", 9.0)


CASES = {
    "global": lambda m: (of_number, lambda: m.setitem(globals(), "NUMBER", 9.0)),
    "global of a function within": lambda m: (
        lambda x: of_number(x),
        lambda: m.setitem(globals(), "NUMBER", 9.0),
    ),
    "function": lambda m: (lambda x: times_two(x), lambda: m.setitem(globals(), "times_two", times_nine)),
    "array": lambda m: (lambda x: ARRAY[0] * x, lambda: np.copyto(ARRAY, [9.0, 1.0])),
    "list": lambda m: (lambda x: LIST[0] * x, lambda: LIST.insert(0, 9.0)),
    "items": lambda m: (lambda x: ITEMS[0] * x, lambda: ITEMS.insert(0, 9.0)),
    "dictionary": lambda m: (lambda x: TABLE["k"] * x, lambda: m.setitem(TABLE, "k", 9.0)),
    "set": lambda m: (lambda x: (2.0 if "two" in NAMES else 9.0) * x, lambda: NAMES.clear()),
    "default": lambda m: (lambda x: helper(x), lambda: m.setattr(helper, "__defaults__", (9.0,))),
    "object": lambda m: (lambda x: COUNTER.k * x, lambda: m.setattr(COUNTER, "k", 9.0)),
    "bound method": lambda m: (COUNTER.times, lambda: m.setattr(COUNTER, "k", 9.0)),
    "slots": lambda m: (lambda x: SLIM.k * x, lambda: m.setattr(SLIM, "k", 9.0)),
    "module": lambda m: (of_module, lambda: m.setattr(HOME, "k", 9.0)),
    "method": lambda m: (Gain(), lambda: m.setattr(Gain, "__call__", lambda self, x: 9.0 * x)),
    "method that is inherited": lambda m: (Gain(), lambda: m.setattr(Base, "factor", lambda self: 9.0)),
    "method that is added": lambda m: (Gain(), lambda: m.setattr(Gain, "factor", lambda self: 9.0, raising=False)),
    "cell": cell,
    "attribute": attribute,
    "code": code,
    "keyword": keyword,
    "unreadable": unreadable,
}


@pytest.mark.parametrize("engine", ["compiled", "batch", "xla"])
@pytest.mark.parametrize("name", CASES)
def test_a_change_of_what_a_function_names_is_noticed(name, engine, monkeypatch):
    monkeypatch.setitem(sys.modules, HOME.__name__, HOME)
    for mutable in ("ARRAY", "LIST", "NAMES", "ITEMS"):
        monkeypatch.setitem(globals(), mutable, copy.copy(globals()[mutable]))
    function, change = CASES[name](monkeypatch)
    compiled = nc.compile(function, cache=False)

    def result():
        if engine == "compiled":
            return float(compiled(1.5))
        if engine == "batch":
            return float(compiled.batch(np.array([1.5]))[0])
        return float(execute(call, function, 1.5, parameters=(), engine="xla"))

    assert [result(), result()] == [3.0, 3.0]
    change()
    assert [result(), result()] == [13.5, 13.5]


@pytest.mark.parametrize("name", [*CASES, "namedtuple", "partial"])
def test_nothing_is_taken_for_changed_that_is_not(name, monkeypatch):
    """Otherwise everything would be read at every call."""
    monkeypatch.setitem(sys.modules, HOME.__name__, HOME)
    other = {"namedtuple": PAIR.__add__, "partial": functools.partial(helper, 1.5)}
    function = CASES[name](monkeypatch)[0] if name in CASES else other[name]
    version = Version(function, PAIR, {1: [PAIR]}, {"a"}, np.arange(3), Counter(2.0), Slim(3.0), Items([1]), Gain())
    version.current()
    assert is_unchanged(version._sights)


def call(function, x):
    return function(x)


def test_code_is_made_once_where_nothing_changes(monkeypatch):
    """Also where a name is given its value again; and each version is kept."""
    traced = []

    def function(x):
        return NUMBER * x

    compiled = nc.compile(function, cache=False)
    made = compiled._make
    monkeypatch.setattr(compiled, "_make", lambda *args: traced.append(1) or made(*args))
    for value in (2.0, float("2"), 9.0, 2.0, float("9")):
        monkeypatch.setitem(globals(), "NUMBER", value)
        assert [float(compiled(1.5)) for _ in range(2)] == [1.5 * value] * 2
    assert len(traced) == 2
