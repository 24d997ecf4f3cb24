"""Motions to draw: a free rigid body by DOP853, and what groups, products and powers make of it."""

import functools

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

J = np.array([1.0, 2.0, 3.0])
SIMPLE = ["SO3", "S3", "SE3", "record", "SO2", "SE2", "R1", "R2", "R4", "SO5"]
NAMES = [*SIMPLE, "power", "power_SE3", "power_SO2", "product", "named", "frame", "frame_SO3"]


def free_body(Omega0=(0.2, 1.0, 0.1), t1: float = 30.0, frames: int = 301) -> dict[str, np.ndarray]:
    """A free rigid body that tumbles, with an attitude that is orthogonal to round-off."""

    def field(t, y):
        Omega, q = y[:3], y[3:]
        w, v = q[0], q[1:]
        dq = 0.5 * np.concatenate([[-v @ Omega], w * Omega + np.cross(v, Omega)])
        return np.concatenate([np.cross(J * Omega, Omega) / J, dq])

    time = np.linspace(0.0, t1, frames)
    start = np.array([*Omega0, 1.0, 0.0, 0.0, 0.0])
    solution = solve_ivp(field, (0.0, max(t1, 1.0)), start, "DOP853", time, rtol=1e-9, atol=1e-9).y.T
    Omega, q = solution[:, :3], solution[:, 3:]
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    R = Rotation.from_quat(q, scalar_first=True).as_matrix()
    Pi = J * Omega
    energy = 0.5 * np.sum(Omega * Pi, 1)
    momentum = np.einsum("tij,tj->ti", R, Pi)
    return {"time": time, "R": R, "q": q, "Omega": Omega, "Pi": Pi, "energy": energy, "momentum": momentum}


def dataset(time: np.ndarray, **variables: np.ndarray) -> xr.Dataset:
    """Variables along time, with the other axes named after them."""
    named = {
        name: (("time", *(f"{name}_{axis}" for axis in range(np.ndim(values) - 1))), values)
        for name, values in variables.items()
    }
    return xr.Dataset(named, {"time": ("time", time, {"units": "s"})})


def helix(time: np.ndarray, phase: float = 0.0) -> np.ndarray:
    return np.stack([np.cos(0.4 * time + phase), np.sin(0.4 * time + phase), 0.1 * time], 1)


@functools.cache
def cases() -> dict[str, xr.Dataset]:
    """One trajectory for each kind of group."""
    body = free_body()
    time, R, q, Omega, Pi = (body[name] for name in ("time", "R", "q", "Omega", "Pi"))
    kept = {"energy": body["energy"], "momentum": body["momentum"]}
    x = helix(time)
    v = np.einsum("tji,tj->ti", R, np.gradient(x, time, axis=0))
    angle, plane = 0.7 * time, x[:, :2]
    others = [free_body((0.3 * k, 1.0, 0.1 * k)) for k in range(20)]
    Rs, Omegas = (np.stack([other[name] for other in others], 1) for name in ("R", "Omega"))
    generator = np.triu(np.random.default_rng(0).normal(size=(5, 5)), 1)
    values, vectors = np.linalg.eig(generator - generator.T)
    R5 = np.einsum("ij,tj,kj->tik", vectors, np.exp(0.1 * np.outer(time, values)), vectors.conj()).real
    made = {
        "SO3": dataset(time, R=R, Pi=Pi, Omega=Omega, **kept),
        "S3": dataset(time, q=q, Omega=Omega, **kept),
        "SE3": dataset(time, R=R, x=x, Pi=Pi, p=v, Omega=Omega, v=v, **kept),
        "record": dataset(time, R=R, x=x, Pi=Pi, p=v),
        "SO2": dataset(time, beta=angle, Omega=np.full_like(time, 0.7), energy=0 * time),
        "SE2": dataset(time, beta=angle, x=plane, Omega=np.full_like(time, 0.7), v=v[:, :2], **kept),
        "R1": dataset(time, q=np.sin(time)[:, None], v=np.cos(time)[:, None], energy=1 + 1e-6 * np.sin(time)),
        "R2": dataset(time, q=plane, v=np.gradient(plane, time, axis=0)),
        "R4": dataset(time, q=np.ones((len(time), 4)) / 2, v=np.zeros((len(time), 4))),
        "SO5": dataset(time, R=R5, Omega=np.outer(np.sin(time), np.arange(1.0, 11.0)), **kept),
        "power": dataset(time, R=Rs, Omega=Omegas, **kept),
        "power_SE3": dataset(
            time, R=Rs[:, :3], x=np.stack([helix(time, k) for k in range(3)], 1), Omega=Omegas[:, :3], v=Omegas[:, :3]
        ),
        "power_SO2": dataset(time, beta=np.outer(time, [1.0, 2.0, 3.0]), Omega=np.ones((len(time), 3))),
        "product": dataset(
            time,
            R0=R,
            R1=Rs[:, 3],
            x=x,
            R0_Omega=Omega,
            R1_Omega=Omegas[:, 3],
            x_v=v,
            R0_Pi=Pi,
            R1_Pi=Pi,
            x_p=v,
            **kept,
        ),
        "named": dataset(
            time, hull_R=R, hull_x=x, rotor=angle, hull_Omega=Omega, hull_v=v, rotor_Omega=0 * time, momentum=0 * x
        ),
    }
    return made | {"frame": made["SE3"].isel(time=slice(1)), "frame_SO3": made["SO3"].isel(time=slice(1))}


@pytest.fixture(params=NAMES)
def case(request) -> tuple[str, xr.Dataset]:
    """A name and its trajectory, for every kind."""
    return request.param, cases()[request.param]


@pytest.fixture
def trajectories() -> dict[str, xr.Dataset]:
    """All of them by name."""
    return cases()
