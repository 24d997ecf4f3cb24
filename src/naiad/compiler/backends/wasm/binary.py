"""The binary format: numbers, instructions, sections [https://webassembly.github.io/spec/core/binary]."""

import struct
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

I32, I64, F64 = b"\x7f", b"\x7e", b"\x7c"
VOID = b"\x40"
PAGE = 65536  # bytes of memory that are counted as one

# What an instruction is called in the text format, and its code. Those with an immediate argument take it after it.
CODES = {
    **{"block": 0x02, "loop": 0x03, "if": 0x04, "else": 0x05, "end": 0x0B, "br": 0x0C, "br_if": 0x0D, "call": 0x10},
    **{"select": 0x1B, "local.get": 0x20, "local.set": 0x21, "local.tee": 0x22},
    **{"i64.load": 0x29, "f64.load": 0x2B, "i64.store": 0x37, "f64.store": 0x39},
    **{"i32.const": 0x41, "i64.const": 0x42, "f64.const": 0x44},
    **{"i32.eqz": 0x45, "i32.eq": 0x46, "i32.ne": 0x47, "i32.lt_u": 0x49, "i32.le_u": 0x4D},
    **{"i64.eqz": 0x50, "i64.eq": 0x51, "i64.ne": 0x52, "i64.lt_s": 0x53, "i64.lt_u": 0x54, "i64.gt_s": 0x55},
    **{"i64.le_s": 0x57, "f64.eq": 0x61, "f64.ne": 0x62, "f64.lt": 0x63, "f64.gt": 0x64, "f64.le": 0x65},
    **{"f64.ge": 0x66, "i32.and": 0x71, "i32.or": 0x72, "i32.xor": 0x73, "i32.shl": 0x74},
    **{"i64.add": 0x7C, "i64.sub": 0x7D, "i64.mul": 0x7E, "i64.div_s": 0x7F, "i64.rem_s": 0x81},
    **{"i64.and": 0x83, "i64.or": 0x84, "i64.xor": 0x85, "i64.shl": 0x86, "i64.shr_s": 0x87},
    **{"f64.abs": 0x99, "f64.neg": 0x9A, "f64.ceil": 0x9B, "f64.floor": 0x9C, "f64.trunc": 0x9D, "f64.nearest": 0x9E},
    **{"f64.sqrt": 0x9F, "f64.add": 0xA0, "f64.sub": 0xA1, "f64.mul": 0xA2, "f64.div": 0xA3, "f64.min": 0xA4},
    **{"f64.max": 0xA5, "f64.copysign": 0xA6, "i32.wrap_i64": 0xA7, "i64.extend_i32_u": 0xAD},
    **{"f64.convert_i64_s": 0xB9, "i64.reinterpret_f64": 0xBD, "f64.reinterpret_i64": 0xBF, "i64.extend32_s": 0xC4},
    **{"i64.trunc_sat_f64_s": 0xFC06},
}
INSTRUCTIONS = {name: bytes([code]) if code < 256 else code.to_bytes(2, "big") for name, code in CODES.items()}


class Signature(NamedTuple):
    """The types of a function's arguments and results."""

    arguments: tuple[bytes, ...]
    results: tuple[bytes, ...]


class Import(NamedTuple):
    """A function from outside."""

    module: str
    name: str
    signature: Signature


class Function(NamedTuple):
    """A function: the types of its own locals, and its instructions."""

    signature: Signature
    locals: Sequence[bytes]
    body: bytes


def unsigned(value: int) -> bytes:
    """A number of no sign, seven bits a byte (LEB128)."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """A number with a sign, seven bits a byte (LEB128)."""
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


def float64(value: float) -> bytes:
    """The eight bytes of a float."""
    return struct.pack("<d", value)


def module(
    imports: Sequence[Import],
    functions: Sequence[Function],
    exported: dict[str, int],
    *,
    memory: int,
    data: Iterable[tuple[int, bytes]],
) -> bytes:
    """A module: functions, of which those `exported` by name have their numbers counted after the imports; a memory of
    so many bytes, exported as "memory", which never grows; and what lies in it at the start, by address."""
    signatures = list(dict.fromkeys(each.signature for each in (*imports, *functions)))
    kind = {signature: unsigned(number) for number, signature in enumerate(signatures)}
    pages = unsigned(-(-memory // PAGE))
    sections = {
        1: [b"\x60" + _vector(s.arguments) + _vector(s.results) for s in signatures],
        2: [_name(each.module) + _name(each.name) + b"\0" + kind[each.signature] for each in imports],
        3: [kind[function.signature] for function in functions],
        5: [b"\1" + pages + pages],
        7: [
            _name("memory") + b"\2\0",
            *(_name(name) + b"\0" + unsigned(len(imports) + number) for name, number in exported.items()),
        ],
        10: [_sized(_locals(function.locals) + function.body + INSTRUCTIONS["end"]) for function in functions],
        11: [b"\0" + INSTRUCTIONS["i32.const"] + signed(_address(at)) + b"\x0b" + _sized(held) for at, held in data],
    }
    written = (bytes([number]) + _sized(_vector(items)) for number, items in sections.items() if items)
    return b"\0asm\1\0\0\0" + b"".join(written)


def _address(at: int) -> int:
    """An address as the constant that has its bits."""
    return at - 2**32 if at >= 2**31 else at


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _sized(content: bytes) -> bytes:
    return unsigned(len(content)) + content


def _name(text: str) -> bytes:
    return _sized(text.encode())


def _locals(types: Sequence[bytes]) -> bytes:
    return _vector([unsigned(len(list(run))) + type for type, run in groupby(types)])
