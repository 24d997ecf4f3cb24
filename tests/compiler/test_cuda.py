"""The back end for GPUs, without one: its text compiled as C++, on devices that are made up, against machine code."""

import ctypes
import pickle
import re

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from naiad.compiler import compiled as compiling
from naiad.compiler import device as placing
from naiad.compiler.backends.cuda import driver, kernel, printer
from naiad.compiler.backends.cuda.operations import CALLS, INFIX, WRAPPING, WRITTEN, literal
from naiad.compiler.backends.cuda.prelude import TEXT
from naiad.compiler.backends.resident import Resident
from naiad.compiler.ir.operations import OPERATIONS
from naiad.compiler.passes import split
from naiad.errors import DeviceError, InputError, RunWarning
from tests.compiler.compare import assert_same, leaves, ulps
from tests.compiler.host_cuda import COMPILER, SHIM, HostCUDA, HostDevice, compiled
from tests.compiler.programs import draw
from tests.compiler.test_backend import ROWS, function

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C++")


def both(f, backend, *, fma=False, parameters=()):
    """A function on a back end, and as machine code."""
    options = {"fma": fma, "parameters": parameters, "cache": False}
    return nc.compile(f, backend=backend, **options), nc.compile(f, **options)


# -- what is computed


def test_every_operation_is_written():
    written = {*CALLS, *INFIX, *WRAPPING, *WRITTEN, "div"}
    assert written == {*OPERATIONS, "select", "fma", "fms", "fnma"}


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(k, marks=pytest.mark.long) for k in range(4, 60))])
def test_random_programs_bit_for_bit(seed):
    program = draw(seed)
    here, machine = both(program.function(), HostCUDA())
    rows = program.arrays(5, seed)
    # the larger of 0 and -0 is 0 on ARM, the second of both elsewhere
    assert_same(here.batch(*rows), machine.batch(*rows), program.source(), signs=False)


def test_a_loop_a_branch_memory_and_a_table():
    """Alone and in a batch, with what is shared in constant memory."""
    here, machine = both(function, HostCUDA())
    x, n, p = ROWS
    assert_same(here(x[1], n[1], p), machine(x[1], n[1], p))
    assert_same(here.batch(*ROWS, shared=(2,)), machine.batch(*ROWS, shared=(2,)))
    assert "constants[0]" in here.llvm.replace("in2[AT(0)]", "constants[0]")


def test_what_does_not_fit_constant_memory_or_a_thread(monkeypatch):
    """Shared arguments, tables and working memory in the devices' memory."""
    monkeypatch.setattr(printer, "CONSTANT_BYTES", 0)
    monkeypatch.setattr(printer, "LOCAL_BYTES", 0)
    here, machine = both(function, HostCUDA())
    assert_same(here.batch(*ROWS, shared=(2,)), machine.batch(*ROWS, shared=(2,)))


def test_long_programs_go_in_parts(monkeypatch):
    def long(x):
        for k in range(12):
            x = jnp.sin(x) * (x[0] > 0.1 * k) + jnp.sum(x) / 7.0
        y = lax.fori_loop(0, 3, lambda i, y: y.at[i].set(x[i] + y[i]), jnp.zeros(40))
        return x + y[:3], x[0] > 0, (1000 * x[1]).astype(int)

    machine = nc.compile(long, fma=False, cache=False)
    monkeypatch.setattr(split, "LONGEST", 30)
    monkeypatch.setattr(split, "PART", 20)
    here = nc.compile(long, fma=False, cache=False, backend=HostCUDA())
    rows = np.random.default_rng(0).normal(size=(3, 3))
    assert_same(here.batch(rows), machine.batch(rows))
    assert "part3(" in here.llvm


@pytest.mark.parametrize("value", [0.0, -0.0, 0.1, -1e-310, 1e308, np.inf, -np.inf, np.nan])
def test_constants_to_the_last_digit(value):
    here, machine = both(lambda x: jnp.where(x > 0, value, x), HostCUDA())
    assert_same(here(1.0), machine(1.0))
    assert literal(-(2**63), "i") == "(-0x7fffffffffffffffLL - 1)"


APPROXIMATE = SHIM.replace(
    "static inline double near_inverse(double b) { return 1.0 / b; }",
    """static inline double near_inverse(double b) {  // of 20 digits, as the machine's
  if (fabs(b) < 0x1p-1022) return copysign(INFINITY, b);
  const double r = 1.0 / b;
  if (fabs(r) < 0x1p-1022) return copysign(0.0, r);
  return __longlong_as_double(__double_as_longlong(r) & ~0xffffffffLL);
}""",
)
DIVISION = r"""
extern "C" void divide(const double* a, const double* b, double* q, int n) {
  for (int i = 0; i < n; i++) q[i] = quotient(a[i], b[i], inverse(b[i]));
}
"""


def test_division_without_a_slow_path(tmp_path):
    """To a unit in the last place, from an approximation like the machine's; zeros, infinities and not-a-numbers."""
    path = tmp_path / "division.so"
    path.write_bytes(compiled(APPROXIMATE + TEXT + DIVISION, "-O1"))
    rng = np.random.default_rng(0)
    special = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 1e300, -1e-300, 2.0**1000])
    a = np.concatenate([np.repeat(special, 10), rng.normal(size=20000) * 10.0 ** rng.integers(-100, 100, 20000)])
    b = np.concatenate([np.tile(special, 10), rng.normal(size=20000) * 10.0 ** rng.integers(-100, 100, 20000)])
    q = np.empty_like(a)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, q)]
    ctypes.CDLL(str(path)).divide(*pointers, ctypes.c_int(len(a)))
    with np.errstate(all="ignore"):
        exact = a / b
    assert ulps(q, exact) <= 1
    np.testing.assert_array_equal(q[:100], exact[:100])  # the sign of a zero may be lost
    assert np.mean(q[100:] == exact[100:]) > 0.99


def test_whether_all_are_finite_is_asked_of_their_upper_halves():
    def sound(x):
        return jnp.isfinite(jnp.sum(x)), jnp.isfinite(x[0] + x[1]) & (x[0] + x[1] > 0)

    here, machine = both(sound, HostCUDA(), fma=True)
    x = np.array(
        [[1.0, -3e305, 2e-320], [np.nan, 1.0, 0.0], [1.0, np.inf, -np.inf], [0.0, -0.0, 1e30], [1, -np.inf, 2]]
    )
    assert_same(here.batch(x), machine.batch(x))
    assert here.llvm.count("upper(v") == 2, "the sum of the first two is wanted, and is one of the terms"


def test_the_largest_of_sizes_is_found_by_integers():
    def largest(x):
        return jnp.max(jnp.abs(x)), jnp.max(x)

    here, machine = both(largest, HostCUDA())
    x = np.array([[1.0, -3.0, 2.0], [np.nan, 1.0, -np.inf], [-0.0, 0.0, -1e-320], [-np.inf, 2.0, -np.nan]])
    assert_same(here.batch(x), machine.batch(x))
    assert len(re.findall(r"= larger_size\(", here.llvm)) == len(re.findall(r"= larger\(", here.llvm)) == 2


def test_sizes_cost_no_double_operation():
    """Signs go from zeros, infinities and not-a-numbers too."""
    here, machine = both(lambda x: (jnp.abs(x), jnp.abs(x) < 1.0), HostCUDA())
    x = np.array([1.5, -1.5, 0.0, -0.0, -np.inf, np.inf, -5e-324, -1e308, np.copysign(np.nan, -1)])
    assert_same(here.batch(x), machine.batch(x))
    assert not np.any(np.signbit(here.batch(x)[0]))
    assert "size_of(v" in here.llvm
    assert "fabs(" not in here.llvm


# -- where it is computed


def doubled(x, n, shift):
    """Of every kind; the results can be arguments."""
    return 2.0 * x + shift, n + 1, shift


def test_results_stay_on_the_device_until_they_are_asked_for():
    device = HostDevice()
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=(device,)))
    x, n = np.random.default_rng(0).normal(size=(50, 2, 3)), np.arange(50, dtype=np.int32)
    first = here.batch(x, n, 1.5, shared=(2,))
    sent = device.uploaded
    assert device.downloaded == 0
    assert isinstance(first[0], Resident)
    assert (first[0].shape, first[0].dtype, len(first[0]), first[0].ndim) == ((50, 2, 3), np.float64, 50, 3)
    second = here.batch(first[0], first[1], 0.5, shared=(2,))
    assert device.uploaded == sent, "nothing but constants went there"
    assert device.downloaded == 0
    np.testing.assert_array_equal(second[0], 2.0 * (2.0 * x + 1.5) + 0.5)
    np.testing.assert_array_equal(np.asarray(second[1]), n + 2)
    assert np.asarray(second[1]).dtype == np.int32


def test_a_resident_array_is_used_like_any_other():
    device = HostDevice()
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=(device,)))
    x = np.arange(210.0).reshape(35, 3, 2)
    y = here.batch(x, np.arange(35), 0.0, shared=(2,))[0]
    some = y[:, :1]
    assert device.downloaded == 8 * 2 * 64, "the first of three along the second axis, of 35 rows in 64 places"
    np.testing.assert_array_equal(some, 2 * x[:, :1])
    np.testing.assert_array_equal(y[:, :0], x[:, :0])
    np.testing.assert_array_equal(y[3], 2 * x[3])
    np.testing.assert_array_equal((y + 1 > x) & ~(y < 0), np.ones_like(x, bool))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(y)), 2 * x)
    np.testing.assert_array_equal(np.max(y), 418.0)
    machine = nc.compile(doubled, cache=False)
    np.testing.assert_array_equal(machine.batch(y, np.arange(35), 0.0, shared=(2,))[0], 4 * x)


def test_several_devices_share_the_rows(monkeypatch):
    monkeypatch.setattr(kernel, "SHARE", 10)
    devices = tuple(HostDevice(number) for number in range(3))
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=devices))
    x, n = np.arange(190.0).reshape(95, 2), np.arange(95)
    first = here.batch(x, n, 1.0, shared=(2,))
    assert [device.launches for device in devices] == [[31], [32], [32]]
    second = here.batch(first[0], n, 1.0, shared=(2,))
    np.testing.assert_array_equal(second[0], 4 * x + 3)
    np.testing.assert_array_equal(here.batch(x[:15], n[:15], 0.0, shared=(2,))[0], 2 * x[:15])
    assert [len(device.launches) for device in devices] == [3, 3, 2]


def test_rows_go_in_slices_that_fit():
    """Inputs of 24 bytes a row and outputs of 32, in 90 % of what is free: 160 rows at a time."""
    device = HostDevice(memory=56 * 160 * 10 // 9 + 9)
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=(device,)))
    x, n = np.random.default_rng(0).normal(size=(1000, 2)), np.arange(1000)
    got = here.batch(x, n, 1.0, shared=(2,))
    assert device.launches == [160] * 6 + [40]
    assert device.most <= device.memory
    assert_same(got, (2 * x + 1, n + 1, np.ones(1000)))
    assert device.taken == 0


def test_what_cannot_fit_is_refused_with_its_bytes():
    device = HostDevice(memory=1500)
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=(device,)))
    with pytest.raises(DeviceError, match=r"takes 56 bytes, 1,792 for the 32 .* made up has 1,350 free"):
        here.batch(np.zeros((100, 2)), np.arange(100), 1.0, shared=(2,))


def test_a_plan_that_turns_out_too_large_is_made_again():
    device = HostDevice(memory=10**6)
    here = nc.compile(doubled, cache=False, backend=HostCUDA(host=(device,)))
    x, n = np.ones((1000, 2)), np.arange(1000)
    kept = here.batch(x, n, 1.0, shared=(2,))
    device.memory = device.taken + 20_000
    np.testing.assert_array_equal(here.batch(x, n, 1.0, shared=(2,))[0], 3 * x)
    assert len(device.launches) > 2
    del kept


@pytest.mark.parametrize("f", [lambda x: (), lambda x: x, lambda x: (jnp.ones(2), 3, x)])
def test_programs_of_no_operations(f):
    """Some have nothing to bring there, and nothing to bring back."""
    here = nc.compile(f, cache=False, backend=HostCUDA())
    rows = np.zeros((40, 0))
    got, want = here.batch(rows), nc.compile(f, cache=False).batch(rows)
    assert_same(got, want)
    assert [leaf.shape for leaf in leaves(got)] == [leaf.shape for leaf in leaves(want)]


def test_no_rows():
    here = nc.compile(doubled, cache=False, backend=HostCUDA())
    assert here.batch(np.zeros((0, 2)), np.zeros(0, int), 1.0, shared=(2,))[0].shape == (0, 2)


def test_the_fastest_launch_bounds_are_found_and_remembered(monkeypatch, tmp_path):
    """Once a call has enough rows, and takes long enough; the next process knows them."""
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path / "cache"))
    clock = [0.0]
    backend = HostCUDA(bounds=((128, 2), (128, 3), (64, 8)))
    monkeypatch.setattr(kernel.time, "perf_counter", lambda: clock[0])
    slow = {(128, 2): 3e-2, (128, 3): 1e-2, (64, 8): 2e-2}
    launch = HostDevice.load

    def load(device, code):
        module = launch(device, code)
        bounds = list(slow)[len(device.launches) // 2 % 3]
        start = module.launch

        def timed(*args):
            clock[0] += slow[bounds] * speed[0]
            start(*args)

        module.launch = timed
        return module

    monkeypatch.setattr(HostDevice, "load", load)
    speed = [1e-3]
    made = nc.compile(doubled, cache=False, backend=backend)
    made.batch(np.zeros((3, 2)), np.arange(3), 1.0, shared=(2,))
    entry = made._last_call()[0].kernel
    assert entry._bounds is None, "too few rows"
    entry._modules.clear()
    backend.devices()[0].launches.clear()
    made.batch(np.zeros((40, 2)), np.arange(40), 1.0, shared=(2,))
    assert entry._bounds is None, "too little time"
    speed[0] = 1.0
    entry._modules.clear()
    backend.devices()[0].launches.clear()
    made.batch(np.zeros((40, 2)), np.arange(40), 1.0, shared=(2,))
    assert entry._bounds == (128, 3)
    again = nc.compile(doubled, cache=False, backend=backend)
    again.batch(np.zeros((40, 2)), np.arange(40), 1.0, shared=(2,))
    assert again._last_call()[0].kernel._bounds == (128, 3)


# -- what can go wrong


def no_gpu(monkeypatch, reason):
    def refuse():
        raise DeviceError(reason)

    placing._warn.cache_clear()
    monkeypatch.setattr(compiling, "gpu_backend", lambda remember: HostCUDA())
    monkeypatch.setattr(HostCUDA, "devices", lambda self: refuse())


@pytest.mark.parametrize("reason", ["no GPU was found."])
def test_without_a_gpu_one_line_or_the_processor(monkeypatch, reason):
    no_gpu(monkeypatch, reason)
    made = nc.compile(doubled, cache=False)
    x = np.ones((3, 2)), np.arange(3), 1.0
    with pytest.raises(DeviceError, match=f"^{reason}$"):
        made.batch(*x, shared=(2,), device="gpu")
    with pytest.warns(RunWarning, match=f"{reason} The processor's cores take over."):
        got = made.batch(*x, shared=(2,), device="auto")
    np.testing.assert_array_equal(got[0], 3 * x[0])
    made.batch(*x, shared=(2,), device="auto")  # it is said once, and a warning here would be an error


def test_the_driver_is_asked_for_only_when_a_gpu_is():
    with pytest.raises(InputError, match="device = 'tpu'; expected one of 'cpu', 'gpu', 'auto'"):
        nc.compile(doubled, cache=False).batch(np.ones((3, 2)), np.arange(3), 1.0, shared=(2,), device="tpu")


class Codes:
    """A driver that gives codes."""

    class Code(int):
        name = "CUDA_ERROR_MADE_UP"

    def __init__(self, start=0, count=0, version=13000):
        self.start, self.count, self.version = start, count, version

    def cuInit(self, flags):
        return (self.Code(self.start),)

    def cuDriverGetVersion(self):
        return self.Code(0), self.version

    def cuDeviceGetCount(self):
        return self.Code(0), self.count


@pytest.mark.parametrize(
    ("codes", "line"),
    [
        (Codes(start=100), r"device 'gpu': no GPU was found \(CUDA_ERROR_MADE_UP\); use device='cpu'\."),
        (Codes(start=803), r"device 'gpu': the driver cannot start \(CUDA_ERROR_MADE_UP\); update it"),
        (Codes(version=11040), r"device 'gpu': the driver is for CUDA 11\.4, and 12\.0 is the oldest"),
        (Codes(), r"device 'gpu': no GPU was found; use device='cpu'\."),
    ],
)
def test_what_the_driver_says_in_one_line(monkeypatch, codes, line):
    monkeypatch.setattr(driver, "bindings", lambda: (codes, None))
    with pytest.raises(DeviceError, match=line):
        driver.devices.__wrapped__()


def test_a_lost_device_and_one_without_memory():
    def gone(*args):
        return (Codes.Code(719),)

    def full(*args):
        return (Codes.Code(2),)

    with pytest.raises(DeviceError, match=r"the GPU is lost \(CUDA_ERROR_MADE_UP in gone\)"):
        driver.called(gone)
    with pytest.raises(DeviceError, match=r"the GPU has no memory left \(CUDA_ERROR_MADE_UP in full\)"):
        driver.called(full)


def test_a_program_that_cannot_be_compiled_is_named_with_its_line(monkeypatch):
    made = nc.compile(lambda x: jnp.linalg.eigh(x)[0], cache=False, backend=HostCUDA())
    with pytest.raises(nc.Unsupported, match=r"test_cuda\.py"):
        made.batch(np.ones((4, 3, 3)))
