"""Numbers of docs/methods.md."""

import functools

import numpy as np

import naiad as nd
from naiad.diagnostics import march, reference, reversibility_defect, watched_run
from naiad.studies.bodies.heavy_top import HeavyTop
from naiad.studies.planets.outer_solar_system import MASSES, POSITIONS, VELOCITIES, G
from naiad.studies.planets.variable_steps import VariableSteps
from naiad.studies.progress import Progress
from naiad.studies.vehicles.vehicle import INERTIA, MASS
from tests.docs.measured.registry import measured, results
from tests.integrators.test_variable_steps import Planet, far

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


@measured("collocation-of-a-vehicle")
def collocation_of_a_vehicle():
    state, found = vehicle_state(), []
    exact = march(VEHICLE, nd.Collocation(), state, dt=0.2, steps=50).mu
    loose = nd.Collocation(newton=nd.Newton(tolerance=1e-9))
    cases = ((nd.Collocation(), 0.625), (nd.Collocation(), 1.0), (loose, 0.5), (nd.Splitting(6, "top"), 0.1))
    for method, dt in cases:
        run = nd.simulate(VEHICLE, state, t1=10.0, dt=dt, method=method, reconstruct=False, progress=False)
        found.append(np.max(np.abs(run.final.mu - exact)))
        energy = nd.diagnostics.energy_error(run).max()
        if method == nd.Collocation():
            assert energy < 1e-13
        else:
            found.append(energy)
        if isinstance(method, nd.Collocation):
            found.append(run.statistics["newton_iterations_mean"])
    return found


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


@measured("inertia-as-jacobian")
def inertia_as_jacobian():
    """The top of the README, with 60 and with 12.6 steps in a turn of its spin."""
    top = HeavyTop(np.diag([1.0, 1.0, 0.5]), 1.0)
    state = top.state(R=nd.SO3().exp(np.array([0.9, 0.0, 0.0])), Omega=(0.0, 0.0, 5.0))

    def iterations(jacobian, dt):
        method = nd.Variational(newton=nd.Newton(jacobian=jacobian))
        return nd.simulate(top, state, t1=200.0, dt=dt, method=method, progress=False).statistics[
            "newton_iterations_mean"
        ]

    fine, coarse = (
        [iterations(jacobian, dt) for jacobian in ("inertia", "exact")] for dt in (2.0 * np.pi / 300.0, 0.1)
    )
    return {
        "are more, # where the exact Jacobian takes # (a top with 60 steps a turn)": fine,
        "(# against # with 12.6 steps a turn)": coarse,
    }


@measured("wandering-energy", within={1: 0.2, 2: 0.7})
def wandering_energy():
    """Over 1e6 s."""
    largest = []
    for dt in (0.13, 0.22, 0.255):
        monitors = {"energy": VEHICLE.energy}
        given = {"t1": 1e6, "dt": dt, "method": nd.Splitting(6, "top"), "reconstruct": False, "save_every": 10**7}
        run = nd.simulate(VEHICLE, vehicle_state(), **given, monitors=monitors, progress=False)
        first, energy = float(VEHICLE.energy(vehicle_state())), run.monitors["energy"]
        largest.append(max(energy.max - first, first - energy.min) / first)
        assert abs(energy.slope * 1e6 / first) < largest[-1]
    return {"its largest error is #, # and # for dt": largest}


@measured("outer-planets")
def outer_planets():
    """Over 1e5 years, at 500 nodes."""
    masses = nd.models.PointMasses(MASSES, G)
    q, v = (given - MASSES @ given / MASSES.sum() for given in (POSITIONS, VELOCITIES))

    def error(dt):
        steps = round(36525e3 / dt)
        given = {"t1": steps * dt, "dt": dt, "method": nd.WisdomHolman(), "save_every": steps // 500}
        energy = nd.simulate(masses, masses.state(q=q, v=v), **given, progress=False).energy.to_numpy()
        return np.max(np.abs(energy / energy[0] - 1.0))

    found = {dt: error(dt) for dt in (720.0, 750.0, 800.0)}
    return {
        "has an energy error of # over 1e5 years with steps of 720 days": found[720.0],
        "750 days have # times the error of 800": found[750.0] / found[800.0],
    }


@measured("no-resonance-of-reversible-steps")
def no_resonance():
    """Kepler's problem, e = 0.6, 2000 revolutions: the largest energy error beside that of the first 20, and tenths."""
    planet, ratios = Planet(), []
    state = far(0.6)
    first = float(planet.energy(state))

    def largest(steps, revolutions):
        method = nd.ReversibleSteps(nd.Variational())
        given = {"t1": 2.0 * np.pi * revolutions, "dt": 2.0 * np.pi / steps, "method": method}
        run = nd.simulate(planet, state, **given, monitors={"energy": planet.energy}, progress=False)
        energy = run.monitors["energy"]
        return max(energy.max - first, first - energy.min) / abs(first)

    for steps in (16, 22, 28, 40, 55, 70):
        ratios.append(largest(steps, 2000) / largest(steps, 20))
    run = nd.simulate(
        planet, far(0.99), t1=200.0 * np.pi, dt=0.02, method=nd.ReversibleSteps(nd.Variational()), save_every=1
    )
    parts = [np.max(part) for part in np.array_split(np.abs(run.energy.to_numpy() / float(run.energy[0]) - 1.0), 10)]
    assert abs(parts[-1] / parts[0] - 1.0) < 1e-4
    return {"revolutions is at most # times that of the first 20": max(ratios)}
