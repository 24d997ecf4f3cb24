"""Lines over time: components by colour, bodies by dashes, and what is small apart from what is large."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.style import FAINT, LINES, colours, dress, marker
from naiad.viz.thinning import evenly, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BODIES = 12
APART = 25.0
NOTHING = 1e-9
Panel = Callable[["Axes"], object]


@dataclass(frozen=True)
class Line:
    """One line: its values, how it is drawn, and the component and the body that it belongs to."""

    values: np.ndarray
    colour: str
    dashes: str
    component: str
    body: str


def line_panels(
    time: np.ndarray,
    ylabel: str,
    letter: str,
    groups: Mapping[str, np.ndarray],
    marks: Sequence[str] | None = None,
    bodies: Sequence[str] = (),
    clock: str = "time [s]",
) -> list[Panel]:
    """Panels for values[time, body, component] by name: one for each size that there is (see `by_size`). `bodies` are
    the names of bodies, where there are as many; `clock` is the label of the time."""
    lines, shown, count = _lines(letter, groups, marks, bodies)
    remark = f"{shown} of {count} bodies" if shown < count else None
    thin_lines = shown > len(LINES)
    return [
        lambda ax, some=some: _draw(ax, time, [lines[k] for k in some], (clock, ylabel), remark, crowded=thin_lines)
        for some in by_size([line.values for line in lines])
    ]


def by_size(series: Sequence[np.ndarray]) -> list[list[int]]:
    """The numbers of the series that share an axis, largest first: none is 25 times smaller than the next larger one.

    What is nothing beside the largest (round-off, or zero) stays with it.
    """
    with np.errstate(invalid="ignore"):
        sizes = [float(np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values))) for values in series]
    order = sorted(range(len(series)), key=lambda k: -sizes[k])
    groups: list[list[int]] = []
    for k in order:
        if sizes[k] <= NOTHING * sizes[order[0]]:
            groups[0].append(k) if groups else groups.append([k])
        elif not groups or sizes[k] * APART < min(sizes[j] for j in groups[-1]):
            groups.append([k])
        else:
            groups[-1].append(k)
    return [sorted(group) for group in groups]


def _lines(
    letter: str, groups: Mapping[str, np.ndarray], marks: Sequence[str] | None, called: Sequence[str]
) -> tuple[list[Line], int, int]:
    """The lines; how many bodies are shown, a sample where there are many; and how many there are."""
    bodies = [
        (_body(name, k, values.shape[1], called), values[:, k])
        for name, values in groups.items()
        for k in range(values.shape[1])
    ]
    shown = [bodies[k] for k in evenly(len(bodies), MOST_BODIES)]
    components = max(values.shape[1] for _, values in shown)
    if components == 1:
        palette = colours(len(shown))
        single = [Line(values[:, 0], palette[b], "-", "", name) for b, (name, values) in enumerate(shown)]
        return single, len(shown), len(bodies)
    palette, few = colours(components), len(shown) <= len(LINES)
    lines = [
        Line(values[:, i], palette[i], LINES[b] if few else "-", f"${letter}_{{{marks[i] if marks else i + 1}}}$", name)
        for b, (name, values) in enumerate(shown)
        for i in range(values.shape[1])
    ]
    return lines, len(shown), len(bodies)


def _body(name: str, k: int, count: int, called: Sequence[str]) -> str:
    """What the k-th of the bodies is called that share a component."""
    if count == 1:
        return name
    if len(called) == count:
        return called[k]
    return f"{name} {k}" if name else f"body {k}"


def _draw(
    ax: "Axes", time: np.ndarray, lines: list[Line], words: tuple[str, str], remark: str | None, *, crowded: bool
) -> None:
    options: dict[str, Any] = {"marker": marker(len(time))} | ({"linewidth": 0.7, "alpha": 0.7} if crowded else {})
    named: set[str] = set()
    for line in lines:
        label = line.component or line.body
        ax.plot(
            *thin(time, line.values),
            color=line.colour,
            linestyle=line.dashes,
            label=label if label and label not in named else "_line",
            **options,
        )
        named.add(label)
    bodies = {line.body: line.dashes for line in lines if line.component and line.body}
    if len(bodies) > 1 and not crowded:
        for name, dashes in bodies.items():
            ax.plot([], [], color=FAINT, linestyle=dashes, label=name)
    dress(ax, *words)
    _legend(ax, remark)


def _legend(ax: "Axes", remark: str | None) -> None:
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            loc="upper left",
            bbox_to_anchor=(1.0, 1.04),
            ncols=2 if len(handles) > 7 else 1,
            title=remark,
            title_fontsize=8,
            labelspacing=0.3,
            columnspacing=1.0,
        )
