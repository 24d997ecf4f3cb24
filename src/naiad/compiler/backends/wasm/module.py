"""A function as a module of WebAssembly: what `naiad.compile(f).wasm(...)` gives."""

import base64
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.backends.wasm.printer import TooLarge, print_wasm
from naiad.compiler.ir.program import Buffer, Program, Slot, regions
from naiad.compiler.passes.branches import branches
from naiad.compiler.passes.split import split
from naiad.errors import InputError
from naiad.files import whole_file

Bytes = bytes  # which the class below has a field for
RESERVED = """
    await break case catch class const continue debugger default delete do else enum export extends false finally for
    function if implements import in instanceof interface let naiad new null package private protected public return
    static super switch this throw true try typeof undefined var void while with yield
"""
"""Names that no variable of a script beside the loader can have."""


class Names(NamedTuple):
    """What the leaves of the arguments and of the results are called."""

    arguments: Sequence[str]
    results: Sequence[str]


class WasmModule(NamedTuple):
    """A function in WebAssembly, for browsers and Node.

    `bytes` are the module: it exports `memory` and `run()`, and takes from outside what the format lacks, functions of
    JavaScript's `Math`. `description`, which is JSON, says of every array of the arguments and the results its name
    (the way to it in the tree), its shape, its dtype, and its offset in the memory in bytes, where numbers lie row by
    row, of eight bytes each: floats, or integers. At first the memory has the arguments that the module was made with;
    elements that are part of the code are `fixed`.
    """

    bytes: Bytes
    description: dict[str, Any]

    def save(self, path: str | Path) -> None:
        """Write the module, NAME.wasm, and beside it its description, NAME.json, and the loader, naiad.js."""
        path = Path(path)
        if path.suffix != ".wasm" or not path.parent.is_dir():
            raise InputError(f"save: path = {str(path)!r}; expected NAME.wasm in a folder that exists.")
        beside = {path.with_suffix(".json"): json.dumps(self.description), path.with_name("naiad.js"): loader()}
        for file, text in beside.items():
            with whole_file(file) as fresh:
                fresh.write_text(text, encoding="utf-8")
        with whole_file(path) as fresh:
            fresh.write_bytes(self.bytes)

    def script(self, name: str) -> str:
        """JavaScript for a page, which needs no other file: after it `await NAME` is the module, ready to run."""
        if not name.isidentifier() or name in RESERVED.split():
            raise InputError(f"script: name = {name!r}; expected the name of a variable.")
        code = base64.b64encode(self.bytes).decode()
        description = json.dumps(self.description).replace("<", "\\u003c")  # which could end the script of a page
        return f'{loader()}\nconst {name} = naiad.load("{code}", {description});\n'

    def __repr__(self) -> str:
        arguments = ", ".join(each["name"] for each in self.description["arguments"])
        return f"WasmModule({len(self.bytes):,} bytes; {arguments})"


@cache
def loader() -> str:
    """The JavaScript that loads modules."""
    return Path(__file__).with_name("loader.js").read_text(encoding="utf-8")


def wasm_module(
    program: Program, leaves: Sequence[np.ndarray], marks: Sequence[np.ndarray | None], names: Names, where: str
) -> WasmModule:
    """The module of a finished program of these arguments, of whose elements those are part of the code that have
    `marks` of 0 or more; `where` is the function, for the case that it is too large."""
    layout = split(branches(program)).layout
    described = {
        "arguments": [_described(*each, 0) for each in zip(names.arguments, layout.inputs, strict=True)],
        "results": [_described(*each, layout.in_size) for each in zip(names.results, layout.outputs, strict=True)],
    }
    in_memory = {buffer.offset for buffer in _read(program) if buffer.space == "in"}
    for slot, argument, known in zip(layout.inputs, described["arguments"], marks, strict=True):
        fixed = [] if known is None else _fixed(known, slot.offset in in_memory)
        if fixed:
            argument["fixed"] = fixed
    try:
        code = print_wasm(program, b"".join(_inside(leaf).tobytes() for leaf in leaves))
    except TooLarge as what:
        raise InputError(f"{where} cannot be a module of WebAssembly: {what}") from None
    return WasmModule(code, described)


def _described(name: str, slot: Slot, before: int) -> dict[str, Any]:
    return {"name": name, "shape": list(slot.shape), "dtype": slot.dtype, "offset": 8 * (before + slot.offset)}


def _fixed(marks: np.ndarray, in_memory: bool) -> list[list[int]]:
    """The places of elements that are part of the code, with their values; of an array in memory, what is the same in
    every row."""
    if in_memory:
        marks = np.where(np.all(marks == marks[0], axis=0), marks, -1)
    flat = marks.reshape(-1)
    return [[int(place), int(flat[place])] for place in np.flatnonzero(flat >= 0)]


def _read(program: Program) -> Iterator[Buffer]:
    for region in regions(program.region):
        yield from (node.value for node in region.items if node.op == "load")


def _inside(leaf: np.ndarray) -> np.ndarray:
    """Numbers as they lie in the memory."""
    return leaf.astype("<f8" if leaf.dtype == np.float64 else "<i8")
