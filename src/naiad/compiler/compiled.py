"""Compiled functions: what `naiad.compile` gives."""

import contextlib
import functools
import inspect
import itertools
import math
import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import core

from naiad.compiler.backends import (
    Backend,
    Kernel,
    Names,
    Resident,
    WasmModule,
    default_backend,
    gpu_backend,
    wasm_module,
)
from naiad.compiler.cache import default_cache
from naiad.compiler.cores import available
from naiad.compiler.device import Device, check_device, placed
from naiad.compiler.fingerprint import Unfingerprintable, Unknown, Version, fingerprint, is_reachable
from naiad.compiler.front.arrays import kind
from naiad.compiler.front.rules import Unsupported
from naiad.compiler.ir.program import Memories, Program, Slot
from naiad.compiler.length import finished
from naiad.compiler.telling import making
from naiad.compiler.together import outside
from naiad.errors import InputError
from naiad.numerics.arguments import checked

_USUAL = (np.dtype(np.float64), np.dtype(np.int64))
_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, jax.Array, Resident)
FEW = 64  # elements of arrays that are remembered
NEITHER = 0.5  # stands for an element that is not known to be 0 or 1


class Entry(NamedTuple):
    """What is made for a form of the arguments: the code, the form of the results, what `stats` says, and how the code
    is called for one row."""

    kernel: Kernel
    tree: Any
    stats: dict[str, Any]
    alone: Callable[[list[Any]], list[Any]]

    @property
    def length(self) -> int:
        """How many operations the program has."""
        return sum(self.stats["operations"].values())

    @classmethod
    def of(cls, kernel: Kernel, tree: Any, stats: dict[str, Any]) -> "Entry":
        """Of code that may have no way of its own for one row."""

        def alone(leaves: list[Any]) -> list[Any]:
            return [row[0, ...] for row in kernel(leaves, [False] * len(leaves), 1)]

        return cls(kernel, tree, stats, getattr(kernel, "alone", alone))


class Made(NamedTuple):
    """What was made for arguments of one structure: the numbers of the arrays whose zeros and ones fold, the version of
    what they compute, and the code (or why there is none) by version, shapes and lanes."""

    folding: list[int]
    version: Version
    entries: dict[Any, Entry | Unsupported]


class Signature(NamedTuple):
    """What a program depends on besides the function: what was `made` for arguments of the structure, with what is not
    an array in them; the forms of the arrays, and of those whose zeros and ones fold, the elements that are known to be
    that."""

    made: Made
    shapes: tuple[tuple[tuple[int, ...], np.dtype], ...]
    known: tuple[bytes | None, ...]


class Compiled:
    """A pure JAX function as machine code, compiled for each new form of its arguments when it is first called.

    Numbers and arrays in the arguments are arguments of the code; anything else is part of it. For the arguments named
    in `parameters`, elements that are exactly 0 or 1 are part of it too, so that the zeros of an inertia matrix cost
    nothing. `batch` runs many at once, in lanes and on all cores; `backend` makes the code. What the function and the
    classes of its arguments name (globals, cells, arrays) is part of the code, which is made again when it changes.
    """

    @checked
    def __init__(
        self,
        function: Callable[..., Any],
        *,
        fma: bool = True,
        parameters: Sequence[int] = (),
        lanes: int | None = None,
        cache: bool = True,
        backend: Backend | None = None,
        most_scalars: int | None = None,
    ):
        if lanes is not None and lanes not in (1, 2, 4, 8, 16):
            raise InputError(
                f"compile: lanes = {lanes!r}; expected 1, 2, 4, 8 or 16 (or None: what the processor has)."
            )
        _check_numbers("compile: parameters", parameters, _most_arguments(function))
        self.function = function
        self._fma = fma
        self._parameters = tuple(parameters)
        self._lanes = lanes
        self._caches = cache
        self._backend = backend or default_backend()
        self._most_scalars = most_scalars  # as of a back end, where it is not the back end's
        self._made: dict[Any, Made] = {}
        self._last: tuple[Entry, Signature, tuple[Any, ...]] | None = None
        functools.update_wrapper(self, function, updated=())

    def __reduce__(self) -> Any:
        """By name where it decorates a function, else the function and the options; another process compiles anew."""
        name = getattr(self, "__qualname__", None)  # which a partial has not
        if is_reachable(self, self.__module__, name):
            return name
        options = {"fma": self._fma, "parameters": self._parameters, "lanes": self._lanes, "cache": self._caches}
        options["most_scalars"] = self._most_scalars
        return functools.partial(Compiled, **options, backend=self._backend), (self.function,)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The function of these arguments, which are given by place; arrays come back as NumPy arrays."""
        if named:
            names = ", ".join(f"{name}=" for name in named)
            raise InputError(f"compile: {_place(self.function)} was given {names}; give its arguments by their place.")
        signature, leaves = self._signature(args)
        entry = self._entry(signature, args)
        return entry.tree.unflatten(entry.alone(leaves))

    def batch(self, *args: Any, shared: Sequence[int] = (), device: Device = "cpu") -> Any:
        """The function of every row: arrays have a leading axis, except in the arguments whose numbers are `shared`.

        With `device="gpu"` the rows go to the GPUs of this machine, and the results stay there until someone asks for
        their numbers; they are taken again as arguments where they lie. "auto": to GPUs if there are any.
        """
        if check_device(device) == "cpu" or self._backend.keeps:
            return self._batch(args, shared)
        return placed(device, lambda: self._on_gpu._batch(args, shared), lambda: self._batch(args, shared))

    @functools.cached_property
    def _on_gpu(self) -> "Compiled":
        backend = gpu_backend(remember=self._caches)
        return Compiled(self.function, fma=self._fma, parameters=self._parameters, cache=self._caches, backend=backend)

    def batch_left(self, *args: Any, shared: Sequence[int] = (), device: Device = "cpu") -> Any:
        """The same, whose large results may stay as they lie on the processor too, until someone asks for their numbers
        (`Resident`)."""
        if check_device(device) == "cpu":
            return self._batch(args, shared, left=True)
        return self.batch(*args, shared=shared, device=device)

    def _batch(self, args: tuple[Any, ...], shared: Sequence[int], left: bool = False) -> Any:
        _check_numbers("batch: shared", shared, len(args))
        examples, size = _first_rows(args, shared, self._parameters)
        signature, _ = self._signature(examples)
        leaves, own = [], []
        for number, arg in enumerate(args):
            numbers = [leaf for leaf in jax.tree.leaves(arg) if is_number(leaf)]
            leaves += numbers
            own += [number not in shared] * len(numbers)
        same = tuple(not each for each in own)
        kernel, tree, *_ = self._entry(signature, examples, self._lanes or self._lanes_of(size), same)
        takes = getattr(kernel, "takes", Resident if self._backend.keeps else ())
        given = [leaf if isinstance(leaf, takes) else _numbers(leaf) for leaf in leaves]
        run = getattr(kernel, "left", kernel) if left else kernel
        return jax.tree.unflatten(tree, run(given, own, size))

    def _lanes_of(self, rows: int) -> int | None:
        """How many rows of so many go side by side; None where that depends on the program. Each core gets some, before
        one gets many."""
        usual, most = self._backend.lanes, self._backend.lanes_of(0)
        return usual if most == usual or rows < most * available() else None

    def over_tables(self, shared: Any, *rows: Any, lanes: int, apart: frozenset[str] = frozenset()) -> Entry:
        """The code for tables of rows like these, so many side by side, every argument and result in one of its own;
        the first argument is the same for all rows, and rows lie `apart` in some (see `Memories`)."""
        args = (shared, *rows)
        signature, leaves = self._signature(args)
        first = sum(map(is_number, jax.tree.leaves(shared)))
        return self._entry(signature, args, lanes, (*[True] * first, *[False] * (len(leaves) - first)), apart=apart)

    def wasm(self, *args: Any) -> WasmModule:
        """The function of arguments like these as a module of WebAssembly, for browsers and Node; the numbers that are
        given here are those that it begins with."""
        signature, leaves = self._signature(args)
        with making(lambda: f"{_subject(self.function, args)} to WebAssembly"):
            program, tree, _ = self._traced(signature, args, wasm=True)
            names = Names(_argument_names(self.function, args), _leaf_names(tree.unflatten(range(tree.num_leaves))))
            return wasm_module(program, leaves, _masks(signature, leaves), names, _place(self.function))

    @property
    def ir(self) -> str:
        """The scalar program of the last call, to look at."""
        return str(self._program())

    @property
    def llvm(self) -> str:
        """The source that the back end makes of the last call: LLVM IR, before LLVM's own passes."""
        return self._backend.source(self._program())

    @property
    def assembly(self) -> str:
        """The assembly of the last call."""
        return self._backend.assembly(self.llvm)

    @property
    def stats(self) -> dict[str, Any]:
        """Of the last call: operations by name, the body of a loop counted once; seconds of each stage."""
        return dict(self._last_call()[0].stats)

    def _program(self) -> Program:
        _, signature, args = self._last_call()
        return self._traced(signature, args, packs=self._backend.packs)[0]

    def _last_call(self) -> tuple[Entry, Signature, tuple[Any, ...]]:
        if self._last is None:
            raise InputError("compile: nothing is compiled yet; call the function first, so that its shapes are known.")
        return self._last

    def _signature(self, args: tuple[Any, ...]) -> tuple[Signature, list[np.ndarray]]:
        everything, structure = jax.tree_util.tree_flatten(args)
        static, leaves = [], []
        for leaf in everything:
            if type(leaf) is float or type(leaf) is int:
                leaf = np.asarray(leaf)
            if type(leaf) is np.ndarray and leaf.dtype in _USUAL:
                leaves.append(leaf)
            elif is_number(leaf):
                leaves.append(_numbers(leaf))
            else:
                static.append((len(leaves) + len(static), leaf))
        form = structure, tuple(static)
        made = self._made.get(form)
        if made is None:
            made = self._made[form] = self._none_made(everything, *form)
        shapes = tuple([(leaf.shape, leaf.dtype) for leaf in leaves])
        return Signature(made, shapes, tuple([_known(leaves[number]) for number in made.folding])), leaves

    def _none_made(self, everything: list[Any], structure: Any, static: tuple[Any, ...]) -> Made:
        """Nothing yet for arguments of a structure with these leaves."""
        counts = [argument.num_leaves for argument in structure.children()]
        _check_count(self.function, len(counts))
        if _most_arguments(self.function) == math.inf:
            _check_numbers("compile: parameters", self._parameters, len(counts))
        folds = [number in self._parameters for number, count in enumerate(counts) for _ in range(count)]
        kept = [each for leaf, each in zip(everything, folds, strict=True) if is_number(leaf)]
        return Made(
            [number for number, each in enumerate(kept) if each], Version(self.function, nodes(structure), static), {}
        )

    def _entry(
        self,
        signature: Signature,
        args: tuple[Any, ...],
        lanes: int | None = 1,
        shared: tuple[bool, ...] = (),
        *,
        apart: frozenset[str] | None = None,
    ) -> Entry:
        made, *forms = signature
        version = made.version.current()

        def code(lanes: int | None) -> Entry | Unsupported | None:
            return made.entries.get((version, *forms, lanes, shared, apart))

        entry = code(lanes)
        if entry is None and lanes in (None, usual := self._backend.lanes):
            other = code(usual if lanes is None else None)
            if isinstance(other, Entry) and self._backend.lanes_of(other.length) == usual:
                entry = other  # few rows and many take the same
        if entry is None:
            try:
                entry = self._make(version, signature, args, lanes, shared, apart)
            except Unsupported as refusal:
                entry = refusal
            made.entries[version, *forms, lanes, shared, apart] = entry
        if isinstance(entry, Unsupported):
            raise entry
        self._last = (entry, signature, args)
        return entry

    def _make(
        self,
        version: str | Unknown,
        signature: Signature,
        args: tuple[Any, ...],
        lanes: int | None,
        shared: tuple[bool, ...],
        apart: frozenset[str] | None,
    ) -> Entry:
        cache = default_cache() if self._caches else None
        made, *forms = signature
        key = None if cache is None else self._key(made.version, made.folding, *forms, lanes, shared, apart)
        stored = cache.load(key) if cache is not None and key is not None else None
        if stored is not None:
            with contextlib.suppress(Exception):  # the class of a result may have changed its state or its name
                code, layout, lanes, stats, example = pickle.loads(stored)
                return Entry.of(self._backend.load(code, layout, lanes), jax.tree.structure(example), stats)
        started = time.perf_counter()
        with making(lambda: _subject(self.function, args) + ("" if lanes == 1 else ", for many rows")):
            program, tree, traced = self._traced(signature, args, apart=apart, packs=lanes == 1 and self._backend.packs)
            lanes = lanes or self._backend.lanes_of(program.length)
            source = self._backend.source(program, lanes, shared)
            scalarised = time.perf_counter()
            code = outside(self._backend.build, source)
        built = time.perf_counter()
        seconds = {"jaxpr": traced - started, "program": scalarised - traced, self._backend.name: built - scalarised}
        stats = {"operations": program.stats, "seconds": seconds}
        if cache is not None and key is not None:
            data = None
            with contextlib.suppress(Exception):  # a class that is not found by its name, or refuses to hold shapes
                example = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in program.outputs])
                data = pickle.dumps((code, program.layout, lanes, stats, example))
            if data is not None:
                cache.store(key, data)
        return Entry.of(self._backend.load(code, program.layout, lanes), tree, stats)

    def _traced(
        self,
        signature: Signature,
        args: tuple[Any, ...],
        *,
        wasm: bool = False,
        apart: frozenset[str] | None = None,
        packs: bool = False,
    ) -> tuple[Program, Any, float]:
        everything, structure = jax.tree.flatten(args)
        numbers = [_numbers(leaf) for leaf in everything if is_number(leaf)]
        trees = []

        def flat(*leaves: Any) -> list[Any]:
            given = iter(leaves)
            filled = [next(given) if is_number(leaf) else leaf for leaf in everything]
            outputs, tree = jax.tree.flatten(self.function(*jax.tree.unflatten(structure, filled)))
            for output in outputs:
                if not is_number(output):
                    raise InputError(f"{_place(self.function)} gives {output!r:.60}; expected numbers and arrays.")
            trees.append(tree)
            return outputs

        with jax.enable_x64(True):
            jaxpr = jax.make_jaxpr(flat)(*map(_form, numbers))
        traced = time.perf_counter()
        program = finished(
            jaxpr,
            _masks(signature, numbers),
            platform="cpu" if wasm else self._backend.platform,
            most_scalars=self._most_scalars or self._backend.most_scalars,
            fma=not wasm and self._fma and self._backend.fma,
            packs=packs,
        )
        if apart is not None:
            program.memories = Memories(_starts(args, program.inputs), _starts(trees[0], program.outputs), apart)
        return program, trees[0], traced

    def _key(self, version: Version, *how: Any) -> str | None:
        """The key of the cache on disk; None where what is computed is not known before it is traced."""
        maker = (Compiled, type(self._backend), self._backend.tag(), jax.__version__)  # the compiler, by its modules
        try:
            return fingerprint(version.fingerprint(), self._fma, self._most_scalars, how, maker)
        except Unfingerprintable:
            return None


@checked
def compile(
    function: Callable[..., Any] | None = None,
    *,
    fma: bool = True,
    parameters: Sequence[int] = (),
    lanes: int | None = None,
    cache: bool = True,
    backend: Backend | None = None,
) -> Any:
    """Machine code for a pure JAX function on small arrays; also as a decorator.

    `fma=False` keeps products and sums apart; of the arguments with the numbers in `parameters`, elements that are
    exactly 0 or 1 are part of the code, which is compiled again when they change; `lanes` is the number of rows that
    `batch` treats at once (what fits a vector register of the processor if not given, and where there are many of them
    twice that for large batches by short programs); `cache=False` keeps nothing on disk; `backend` makes the code (an
    object of `naiad.compiler.backends`; `LLVM()` if not given).
    """
    if function is None:
        return lambda f: compile(f, fma=fma, parameters=parameters, lanes=lanes, cache=cache, backend=backend)
    return Compiled(function, fma=fma, parameters=parameters, lanes=lanes, cache=cache, backend=backend)


def is_number(leaf: Any) -> bool:
    """Whether a leaf of the arguments is an argument of the code, and not part of it."""
    return isinstance(leaf, _NUMBERS)


def _numbers(leaf: Any) -> np.ndarray:
    if isinstance(leaf, core.Tracer):
        raise InputError(
            "compile: machine code was called inside a function that JAX traces (jit, grad, vmap); call its `.function`"
            " there, and compile the outermost function."
        )
    array = np.asarray(leaf)
    if not kind(array.dtype):
        remedy = "; convert it: np.asarray(x, float)" if array.dtype.kind == "f" else ""
        raise InputError(f"compile: an argument is {array.dtype}; expected float64, int64, int32 or bool{remedy}.")
    return array


def nodes(structure: Any) -> Any:
    """The classes and constants of a tree, without its leaves."""
    return structure.node_data(), tuple(nodes(child) for child in structure.children())


def _leaf_names(*trees: Any, first: Sequence[str] = ("",)) -> list[str]:
    """The names of the numbers in trees: the way to each, with dots, after the name of the tree."""
    names = []
    for name, tree in zip(first, trees, strict=True):
        ways = [way for way, leaf in jax.tree_util.tree_flatten_with_path(tree)[0] if is_number(leaf)]
        within = (jax.tree_util.keystr(way, simple=True, separator=".") for way in ways)
        names += [".".join(filter(None, (name, way))) for way in within]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"wasm: {twice[0]!r} is the name of more than one array; give the keys of dicts other names.")
    known = set(names)
    ways = ((way, inner) for inner in names for way in _ways(inner) if way in known)
    for way, inner in ways:
        raise InputError(f"wasm: {way!r} is an array, and on the way to {inner!r}; give the keys of dicts other names.")
    return names


def _ways(name: str) -> Iterator[str]:
    """The names of the trees that have an array of this name in them."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(len(parts) if name else 0))


def _argument_names(function: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """The names of the numbers in the arguments, which begin with those of the function's own where it has some."""
    own = [each.name for each in _taken(function) or () if each.kind is not each.VAR_POSITIONAL]
    return _leaf_names(*args, first=[*own[: len(args)], *map(str, range(len(own), len(args)))])


def _taken(function: Callable[..., Any], *, wrapped: bool = True) -> list[inspect.Parameter] | None:
    """The parameters of a function, or of the one that is `wrapped`, that take arguments by place; None where they are
    not known."""
    try:
        parameters = inspect.signature(function, follow_wrapped=wrapped).parameters.values()
    except (TypeError, ValueError):  # of functions that are not written in Python
        return None
    return [each for each in parameters if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]


def _most_arguments(function: Callable[..., Any]) -> float:
    """How many arguments a function takes by place; infinitely many where any number, or where that is not known."""
    taken = _taken(function, wrapped=False)
    if taken is None or any(each.kind is each.VAR_POSITIONAL for each in taken):
        return math.inf
    return len(taken)


def _check_numbers(name: str, numbers: Any, count: float) -> None:
    """Refuse what are no numbers of arguments, of which there are so many: the option would do nothing."""
    some = isinstance(numbers, Sequence) or (isinstance(numbers, np.ndarray) and numbers.ndim > 0)
    whole = some and all(isinstance(each, int | np.integer) and not isinstance(each, bool) for each in numbers)
    if not whole or not all(0 <= each < count for each in numbers):
        among = "counted from 0" if count == math.inf else f"from 0 to {count - 1}" if count else "of which it has none"
        raise InputError(f"{name} = {numbers!r}; expected a sequence of numbers of arguments, {among}.")


def _check_count(function: Callable[..., Any], count: int) -> None:
    """Refuse a call with another number of arguments than the function takes."""
    try:
        inspect.signature(function, follow_wrapped=False).bind(*range(count))
    except TypeError as error:
        raise InputError(f"compile: {_place(function)} is called with {count} arguments: {error}.") from None
    except ValueError:  # a function without a signature
        return


def _subject(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What is compiled, in words: a user's function with its line, or one of naiad's and the system that it is for."""
    own = getattr(inspect.unwrap(function), "__module__", None) or ""
    if not own.startswith("naiad."):
        return _place(function)
    systems = (getattr(arg, "system", arg) for arg in args)
    system = next((type(each).__name__ for each in systems if hasattr(each, "lagrangian")), None)
    return f"{own}.{getattr(function, '__name__', 'function')}" + (f" for {system}" if system else "")


def _place(function: Callable[..., Any]) -> str:
    """The name of a function, and the line where it begins."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = getattr(function, "__qualname__", repr(function))
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


def _starts(parts: Any, slots: Sequence[Slot]) -> tuple[int, ...]:
    """The first element of every argument, or of every result by the structure of all, in the memory of all."""
    if isinstance(parts, tuple):
        counts = [sum(map(is_number, jax.tree.leaves(part))) for part in parts]
    else:
        counts = [child.num_leaves for child in parts.children()]
    ends = [0, *itertools.accumulate(math.prod(slot.shape) for slot in slots)]
    return tuple(ends[number] for number in (0, *itertools.accumulate(counts[:-1])))


def _form(leaf: Any) -> jax.ShapeDtypeStruct:
    array = _numbers(leaf)
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def _known(array: np.ndarray) -> bytes | None:
    """Which elements are 1, and which are 0, a byte each; None if there are none such."""
    if array.dtype != np.float64:
        return None
    return _of_few(array.tobytes()) if array.size <= FEW else _known_of(array)


@functools.lru_cache  # the parameters of a loop over runs are the same again and again
def _of_few(data: bytes) -> bytes | None:
    return _known_of(np.frombuffer(data))


def _known_of(array: np.ndarray) -> bytes | None:
    marks = (array == 1.0).tobytes() + (array == 0.0).tobytes()
    return marks if b"\1" in marks else None


def _masks(signature: Signature, leaves: Sequence[np.ndarray]) -> list[np.ndarray | None]:
    """For each array of the arguments the marks of its elements, if some are known."""
    masks: list[np.ndarray | None] = [None] * len(leaves)
    for number, known in zip(signature.made.folding, signature.known, strict=True):
        masks[number] = None if known is None else _marks(known, leaves[number].shape)
    return masks


def _marks(known: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """For each element 0 or 1 if it is known to be that, else -1."""
    ones, zeros = np.frombuffer(known, np.int8).reshape(2, *shape)
    return np.asarray(2 * ones + zeros - 1)


def _first_rows(args: tuple[Any, ...], shared: Sequence[int], folding: Sequence[int]) -> tuple[tuple[Any, ...], int]:
    """A row like all others: in arguments whose zeros and ones fold, what differs between rows is neither."""
    sizes = set()

    def first(leaf: Any, folds: bool) -> Any:
        if not is_number(leaf):
            return leaf
        if isinstance(leaf, Resident) and not folds:
            sizes.add(leaf.shape[0])
            return np.zeros(leaf.shape[1:], leaf.dtype)
        array = _numbers(leaf)
        if not array.ndim:
            raise InputError("batch: an argument is a single number; give one for each row, or name it in `shared`.")
        sizes.add(array.shape[0])
        if not len(array):
            return np.zeros(array.shape[1:], array.dtype)
        if not folds or array.dtype != np.float64:
            return array[0]
        return np.where(np.all(array == array[0], axis=0), array[0], NEITHER)

    examples = tuple(
        arg if number in shared else jax.tree.map(lambda leaf, n=number: first(leaf, n in folding), arg)
        for number, arg in enumerate(args)
    )
    if not sizes:
        raise InputError("batch: no argument has rows: all are shared, or there are none; give one that has rows.")
    if len(sizes) != 1:
        raise InputError(f"batch: the arguments have {sorted(sizes)} rows; expected one number of rows for all.")
    return examples, sizes.pop()
