"""Comparing what two checkouts gave: numbers to the bit, whatever holds them."""

import numpy as np


def differences(old, new, where=""):
    """A line for each place at which two results differ; keys that begin with "~" are for readers only."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [name for name in [*old, *(each for each in new if each not in old)] if not str(name).startswith("~")]
        lines = []
        for name in names:
            at = f"{where} {name}".strip()
            if name not in old or name not in new:
                lines.append(f"{at}: {'only new' if name in new else 'only old'}: {shown((old | new)[name])}")
            else:
                lines += differences(old[name], new[name], at)
        return lines
    if isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        return [
            line for i, pair in enumerate(zip(old, new, strict=True)) for line in differences(*pair, f"{where}[{i}]")
        ]
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return arrays_differ(old, new, where)
    if type(old) is type(new) and bits(old) == bits(new):
        return []
    return [f"{where}: old {shown(old)}, new {shown(new)}"]


def arrays_differ(old, new, where):
    """The lines for two arrays: none if they have the same type, shape and bits."""
    if (old.dtype, old.shape) != (new.dtype, new.shape):
        return [f"{where}: old {old.dtype}{list(old.shape)}, new {new.dtype}{list(new.shape)}"]
    if old.dtype.kind != "f":
        return [] if np.array_equal(old, new) else [f"{where}: old {shown(old)}, new {shown(new)}"]
    apart = np.ascontiguousarray(old).view(f"u{old.itemsize}") != np.ascontiguousarray(new).view(f"u{old.itemsize}")
    if not apart.any():
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.where(apart, np.abs(old - new), -1.0)
    k = np.unravel_index(np.argmax(np.where(np.isnan(size), np.inf, size)), old.shape)
    place = "".join(f"[{i}]" for i in k)
    return [f"{where}{place}: old {old[k]!r}, new {new[k]!r}; {apart.sum()} of {old.size} numbers differ"]


def bits(value):
    """A value that is equal only to the same: 0.0 is not -0.0, and NaN is itself."""
    return value.hex() if isinstance(value, float) else value


def shown(value):
    text = " ".join(repr(value).split())
    return text if len(text) < 160 else text[:157] + "..."
