"""Where rows are computed: on the processor's cores, or on GPUs."""

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast, get_args

from naiad.errors import DeviceError, InputError, RunWarning

Device = Literal["cpu", "gpu", "auto"]
"""Where the rows of a batch go: to the processor's cores, to the GPUs of this machine, or ("auto") to GPUs where there
are any that can take them, else to the cores, with one warning."""

T = TypeVar("T")


def check_device(device: Any) -> Device:
    """The device, or an `InputError`."""
    if not isinstance(device, str) or device not in get_args(Device):
        raise InputError(f"device = {device!r}; expected one of {', '.join(map(repr, get_args(Device)))}.")
    return cast("Device", device)


def chosen_device(device: Any) -> Device:
    """The device that is given, or that of `NAIAD_DEVICE`, or the processor's cores."""
    return check_device((os.environ.get("NAIAD_DEVICE") or "cpu") if device is None else device)


def placed(device: Device, on_gpu: Callable[[], T], on_cpu: Callable[[], T]) -> T:
    """What one of two functions gives, by the device."""
    if device == "cpu":
        return on_cpu()
    try:
        return on_gpu()
    except DeviceError as reason:
        if device == "gpu":
            raise
        _warn(str(reason))
    return on_cpu()


@functools.cache
def _warn(reason: str) -> None:
    warnings.warn(f"{reason} The processor's cores take over.", RunWarning, stacklevel=4)
