"""Which modules of naiad some code reaches by import, and a digest of their syntax trees.

Code that is stored on disk stays valid as long as this digest is the same. Comments, docstrings and the layout of a
file do not change it. Imports are read from the syntax tree, those inside functions too, so nothing has to be loaded.
What cannot be seen in this way is a module that changes another one when it is imported. In naiad only packages do
that, to modules of their own, for which it counts (see `tests/compiler/test_modules.py`).
"""

import ast
import functools
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from naiad.compiler.cache import default_cache
from naiad.compiler.fingerprint.origins import NAIAD, PYTHON, Unfingerprintable, started

SEPARATE = (
    *("naiad.viz", "naiad.cli"),
    *("naiad.compiler.backends.llvm", "naiad.compiler.backends.cuda", "naiad.compiler.backends.wasm"),
)
"""Packages that count only for code that is in one of them: what draws computes nothing, and the back end in use is
named in every key."""

_FORMAT = "modules 2"


class SourceFile(NamedTuple):
    """What the digest needs to know about one file.

    `tree`: digest of the syntax tree. `uses`: names in naiad that the code uses, each as a module and a name in it
    ("naiad:SO3"). `names`: what each imported name stands for ({"SO3": "naiad.groups:SO3"}). `changes`: of a package,
    the names in statements that change something on import.
    """

    tree: str
    uses: list[str]
    names: dict[str, str]
    changes: list[str]


class _Record(NamedTuple):
    """A module: the digest of its source and of the targets of its imports, and the modules that it imports from."""

    digest: str
    imported: frozenset[str]


class Package:
    """The files of naiad in `folder`, read when they are needed.

    What was read is kept in the cache of compiled code, by the content of each file: to parse the hundred modules of a
    simulation takes half a second, to read them some milliseconds.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._files: dict[str, Path] = {}
        self._sources: dict[str, SourceFile] = {}
        self._targets: dict[str, str] = {}
        self._records: dict[str, _Record] = {}
        self._table: dict[str, Any] | None = None
        self._grew = False

    def digest(self, modules: Iterable[str]) -> str:
        """Return the digest of what modules say, and of where the names come from that they import."""
        digest = hashlib.sha256("\n".join(self._record(module).digest for module in sorted(modules)).encode())
        self._save()
        return digest.hexdigest()

    def reached(self, names: Iterable[str]) -> set[str]:
        """Return the modules that the code behind names reaches by import, those that hold the names included.

        A name is a module, or what is in one: "naiad.groups", "naiad:SO3".
        """
        found: set[str] = set()
        waiting = {_module_of(self.target(name)) for name in names}
        while waiting:
            module = waiting.pop()
            found.add(module)
            waiting |= self._record(module).imported - found
        return found

    def _record(self, module: str) -> "_Record":
        if module not in self._records:
            source = self._source(module)
            package = module.rpartition(".")[0]
            uses = source.uses + (self._source(package).changes if package else [])
            targets = {use: self.target(use) for use in uses if self.target(use) != f"{NAIAD}:__version__"}
            links = {use: target for use, target in targets.items() if not _is_separate(_module_of(target), module)}
            digest = hashlib.sha256(json.dumps([module, source.tree, links]).encode()).hexdigest()
            self._records[module] = _Record(digest, frozenset(map(_module_of, links.values())))
        return self._records[module]

    def target(self, name: str) -> str:
        """Return where a name comes from: "naiad:SO3" from "naiad.groups.so3:SO3".

        Names that a package takes from its modules are followed. A package itself is the target where the name is its
        own, or is not found.
        """
        if name not in self._targets:
            self._targets[name] = self._find_target(name)
        return self._targets[name]

    def _find_target(self, name: str) -> str:
        module, _, rest = name.partition(":")
        while rest and self.file(module).name == "__init__.py":
            first, _, others = rest.partition(".")
            home = self._source(module).names.get(first)
            if home not in (None, f"{module}:{first}"):
                return self.target(_dotted(home, others))
            if not self.file(f"{module}.{first}").is_file():
                break
            module, rest = f"{module}.{first}", others
        if not self.file(module).is_file() and module != NAIAD:
            return self.target(_dotted(":".join(module.rsplit(".", 1)), rest))
        return f"{module}:{rest}"

    def file(self, module: str) -> Path:
        """Return the file of a module, or where it would be if the module were a package."""
        if module not in self._files:
            package = self.folder.joinpath(*module.split(".")[1:])
            plain = package.with_suffix(".py")
            self._files[module] = plain if module != NAIAD and plain.is_file() else package / "__init__.py"
        return self._files[module]

    def _source(self, module: str) -> SourceFile:
        if module not in self._sources:
            file = self.file(module)
            text = file.read_bytes()
            content = hashlib.sha256(file.name.encode() + text).hexdigest()
            table = self._stored()
            if table.get(module, ("",))[0] != content:
                table[module] = (content, *read_source(text, module, is_package=file.name == "__init__.py"))
                self._grew = True
            self._sources[module] = SourceFile(*table[module][1:])
        return self._sources[module]

    def _stored(self) -> dict[str, Any]:
        """What was read before, also by other processes: by module, the digest of the content and the `SourceFile`."""
        if self._table is None:
            cache = default_cache()
            data = None if cache is None else replace(cache, suffix="sources").load(self._key)
            self._table = {} if data is None else json.loads(data)
        return self._table

    def _save(self) -> None:
        cache = default_cache() if self._grew else None
        if cache is not None:
            replace(cache, suffix="sources").store(self._key, json.dumps(self._table).encode())
        self._grew = False

    @property
    def _key(self) -> str:
        return hashlib.sha256(f"{_FORMAT} {PYTHON} {self.folder}".encode()).hexdigest()


def digest_of(names: frozenset[str]) -> str:
    """Return the digest of what names in naiad reach (see `Package.reached`).

    It is refused if one of the files is newer than this process, which may have loaded an older one.
    """
    try:
        digest, files = _digest_and_files(names)
        newest = max(os.stat(file).st_mtime for file in files)
    except (OSError, SyntaxError, ValueError) as error:
        raise Unfingerprintable(f"naiad's files cannot be read: {error}") from error
    if newest > started():
        raise Unfingerprintable("naiad's files changed after this process started; restart it to cache compiled code")
    return digest


@functools.cache
def _digest_and_files(names: frozenset[str]) -> tuple[str, list[Path]]:
    package = _own_package()
    modules = package.reached(names)
    return package.digest(modules), [package.file(module) for module in modules]


@functools.cache
def _own_package() -> Package:
    return Package(Path(sys.modules[NAIAD].__file__ or "").parent)


def read_source(text: bytes, module: str, *, is_package: bool) -> SourceFile:
    """Read a file of naiad."""
    reader = _Reader(module if is_package else module.rpartition(".")[0], is_package=is_package)
    tree = ast.parse(text)
    reader.write(tree)
    return reader.source([each for each in tree.body if is_package and _changes_something(each)])


def _changes_something(statement: ast.stmt) -> bool:
    """Whether a statement is a call, or assigns to a part of something."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _module_of(name: str) -> str:
    return name.partition(":")[0]


def _dotted(name: str, rest: str) -> str:
    """What is under `rest` in a module ("naiad.groups") or in something of one ("naiad.groups:SO3")."""
    return f"{name}{'.' if ':' in name else ':'}{rest}" if rest else name


def _is_separate(module: str, importer: str) -> bool:
    """Whether an import is not followed, since it leads from outside into a package that counts only for itself."""
    return _is_within(module, SEPARATE) and not _is_within(importer, SEPARATE)


def _is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


class _Reader:
    """Writes a syntax tree as text, without docstrings and places, and collects imports and the names that are used.

    `ast.dump` and `ast.walk` do the same in four times the time. Imports for a type checker alone count only in
    packages, where they say what the package loads when it is asked for a name.
    """

    def __init__(self, package: str, *, is_package: bool):
        self._package = package
        self._is_package = is_package
        self._text: list[str] = []
        self._imports: list[tuple[str, str]] = []  # the local name, and what it stands for
        self._modules: set[str] = set()  # of `import naiad.x.y`, which binds naiad only
        self._chains: dict[str, set[str]] = {}  # of each name, the attributes that are taken from it
        self._skips = 0  # the blocks for type checkers around the node at hand

    def source(self, changes: list[ast.stmt]) -> SourceFile:
        """Return what was read, with the names in statements that change something."""
        uses = set(self._modules)
        for name, target in self._imports:
            uses |= {_dotted(target, chain) for chain in self._chains.get(name, {""})}
        text = "\n".join(self._text)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        named = {node.id for each in changes for node in ast.walk(each) if isinstance(node, ast.Name)}
        changed = sorted(target for name, target in self._imports if name in named)
        return SourceFile(digest, sorted(uses), dict(self._imports), changed)

    def write(self, node: Any) -> None:
        """Write a node, a list of nodes, or a constant."""
        kind = type(node)
        if kind is list:
            self._text.append("[")
            for each in node:
                if not _is_docstring(each):
                    self.write(each)
            self._text.append("]")
        elif not isinstance(node, ast.AST):
            self._text.append(repr(node))
        elif kind is ast.Name or kind is ast.Attribute:
            self._write_name(node)
        else:
            if kind is ast.Import or kind is ast.ImportFrom:
                self._read_import(node)
            self._text.append(kind.__name__)
            for field in node._fields:
                self._skips += (skips := kind is ast.If and field == "body" and self._is_for_types(node))
                self.write(getattr(node, field, None))
                self._skips -= skips

    def _is_for_types(self, node: ast.If) -> bool:
        """Whether a block is for type checkers, in a module where they alone read it."""
        name = getattr(node.test, "id", getattr(node.test, "attr", None))
        return name == "TYPE_CHECKING" and not self._is_package

    def _write_name(self, node: ast.Name | ast.Attribute) -> None:
        """Write a name with the attributes that are taken from it, and remember them."""
        attributes, inner = [], node
        while isinstance(inner, ast.Attribute):
            attributes.append(inner.attr)
            inner = inner.value
        chain = ".".join(reversed(attributes))
        self._text += (type(node.ctx).__name__, chain)
        if isinstance(inner, ast.Name):
            self._text.append(f"name {inner.id}")
            self._chains.setdefault(inner.id, set()).add(chain)
        else:
            self.write(inner)

    def _read_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, target in _imported(node, self._package):
            if _module_of(target).partition(".")[0] != NAIAD or self._skips:
                continue
            if local is None and target != NAIAD:
                self._modules.add(target)
            self._imports.append((local, target) if local else (NAIAD, NAIAD))


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str | None, str]]:
    """The local name (None: the first part) and what it stands for, of each name in an import."""
    if isinstance(node, ast.Import):
        yield from ((alias.asname, alias.name) for alias in node.names)
        return
    home = node.module or ""
    if node.level:
        home = importlib.util.resolve_name("." * node.level + home, package)
    yield from ((alias.asname or alias.name, f"{home}:{alias.name}") for alias in node.names)


def _is_docstring(node: Any) -> bool:
    """Whether a statement is only a text, as docstrings of modules, classes, functions and attributes are."""
    return type(node) is ast.Expr and type(node.value) is ast.Constant and type(node.value.value) is str
