"""Coefficients of splitting methods.

A list a_1, ..., a_2s stands for the flows of chi(a_1 h), chi*(a_2 h), chi(a_3 h), ..., chi*(a_2s h), where chi(h) runs
through the parts of a Hamiltonian once and its adjoint chi*(h) runs through them backwards. All lists read the same
from both ends, so the methods are symmetric.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from naiad.errors import InputError
from naiad.numerics.composition import KAHAN_LI_8


def coefficients_of(
    owner: str, order: int, given: Sequence[float] | None, published: Mapping[int, tuple[float, ...]]
) -> tuple[float, ...]:
    """The published coefficients of an order, or those that are given, if they are a symmetric splitting."""
    if given is None and order not in published:
        orders = [str(each) for each in published]
        raise InputError(
            f"{owner}: order = {order!r}; expected {', '.join(orders[:-1])} or {orders[-1]}, or coefficients of your "
            "own."
        )
    a = published[order] if given is None else tuple(float(each) for each in given)
    if len(a) % 2 or abs(sum(a) - 1.0) > 1e-12 or a != a[::-1]:
        raise InputError(f"{owner}: the coefficients {a} must be an even palindrome that sums to 1.")
    return a


def schedule(parts: int, coefficients: Sequence[float]) -> list[tuple[int, float]]:
    """The flows of a step, as the number of the part and its fraction of h; equal neighbours are one."""
    flows: list[tuple[int, float]] = []
    for turn, a in enumerate(coefficients):
        for number in range(parts) if turn % 2 == 0 else reversed(range(parts)):
            if flows and flows[-1][0] == number:
                flows[-1] = (number, flows[-1][1] + a)
            else:
                flows.append((number, a))
    return flows


def _palindrome(*half: float) -> tuple[float, ...]:
    return half + half[::-1]


def _alternating(*flows: float) -> tuple[float, ...]:
    """The list for two parts, from the first half of its flows: of the first part, the second, the first, ..., without
    the one in the middle, which is what is left."""
    half: list[float] = []
    for flow in flows:
        half.append(flow - (half[-1] if half else 0.0))
    return _palindrome(*half)


STRANG = _palindrome(0.5)

BLANES_MOAN_4 = _palindrome(
    0.0792036964311957,
    0.1303114101821663,
    0.2228614958676077,
    -0.3667132690474257,
    0.3246481886897062,
    0.1096884778767498,
)
"""S_6 of order 4 [blanes2002, table 2]."""

BLANES_MOAN_RKN_4 = _palindrome(
    0.082984406417405,
    0.162314550766866,
    0.233995250731502,
    0.370877414979578,
    -0.409933719901926,
    0.059762097006575,
)
"""SRKN_6^b of order 4 [blanes2002, table 3], for parts of which the first (the kick) commutes with its brackets."""

BLANES_MOAN_RKN_6 = _alternating(
    0.0414649985182624,
    0.123229775946271,
    0.198128671918067,
    0.290553797799558,
    -0.0400061921041533,
    -0.127049212625417,
    0.0752539843015807,
    -0.246331761062075,
    -0.0115113874206879,
    0.357208872795928,
    0.2366699247869311,
)
"""SRKN_11^b of order 6 [blanes2002, table 3]: b_1, a_1, b_2, ..., b_6."""

BLANES_MOAN_6 = _palindrome(
    0.050262764400392,
    0.098553683500650,
    0.314960616927694,
    -0.447346482695478,
    0.492426372489876,
    -0.425118767797691,
    0.237063913978122,
    0.195602488600053,
    0.346358189850727,
    -0.362762779254345,
)
"""S_10 of order 6 [blanes2002, table 2]."""

_KAHAN_LI = tuple(0.5 * weight for weight in KAHAN_LI_8 for _ in range(2))

SPLITTINGS: dict[int, tuple[float, ...]] = {2: STRANG, 4: BLANES_MOAN_4, 6: BLANES_MOAN_6, 8: _KAHAN_LI}
"""The coefficients by the order."""

NYSTROM: dict[int, tuple[float, ...]] = {2: STRANG, 4: BLANES_MOAN_RKN_4, 6: BLANES_MOAN_RKN_6, 8: _KAHAN_LI}
"""Those for two parts of which the first commutes with its brackets with the second, as a kick does."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)

_ABA_10_6_4 = (
    (
        0.03809449742241219545697532230863756534060,
        0.1452987161169137492940200726606637497442,
        0.2076276957255412507162056113249882065158,
        0.4359097036515261592231548624010651844006,
        -0.6538612258327867093807117373907094120024,
    ),
    (
        0.09585888083707521061077150377145884776921,
        0.2044461531429987806805077839164344779763,
        0.2170703479789911017143385924306336714532,
        -0.01737538195906509300561788011852699719871,
    ),
)

NEAR_INTEGRABLE: dict[tuple[int, ...], tuple[tuple[float, ...], tuple[float, ...]]] = {
    (2, 2): ((1.0,), (0.5, 0.5)),
    (8, 2): (tuple(np.diff(0.5 * _NODES, prepend=-0.5, append=0.5).tolist()), tuple((0.5 * _WEIGHTS).tolist())),
    (10, 6, 4): (_ABA_10_6_4[0] + _ABA_10_6_4[0][-2::-1], _palindrome(*_ABA_10_6_4[1])),
}
"""Splittings of H = A + epsilon B, by their orders in h at the powers of epsilon: the flows of A and those of epsilon B
in turn, beginning with the kind of which there are more. SABA_4 [laskar2001] and ABA1064 [blanes2013]."""
