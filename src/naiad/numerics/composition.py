"""Weights of symmetric compositions of a symmetric second-order step [hairer2006, section V.3.2]."""


def _mirror(*half: float) -> tuple[float, ...]:
    """The whole of a symmetric list, from its first half and its middle."""
    return half + half[-2::-1]


_CUBE_ROOT = 4.0 ** (1.0 / 3.0)

SUZUKI_4 = _mirror(1.0 / (4.0 - _CUBE_ROOT), 1.0 / (4.0 - _CUBE_ROOT), -_CUBE_ROOT / (4.0 - _CUBE_ROOT))

KAHAN_LI_6 = _mirror(
    0.39216144400731413927925056,
    0.33259913678935943859974864,
    -0.70624617255763935980996482,
    0.08221359629355080023149045,
    0.79854399093482996339895035,
)

KAHAN_LI_8 = _mirror(
    0.13020248308889008087881763,
    0.56116298177510838456196441,
    -0.38947496264484728640807860,
    0.15884190655515560089621075,
    -0.39590389413323757733623154,
    0.18453964097831570709183254,
    0.25837438768632204729397911,
    0.29501172360931029887096624,
    -0.60550853383003451169892108,
)

COMPOSITIONS = {4: SUZUKI_4, 6: KAHAN_LI_6, 8: KAHAN_LI_8}
"""Fractions of the step in compositions of a symmetric method, by order."""
