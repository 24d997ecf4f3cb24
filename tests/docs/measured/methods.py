"""Numbers of docs/methods.md."""

import functools

import numpy as np

import naiad as nd
from naiad.diagnostics import march, reference, reversibility_defect, watched_run
from naiad.studies.bodies.heavy_top import HeavyTop
from naiad.studies.planets.variable_steps import VariableSteps
from naiad.studies.progress import Progress
from naiad.studies.vehicles.vehicle import INERTIA, MASS
from tests.docs.measured.registry import measured, results

LONG = ("e=0.99", "periods=100")
ROUND = ("e=0.6", "periods=100", "steps=200", "methods=constant,constant-midpoint,reversible,energy")
SATELLITE = ("problem=satellite", "e=0.7", "periods=5", "methods=constant,constant4,reversible,reversible4")
FLOWN = 10.0
"""A distance, in semi-major axes, at which an orbit is lost."""


def errors(found, *names):
    """Of energy and phase, method by method."""
    return [found[key][name] for name in names for key in ("energy_error_max", "position_error")]


@measured("ellipses")
def ellipses():
    middle, long = results("variable-steps"), results("variable-steps", *LONG)
    flown = (middle, "constant4"), (long, "constant"), (long, "constant4")
    assert min(found["position_error"][name] for found, name in flown) > FLOWN
    study = VariableSteps(methods=("energy",))
    ended, _ = study.measured(study.made(), "energy", study.periods, Progress())
    stages = study.steps / 5
    return [
        *errors(results("variable-steps", *ROUND), "constant", "constant-midpoint", "reversible", "energy"),
        *(*errors(middle, "constant"), stages),
        *(*errors(middle, "reversible"), stages, *errors(middle, "reversible4"), ended.attrs["t"]),
        *(*errors(long, "reversible"), stages, *errors(long, "reversible4")),
    ]


@measured("pass-and-satellite")
def pass_and_satellite():
    near, orbit = results("variable-steps", "problem=pass"), results("variable-steps", *SATELLITE)["energy_error_max"]
    assert near["outcome"]["energy"] == results("variable-steps")["outcome"]["energy"] == "NEWTON_FAILED"
    return {
        "leaves a relative energy error of # and a position error of # with": (
            near["energy_error_end"]["reversible"],
            near["position_error"]["reversible"],
        ),
        "constant steps are off by # times the energy": near["energy_error_end"]["constant"],
        "has an energy error of # against # with constant steps, and of # against # with compositions": [
            orbit[name] for name in ("reversible", "constant", "reversible4", "constant4")
        ],
    }


VEHICLE = nd.models.KirchhoffBody(I=(1.5, 2.0, 3.0), M=(2.0, 3.0, 4.0))


def vehicle_state():
    return VEHICLE.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))


@measured("parts-of-splittings")
def parts_of_splittings():
    state = vehicle_state()
    exact = reference(VEHICLE, state, t1=4.0)
    off = [
        np.max(np.abs(march(VEHICLE, nd.Splitting(6, parts), state, dt=0.1, steps=40).mu - exact.mu))
        for parts in ("screws", "axes", "top")
    ]
    return {'t = 4: # with "screws", # with "axes", # with "top"': off}


@measured("momentum-methods-on-a-torus")
def momentum_methods_on_a_torus():
    vehicle = nd.models.KirchhoffBody(INERTIA, MASS)
    state = vehicle.state(Pi=(0.0, 3.807047861195724, 1.0), p=(5.2, 0.0, 0.0))

    def changed(method):
        kept = {"energy": nd.diagnostics.Energy(vehicle)}
        errors = watched_run(vehicle, state, invariants=kept, t1=2000.0, dt=0.05, method=method)[1]
        return errors["energy_error_max"] * float(vehicle.energy(state))

    assert changed(nd.MidpointLieNewmark()) < 1e-12
    return {
        "error is # with `TrapezoidalLieNewmark` and # with `FastLieVerlet`": [
            changed(nd.TrapezoidalLieNewmark()),
            changed(nd.FastLieVerlet()),
        ],
        "it has grown to # after": changed(nd.SimoWong()),
    }


@functools.cache
def heavy_tops():
    """Ten, with moments of inertia that bodies have, and states."""
    rng, found = np.random.default_rng(0), []
    for _ in range(10):
        a, b, c = rng.uniform(0.2, 1.0, 3)
        top = HeavyTop(np.diag([b + c, c + a, a + b]), rng.uniform(0.5, 3.0))
        found.append((top, top.state(R=nd.SO3().random(rng), Omega=rng.standard_normal(3))))
    return found


@measured("exponential-on-heavy-tops")
def exponential_on_heavy_tops():
    ratios = []
    for top, state in heavy_tops():
        exact = reference(top, state, t1=2.0)
        ends = [march(top, nd.Variational(tau), state, dt=0.02, steps=100) for tau in (nd.Cayley(), nd.Exponential())]
        errors = [(np.linalg.norm(end.g - exact.g), np.linalg.norm(end.mu - exact.mu)) for end in ends]
        ratios.append(np.divide(*errors))
    return {
        "are # to # times smaller": (np.min(ratios), np.max(ratios)),
        "the median # in R and # in Π": np.median(ratios, axis=0),
    }


@measured("reversal-of-gauss2", within=0.5)
def reversal_of_gauss2():
    missed = [reversibility_defect(top, nd.VPRK("gauss2"), state, dt=0.05) for top, state in heavy_tops()]
    return {"misses ten heavy tops, drawn at random, by # to #.": (min(missed), max(missed))}
