"""The walk through things and all that they reach, which writes into a hash what they compute."""

import copyreg
import dataclasses
import enum
import functools
import hashlib
import importlib.util
import struct
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from naiad.compiler.fingerprint import origins
from naiad.compiler.fingerprint.bytecode import loads
from naiad.compiler.fingerprint.sights import ABSENT, Sight, Slot, contents_of, parts_of_function, parts_of_instance

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class made by a statement, at run time

_NOISE = {f"__{name}__" for name in (
    "doc", "dict", "weakref", "module", "qualname", "name", "annotations", "annotate", "annotate_func",
    "annotations_cache", "abstractmethods", "abstractvars", "abstractclassvars", "dataclass_params", "orig_bases",
    "parameters", "type_params", "static_attributes", "firstlineno", "builtins", "loader", "spec",
    "file", "cached", "package", "path", "slotnames",
)} | {"_abc_impl"}  # fmt: skip
"""Attributes of classes, modules and wrappers that say where they come from, not what they compute."""

_DYNAMIC = frozenset(
    [("builtins", name) for name in ("eval", "exec", "compile", "globals", "input", "__import__")]
    + [("_io", "open"), ("io", "open"), ("pathlib", "Path"), ("pathlib", "PosixPath"), ("os", "getenv")]
    + [("numpy", name) for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")]
    + [("importlib", "import_module"), ("jax.numpy", "load")]
)
"""What reaches things that the bytecode does not name: other code, files, the environment."""

_REDUCERS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")
_DESCRIPTORS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)


class _Code(NamedTuple):
    """A code object with those nested in it: its digest, and the paths (name, attribute, ...) that it loads."""

    digest: bytes
    globals: frozenset[tuple[str, ...]]
    cells: frozenset[tuple[str, ...]]
    imports: frozenset[tuple[int, str, tuple[str, ...]]]


_CODES: dict[int, tuple[types.CodeType, _Code]] = {}


def _read_code(code: types.CodeType) -> _Code:
    """What `code` is, read once: the code is held with it, so that its id stays its own."""
    if id(code) not in _CODES:
        _CODES[id(code)] = (code, _digested(code))
    return _CODES[id(code)][1]


def _digested(code: types.CodeType) -> _Code:
    """Constants count only where they are loaded, so that docstrings do not; places in files do not count."""
    walk = Walk()
    walk.write("code", code.co_code, code.co_exceptiontable)
    walk.visit((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags), "counts")
    walk.visit((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars), "names")
    constants, found, cells, imports = loads(code)
    for index in sorted(constants):
        constant = code.co_consts[index]
        walk.write("constant", str(index))
        if isinstance(constant, types.CodeType):
            inner = _read_code(constant)
            walk.write("code", inner.digest)
            found |= inner.globals
            cells |= inner.cells
            imports |= inner.imports
        else:
            walk.visit(constant, "constant")
    return _Code(walk.digest(), frozenset(found), frozenset(cells), frozenset(imports))


class Walk:
    """Writes things into a hash, each as a tag and its parts with their lengths, so that no two read the same.

    Functions, classes and modules met again are written as their position in the walk, other things while they are
    being written. What it read and may change is in `sights`; where something cannot be followed, the walk goes on, so
    that they are complete, and there is no digest.

    Code of naiad is written by its name, and `names` collects these names: what is behind them counts by its source
    files (see `modules.digest_of`).

    With `own_only` code of Python, of packages and of naiad counts by its name alone, and functions of the user by what
    they do, not by theirs: the user's own code is known again in other versions of what it stands on.
    """

    def __init__(self, within: "Walk | None" = None, *, own_only: bool = False):
        self.own_only = own_only if within is None else within.own_only
        self.sights: list[Sight] = [] if within is None else within.sights
        self.names: set[str] = set() if within is None else within.names
        self._refusals: list[origins.Unfingerprintable] = [] if within is None else within._refusals
        self._hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {} if within is None else dict(within._seen)
        self._met = 0 if within is None else within._met
        self._path: list[str] = [] if within is None else list(within._path)

    def digest(self) -> bytes:
        """Of all that was visited; raises `Unfingerprintable` if some of it cannot be followed."""
        if self._refusals:
            raise self._refusals[0]
        return self._hash.digest()

    def write(self, tag: str, *parts: str | bytes) -> None:
        """One token."""
        texts = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in (tag, *parts)]
        self._hash.update(struct.pack(f"<{len(texts) + 1}Q", len(texts), *map(len, texts)))
        for text in texts:
            self._hash.update(text)

    def visit(self, thing: Any, label: str) -> None:
        """Write `thing`, which `label` names in an error."""
        atom = _ATOMS.get(type(thing))
        if atom is not None:
            self.write(type(thing).__name__, atom(thing))
            return
        self._path.append(label)
        try:
            if id(thing) in self._seen:
                self.write("again", str(self._seen[id(thing)][0]))
            elif not self._array(thing):
                self._compound(thing)
        except origins.Unfingerprintable as refusal:
            self._refusals.append(refusal)
        self._path.pop()

    def _origin(self, module: Any) -> str | None:
        """Whose a module is; None for the user's own."""
        if self.own_only:
            return origins.owner_of(module)
        origin = origins.origin_of(module)
        if isinstance(module, str) and _is_of_naiad(module):
            self.names.add(module)
        return origin

    def watch(self, look: Callable[[], tuple[Any, ...]]) -> None:
        """Remember what a look gives now."""
        self.sights.append((look, look()))

    def refuse(self, thing: Any, why: str) -> origins.Unfingerprintable:
        kind = type(thing)
        name = f"{kind.__module__}.{kind.__qualname__}"
        return origins.Unfingerprintable(f"a {name} cannot be fingerprinted ({self.where()}): {why}")

    def where(self) -> str:
        return " > ".join(self._path)

    def _compound(self, thing: Any) -> None:
        cls = type(thing)  # not isinstance, which believes what a proxy says of itself
        handler = next((handler for kinds, handler in _KINDS if issubclass(cls, kinds)), Walk._other)
        keep = issubclass(cls, types.FunctionType | type | types.ModuleType)
        self._seen[id(thing)] = (self._met, thing)
        self._met += 1
        handler(self, thing)
        if not keep:
            del self._seen[id(thing)]

    # Data

    def _array(self, thing: Any) -> bool:
        """Write an array, a dtype or a description of an array; False if it is none."""
        numpy, jax = sys.modules.get("numpy"), sys.modules.get("jax")
        if numpy is None:
            return False
        if isinstance(thing, numpy.dtype):
            self.write("dtype", *self._dtype(thing))
        elif type(thing) is numpy.ndarray or isinstance(thing, numpy.generic):
            self._write_array(thing, "array" if type(thing) is numpy.ndarray else "scalar")
        elif jax is not None and isinstance(thing, jax.Array):
            self._write_array(thing, f"jax {getattr(thing, 'weak_type', False)}")
        elif jax is not None and type(thing) is jax.ShapeDtypeStruct:
            if thing.sharding is not None:
                raise self.refuse(thing, "it has a sharding")
            self.write("struct", *self._dtype(thing.dtype), str(thing.shape), str(thing.weak_type))
        else:
            return False
        return True

    def _write_array(self, array: Any, tag: str) -> None:
        about = (tag, *self._dtype(array.dtype), str(tuple(map(int, array.shape))))
        try:
            data = sys.modules["numpy"].asarray(array)
        except Exception as error:
            raise self.refuse(array, f"its value cannot be read: {type(error).__name__}") from error
        if data.dtype != array.dtype:
            raise self.refuse(array, f"its type {array.dtype} has no bytes of its own")
        value = data.tobytes()
        self.write("value", *about, value)
        if type(array) is sys.modules["numpy"].ndarray:
            self.watch(lambda: (array.tobytes() == value,))

    def _dtype(self, dtype: Any) -> tuple[str, str]:
        if getattr(dtype, "hasobject", False):
            raise self.refuse(dtype, "it holds Python objects; use a numeric type")
        return getattr(dtype, "str", ""), repr(dtype)

    def _sequence(self, items: Any) -> None:
        if type(items) in (tuple, list):
            self.write(type(items).__name__, str(len(items)))
        elif isinstance(items, tuple) and hasattr(type(items), "_fields"):
            self.write("named tuple", str(len(items)))
            self.visit(type(items), "class")
        else:
            self._other(items)
            return
        if type(items) is list:
            self.watch(lambda: tuple(items))
        for i, item in enumerate(items):
            self.visit(item, f"[{i}]")

    def _mapping(self, items: Any) -> None:
        if type(items) not in (dict, types.MappingProxyType):
            self._other(items)
            return
        self.write("dict", str(len(items)))
        self.watch(lambda: (*items.keys(), *items.values()))
        for key, value in items.items():
            self.visit(key, "key")
            self.visit(value, f"[{key!r}]" if isinstance(key, str | int) else "value")

    def _set(self, items: Any) -> None:
        """The digests in order: each element is walked by itself, for the order of a set differs between processes."""
        if type(items) not in (set, frozenset):
            self._other(items)
            return
        digests = []
        if type(items) is set:
            self.watch(lambda: tuple(items))
        for item in items:
            walk = Walk(within=self)
            walk.visit(item, "element")
            digests.append(walk.digest())
        self.write(type(items).__name__, *sorted(digests))

    def _range(self, thing: Any) -> None:
        self.write(type(thing).__name__)
        for bound in (thing.start, thing.stop, thing.step):
            self.visit(bound, "bound")

    def _enum(self, member: enum.Enum) -> None:
        self.write("enum", member.name or "")
        self.visit(type(member), "class")
        self.visit(member.value, "value")

    def _named(self, tag: str, items: Mapping[str, Any]) -> None:
        """Attributes in the order of their names, without those that compute nothing."""
        names = sorted(name for name in items if name not in _NOISE)
        self.write(tag, *names)
        for name in names:
            self.visit(items[name], name)

    # Code

    def _by_name(self, thing: Any, name: str | None = None) -> bool:
        """Write what an installed module has under the name that the thing goes by; False if it is not that."""
        module = getattr(thing, "__module__", None)
        name = name or getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
        origin = self._origin(module)
        if origin is None or not origins.is_reachable(thing, module, name):
            return False
        if (module, name) in _DYNAMIC:
            raise self.refuse(thing, f"what {name} reaches is not known before it runs; call it outside, once")
        self.write("named", origin, str(module), str(name))
        return True

    def _function(self, function: types.FunctionType) -> None:
        if self._by_name(function):
            return
        code, home = _read_code(function.__code__), function.__globals__.get("__name__")
        origin = self._origin(home)
        place = () if origin is None else (origin, str(home), function.__code__.co_qualname)
        name, digest = function.__qualname__, code.digest
        if self.own_only:
            name, digest = "", code.digest if origin is None else b""
        self.write("function", name, digest, *place)
        names = sorted({path[0] for path in code.globals}) if origin is None else ()
        self.watch(lambda: parts_of_function(function, names))
        self.visit(function.__defaults__, "defaults")
        self.visit(function.__kwdefaults__, "defaults")
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._cell(name, cell, code)
        if origin is None:
            for path in sorted(code.globals):
                self._load(function.__globals__.get(path[0], function.__builtins__.get(path[0], ABSENT)), path)
            for level, module, names in sorted(code.imports):
                self._import("." * level + module, names, function.__globals__)
            self._named("attributes", vars(function))

    def _cell(self, name: str, cell: types.CellType, code: _Code) -> None:
        contents = contents_of(cell)
        paths = [path for path in sorted(code.cells) if path[0] == name]
        for path in paths if isinstance(contents, types.ModuleType) and paths else [(name,)]:
            self._load(contents, path)

    def _load(self, value: Any, path: tuple[str, ...]) -> None:
        """Write what name.attribute... loads, following the attributes through modules."""
        self.write("load", *path)
        for k, name in enumerate(path[1:], start=1):
            if not isinstance(value, types.ModuleType) or (self.own_only and _is_of_naiad(value.__name__)):
                break
            if _is_of_naiad(value.__name__):
                self.write("naiad", value.__name__)
                self.names.add(f"{value.__name__}:{'.'.join(path[k:])}")
                return
            try:
                module, value = value, getattr(value, name, ABSENT)
            except Exception as error:
                raise self.refuse(value, f"its attribute {name} cannot be read: {error}") from error
            if self._origin(module.__name__) is None:
                self.watch(lambda module=module, name=name: (getattr(module, name, ABSENT),))
        if value is ABSENT:
            self.write("absent")
        else:
            self.visit(value, ".".join(path))

    def _import(self, module: str, names: tuple[str, ...], scope: dict[str, Any]) -> None:
        """Write what an import inside a function brings."""
        if module.startswith("."):
            module = importlib.util.resolve_name(module, scope.get("__package__") or scope.get("__name__"))
        top = module.partition(".")[0]
        spec = None if top in sys.modules else importlib.util.find_spec(top)
        if top == origins.NAIAD:
            self.write("import", module, top, *names)
            self.names |= {f"{module}:{name}" for name in names} or {module}
            return
        origin = self._origin(module) if spec is None else origins.package_of(top, spec.origin)
        origin = top if self.own_only and origin is not None else origin
        self.write("import", module, origin or "", *names)
        if origin is not None:
            return
        home = sys.modules.get(module)
        if home is None:
            raise self.refuse(module, f"{module} is imported on the way; import it at the top of its file")
        if not names:
            self.visit(sys.modules[top], module)
        for name in names:
            if not hasattr(home, name):
                raise self.refuse(home, f"{module}.{name} is imported on the way; import it at the top of its file")
            self._load(home, (module, name))

    def _module(self, module: types.ModuleType) -> None:
        """The user's whole module: one that is only read by attributes does not come here."""
        origin = self._origin(module.__name__)
        self.write("module", module.__name__, origin or "")
        if origin is None:
            self.watch(lambda: tuple(vars(module).values()))
            self._named("contents", vars(module))

    def _class(self, cls: type) -> None:
        if self._by_name(cls):
            return
        origin = self._origin(cls.__module__)
        if origin is not None and not cls.__flags__ & _HEAP_TYPE:
            self.write("class", origin, cls.__module__, cls.__qualname__)
            return
        self.write("own class", cls.__qualname__)
        self.watch(lambda: tuple(vars(cls).values()))
        self.visit(type(cls), "metaclass")
        self.visit(cls.__bases__, "bases")
        contents = dict(vars(cls))
        fields = contents.pop("__dataclass_fields__", {})
        self._named("contents", contents)
        self.write("fields", *fields)
        for name, field in fields.items():
            self._field(name, field)
        registry = getattr(sys.modules.get("jax._src.tree_util"), "_registry", {})
        if cls in registry and not _is_module_class(cls):
            self.visit(tuple(registry[cls]), "pytree")

    def _field(self, name: str, field: dataclasses.Field[Any]) -> None:
        kind = getattr(field, "_field_type", None)
        known = len(self.sights)
        for part in (field.default, field.default_factory, field.init, field.kw_only, field.metadata, kind):
            self.visit(part, name)
        del self.sights[known:]  # what a field says is read when its class and the instances are made

    def _method(self, method: Any) -> None:
        self.write(type(method).__name__)
        self.visit(method.__func__, "function")
        self.visit(getattr(method, "__self__", None), "self")

    def _property(self, thing: property) -> None:
        self.write("property")
        for part in (thing.fget, thing.fset, thing.fdel):
            self.visit(part, "property")

    def _builtin(self, function: Any) -> None:
        if not self._by_name(function):
            owner = function.__self__
            if owner is None or isinstance(owner, types.ModuleType):
                raise self.refuse(function, f"{function.__name__} is not found in its module")
            self.write("builtin", function.__name__)
            self.visit(owner, function.__name__)

    def _descriptor(self, thing: Any) -> None:
        self.write("descriptor", thing.__name__)
        self.visit(thing.__objclass__, "class")

    def _wrapper(self, thing: Any) -> None:
        """A function that remembers: what it remembers is what the function inside gives."""
        self.write("wrapper", type(thing).__name__)
        self.visit(thing.func if isinstance(thing, functools.cached_property) else thing.__wrapped__, "function")

    # Instances

    def _other(self, thing: Any) -> None:
        cls = type(thing)
        if callable(thing) and self._by_name(thing):
            return
        if cls.__module__.startswith("jaxlib") and hasattr(thing, "_jit_info"):
            self._jitted(thing)
        elif _is_module_class(cls):
            self._fields(thing)
        else:
            self._reduced(thing)

    def _jitted(self, thing: Any) -> None:
        self.write("jit")
        self.visit(thing.__wrapped__, "jit")
        about = thing._jit_info
        self.visit((about.static_argnums, about.static_argnames, about.inline, about.compiler_options_kvs), "jit")

    def _fields(self, module: Any) -> None:
        """The class and the values of the fields."""
        self.write("fields of")
        self.visit(type(module), "class")
        self._named("fields", vars(module))

    def _reduced(self, thing: Any) -> None:
        """The class, and what pickle would keep, where that is known to be all there is."""
        cls = type(thing)
        for name in _REDUCERS:
            reducer = getattr(cls, name, None)
            if isinstance(reducer, types.FunctionType) and self._origin(reducer.__globals__.get("__name__")) is None:
                raise self.refuse(
                    thing,
                    f"its own {name} may leave out what matters; make it a naiad.numerics.Module",
                )
        primitive = getattr(sys.modules.get("jax._src.core"), "Primitive", ())
        if isinstance(thing, primitive):
            raise self.refuse(thing, "what a primitive does is not in it; use the function of jax that wraps it")
        getattr(thing, "__dict__", None)  # a partial makes its own when first read, and then reduces to more
        try:
            special = copyreg.dispatch_table.get(cls)
            reduced = special(thing) if special else thing.__reduce_ex__(4)
        except Exception as error:
            raise self.refuse(thing, f"{error}; keep it out of what is compiled") from error
        if isinstance(reduced, str):
            if not self._by_name(thing, reduced):
                raise self.refuse(thing, "it is known by a name only; keep it out of what is compiled")
            return
        parts: tuple[Any, ...] = (*reduced, None, None, None, None)[:6]
        make, arguments, state, items, pairs, setter = parts
        self.write("instance")
        if not _is_of_naiad(cls.__module__):  # whose objects do not change what they compute
            members = [part for base in cls.__mro__ for part in vars(base).values() if type(part) is Slot]
            slots = [part for part in members if not part.__name__.startswith("__")]  # Python's own are made anew
            self.watch(lambda: parts_of_instance(thing, slots))
        self.visit(cls, "class")
        self.visit((make, arguments, setter), cls.__qualname__)
        self.visit(None if items is None else tuple(items), "items")
        self.visit(None if pairs is None else tuple(pairs), "items")
        if type(state) is dict and all(type(name) is str for name in state):
            self._named("state", state)
        else:
            self.visit(state, "state")


def _is_of_naiad(module: str) -> bool:
    return module.partition(".")[0] == origins.NAIAD


def _is_module_class(cls: type) -> bool:
    homes = (sys.modules.get("naiad.numerics.module"), sys.modules.get("equinox"))
    return any(home is not None and issubclass(cls, home.Module) for home in homes)


_ATOMS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"",
    type(...): lambda _: b"",
    type(NotImplemented): lambda _: b"",
    bool: lambda x: b"1" if x else b"0",
    int: lambda x: x.to_bytes(x.bit_length() // 8 + 1, "little", signed=True),
    float: lambda x: struct.pack("<d", x),
    complex: lambda x: struct.pack("<dd", x.real, x.imag),
    str: lambda x: x.encode("utf-8", "surrogatepass"),
    bytes: lambda x: x,
}

_KINDS: tuple[tuple[Any, Callable[[Walk, Any], None]], ...] = (
    (enum.Enum, Walk._enum),
    ((tuple, list), Walk._sequence),
    ((dict, types.MappingProxyType), Walk._mapping),
    ((set, frozenset), Walk._set),
    ((slice, range), Walk._range),
    (types.FunctionType, Walk._function),
    ((types.MethodType, staticmethod, classmethod), Walk._method),
    (type, Walk._class),
    (types.ModuleType, Walk._module),
    (property, Walk._property),
    (types.BuiltinFunctionType, Walk._builtin),
    (types.MethodWrapperType, Walk._builtin),
    (_DESCRIPTORS, Walk._descriptor),
    ((functools._lru_cache_wrapper, functools.cached_property), Walk._wrapper),
)
