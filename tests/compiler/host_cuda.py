"""The back end for GPUs without one: its CUDA C compiled as C++ by the system's compiler, and devices that are made up.

A thread is a turn of a loop, a device a budget of bytes; all else is what runs on a GPU.
"""

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from naiad.compiler.backends.cuda.backend import CUDA
from naiad.errors import DeviceError

COMPILER = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)

SHIM = r"""
#include <cmath>
#include <cstring>
#define __device__
#define __global__
#define __constant__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(threads, blocks)
#define NAIAD_DEVICE static inline
static struct { unsigned x; } threadIdx, blockIdx;
static inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
static inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)(((unsigned long long)(unsigned)hi << 32) | (unsigned)lo));
}
static inline float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
static inline int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline double near_inverse(double b) { return 1.0 / b; }
"""


def as_cpp(source: str) -> str:
    """The text as C++, with a function that runs the threads one after the other."""
    parameters = re.search(
        r"\brun\((.*), unsigned stride, unsigned rows\)|\brun\((unsigned stride), unsigned rows\)", source
    )
    assert parameters is not None
    types = [] if parameters[1] is None else [p.rsplit(" ", 1)[0] for p in parameters[1].split(", ")]
    given = ", ".join([*(f"({t.replace('__restrict__', '')})p[{k}]" for k, t in enumerate(types)), "stride, rows"])
    loop = f"for (blockIdx.x = 0; blockIdx.x < rows; blockIdx.x++) run({given});"
    return f'{SHIM}\n{source}\nextern "C" void launch(void** p, unsigned stride, unsigned rows) {{ {loop} }}\n'


def compiled(text: str, *flags: str) -> bytes:
    """A shared library."""
    assert COMPILER is not None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "program.cpp"), Path(folder, "program.so")
        source.write_text(text)
        command = [COMPILER, "-std=c++17", "-w", "-shared", "-fPIC", "-ffp-contract=off", *flags, "-o", library, source]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]
        return library.read_bytes()


class HostMemory:
    """Bytes of a made-up device."""

    def __init__(self, device: "HostDevice", size: int):
        self.device = device
        self.bytes = np.full(size + 64, 0xA5, np.uint8)
        self.address = self.bytes.ctypes.data

    def __del__(self):
        self.device.taken -= len(self.bytes) - 64


@dataclass
class HostDevice:
    """A made-up device: a budget, and what was done."""

    number: int = 0
    memory: int = 2**32
    name: str = "made up"
    architecture: str = "none"
    processors: int = 1
    threads: int = 32
    taken: int = 0
    most: int = 0
    uploaded: int = 0
    downloaded: int = 0
    launches: list[int] = field(default_factory=list)
    lost: bool = False

    def free(self) -> int:
        return self.memory - self.taken

    def allocate(self, size: int) -> HostMemory:
        self.check()
        if size > self.free():
            raise DeviceError("the GPU has no memory left")
        self.taken += size
        self.most = max(self.most, self.taken)
        return HostMemory(self, size)

    def upload(self, address: int, array: np.ndarray) -> None:
        self.check()
        self.uploaded += array.nbytes
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def download(self, memory: HostMemory, array: np.ndarray, ready: Any) -> None:
        self.check()
        self.downloaded += array.nbytes
        ctypes.memmove(array.ctypes.data, memory.address, array.nbytes)

    def mark(self) -> None:
        self.check()

    def wait(self) -> None:
        self.check()

    def check(self) -> None:
        if self.lost:
            raise DeviceError("the GPU is lost")

    def load(self, code: bytes) -> "HostModule":
        return HostModule(self, code)


class HostModule:
    """A shared library of a program."""

    def __init__(self, device: HostDevice, code: bytes):
        self.device = device
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(code)
            file.flush()
            self.library = ctypes.CDLL(file.name)

    def constants(self, array: np.ndarray, prepared: int) -> None:
        words = (ctypes.c_double * (array.size + prepared)).in_dll(self.library, "constants")
        ctypes.memmove(words, array.ctypes.data, array.nbytes)
        if prepared:
            self.library.prepare(ctypes.byref(words, array.nbytes))

    def launch(self, blocks: int, threads: int, arguments: list[Any]) -> None:
        self.device.check()
        *addresses, stride, rows = map(int, arguments)
        assert blocks * threads >= rows > (blocks - 1) * threads
        self.device.launches.append(rows)
        self.library.launch((ctypes.c_void_p * len(addresses))(*addresses), ctypes.c_uint(stride), ctypes.c_uint(rows))


@dataclass(frozen=True)
class HostCUDA(CUDA):
    """The back end, on made-up devices."""

    bounds: tuple[tuple[int, int], ...] = ((128, 2),)
    host: tuple[Any, ...] = field(default_factory=lambda: (HostDevice(),))
    flags: tuple[str, ...] = ("-O0",)

    def devices(self):
        return self.host

    def tag(self):
        return ("made up", COMPILER, hashlib.sha256(SHIM.encode()).hexdigest(), self.flags)

    def binary(self, source, bounds, *, fma):
        return compiled(as_cpp(source), "-DTHREADS=1", *self.flags)
