"""The scene of a live page: the bodies of a motion without their frames, and a function that says where they are."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, State
from naiad.viz.bodies import Body, Part, bodies, spoken
from naiad.viz.motion import MOST_BODIES, describe_motion
from naiad.viz.strings import MOST_NODES, string_names
from naiad.viz.vertical import vertical

if TYPE_CHECKING:
    import xarray as xr


class Scene(NamedTuple):
    """What the page draws; and for each method of a comparison a function of system, state and time that gives the
    poses of its bodies in rows (attitude in four numbers, place in three), nodes of strings, and their energies."""

    described: dict[str, Any]
    poses: Callable[[LagrangianSystem, State, Any], dict[str, Any]]


def scene(runs: Mapping[str, "xr.Dataset"], plain: LagrangianSystem) -> Scene:
    """The scene of motions of one system by methods of these names."""
    datasets = list(runs.values())
    names = string_names(datasets[0])
    longest = max((datasets[0][name].shape[1] for name in names), default=0)
    if longest >= MOST_NODES:
        raise InputError(f"live: a string has {longest} nodes; a live page shows fewer than {MOST_NODES}.")
    found = bodies(datasets[0].drop_vars(names))
    if len(found) * len(datasets) > MOST_BODIES:
        raise InputError(f"live: there are {len(found)} bodies for each method; a page shows {MOST_BODIES} in all.")
    whole, order = _side_by_side(runs, found) if len(runs) > 1 else (datasets[0], [(0, k) for k in range(len(found))])
    described = describe_motion(whole)
    for body, (method, row) in zip(described["bodies"], order, strict=False):  # then comes what rests
        body |= {key: [] for key in ("q", "beta", "x") if key in body} | {"method": method, "row": row}
    for k, string in enumerate(described.get("strings", ())):
        string |= {"unit": 1.0, "middle": [0.0, 0.0, 0.0], "method": k // len(names), "row": k % len(names)}
        string.pop("points")
        string.get("elastic", {}).pop("energy", None)
    if len(runs) > 1 and len(found) > 1:  # colours tell methods apart, not bodies
        for body, (method, _) in zip(described["bodies"], order, strict=False):
            body["colour"] = method
        first = [next(k for k, (method, _) in enumerate(order) if method == m) for m in range(len(runs))]
        described["legend"] = [[name, k] for name, k in zip(runs, first, strict=True)]
    described |= {"time": [], "trail": 1}
    described.pop("energy", None)
    S = vertical(datasets[0]).upright

    def poses(system: LagrangianSystem, state: State, t: Any) -> dict[str, Any]:
        variables = _variables(system, plain, state, t)
        given: dict[str, Any] = {}
        if found:
            given["bodies"] = jnp.stack([_pose(body, variables, S) for body in found])
        for k, name in enumerate(names):
            prefix = name.rpartition("_")[0] + "_" if "_" in name else ""
            guide = jnp.asarray(variables.get(prefix + "guide", jnp.zeros(3)))
            given[f"nodes{k}"] = jnp.concatenate([guide[None], jnp.asarray(variables[name])]) @ S.T
            if f"{prefix}elastic" in variables:
                given[f"elastic{k}"] = jnp.asarray(variables[f"{prefix}elastic"])
        return given

    return Scene(described, poses)


def _side_by_side(
    runs: Mapping[str, "xr.Dataset"], found: Sequence[Body]
) -> tuple["xr.Dataset", list[tuple[int, int]]]:
    """The motions by several methods as one, and of each of its bodies the number of the method, and of the body
    there."""
    import xarray as xr

    first = next(iter(runs.values()))
    time = max((each["time"] for each in runs.values()), key=len)
    joined = {}
    for k, dataset in enumerate(runs.values()):
        full = dataset.reindex(time=time, method="nearest")
        for name, variable in full.data_vars.items():
            if "time" in variable.dims:
                dims = tuple(dim if dim == "time" else f"m{k}_{dim}" for dim in variable.dims)
                joined[f"m{k}_{name}"] = (dims, variable.to_numpy(), variable.attrs)
    whole = xr.Dataset(joined, {"time": time}, dict(first.attrs))
    everyone = bodies(whole.drop_vars(string_names(whole)))
    local = {_key(body, ""): k for k, body in enumerate(found)}
    order = []
    for body in everyone:
        method = int(re.findall(r"^m(\d+)_", _key(body, "")[0])[0])
        order.append((method, local[_key(body, f"m{method}_")]))
    own, methods = first.attrs.get("bodies") or (), list(runs)
    words = [own[k] if k < len(own) else spoken(body.name) for k, body in enumerate(found)]
    whole.attrs["bodies"] = [methods[m] if len(found) == 1 else f"{words[k]}, {methods[m]}" for m, k in order]
    for name in ("shapes", "centres"):
        if first.attrs.get(name):
            whole.attrs[name] = list(first.attrs[name]) * len(runs)
    links = first.attrs.get("links") or ()
    turned = len(first.attrs.get("shapes") or found)
    whole.attrs["links"] = [
        [link[0] + k * turned if link[0] >= 0 else -1, link[1] + k * turned, *link[2:]]
        for k in range(len(runs))
        for link in links
    ]
    return whole, order


def _key(body: Body, prefix: str) -> tuple[str, int]:
    """By what a body is known again: what it is read from."""
    part = body.turn or body.place
    assert part is not None
    return part.variable.removeprefix(prefix), part.index


def _variables(system: LagrangianSystem, plain: LagrangianSystem, state: State, t: Any) -> dict[str, Any]:
    """What a dataset would hold of a configuration, by name; of what the sliders change, the picture shows what can be
    traced."""
    found = dict(zip(system.group.names.element, jax.tree.leaves(state.g), strict=True))
    try:
        picture = system.picture
    except (TypeError, ValueError):  # it looks at numbers, for the shapes
        picture = plain.picture
    if picture is not None and picture.seen is not None:
        found |= picture.seen(state.g, t)
    return found


def _pose(body: Body, variables: Mapping[str, Any], S: np.ndarray) -> Any:
    attitude, place = jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.zeros(3)
    if body.turn is not None:
        attitude = _attitude(body.turn, variables, S)
    if body.place is not None:
        x = _read(body.place, variables, 1)
        place = jnp.concatenate([x, jnp.zeros(1)]) if x.size == 2 else S @ x
    return jnp.concatenate([attitude, place])


def _read(part: Part, variables: Mapping[str, Any], axes: int) -> Any:
    values = jnp.asarray(variables[part.variable])
    return jnp.reshape(values, (-1, *values.shape[values.ndim - axes :]))[part.index]


def _attitude(part: Part, variables: Mapping[str, Any], S: np.ndarray) -> Any:
    """Four numbers: a quaternion, or an angle and three zeros."""
    if part.kind == "angle":
        return jnp.concatenate([jnp.reshape(_read(part, variables, 0), 1), jnp.zeros(3)])
    if part.kind == "quaternion":
        from scipy.spatial.transform import Rotation

        w, x, y, z = Rotation.from_matrix(S).as_quat(scalar_first=True)
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return left @ _read(part, variables, 1)
    R = _read(part, variables, 2)
    if R.shape[0] == 2:
        return jnp.concatenate([jnp.arctan2(R[1, 0], R[0, 0])[None], jnp.zeros(3)])
    return _quaternion(S @ R)


def _quaternion(R: Any) -> Any:
    """The unit quaternion of a rotation, from the largest of its four numbers."""
    (a, b, c), (d, e, f), (g, h, i) = R
    products = [
        jnp.stack([1 + a + e + i, h - f, c - g, d - b]),
        jnp.stack([h - f, 1 + a - e - i, b + d, c + g]),
        jnp.stack([c - g, b + d, 1 - a + e - i, f + h]),
        jnp.stack([d - b, c + g, f + h, 1 - a - e + i]),
    ]
    best, size = products[0], products[0][0]
    for k in (1, 2, 3):
        larger = products[k][k] > size
        best, size = jnp.where(larger, products[k], best), jnp.maximum(products[k][k], size)
    return best / jnp.sqrt(jnp.sum(best**2))


def flattened(shape: Sequence[int]) -> list[str]:
    """What is appended to the name of an array for each of its elements."""
    return [f"[{','.join(map(str, index))}]" if index else "" for index in np.ndindex(*shape)]
