"""Coefficients of splitting methods.

A list a_1, ..., a_2s stands for the flows of chi(a_1 h), chi*(a_2 h), chi(a_3 h), ..., chi*(a_2s h), where chi(h) runs
through the parts of a Hamiltonian once and its adjoint chi*(h) runs through them backwards. All lists read the same
from both ends, so the methods are symmetric.
"""

from naiad.numerics.composition import KAHAN_LI_8


def _palindrome(*half: float) -> tuple[float, ...]:
    return half + half[::-1]


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

SPLITTINGS: dict[int, tuple[float, ...]] = {
    2: STRANG,
    4: BLANES_MOAN_4,
    6: BLANES_MOAN_6,
    8: tuple(0.5 * weight for weight in KAHAN_LI_8 for _ in range(2)),
}
"""The coefficients by the order."""
