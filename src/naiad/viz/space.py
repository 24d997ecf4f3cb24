"""Axes in three dimensions: orthographic, to scale, with a sphere where a curve lives on one."""

from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.style import FAINT, GRID, INK
from naiad.viz.vertical import Vertical

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

ELEVATION, AZIMUTH = 22.0, -52.0
UPRIGHT = Vertical()
BEHIND = "_behind"
_THINNEST = 0.35
_MOST_TICKS, _CORNER = 5, 0.05


def draw_sphere(ax: "Axes3D", radius: float = 1.0) -> None:
    """A faint globe, and nothing else: no box, no ticks."""
    ax.set_axis_off()
    ax.set_proj_type("ortho")
    ax.view_init(ELEVATION, AZIMUTH)
    angle = np.linspace(0.0, 2 * np.pi, 181)
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    for latitude in np.deg2rad([-60, -30, 0, 30, 60]):
        on_sphere(ax, radius * (np.cos(latitude) * circle + [0, 0, np.sin(latitude)]), GRID, width=0.7)
    for longitude in np.deg2rad(np.arange(0, 180, 30)):
        meridian = np.stack([np.sin(angle) * np.cos(longitude), np.sin(angle) * np.sin(longitude), np.cos(angle)], 1)
        on_sphere(ax, radius * meridian, GRID, width=0.7)
    ax.plot(*(radius * circle @ _screen().T).T, color=FAINT, linewidth=0.8)
    for direction, name in zip(np.eye(3), "xyz", strict=True):
        start, tip = radius * direction, 1.16 * radius * direction
        ax.plot(*zip(start, tip, strict=True), color=FAINT, linewidth=0.9)
        x, y, z = 1.08 * tip
        ax.text(x, y, z, name, color=INK, fontsize=9, ha="center", va="center")
    to_scale(ax, np.array([[-radius] * 3, [radius] * 3]), zoom=1.35)


def on_sphere(ax: "Axes3D", curve: np.ndarray, colour: str, label: str = "", width: float = 1.2) -> None:
    """A curve on a sphere, as two lines: what is in front, with the label and the `whole` curve, and what is behind,
    pale."""
    ahead = curve @ _screen()[:, 2] >= 0
    joined = ahead | np.append(ahead[1:], ahead[-1:]) | np.append(ahead[:1], ahead[:-1])  # no gap where they meet
    dot = "o" if len(curve) == 1 else ""
    for shown, strength, name in ((~ahead, 0.3, BEHIND), (joined, 1.0, label or "_front")):
        visible = np.where(shown[:, None], curve, np.nan)
        (line,) = ax.plot(
            *visible.T, color=colour, linewidth=width, marker=dot, markersize=4, alpha=strength, label=name
        )
        line.whole = curve


def frame(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and half-widths of a box that holds `points`[time, axis], with no side too thin to read."""
    finite = points[np.isfinite(points).all(1)]
    if not len(finite):
        finite = np.zeros((1, points.shape[1]))
    half = np.ptp(finite, axis=0) / 2
    widest = half.max()
    half = 1.05 * np.maximum(half, _THINNEST * widest) if widest > 0 else np.full(len(half), 0.5)
    return (finite.max(0) + finite.min(0)) / 2, half


def to_scale(ax: "Axes3D", points: np.ndarray, zoom: float = 1.0) -> None:
    """Limits that hold `points`, with the same scale along all three axes."""
    centre, half = frame(points)
    for set_limits, middle, reach in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), centre, half, strict=True):
        set_limits(middle - reach, middle + reach)
    ax.set_box_aspect(tuple(half / half.max()), zoom=zoom)


def set_stage(
    ax: "Axes3D",
    points: np.ndarray,
    *,
    units: str = "m",
    upright: Vertical = UPRIGHT,
    azimuth: float = AZIMUTH,
    zoom: float = 0.86,
) -> None:
    """Axes that hold `points`, to scale, with white walls and a light grid, and gravity downwards: an axis along which
    it pulls is drawn downwards, and one beside it is turned as well, so that space is no mirror."""
    axes: tuple[Any, ...] = (ax.xaxis, ax.yaxis, ax.zaxis)
    _, half = frame(points)
    shares = half / half.max()
    tall = np.delete(shares, upright.axis).max() < 0.6
    to_scale(ax, points, zoom * (0.85 if tall else 1.0))
    ax.set_proj_type("ortho")
    for k, axis in enumerate(axes):
        remark = ", downwards" if upright.downwards and k == upright.axis else ""
        beside = float(np.mean(np.delete(shares, k)) ** -0.6)
        _set_ticks(axis, "xyz"[k], units, share=float(shares[k]), beside=beside, remark=remark)
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"].update(color=GRID, linewidth=0.6)
        axis.line.set_color(FAINT)
    if upright.downwards:
        for axis in (axes[upright.axis], axes[upright.axis - 1]):
            axis.set_inverted(True)
    ax.view_init(ELEVATION, -azimuth if upright.downwards else azimuth, vertical_axis="xyz"[upright.axis])
    ax.tick_params(labelsize=8, labelcolor=INK, color=FAINT)


def _set_ticks(axis: Any, letter: str, units: str, *, share: float, beside: float, remark: str) -> None:
    """As many ticks as the side has room for, away from the corners, where those of two sides would meet; powers of ten
    and what all values have in common are in the label, which is further away where the other sides are short."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    low, high = axis.get_view_interval()
    marks, most = np.array([(low + high) / 2]), max(2, round(_MOST_TICKS * share))
    room = _CORNER * (high - low) / share
    for count in range(1, 2 * most):
        finer = MaxNLocator(nbins=count, steps=[1, 2, 5, 10], min_n_ticks=1).tick_values(low, high)
        finer = finer[(finer > low + room) & (finer < high - room)]
        marks = finer if len(marks) <= len(finer) <= most else marks
    step = float(np.min(np.diff(marks))) if len(marks) > 1 else high - low
    common = 100.0 * step * round(float(marks.mean()) / (100.0 * step)) if np.abs(marks).max() > 1e4 * step else 0.0
    largest = float(np.abs(marks - common).max()) or step
    power = 3 * int(np.floor(np.log10(largest) / 3)) if not 1e-2 <= largest < 1e4 else 0
    texts = [f"{(value - common) / 10.0**power:.6g}" for value in marks]
    axis.set_major_locator(FixedLocator(marks.tolist()))
    axis.set_major_formatter(FuncFormatter(lambda _, k: texts[k] if k is not None and k < len(texts) else ""))
    name = f"${letter}$" if not common else f"${letter} - {common:.12g}$".replace("- -", "+ ")
    unit = f"$10^{{{power}}}$ {units}".strip() if power else units
    axis.set_label_text(f"{name}{remark} [{unit}]" if unit else name + remark)
    axis.labelpad = beside * (5.0 + (3.0 if letter == "z" else 1.0) * max(map(len, texts)))


def _screen() -> np.ndarray:
    """The directions right, up and towards the eye of the view, as columns."""
    elevation, azimuth = np.deg2rad([ELEVATION, AZIMUTH])
    toward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    return np.stack([right, np.cross(toward, right), toward], 1)
