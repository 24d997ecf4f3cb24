"""Attitudes in other forms than matrices."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from naiad.errors import InputError
from naiad.mechanics import Label

if TYPE_CHECKING:
    import xarray as xr

FORMS = {
    "quaternion": ("quaternion", ["w", "x", "y", "z"], "1"),
    "euler": ("angle", ["yaw", "pitch", "roll"], "rad"),
    "vector": ("axis", ["x", "y", "z"], "rad"),
}
"""The dimension of each form, the coordinates along it, and its unit."""


def converted_attitude(
    record: "xr.Dataset", labels: Mapping[str, Label], form: str, name: str | None = None
) -> "xr.DataArray":
    """An attitude of a record in another form."""
    import xarray as xr
    from scipy.spatial.transform import Rotation

    turns = {each: known for each, known in labels.items() if known.words == "attitude" and record[each].shape[-1] < 5}
    spatial = [each for each in turns if record[each].shape[-1] == 4 or record[each].shape[-2:] == (3, 3)]
    if form not in FORMS:
        raise InputError(f"attitude: form = {form!r}; expected one of {', '.join(map(repr, FORMS))}.")
    if name is None and len(spatial) == 1:
        name = spatial[0]
    if name not in spatial:
        found = ", ".join(spatial) or "none"
        raise InputError(f"attitude: name = {name!r}; expected the name of an attitude in space; this run has {found}.")
    rows = record[name]
    if rows.shape[-1] == 4:
        own, leading = 1, rows.shape[:-1]
        turned = Rotation.from_quat(rows.to_numpy().reshape(-1, 4), scalar_first=True)
    else:
        own, leading = 2, rows.shape[:-2]
        turned = Rotation.from_matrix(rows.to_numpy().reshape(-1, 3, 3))
    if form == "quaternion":
        values = _without_jumps(turned.as_quat(scalar_first=True).reshape(*leading, 4))
    else:
        values = turned.as_euler("ZYX") if form == "euler" else turned.as_rotvec()
    dim, marks, units = FORMS[form]
    kept = {each: rows.coords[each] for each in rows.dims[:-own] if each in rows.coords}
    return xr.DataArray(
        values.reshape(*leading, len(marks)), {**kept, dim: marks}, (*rows.dims[:-own], dim), name,
        {"long_name": f"attitude ({form})", "units": units},
    )  # fmt: skip


def _without_jumps(q: np.ndarray) -> np.ndarray:
    """Of q and -q, which are one rotation, the one nearer to the time before."""
    flips = np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0, -1.0, 1.0)
    return q * np.cumprod(np.concatenate([np.ones((1, *q.shape[1:-1])), flips]), axis=0)[..., None]
