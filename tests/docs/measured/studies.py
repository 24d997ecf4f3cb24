"""Numbers of docs/studies.md and docs/reduction.md, other than those of fish."""

import numpy as np

import naiad as nd
from naiad.studies.atoms.argon_cluster import METHODS, ArgonCluster, start_state
from tests.docs.measured.registry import measured, results


@measured("oblate-earth")
def oblate_earth():
    found = results("oblate-earth")
    rates = (found["node_rate"], found["node_rate_textbook"])
    return {
        "turns at # rad/s, the secular formula of first order in J2 gives #": rates,
        "stays at round-off (# over a day)": found["axial_momentum_error_max"],
    }


@measured("argon")
def argon():
    found = results("argon-cluster")
    counts, energies = found["isomer_counts"], found["isomer_energies"]
    assert 5 < found["isomer_changes"] < 60  # which of them is chaos
    assert 0.0 < found["ground_state_share"] < 1.0  # it is both
    assert np.degrees(found["turn_at_rest"]) > 0.1
    assert found["angular_momentum_at_rest_max"] < 1e-14
    return {
        "random shapes # fall to the bicapped tetrahedron, # ε, and # to the octahedron, # ε": (
            counts[1],
            energies[1],
            counts[0],
            energies[0],
        ),
        "The energy error is at most #, that of the angular momentum #.": (
            found["energy_error_max"],
            found["angular_momentum_error_max"],
        ),
        "turns the octahedron by # rad in 30 periods": found["vibration_turn"],
        "swept says # (they differ by # %)": (
            found["vibration_turn_by_area"],
            100.0 * abs(found["vibration_turn_by_area"] / found["vibration_turn"] - 1.0),
        ),
        "the dynamic phase is #.": found["vibration_dynamic_phase"],
        "turns it by #°; the curvature at its centre says #°.": np.degrees(
            [found["circle_turn"], found["circle_turn_by_area"]]
        ),
    }


@measured("isomers")
def isomers():
    found = results("argon-cluster")
    return {
        "(octahedron # ε, bicapped tetrahedron # ε)": found["isomer_energies"][:2],
        "which is kept to #,": found["angular_momentum_error_max"],
    }


@measured("rotor-spacecraft")
def rotor_spacecraft():
    return {"the energy error (# at h = 0.01) swings": results("rotor-spacecraft")["energy_error_max"]}


@measured("flow-through-links")
def flow_through_links():
    through, around = (
        results("streamlines", "thetadot2=0", f"hydro={hydro}")["flow_through_bodies"]
        for hydro in ("decoupled", "coupled")
    )
    assert 0.15 < through < 0.25  # a fifth
    return {"coupled it goes around them, to #.": around}


OCTAHEDRON = 0.8 * np.concatenate([np.eye(3), -np.eye(3)])


@measured("argon-apart", within=0.25)
def argon_apart():
    """When two runs of Verlet's steps part, whose starts differ in the last digit."""
    cluster = ArgonCluster().cluster()
    shape = cluster.relaxed(cluster.coordinates(OCTAHEDRON)[None])[0]
    start = start_state(cluster, shape, -10.5, (0.0, 0.5, 1.0), 1)
    moved = start._replace(g=start.g * (1.0 + 1e-15 * np.random.default_rng(0).standard_normal(start.g.shape)))
    one, other = (
        nd.simulate(cluster, state, t1=150.0, dt=0.005, method=METHODS["verlet"][1], save_every=10, progress=False)
        for state in (start, moved)
    )
    apart = np.max(np.abs(one.g - other.g), axis=(1, 2))
    return {"by 1e-15 are 0.1 apart at t = #": one.t[np.argmax(apart > 0.1)]}
