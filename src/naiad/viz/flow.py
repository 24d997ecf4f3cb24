"""Streamlines for a page: a stream function on a grid that a body carries, at some times of a period."""

from typing import TYPE_CHECKING, Any

from naiad.viz.packing import packed

if TYPE_CHECKING:
    import xarray as xr

VARIABLE, AXES = "stream_function", ("phase", "flow_y", "flow_x")


def describe_flow(dataset: "xr.Dataset") -> dict[str, Any]:
    """The stream function of the dataset, if it has one along `phase`, `flow_y` and `flow_x`, as {"flow": ...}.

    Its attributes name the number of the `body` whose frame the grid lies in, and the `period` after which it repeats
    itself.
    """
    if VARIABLE not in dataset or dataset[VARIABLE].dims != AXES:
        return {}
    psi, about = dataset[VARIABLE].to_numpy(), dataset[VARIABLE].attrs
    x, y = dataset["flow_x"].to_numpy(), dataset["flow_y"].to_numpy()
    return {
        "flow": {
            "body": int(about["body"]),
            "period": float(about["period"]),
            "shape": list(psi.shape),
            "corner": [float(x[0]), float(y[0])],
            "cell": [float(x[1] - x[0]), float(y[1] - y[0])],
            **packed(psi, "psi"),
        }
    }
