"""Numbers of strings in docs/studies.md."""

from naiad.studies.strings.lumped_string import PAPER
from tests.docs.measured.registry import measured, results

ENERGY = ("mean_energy_error", "max_energy_error")


@measured(
    "composed-strings", within=dict.fromkeys(range(4), 0.2)
)  # the string whips: with EA a last digit more or less it is as much off
def composed_strings():
    plain = results("string-pendulum", "scheme=symmetric")
    composed = [
        results("string-pendulum", f"scheme={scheme}", "order=6", "dt=0.005") for scheme in ("imex", "symmetric")
    ]
    parts = [found[name] / plain[name] for found in composed for name in ENERGY]
    return {
        "has # of the mean and # of the largest energy error of `symmetric` at 0.0005": parts[:2],
        "`symmetric` of order 6 itself # and #.": parts[2:],
        "in the paper's form gives # J in deployment": results("string-pendulum", "case=deploy")["carnot_work"],
    }


@measured("string-inside-the-drum")
def string_inside_the_drum():
    given = ("string-pendulum", "case=retrieve", "scheme=symmetric", "inside=24")
    smooth, rough = results(*given), results(*given, "friction=0.2")
    return {
        "balanced to # J with 24 elements": smooth["energy_balance_error_max"],
        "and # m of it slide out in 10 s": 90.0 - smooth["s_p"],
        "wound in after # s; friction has taken # J": (rough["t_end"], -rough["friction_work"]),
    }


@measured("lumped-string")
def lumped_string():
    found = results("lumped-string")
    names = ("mean_energy_error", "mean_pi3_error", "mean_orthogonality_error")

    def told(row):
        return [row[name] for name in names]

    return {
        "mean |ΔE| # J, |Δπ₃| # and |I − RᵀR| #": told(found["lumped-rk2"]),
        "the paper's Runge-Kutta: #, #, #)": told(PAPER["RK"]),
        "integrator: #, # and # on finite elements": told(found["elements-variational"]),
        "#, # and # on lumped masses": told(found["lumped-variational"]),
    }


@measured("crane")
def crane():
    found = results("crane", "shapers=plain,zv,zvd")
    swings = [found[name]["residual_swing"] for name in ("plain", "zv", "zvd")]
    return {
        "leaves it swinging by #°, the same in two halves half a period apart by #°, in three parts by #°": swings,
    }


@measured("tethered-satellite")
def tethered_satellite():
    found = results("tethered-satellite")
    return {
        "(#°; #° measured, with the mass of the tether)": (found["lean_expected"], found["lean_mean"]),
        "swings with # n at #° of amplitude": (found["libration_frequency"], found["libration_amplitude"]),
    }
