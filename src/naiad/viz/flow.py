"""Streamlines for a page: a stream function on a grid that a body carries, at some times of a period."""

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

VARIABLE, AXES = "stream_function", ("phase", "flow_y", "flow_x")
LARGEST = 32767


def describe_flow(dataset: "xr.Dataset") -> dict[str, Any]:
    """The stream function of the dataset, if it has one along `phase`, `flow_y` and `flow_x`, as {"flow": ...}.

    Its attributes name the number of the `body` whose frame the grid lies in, and the `period` after which it repeats
    itself. Values are 16-bit numbers, little end first, in base64, in units of `unit`.
    """
    if VARIABLE not in dataset or dataset[VARIABLE].dims != AXES:
        return {}
    psi, about = dataset[VARIABLE].to_numpy(), dataset[VARIABLE].attrs
    x, y = dataset["flow_x"].to_numpy(), dataset["flow_y"].to_numpy()
    unit = float(np.max(np.abs(psi))) / LARGEST or 1.0
    steps = np.round(psi / unit).astype("<i2")
    return {
        "flow": {
            "body": int(about["body"]),
            "period": float(about["period"]),
            "shape": list(psi.shape),
            "corner": [float(x[0]), float(y[0])],
            "cell": [float(x[1] - x[0]), float(y[1] - y[0])],
            "unit": unit,
            "psi": base64.b64encode(steps.tobytes()).decode("ascii"),
        }
    }
