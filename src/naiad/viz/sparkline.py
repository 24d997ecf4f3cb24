"""Small curves as inline SVG: for notebooks, without a plotting library."""

import html
from collections.abc import Sequence

import numpy as np

from naiad.viz.style import PALETTE

WIDTH, HEIGHT, EDGE = 260, 74, 6
POINTS = 160


def sparkline(
    time: np.ndarray, curves: Sequence[np.ndarray], band: tuple[np.ndarray, np.ndarray] | None, words: str
) -> str:
    """Curves over time in one box, with a band behind them if there is one, and under them what they are and between
    which values they run; empty where there are no finite values."""
    lines = [*curves, *(band or ())]
    values = np.concatenate([np.ravel(each) for each in lines])
    finite = values[np.isfinite(values)]
    if not len(finite) or len(time) < 2:
        return ""
    low, high = float(finite.min()), float(finite.max())
    spread = high - low or 1.0
    span = float(time[-1] - time[0]) or 1.0

    def places(curve: np.ndarray) -> list[str]:
        x = EDGE + (WIDTH - 2 * EDGE) * (time - time[0]) / span
        y = EDGE + (HEIGHT - 2 * EDGE) * (high - curve) / spread
        return [f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b)]

    parts = []
    if band is not None:
        around = " ".join(places(band[0]) + places(band[1])[::-1])
        parts.append(f'<polygon points="{around}" fill="{PALETTE[0]}" fill-opacity="0.2"/>')
    for number, curve in enumerate(curves):
        colour = PALETTE[number % len(PALETTE)]
        parts.append(f'<polyline points="{" ".join(places(curve))}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
    drawn = f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'
    return f"<div>{drawn}</div><small>{html.escape(words)}: {low:.3g} .. {high:.3g}</small>"
