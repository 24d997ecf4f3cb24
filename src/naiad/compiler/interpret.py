"""The meaning of a program, in NumPy: slow, and the oracle of the tests."""

from typing import Any

import numpy as np

from naiad.compiler.operations import DTYPES, OPERATIONS
from naiad.compiler.program import Branch, Buffer, Loop, Node, Part, Program, Region


def interpret(program: Program, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The results of a program, node by node."""
    memory = {"in": np.zeros(program.in_size, object), "out": np.zeros(program.out_size, object)}
    memory["work"] = np.zeros(program.work_size, object)
    for slot, value in zip(program.inputs, inputs, strict=True):
        flat = np.asarray(value).reshape(-1)
        memory["in"][slot.offset : slot.offset + flat.size] = [x for x in flat]
    values: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        _run(program.region, values, memory)
        for offset, node in program.results:
            memory["out"][offset] = _value(node, values, memory)
    outputs = []
    for slot in program.outputs:
        size = int(np.prod(slot.shape, dtype=int))
        part = memory["out"][slot.offset : slot.offset + size]
        outputs.append(np.array(list(part), slot.dtype).reshape(slot.shape))
    return outputs


def _value(node: Node, values: dict[int, Any], memory: dict[str, np.ndarray]) -> Any:
    if node.constant:
        return DTYPES[node.type](node.value)
    return values[node.number]


def _run(region: Region, values: dict[int, Any], memory: dict[str, np.ndarray]) -> None:
    def value(node: Node) -> Any:
        return _value(node, values, memory)

    for node in region.items:
        if isinstance(node, Loop):
            current = [value(init) for init in node.inits]
            while True:
                values.update((param.number, v) for param, v in zip(node.params, current, strict=True))
                _run(node.test, values, memory)
                if not value(node.predicate):
                    break
                _run(node.body, values, memory)
                current = [value(y) for y in node.yields]
            values.update((result.number, v) for result, v in zip(node.results, current, strict=True))
        elif isinstance(node, Branch):
            arm = 0 if value(node.predicate) else 1
            _run(node.arms[arm], values, memory)
            values.update((result.number, value(y)) for result, y in zip(node.results, node.yields[arm], strict=True))
        elif isinstance(node, Part):
            _run(node.body, values, memory)
        elif node.op == "store":
            index, stored = (value(a) for a in node.args)
            memory[node.value.space][node.value.offset + int(index)] = stored
        elif node.op == "load":
            values[node.number] = _load(node.value, int(value(node.args[0])), memory)
        elif node.op == "input":
            values[node.number] = DTYPES[node.type](memory["in"][node.value])
        elif node.op == "select":
            condition, yes, no = (value(a) for a in node.args)
            values[node.number] = yes if condition else no
        elif node.op not in ("param", "result"):
            operation = OPERATIONS[node.op]
            result = operation.evaluate(*(value(a) for a in node.args))
            values[node.number] = DTYPES[operation.type](np.asarray(result).item())


def _load(buffer: Buffer, index: int, memory: dict[str, np.ndarray]) -> Any:
    if not 0 <= index < buffer.size:
        raise IndexError(f"load of element {index} of a buffer of {buffer.size}")
    if buffer.values is not None:
        return DTYPES[buffer.type](buffer.values[index])
    return DTYPES[buffer.type](memory[buffer.space][buffer.offset + index])
