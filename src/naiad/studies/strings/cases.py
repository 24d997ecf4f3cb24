"""The string pendulum of Lee, Leok and McClamroch: its three cases, its numbers and its integrators."""

import dataclasses
from typing import Any

import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Composition, Implicit, Left, Midpoint
from naiad.numerics.composition import COMPOSITIONS
from naiad.strings import (
    HangingBody,
    Hooke,
    Inextensible,
    Reel,
    Rubber,
    StringPendulum,
    StringVariational,
    TensionOnly,
)

SLOPE = np.deg2rad(15.0)
CENTRE = (0.3, 0.2, 0.4)
INERTIA = ((0.352 / 12, -0.006, -0.012), (-0.006, 0.439 / 12, -0.008), (-0.012, -0.008, 0.02325))
"""Of an elliptic cylinder about the point of attachment: semi-axes 0.5 and 0.4 m, height 0.8 m."""
LAWS = {
    "hooke": "EA strain^2/2",
    "tension-only": "the same, and nothing in compression",
    "rubber": "neo-Hookean, EA at rest",
    "inextensible": "none: the elements keep their lengths, whatever EA",
}
_LAWS = {
    "hooke": Hooke,
    "tension-only": TensionOnly,
    "rubber": Rubber,
    "inextensible": lambda _: Inextensible(),
}


SCHEMES = {
    "paper": "the paper's discrete Lagrangian, inertia and forces at the start of a step: first order with a reel",
    "symmetric": "inertia half-way, half of the forces at each end: second order",
    "imex": "the same with the elastic energy at the mean of the strains of both ends: not bound by the fastest wave",
}
RULES = {"paper": Left(), "symmetric": Midpoint(), "imex": Implicit()}
ORDERS = (2, *COMPOSITIONS)


@dataclasses.dataclass(frozen=True)
class Case:
    """What distinguishes a case: length on the reel, moment, direction of the string, duration."""

    s_p: float
    u: float
    direction: tuple[float, float, float]
    t1: float
    what: str


CASES = {
    "fixed": Case(90.0, 0.0, (1.0, 0.0, 0.0), 10.0, "a fixed length, released from the horizontal"),
    "deploy": Case(99.0, 0.0, (1.0, 0.0, 0.0), 8.0, "deployment by gravity, from the horizontal"),
    "retrieve": Case(
        90.0, 2.09, (float(np.sin(SLOPE)), 0.0, float(np.cos(SLOPE))), 10.0, "retrieval by a constant moment"
    ),
}


def pendulum(study: Any) -> StringPendulum:
    """The system of a study's parameters."""
    fixed, case = study.case == "fixed", CASES[study.case]
    moment = case.u if study.u is None else study.u
    if fixed and moment:
        raise InputError(f"u={moment:g}: the reel of case=fixed is held; use case=deploy or case=retrieve with it")
    s_p = case.s_p if study.s_p0 is None else study.s_p0
    if not study.b <= s_p < study.L:
        raise InputError(f"s_p0={s_p:g}: expected at least b = {study.b:g} m and less than L = {study.L:g} m")
    reel = Reel(
        radius=study.d,
        inertia=study.kappa_d,
        guide=study.b,
        drop=study.drop,
        moment=moment,
        inside=study.inside,
        friction=study.friction,
        slip=study.slip,
        carnot=study.carnot,
        locked=fixed,
    )
    inertia = np.diag(study.J) if study.J.ndim == 1 else study.J
    body = HangingBody(study.M, study.rho_c, inertia) if study.M else None
    return StringPendulum(
        length=study.L,
        mass_per_length=study.mu,
        stiffness=_LAWS[study.law](study.EA),
        elements=study.elements,
        gravity=(0.0, 0.0, study.g),
        body=body,
        reel=reel,
        wound=s_p if fixed else 0.0,
        kinetic=study.kinetic,
    )


def start(study: Any, system: StringPendulum) -> nd.State:
    """Its initial state: a straight, unstretched string, unless its nodes are given."""
    case, count = CASES[study.case], study.elements
    s_p = case.s_p if study.s_p0 is None else study.s_p0
    if study.q0 is None:
        along = np.asarray(case.direction if study.direction0 is None else study.direction0)
        if not np.any(along):
            raise InputError("direction0=0,0,0: expected the direction of the string")
        each = (study.L - s_p) / count * along / np.linalg.norm(along)
        q = np.arange(1, count + 1)[:, None] * each
    else:
        q = _rows("q0", study.q0, count)
    if study.qdot0 is None:
        growing = 0.0 if system.link_length is None else study.sdot0 / (study.L - s_p)
        v = -growing * q + (np.arange(count) == count - 1)[:, None] * study.v_end0
    else:
        v = _rows("qdot0", study.qdot0, count)
    parts: dict[str, Any] = {"q": q, "q_v": v}
    if study.sdot0 and study.case == "fixed":
        raise InputError(f"sdot0={study.sdot0:g}: the reel of case=fixed is held; give 0")
    if system.reeled:
        parts |= {"s": [s_p], "s_v": [study.sdot0]}
    if system.inner and system.drum is None:
        parts["w_v"] = system.unstretched(study.sdot0)
    if system.turning:
        parts |= {"R": np.eye(3) if study.R0 is None else study.R0, "R_Omega": study.Omega0}
    return system.state(**parts)


def string_method(system: StringPendulum, scheme: str, order: int) -> AbstractMethod:
    """The integrator of a scheme; above order 2 the composition of its steps."""
    plain = StringVariational(RULES[scheme])
    if order == 2:
        return plain
    if not plain.symmetric(system):
        raise InputError(
            f"order={order}: scheme={scheme} is of first order here and cannot be composed; use scheme=symmetric or "
            "scheme=imex with it, or order=2"
        )
    return Composition(plain, order)


def longest_stage(order: int) -> float:
    """The longest of the steps that a step of an order is composed of, in either direction, as a part of it."""
    return max(map(abs, COMPOSITIONS.get(order, (1.0,))))


def _rows(name: str, value: np.ndarray, count: int) -> np.ndarray:
    if value.shape != (count, 3):
        raise InputError(
            f"{name} has {value.shape[0]} rows of {value.shape[1]}; expected {count} rows of 3: the nodes after the "
            "guide way, one for each element"
        )
    return value
