"""Many numbers in little text: 16-bit integers in base64."""

import base64
from typing import Any

import numpy as np

LARGEST = 32767


def unpacked(described: dict[str, Any], name: str) -> np.ndarray:
    """What `packed` took, flat, to 16 bits."""
    return described["unit"] * np.frombuffer(base64.b64decode(described[name]), "<i2")


def packed(values: np.ndarray, name: str) -> dict[str, Any]:
    """Values as {"unit": ..., name: ...}: 16-bit numbers, little end first, in base64, in units of `unit`."""
    unit = float(np.max(np.abs(values), initial=0.0)) / LARGEST or 1.0
    steps = np.round(values / unit).astype("<i2")
    return {"unit": unit, name: base64.b64encode(steps.tobytes()).decode("ascii")}
