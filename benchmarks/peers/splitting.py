"""Writes a step of a splitting of the Kirchhoff equations in C, as one would by hand: a few lines for every flow, with
the numbers of the step in them."""

from collections.abc import Sequence

import numpy as np

from naiad.integrators import Splitting
from naiad.numerics.series import stumpff_polynomial
from naiad.numerics.splittings import schedule

P, LINEAR = "XYZ", "pqr"


def step(method: Splitting, inertia: Sequence[float], mass: Sequence[float], h: float) -> str:
    """The step of h of a fitted `Splitting` by "top" or "kicked-top"."""
    a, m, (s, k, b) = 1 / np.asarray(inertia), 1 / np.asarray(mass), method.axes
    order = ("kick", "turn", "top") if method.parts == "kicked-top" else ("turn", "kick", "top")
    flows = schedule(3, method.coefficients)
    longest = [max(abs(x) for number, x in flows if number == part) for part in range(3)]
    reach = dict(zip((*order[:2], "sphere", "top"), method.reach, strict=True))
    lines = []
    for number, fraction in flows:
        t, share = fraction * h, abs(fraction) / longest[number]
        if order[number] == "kick":
            lines += _kick(m * t, (b, k, s))
        elif order[number] == "turn":
            lines += _turn(b, float(a[b] - a[s]) * t, reach["turn"] * share)
        else:
            lines += _sphere(float(a[s]) * t, reach["sphere"] * share, (k, s, b))
            lines += _turn(k, float(a[k] - a[s]) * t, reach["top"] * share)
    return " ".join(lines)


def _turn(i: int, t: float, reach: float) -> list[str]:
    """About axis i by t Pi_i."""
    sine, bend = (_polynomial(k, t, reach) for k in (1, 2))
    x, j, k = P[i], (i + 1) % 3, (i + 2) % 3
    first, *others = sine
    lines = [
        f"u={x}*{x};",
        f"s={first * t!r}*{x}+({t!r}*{x}*u)*({_estrin(others)});",
        f"c=({t * t!r}*u)*({_estrin(bend)});",
    ]
    for names in (P, LINEAR):
        y, z = names[j], names[k]
        lines.append(f"d={y}+s*{z}-c*{y};{z}={z}-s*{y}-c*{z};{y}=d;")
    return lines


def _sphere(t: float, reach: float, first: Sequence[int]) -> list[str]:
    """p about Pi by t |Pi|."""
    sine, bend = (_estrin(_polynomial(k, t, reach)) for k in (1, 2))
    return [
        f"u={'+'.join(f'{P[i]}*{P[i]}' for i in first)};s={t!r}*({sine});c={t * t!r}*({bend});",
        "d=Y*r-Z*q;e=Z*p-X*r;f=X*q-Y*p;k=Y*f-Z*e;m=Z*d-X*f;n=X*e-Y*d;",
        "p=p-s*d+c*k;q=q-s*e+c*m;r=r-s*f+c*n;",
    ]


def _kick(m: np.ndarray, first: Sequence[int]) -> list[str]:
    lines = []
    for i in range(3):
        soon, late = sorted(((i + 1) % 3, (i + 2) % 3), key=list(first).index)
        lines.append(f"{P[i]}+=({float(m[(i + 2) % 3] - m[(i + 1) % 3])!r}*{LINEAR[soon]})*{LINEAR[late]};")
    return lines


def _polynomial(k: int, t: float, reach: float) -> list[float]:
    """Of u, where the square of the angle is t^2 u."""
    return [c * t ** (2 * j) for j, c in enumerate(stumpff_polynomial(k, reach**2))]


def _estrin(coefficients: Sequence[float]) -> str:
    """The polynomial by pairs of terms that do not wait for each other."""
    terms, power = [repr(float(c)) for c in coefficients], "u"
    while len(terms) > 2:
        pairs = [f"({low}+{power}*{high})" for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms, power = pairs + ([terms[-1]] if len(terms) % 2 else []), f"({power}*{power})"
    return terms[0] if len(terms) == 1 else f"{terms[0]}+{power}*{terms[1]}"
