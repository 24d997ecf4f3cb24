"""Numbers of docs/connected-bodies.md and docs/buoyant-vehicle.md."""

import numpy as np

import naiad as nd
from naiad.diagnostics import KelvinNoether, reference
from naiad.studies.trees.invariants import METHODS
from naiad.studies.trees.three_ellipsoids import OMEGA, XDOT, three_ellipsoids
from naiad.studies.vehicles.buoyant_vehicle import BuoyantVehicle, MidwayEnergy
from tests.docs.measured.registry import measured, results

SCHEMES = ("lgvi", "trapezoid", "midpoint")


def order(errors):
    """By the last two, of steps that are halved."""
    return np.log2(errors[-2] / errors[-1])


@measured("orders-of-connected-bodies")
def orders_of_connected_bodies():
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    exact = reference(bodies, state, t1=1.0)
    rows = []
    for scheme in SCHEMES:
        errors = []
        for dt in (0.01, 0.005, 0.0025, 0.00125):
            end = nd.simulate(bodies, state, t1=1.0, dt=dt, method=METHODS[scheme], save_every=10**6).final
            errors.append(max(np.max(np.abs(mine - its)) for mine, its in zip(end.g, exact.g, strict=True)))
        rows += [*errors, order(errors)]
    return rows


@measured("invariants-of-connected-bodies")
def invariants_of_connected_bodies():
    names = ("energy", "linear_momentum", "angular_momentum", "orthogonality")
    runs = [results("connected-bodies", f"scheme={scheme}") for scheme in SCHEMES]
    runs += [results("connected-bodies", "scheme=rk45", f"tolerance={tolerance}") for tolerance in ("1e-3", "1e-6")]
    return [run[f"{name}_error_max"] for run in runs for name in names]


@measured("start-of-connected-bodies")
def start_of_connected_bodies():
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    momentum = np.asarray(nd.double(bodies.noether)(state))[:3]
    return {"(E_0 = # J, |L_0| = # kg m²/s)": (float(bodies.energy(state)), np.linalg.norm(momentum))}


@measured("runge-kutta-on-connected-bodies")
def runge_kutta_on_connected_bodies():
    rough = ("scheme=rk45", "tolerance=1e-3")
    found = [results("connected-bodies", *rough, *more)["energy_error_max"] for more in (("t1=10",), ())]
    return {"energy error at 1e-3: # J in 10 s, and # J in 100 s": found}


@measured("eel")
def eel():
    return {"advances by # m": np.linalg.norm(results("eel")["displacement"])}


MAPS = ("cay", "exp")


@measured("orders-of-the-buoyant-vehicle")
def orders_of_the_buoyant_vehicle():
    study = BuoyantVehicle()
    start = study.plan("cay", "symmetric")
    exact = reference(start.vehicle, start.state, t1=10.0).g
    rows = []
    for scheme in ("paper", "symmetric"):
        for map in MAPS:
            ends = [
                results("buoyant-vehicle", f"scheme={scheme}", f"map={map}", "t1=10", f"dt={dt}")
                for dt in (0.04, 0.02, 0.01, 0.005)
            ]
            for name in ("q", "R"):
                errors = [np.max(np.abs(end[name] - getattr(exact, name))) for end in ends]
                rows += [*errors, order(errors)]
    return rows


@measured("largest-energy-errors-of-the-vehicle")
def largest_energy_errors():
    found = results("buoyant-vehicle", "map=cay")
    return {"largest |E_k − E_0|/E_0 is # (cay; E_0 = # J)": (found["energy_error_max"], found["energy"])}


def slopes(map):
    """Of E_k, of what was predicted, and of E_k with the potential half a step later."""
    study = BuoyantVehicle()
    plan = study.plan(map, "paper")
    monitors = {
        "E": plan.energy,
        "predicted": lambda s, t: 0.5 * study.dt * plan.vehicle.surplus * plan.velocity(s, t)[5],
        "midway": MidwayEnergy(plan.vehicle, plan.method, study.dt),
    }
    given = {"t1": study.t1, "dt": study.dt, "method": plan.method}
    run = nd.simulate(plan.vehicle, plan.state, **given, monitors=monitors, progress=False)
    return [run.monitors[name].slope for name in monitors]


@measured("slopes-of-the-energy")
def slopes_of_the_energy():
    return slopes("cay")


@measured("falls-of-the-slope")
def falls_of_the_slope():
    falls = {map: (found := slopes(map))[0] / found[2] for map in MAPS}
    errors = [results("buoyant-vehicle", "scheme=symmetric", f"map={map}")["energy_error_max"] for map in MAPS]
    return {
        "falls by a factor of # (cay; # for exp)": [falls[map] for map in MAPS],
        "its largest error is # (cay) and # (exp)": errors,
    }


@measured("kelvin-noether")
def kelvin_noether():
    found = results("buoyant-vehicle", "map=cay")
    return {
        "begins at # (paper, cay) and stays within # of it": (
            found["kelvin_noether"],
            found["kelvin_noether_error_max"],
        )
    }


def long_run(plan, method, dt):
    """Over a million steps: swing and trend of the energy, change of the Kelvin-Noether quantity, way off the group."""
    vehicle = plan.vehicle
    quantity = KelvinNoether(vehicle, vehicle.down)
    monitors = {"energy": vehicle.energy, "quantity": quantity, "group": lambda s, t: vehicle.group.error(s.g)}
    run = nd.simulate(vehicle, plan.state, t1=1e6 * dt, dt=dt, method=method, monitors=monitors, progress=False)
    energy, kept = run.monitors["energy"], run.monitors["quantity"]
    first, start = float(run.energy[0]), float(quantity(plan.state, 0.0))
    change = max(kept.max - start, start - kept.min) / abs(start)
    return [dt, (energy.max - energy.min) / first, energy.slope * 1e6 * dt / first, change, run.monitors["group"].max]


@measured("million-steps-of-the-vehicle", within={3: 0.9, 13: 0.9})  # the round-off of q x p
def million_steps_of_the_vehicle():
    rows = []
    for dt in (0.01, 0.05):
        plan = BuoyantVehicle(buoyancy=123.8 * 9.81, dt=dt).plan("cay", "symmetric")
        rows += [*long_run(plan, plan.method, dt), *long_run(plan, nd.RK4(), dt)]
    return rows
