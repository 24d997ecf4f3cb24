"""Numbers of docs/swimming.md, and those of fish in docs/studies.md."""

import functools

import numpy as np

from naiad.locomotion import FourierGait, area_rule, net_motions, three_link_fish
from naiad.studies.fish.three_link_fish import ThreeLinkFish, compared
from tests.docs.measured.registry import measured, results
from tests.locomotion.test_torques import works_over_the_change_of_energy

BOTH = ("mass=massless", "mass=neutral")


def percent(new, old):
    return 100.0 * (new / old - 1.0)


@functools.cache
def figures_of_the_paper():
    return compared(ThreeLinkFish().fish)


@measured("claims-about-coupling")
def claims_about_coupling():
    rows = []
    for (_, gait), motions in figures_of_the_paper().items():
        each = [(motions[hydro].distance, abs(motions[hydro].turn)) for hydro in ("decoupled", "coupled")]
        told = np.array(each)[:, : 2 if gait == "turning" else 1]
        rows += [*np.ravel(told), *percent(told[1], told[0])]
    return rows


@measured("area-rule")
def circles():
    fish = three_link_fish()
    rows = []
    for radius in (0.05, 0.1, 0.2, 0.5, 1.0):
        gait = FourierGait.of([0, 0], [[-radius, 0]], [[0, radius]])
        exact = net_motions(fish, [gait]).x[0]
        places = np.array([pose.x for pose in area_rule(fish, gait)])
        swum, told = np.linalg.norm(exact), np.linalg.norm(places, axis=1)
        place = 100.0 * np.linalg.norm(places - exact, axis=1) / swum
        distance = np.abs(told / swum - 1.0)
        off = np.degrees(np.arccos(np.clip(places @ exact / (told * swum), -1.0, 1.0)))
        rows.append([swum, place, distance * PERCENT[radius], off])
    return np.concatenate([np.ravel(part) for row in rows for part in row])


PERCENT = {
    0.05: np.array([100, 1, 1]),
    0.1: np.array([100, 1, 1]),
    0.2: np.array([100, 1, 1]),
    0.5: np.array([100, 100, 100]),
    1.0: np.array([100, 100, 100]),
}
"""In which of the columns of the table an error of the distance stands as a percentage."""


@measured("fish-of-growing-width")
def fish_of_growing_width():
    found = [results("spatial-fish", "widths=2,10,40,160,640", mass) for mass in BOTH]
    rows = [*zip(*(each["displacement"][:, 1:] for each in found), strict=True)]
    return np.ravel([*rows, *([each[name][1:] for each in found] for name in ("limit", "planar"))])


@measured("powers-of-the-width")
def powers_of_the_width():
    found = [results("spatial-fish", "widths=2,10,40,160,640", mass) for mass in BOTH]
    shares = [100.0 * np.hypot(*each["displacement"][0, 1:]) / np.hypot(*each["planar"][1:]) for each in found]
    return {
        "measured power is # (massless) and # (neutral)": [each["rates"][-1] for each in found],
        "the neutral fish makes # % of the planar one's way, the massless one # %": shares[::-1],
    }


@measured("links-coupled-in-space")
def links_coupled_in_space():
    found = results("spatial-fish", "coupling=fluid", "widths=2,5,10")
    swum = np.stack([found["distance_alone"], found["distance"], 100.0 * found["change"]], axis=1)
    flat = [np.linalg.norm(found[name][1:]) for name in ("planar_alone", "planar")]
    return [*np.ravel(swum), *flat, 100.0 * found["planar_change"]]


@measured("best-gaits")
def best_gaits():
    rows = []
    for given in (("hydro=decoupled", BOTH[0]), ("hydro=coupled", BOTH[0]), ("hydro=coupled", BOTH[1])):
        found = [results("gait-optimiser", *given, f"harmonics={count}") for count in (1, 3, 5)]
        assert all(each["agreeing"] == 4 for each in found)
        rows += [found[0]["paper_displacement"], *(each["displacement"] for each in found)]
    return rows


@measured("fish-under-a-cloth")
def fish_under_a_cloth():
    """Massless and neutral in turn, each with its gain."""
    widths = ("1", "1.5", "2", "3", "4")
    found = [[results("smooth-fish", f"width={width}", mass) for mass in BOTH] for width in widths]
    hinged = [each["hinged_distance"] for each in found[0]]
    rows = [[each["cloth_distance"] for each in row] for row in found] + [[each["wave_distance"] for each in found[2]]]
    gains = [(new, percent(new, old)) for row in rows for new, old in zip(row, hinged, strict=True)]
    return [*hinged, *np.ravel(gains)]


@measured("smooth-fish")
def smooth_fish():
    (narrow, heavy_narrow), (smooth, heavy) = [
        [results("smooth-fish", f"width={width}", mass) for mass in BOTH] for width in ("1", "2")
    ]

    def told(found):
        return found["cloth_distance"], found["hinged_distance"]

    return {
        "Under the cloth the fish swims # m a period instead of # m if it is massless (# %)": (
            *told(smooth),
            percent(*told(smooth)),
        ),
        "and # m instead of # m if it is neutrally buoyant (# %)": (*told(heavy), percent(*told(heavy))),
        "to # and # % at 1 m": [percent(*told(found)) for found in (narrow, heavy_narrow)],
        "gets the neutral fish # m": heavy["wave_distance"],
        "areas are kept to #,": max(found["area_error"] for found in (smooth, heavy)),
        "by other nodes, is zero to #.": max(found["cloth_momentum_error"] for found in (smooth, heavy)),
    }


@measured("turning-under-a-cloth")
def turning_under_a_cloth():
    found = [results("smooth-fish", "gait=turning", mass) for mass in BOTH]
    turns = [[abs(each[f"{name}_net"][0]) for name in ("cloth", "hinged")] for each in found]
    return {
        "the massless one turns by # rad instead of #, the neutral one by # instead of #": turns,
    }


@measured("best-gait")
def best_gait():
    found = [results("gait-optimiser", "hydro=decoupled", BOTH[0], f"harmonics={count}") for count in (1, 5)]
    best = [each["displacement"] for each in found]
    return {
        "forward gait gets # m a period": found[0]["paper_displacement"],
        "the best ellipse gets # m and the best series of five harmonics # m": best,
    }


@measured("coupling-in-space")
def coupling_in_space():
    found = results("spatial-fish", "coupling=fluid", "widths=2,5,10")
    ends = 100.0 * np.array([found["change"][0], found["change"][-1], found["planar_change"]])
    return {"makes the fish swim # to # % further (w from 2 to 10 m; in the plane # %)": ends}


@measured("driven-fish")
def driven_fish():
    found = results("swimmer-dynamics", "stability=yes")
    return {
        "swims # m in the": found["displacement"],
        "dampers, to # of these": found["energy_balance_error"],
        "in the angles, to #,": found["inertia_error"],
        "# m a period, with Floquet's multipliers: # twice and # twice": (
            np.linalg.norm(found["cycle_net"][1:]),
            *found["multipliers"][[0, 2]],
        ),
        "left to themselves are # and #.": found["passive_multipliers"][[0, 2]],
    }


@measured("fish-in-a-street")
def fish_in_a_street():
    let, held = results("fish-vortices"), results("fish-vortices", "release=held")
    alone = let["distance_alone"]
    return {
        "comes # m ahead in a street that goes its way (# m alone, # %)": (let["distance"], alone, 100.0 * let["gain"]),
        "and # m in one that goes against it (# %)": (
            alone * (1.0 + let["gain_reversed"]),
            100.0 * let["gain_reversed"],
        ),
        "What is left of both, # %": 100.0 * let["gain_mean"],
        "vortices is kept to #.": let["momentum_error_max"],
        "has no drag: # % and # %, and again # % in the mean": [
            100.0 * held[name] for name in ("gain", "gain_reversed", "gain_mean")
        ],
    }


@measured("stream-of-a-street")
def stream_of_a_street():
    found = results("fish-vortices")
    return {
        "# % of its distance in a period": 100.0 * found["gain"],
        "gains # % by swimming": 100.0 * found["gain_mean"],
    }


@measured("other-objectives")
def other_objectives():
    efficient, working, turning = (
        results("gait-optimiser", f"objective={objective}") for objective in ("efficiency", "work", "turning")
    )
    return {
        "the gait is smaller, # m at # instead of #,": (
            efficient["displacement"],
            efficient["value"],
            efficient["paper_value"],
        ),
        "by `work` # m at # instead of #;": (working["displacement"], working["value"], working["paper_value"]),
        "`turning` gets # rad a period instead of #": (turning["value"], turning["paper_value"]),
    }


@measured("work-of-the-torques")
def work_of_the_torques():
    """As the test of it has them."""
    _, without = works_over_the_change_of_energy()
    return {"without the last term # % of it is missing": 100.0 * abs(without - 1.0)}


@measured("cheapest-gait")
def cheapest_gait():
    found = results("gait-energy")
    return {"10 m a period cost # J s, # times": (found["cost"], found["over_limit"])}
