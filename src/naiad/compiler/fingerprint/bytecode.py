"""What bytecode loads: constants, and the names of what it reads elsewhere."""

import dis
import types
from collections.abc import Iterable
from typing import NamedTuple


class Loads(NamedTuple):
    """Of a code object, without those nested in it: the positions of the constants that it loads, and the paths (name,
    attribute, ...) of globals, of cells, and of what it imports."""

    constants: set[int]
    globals: set[tuple[str, ...]]
    cells: set[tuple[str, ...]]
    imports: set[tuple[int, str, tuple[str, ...]]]


def loads(code: types.CodeType) -> Loads:
    """What a code object loads."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "NOP")]
    found = Loads(set(), set(), set(), set())
    for i, step in enumerate(steps):
        if step.opcode in dis.hasconst:
            assert step.arg is not None
            found.constants.add(step.arg)
        elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            found.globals.add((step.argval, *_attributes(steps[i + 1 :])))
        elif step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
            found.cells.add((step.argval, *_attributes(steps[i + 1 :])))
        elif step.opname == "IMPORT_NAME":
            found.imports.add((steps[i - 2].argval, step.argval, steps[i - 1].argval or ()))
    return found


def _attributes(steps: Iterable[dis.Instruction]) -> Iterable[str]:
    """The attributes taken one after another from what was just loaded."""
    for step in steps:
        if step.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            return
        yield step.argval
