"""The GPUs of this machine, through NVIDIA's own bindings of its driver."""

import contextlib
import ctypes
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from naiad.errors import DeviceError, RunError

OLDEST_DRIVER = 12000  # CUDA 12.0
STAGES, STAGE_BYTES = 8, 2**23  # through which large arrays come over: fresh memory is slow to fill for one core


@functools.cache
def bindings() -> tuple[Any, Any]:
    """NVIDIA's bindings of the driver and of the compiler."""
    try:
        from cuda.bindings import driver, nvrtc
    except ImportError as error:
        raise DeviceError(
            f"device 'gpu' needs NVIDIA's bindings, which are not installed ({error}): pip install 'naiad[cuda]'."
        ) from error
    return driver, nvrtc


@functools.cache
def devices() -> tuple["Device", ...]:
    """The GPUs, those of the first one's kind; a `DeviceError` if there is none that can be used."""
    driver, _ = bindings()
    try:
        code, *_ = driver.cuInit(0)
    except Exception as error:
        raise DeviceError(f"device 'gpu': NVIDIA's driver is not installed ({error}); use device='cpu'.") from error
    name = _name(code)
    if int(code) in (100, 101):
        raise DeviceError(f"device 'gpu': no GPU was found ({name}); use device='cpu'.")
    if int(code):
        raise DeviceError(f"device 'gpu': the driver cannot start ({name}); update it, or use device='cpu'.")
    version = called(driver.cuDriverGetVersion)
    if version < OLDEST_DRIVER:
        raise DeviceError(
            f"device 'gpu': the driver is for CUDA {version // 1000}.{version % 1000 // 10}, and 12.0 is the oldest "
            "that will do; update it, or use device='cpu'."
        )
    found = [Device(number) for number in range(called(driver.cuDeviceGetCount))]
    if not found:
        raise DeviceError("device 'gpu': no GPU was found; use device='cpu'.")
    return tuple(device for device in found if device.architecture == found[0].architecture)


def called(function: Any, *args: Any) -> Any:
    """What a function of the driver gives, or a `DeviceError` of one line."""
    try:
        code, *results = function(*args)
    except RuntimeError as error:
        raise DeviceError(f"the GPU's driver does not know {function.__name__} ({error}); update it.") from error
    if int(code):
        name = _name(code)
        if int(code) == 2:
            raise DeviceError(
                f"the GPU has no memory left ({name} in {function.__name__}); run fewer rows at a time, or use "
                "device='cpu'."
            )
        raise DeviceError(
            f"the GPU is lost ({name} in {function.__name__}); start the program again, or use device='cpu'."
        )
    return results[0] if len(results) == 1 else results or None


def _name(code: Any) -> str:
    return getattr(code, "name", str(code))


class Device:
    """A GPU. What is done on it is done in order in its stream, but for what is fetched, which another stream does."""

    def __init__(self, number: int):
        driver, _ = bindings()
        self.number = number
        handle = called(driver.cuDeviceGet, number)
        attribute = driver.CUdevice_attribute

        def known(which: Any) -> int:
            return called(driver.cuDeviceGetAttribute, which, handle)

        self.name = called(driver.cuDeviceGetName, 256, handle).split(b"\0")[0].decode()
        major = known(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = known(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.architecture = f"sm_{major}{minor}"
        self.processors = known(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.threads = known(attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
        self.memory = called(driver.cuDeviceTotalMem, handle)
        self._handle = handle
        self._context: Any = None

    def enter(self) -> Any:
        """The driver, with this device as the current one."""
        driver, _ = bindings()
        if self._context is None:
            self._context = called(driver.cuDevicePrimaryCtxRetain, self._handle)
            called(driver.cuCtxSetCurrent, self._context)
            self._work, self._copies = (called(driver.cuStreamCreate, 1) for _ in range(2))
            self._pool = called(driver.cuDeviceGetDefaultMemPool, self._handle)
            keep = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            with contextlib.suppress(Exception):  # memory that is given back at once only takes longer to get
                called(driver.cuMemPoolSetAttribute, self._pool, keep, driver.cuuint64_t(2**64 - 1))
        else:
            called(driver.cuCtxSetCurrent, self._context)
        return driver

    def free(self) -> int:
        """The bytes that can be allocated."""
        driver = self.enter()
        called(driver.cuStreamSynchronize, self._work)
        called(driver.cuMemPoolTrimTo, self._pool, 0)
        return int(called(driver.cuMemGetInfo)[0])

    def allocate(self, size: int) -> "Memory":
        """So many bytes."""
        driver = self.enter()
        return Memory(self, int(called(driver.cuMemAllocAsync, max(size, 16), self._work)))

    def release(self, address: int) -> None:
        """Give back what was allocated, once all that was asked for until now is done."""
        self.enter().cuMemFreeAsync(address, self._work)

    def upload(self, address: int, array: np.ndarray) -> None:
        """Copy an array to an address, in order with the work."""
        if array.size:
            called(self.enter().cuMemcpyHtoDAsync, address, array.ctypes.data, array.nbytes, self._work)

    def copy(self, address: int, memory: "Memory", size: int) -> None:
        """Copy so many bytes to an address on the device, in order with the work."""
        called(self.enter().cuMemcpyDtoDAsync, address, memory.address, size, self._work)

    def mark(self) -> Any:
        """An event: all that was asked for until now is done."""
        driver = self.enter()
        event = Event(self, called(driver.cuEventCreate, 2))
        called(driver.cuEventRecord, event.handle, self._work)
        return event

    def download(self, memory: "Memory", array: np.ndarray, ready: "Event") -> None:
        """Fill an array once an event is there, beside whatever work there is."""
        driver = self.enter()
        if array.nbytes > STAGES * STAGE_BYTES:
            called(driver.cuEventSynchronize, ready.handle)
            with ThreadPoolExecutor(STAGES) as pool:
                list(pool.map(lambda number: self._through(number, memory, array.reshape(-1)), range(STAGES)))
            return
        called(driver.cuStreamWaitEvent, self._copies, ready.handle, 0)
        called(driver.cuMemcpyDtoHAsync, array.ctypes.data, memory.address, array.nbytes, self._copies)
        called(driver.cuStreamSynchronize, self._copies)

    @functools.cached_property
    def _stages(self) -> list["Stage"]:
        driver = self.enter()
        return [
            Stage(called(driver.cuStreamCreate, 1), int(called(driver.cuMemHostAlloc, STAGE_BYTES, 1)))
            for _ in range(STAGES)
        ]

    def _through(self, number: int, memory: "Memory", array: np.ndarray) -> None:
        """Fill every so many bytes of an array through a stage."""
        driver, stage, there = self.enter(), self._stages[number], array.view(np.uint8)
        page = np.ctypeslib.as_array((ctypes.c_uint8 * STAGE_BYTES).from_address(stage.address))
        for first in range(number * STAGE_BYTES, there.size, STAGES * STAGE_BYTES):
            target = there[first : first + STAGE_BYTES]
            called(driver.cuMemcpyDtoHAsync, stage.address, memory.address + first, target.size, stage.stream)
            called(driver.cuStreamSynchronize, stage.stream)
            target[:] = page[: target.size]

    def wait(self) -> None:
        """Until all that was asked for is done."""
        called(self.enter().cuStreamSynchronize, self._work)

    def load(self, code: bytes) -> "Module":
        """Code on the device."""
        driver = self.enter()
        image = np.frombuffer(code, np.uint8)
        return Module(self, called(driver.cuModuleLoadData, image.ctypes.data))

    def launch(self, function: Any, blocks: int, threads: int, arguments: list[Any]) -> None:
        """Run a function with these arguments: addresses and unsigned numbers."""
        driver = self.enter()
        held = [np.array([a], np.uint64 if isinstance(a, int) else np.uint32) for a in arguments]
        pointers = np.array([each.ctypes.data for each in held], np.uint64)
        called(driver.cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, self._work, pointers.ctypes.data, 0)


class Stage(NamedTuple):
    """Memory of the process that a device can write to, and the stream that does."""

    stream: Any
    address: int


class Memory:
    """Memory on a device, which is given back when nobody holds it any more."""

    def __init__(self, device: Device, address: int):
        self.device = device
        self.address = address

    def __del__(self):
        try:  # noqa: SIM105 - at the end of the process contextlib may be gone, and so may the driver
            self.device.release(self.address)
        except Exception:
            pass


class Event:
    """A moment of a device's stream."""

    def __init__(self, device: Device, handle: Any):
        self.device = device
        self.handle = handle

    def __del__(self):
        try:  # noqa: SIM105 - as above
            self.device.enter().cuEventDestroy(self.handle)
        except Exception:
            pass


class Module:
    """Code on a device."""

    def __init__(self, device: Device, handle: Any):
        driver = device.enter()
        self._device = device
        self._function = called(driver.cuModuleGetFunction, handle, b"run")
        self._handle = handle

    def constants(self, array: np.ndarray, prepared: int) -> None:
        """Fill the constant memory, in order with the work: with an array, and with so many words that are computed."""
        driver = self._device.enter()
        address, _ = called(driver.cuModuleGetGlobal, self._handle, b"constants")
        self._device.upload(int(address), array)
        if prepared:
            made = self._device.allocate(8 * prepared)
            function = called(driver.cuModuleGetFunction, self._handle, b"prepare")
            self._device.launch(function, 1, 1, [made.address])
            self._device.copy(int(address) + array.nbytes, made, 8 * prepared)

    def launch(self, blocks: int, threads: int, arguments: list[Any]) -> None:
        """Run the kernel."""
        self._device.launch(self._function, blocks, threads, arguments)


def nvrtc_version() -> tuple[int, int]:
    """That of the compiler."""
    _, nvrtc = bindings()
    return tuple(called(nvrtc.nvrtcVersion))


def binary(source: str, options: tuple[str, ...]) -> bytes:
    """The code of a source for a device."""
    return _compiled(source, options, "CUBIN")


def intermediate(source: str, options: tuple[str, ...]) -> str:
    """The code of a source for all devices, as a text."""
    return _compiled(source, options, "PTX").decode()


def _compiled(source: str, options: tuple[str, ...], kind: str) -> bytes:
    _, nvrtc = bindings()
    program = called(nvrtc.nvrtcCreateProgram, source.encode(), b"program.cu", 0, [], [])
    try:
        code, *_ = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(code):
            log = b" " * called(nvrtc.nvrtcGetProgramLogSize, program)
            called(nvrtc.nvrtcGetProgramLog, program, log)
            first = next((line for line in log.decode(errors="replace").splitlines() if "error" in line), _name(code))
            raise RunError(f"the GPU's compiler refuses a program ({first:.300}); use device='cpu', and report this.")
        made = b" " * called(getattr(nvrtc, f"nvrtcGet{kind}Size"), program)
        called(getattr(nvrtc, f"nvrtcGet{kind}"), program, made)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return made
