"""The gaits and the masses of the paper, decoupled beside coupled: is it true that coupled links swim further?"""

from collections.abc import Callable, Mapping
from typing import Any

from naiad.locomotion import Swimmer
from naiad.studies.fish.motion import GAITS, MASSES, FishMotion, one_period
from naiad.studies.study import Table

MASS_TITLES = {"massless": "Massless links", "neutral": "Neutrally buoyant links"}
FIGURES = {
    ("massless", "forward"): 8,
    ("massless", "turning"): 9,
    ("neutral", "forward"): 11,
    ("neutral", "turning"): 12,
}

Cases = Mapping[tuple[str, str], Mapping[str, FishMotion]]
"""(mass, gait) -> hydro -> the motion of a period."""


def compared(fish: Callable[..., Swimmer]) -> Cases:
    """The motions of Figs. 8 to 12; `fish` makes one from `coupled` and the `ratio` of densities."""
    return {
        (mass, gait): {
            hydro: one_period(fish(coupled=hydro == "coupled", ratio=MASSES[mass]), GAITS[gait])
            for hydro in ("decoupled", "coupled")
        }
        for mass, gait in FIGURES
    }


def coupling_table(cases: Cases) -> Table:
    """Displacement and turn of a period, and whether the paper's claim holds."""
    heads = (
        "Links, gait (figure)",
        "Decoupled: displacement [m], turn [rad]",
        "Coupled",
        "Change of displacement, of turn",
        "Further when coupled, as the paper says?",
    )
    return Table(heads, tuple(_row(case, motions) for case, motions in cases.items()))


def _row(case: Any, motions: Mapping[str, FishMotion]) -> tuple[str, ...]:
    mass, gait = case
    alone, coupled = motions["decoupled"], motions["coupled"]
    further = coupled.distance / alone.distance - 1.0
    turns = abs(alone.turn) > 1e-9
    turn = f", {coupled.turn / alone.turn - 1.0:+.1%}" if turns else ""
    return (
        f"{mass}, {gait} (Fig. {FIGURES[case]})",
        *(f"{each.distance:.4f}, {each.turn if turns else 0.0:.4f}" for each in (alone, coupled)),
        f"{further:+.1%}{turn}".replace("-", "\N{MINUS SIGN}"),
        "true" if further > 0.0 else "false",
    )
