"""The names of naiad's public API that the record uses, and what it makes of them.

Each checkout's worker loads one such file. A name that changes is changed here, on one line. The other checkout keeps
its own file (`--old-adapter`). Keys of the tables are names of the record itself: they stay.
"""

import importlib
import inspect
import json

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad import models, studies
from naiad.numerics.arguments import kind_of
from naiad.studies.progress import Progress
from naiad.studies.values import to_json

RENAMED = {}  # an older name of a function or class ("models.Gravity"), an argument or a result -> its name here


class HeavyTop(nd.LagrangianSystem):
    """A top about a fixed point, with a force that depends on time."""

    J: np.ndarray
    weight: float
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - self.weight * R[2, 2]

    def force(self, R, Omega, t):
        return 0.1 * jnp.cos(t) * R[0] - 0.05 * Omega


class Ball(nd.LagrangianSystem):
    """A particle on the unit sphere."""

    m: float
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - 1.2 * q[2] - 0.4 * q[2] ** 2

    def constraint(self, q, t):
        return 0.5 * (q @ q - 1.0)


def heavy_top(weight):
    return HeavyTop(np.diag([1.0, 1.4, 2.0]), weight)


def string(length, mass_per_length, stiffness):
    body = models.HangingBody(0.5, (0.1, 0.05, 0.15), np.diag([0.06, 0.07, 0.05]))
    options = {"elements": 2, "gravity": (0.0, 0.0, 2.0), "body": body}
    return models.StringPendulum(length=length, mass_per_length=mass_per_length, stiffness=stiffness, **options)


J, ADDED = (1.0, 2.0, 2.5), (1.47, 7.03, 4.8)
PAIR = {"x": ((0.0, 0.0, 0.0), (3.0, 0.0, 0.2)), "v": ((0.0, -0.05, 0.0), (0.0, 0.6, 0.1))}
SPIN, DRIFT = {"Omega": (0.5, 0.4, -0.3)}, {"v": (0.5, -0.2, 0.4)}
PLACE = {"R": (0.3, -0.4, 0.2)}

# name: constructor, its arguments, those of its state, time step, and the kinds of methods that fit
SYSTEMS = {
    "rigid-body": (models.RigidBody, {"J": J}, SPIN | PLACE, 0.05, ("any", "free", "spin", "newmark")),
    "rigid-body-s3": (lambda J: models.RigidBody(J, group=nd.S3()), {"J": J}, SPIN, 0.05, ("any", "free", "spin")),
    "vehicle": (models.KirchhoffBody, {"I": ADDED, "M": (4.7, 5.9, 10.5)}, SPIN | DRIFT | PLACE, 0.05, ("any", "free")),
    "pendulum": (
        models.SphericalPendulum,
        {"m": 0.8, "l": 1.2, "gravity": 2.0, "epsilon": 0.3},
        SPIN | PLACE,
        0.05,
        ("any",),
    ),
    "buoyant-vehicle": (
        models.BuoyantVehicle,
        {"m": 1.5, "added_mass": (1.0, 2.0, 0.5), "J": J, "buoyancy": 4.0, "r": (0.2, -0.1, 0.3)},
        {"R": (0.3, -0.4, 0.2), "R_Omega": (0.3, 0.5, 0.2), "q_v": (0.2, -0.4, 0.6)},
        0.03,
        ("any", "newmark"),
    ),
    "planets": (
        models.PointMasses,
        {"m": (1.0, 0.1, 0.05)},
        {
            "q": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.1), (-0.3, 2.0, 0.0)),
            "v": ((0.0, -0.04, 0.0), (0.0, 1.0, 0.2), (-0.75, 0.0, 0.1)),
        },
        0.05,
        ("any", "vector", "planets", "newmark"),
    ),
    "two-bodies": (
        lambda m: models.InteractingBodies(m, ((0.1, 0.12, 0.15), (0.02, 0.03, 0.035)), models.Gravity()),
        {"m": (1.0, 0.4)},
        PAIR | {"Omega": ((0.1, 0.02, 1.3), (0.0, 0.05, 0.3))},
        0.05,
        ("any",),
    ),
    "satellite": (
        models.OblateSatellite,
        {"m": 2.0, "J": J, "GM": 1.3, "J2": 0.1, "radius": 0.7},
        {"x": (1.5, 0.1, 0.2), "x_v": (0.1, 0.9, 0.2), "R_Omega": (0.1, 0.2, 0.5)},
        0.05,
        ("any",),
    ),
    "rotor": (
        models.RotorSpacecraft,
        {"I": (2.0, 1.5, 1.0), "J_r": 0.4, "kappa": 1.2},
        {"R_Omega": (0.5, 0.4, -0.3)},
        0.05,
        ("any",),
    ),
    "disk": (models.SlidingDisk, {"m": 1.3, "J": 0.4, "r": 0.8, "c": 0.7, "alpha": 0.9, "k": 1.7}, {}, 0.05, ("bath",)),
    "heat-bath": (
        models.IsothermalRigidBody,
        {"J": J, "C": (1.0, 0.8, 1.2), "temperature": 0.7},
        SPIN,
        0.02,
        ("bath",),
    ),
    "string": (
        string,
        {"length": 4.0, "mass_per_length": 0.4, "stiffness": 8.0},
        {
            "q": ((1.0, 0.3, 1.4), (2.0, 0.6, 2.9)),
            "q_v": ((0.1, 0.2, 0.0), (0.2, -0.3, 0.1)),
            "R_Omega": (0.3, -0.5, 0.4),
        },
        0.02,
        ("string", "any"),
    ),
    "heavy-top": (heavy_top, {"weight": 1.3}, SPIN | PLACE, 0.05, ("any", "newmark")),
    "ball": (Ball, {"m": 1.4}, {"q": (0, 0, 1), "v": (0.4, 0.5, 0)}, 0.05, ("held",)),
}
METHODS = {
    "default": lambda: None,
    "cay": nd.Variational,
    "exp": lambda: nd.Variational(nd.Exponential()),
    "cay-left": lambda: nd.Variational(nd.Cayley(), nd.Left()),
    "exp-midpoint": lambda: nd.Variational(nd.Exponential(), nd.Midpoint()),
    "adjoint": lambda: nd.Adjoint(nd.Variational(nd.Cayley(), nd.Left())),
    "symmetrised": lambda: nd.Symmetrised(nd.Variational(nd.Cayley(), nd.Left())),
    "compose4": lambda: nd.Composition(nd.Variational(nd.Cayley()), 4),
    "gauss2": lambda: nd.VPRK("gauss2", nd.Exponential()),
    "lobatto3": lambda: nd.VPRK("lobatto3", nd.Cayley()),
    "collocation2": lambda: nd.Collocation(2),
    "rkmk4": lambda: nd.RKMK("rk4"),
    "rk4": nd.RK4,
    "implicit-euler": nd.ImplicitEuler,
    "projected": lambda: nd.Projected(nd.RKMK("heun2")),
    "new": lambda: nd.Variational(nd.Newmark()),
    "mln": nd.MidpointLieNewmark,
    "tln": nd.TrapezoidalLieNewmark,
    "flv": nd.FastLieVerlet,
    "sw": nd.SimoWong,
    "sw-perp": nd.SimoWongPerp,
    "kr": nd.Krysl,
    "split4": lambda: nd.Splitting(4),
    "moser-veselov": nd.MoserVeselov,
    "nystrom4": lambda: nd.Nystrom(4),
    "wisdom-holman": lambda: nd.WisdomHolman((8, 2)),
    "stochastic": lambda: nd.StochasticVariational(nd.Cayley()),
    "string": nd.StringVariational,
    "string-imex": lambda: nd.StringVariational(nd.Implicit()),
    "string-left": lambda: nd.StringVariational(nd.Left()),
}
KINDS = {
    "any": "default cay exp cay-left exp-midpoint adjoint symmetrised compose4 gauss2 lobatto3 collocation2 rkmk4 rk4 "
    "implicit-euler projected",
    "free": "mln tln flv sw sw-perp kr split4",
    "spin": "moser-veselov",
    "newmark": "new",
    "vector": "nystrom4",
    "planets": "wisdom-holman",
    "bath": "default stochastic",
    "string": "string string-imex string-left",
    "held": "default cay exp cay-left adjoint compose4 rkmk4",
}


def first_momentum(state, t):
    return jnp.ravel(state.mu)[0]


def wave(state, t):
    return jnp.sin(9.0 * t + jnp.ravel(state.mu)[-1])


def varied(value, rng):
    """The numbers of an argument, each changed by a few per cent."""
    if isinstance(value, tuple):
        return tuple(varied(each, rng) for each in value)
    return value * rng.uniform(0.96, 1.04) if isinstance(value, float) else value


def arguments_of_run(spec):
    """System, state (many states for an ensemble), and options of a drawn run."""
    make, given, start, dt, _ = SYSTEMS[spec["system"]]
    rng = np.random.default_rng(spec["seed"])
    system = make(**{key: varied(value, rng) for key, value in given.items()})
    states = [system.state(**{key: varied(value, rng) for key, value in start.items()}) for _ in range(3)]
    options = {"t0": spec["t0"], "t1": spec["t0"] + spec["steps"] * dt, "dt": dt, "save_every": spec["save_every"]}
    options |= {"method": METHODS[spec["method"]](), "engine": spec["engine"]}
    if spec["extras"]:
        options |= {"outputs": {"first": first_momentum}, "output_every": 2, "monitors": {"first": first_momentum}}
        options |= {"sections": {"wave": nd.Section(wave)}}
    if "bath" in SYSTEMS[spec["system"]][-1]:
        options |= {"noise": nd.Noise(spec["seed"])}
    return system, states, options


def run(spec):
    """What a drawn run gives: states, energy, crossings, statistics."""
    system, states, options = arguments_of_run(spec)
    if spec["many"] == "reduced":
        statistics = {"mean": nd.ensembles.Mean("energy"), "variance": nd.ensembles.Variance("mu")}
        return arrays(nd.simulate_many(system, states, reduce=statistics, **options).reduced)
    if spec["many"]:
        ensemble = nd.simulate_many(system, states, **options)
        found = arrays(ensemble.record) | {"energy": np.asarray(ensemble.energy)}
        return found | {
            f"{i} {name}": value for i in range(len(states)) for name, value in summary(ensemble[i]).items()
        }
    motion = nd.simulate(system, states[0], progress=False, **options)
    found = arrays(motion.record) | {"energy": np.asarray(motion.energy), "momentum": np.asarray(motion.momentum)}
    return found | summary(motion)


def arrays(dataset):
    return {RENAMED.get(str(name), str(name)): np.asarray(each) for name, each in dataset.variables.items()}


def summary(motion):
    monitors = {name: tuple(each) for name, each in motion.monitors.items()}
    return {"statistics": dict(motion.statistics), "monitors": monitors, "outcome": motion.outcome.name}


def study_names():
    return sorted(studies.STUDIES)


def study(name, parameters):
    """The results of a study as `naiad run NAME --json` prints them."""
    return json.loads(to_json(studies.find(name)(**parameters).run(Progress()).results))


# bad calls: arguments are expressions, which are evaluated here

BODY = models.RigidBody(J)
STATE = BODY.state(Omega=(0.3, 0.2, 0.1))
PENDULUM = models.SphericalPendulum()
GOOD = [
    *("0.0", "1.0", "-2.5", "3", "10", "0", "-1", "1e-300", "1e300", "np.float64(0.5)", "np.int64(2)", "np.ones(3)"),
    *("np.eye(3)", "np.zeros(6)", "np.ones((2, 3))", "(1.0, 2.0, 3.0)", "np.zeros((0, 3))", "True", "None", "'rk4'"),
    *("'gauss2'", "'auto'", "'symmetric'", "'runs.zarr'", "('energy',)", "BODY", "PENDULUM", "STATE", "nd.SO3()"),
    *("nd.SE3()", "nd.Rn(2)", "nd.Variational()", "nd.RK4()", "nd.Cayley()", "nd.Exponential()", "nd.Trapezoid()"),
    *("nd.Newton()", "nd.Dense()", "nd.Section(wave)", "nd.Noise(1)", "nd.hydro.Ellipse(2.0, 1.0)", "[STATE, STATE]"),
    *("nd.hydro.Sphere(1.0)", "models.Hooke(10.0)", "models.Gravity()", "nd.locomotion.three_link_fish()", "wave"),
    *("{'a': np.ones(4), 'b': np.ones(4)}", "{}", "[]", "()", "[1, 2]", "{'x': [1, 2, 3]}"),
]
BAD = [
    *("'no such thing'", "''", "b'bytes'", "float('nan')", "float('inf')", "-float('inf')", "2**70", "1j", "object()"),
    *("nd.SO3", "nd.Variational", "int", "{'x': 'y'}", "[1, [2, 3]]", "['a', None]", "np.array(['a', 'b'])"),
    *("np.full(3, np.nan)", "np.ones(3, np.float32)", "np.float32(0.1)", "np.ones((3, 3, 3))", "np.ones(3, complex)"),
    *("np.ones(0)", "jnp.ones(3)", "range(3)", "Exception('e')", "STATE._replace(mu=np.ones(2))", "slice(None)"),
    *("STATE._replace(g='R')", "nd.State(None, None)", "-1.0", "(1.0, -2.0, 3.0)", "(1.0, 2.0, 9.0)", "np.ones(2)"),
]
NEAR = [  # bad values close to one that is right, which is a number or a tuple of numbers
    *("-np.asarray({})[()]", "0 * np.asarray({})[()]", "np.nan * np.asarray({})", "1e300 * np.asarray({})[()]"),
    *("np.asarray({}).ravel()[:-1]", "np.asarray({})[()] + 1j", "[{0}, {0}]", "str({})"),
]
UNCALLED = {  # what naiad hands its own things to, what takes long, and what writes or reads files by itself
    *("compiler.execute", "compiler.execute_rows", "hydro.PlanarFlow", "hydro.SpatialFlow", "hydro.VortexFlow"),
    *("control.solve", "control.solve_many", "locomotion.optimise_gait", "locomotion.tabulated", "viz.live.live"),
}
RUN = {"t1": "0.1", "dt": "0.05"}
CALLS = {  # function, arguments that are right
    **{name: (each[0], {key: repr(value) for key, value in each[1].items()}) for name, each in SYSTEMS.items()},
    **{
        f"{name}.state": (each[0](**each[1]).state, {k: repr(v) for k, v in each[2].items()})
        for name, each in SYSTEMS.items()
    },
    "simulate": (nd.simulate, {"system": "BODY", "state": "STATE", "save_every": "1", "t0": "0.0", **RUN}),
    "simulate-method": (nd.simulate, {"system": "BODY", "state": "STATE", "method": "nd.RK4()", **RUN}),
    "simulate-sections": (
        nd.simulate,
        {"system": "BODY", "state": "STATE", "sections": "{'w': nd.Section(wave)}", "outputs": "{'w': wave}", **RUN},
    ),
    "simulate_many": (nd.simulate_many, {"systems": "BODY", "states": "[STATE, STATE]", **RUN}),
    "propagate": (nd.propagate, {"system": "BODY", "state": "STATE", "dt": "0.1", "steps": "3"}),
    "audit": (nd.audit, {"system": "BODY", "state": "STATE", "steps": "20"}),
    "grid": (nd.grid, {"a": "np.ones(3)", "b": "(1.0, 2.0)"}),
    "vprk": (nd.VPRK, {"tableau": "'gauss2'", "retraction": "nd.Cayley()"}),
    "composition": (nd.Composition, {"method": "nd.Variational()", "order": "4"}),
    "newton": (nd.Newton, {"max_iterations": "10", "tolerance": "1e-12"}),
    "noise": (nd.Noise, {"seed": "1"}),
    "section": (nd.Section, {"function": "wave", "direction": "1"}),
    "ellipse": (nd.hydro.Ellipse, {"a": "2.0", "b": "1.0"}),
    "fish": (nd.locomotion.three_link_fish, {"a": "1.0", "b": "0.4", "c": "0.3", "fluid": "1.0", "density": "0.5"}),
}


def public():
    """Every public class and function by its name."""
    found = {}
    for package in nd._PACKAGES:
        home = importlib.import_module(f"naiad.{package}")
        for name in home.__all__:
            thing = getattr(home, name)
            is_record = isinstance(thing, type) and issubclass(thing, tuple | BaseException)
            if not is_record and (inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing))):
                found[f"{package}.{name}"] = thing
    return {name: thing for name, thing in found.items() if name not in UNCALLED}


def fits(parameter, expression):
    """Whether a value is of the kind that a parameter is annotated with; used on the old side alone, to draw."""
    if isinstance(parameter.annotation, str) or parameter.annotation is parameter.empty:
        return True
    return kind_of(parameter.annotation).fits(value_of(expression))


def value_of(expression):
    return eval(expression, globals())


# fixed costs: what is called with k = 0, 1, 2, ..., and runs of many steps

SINE = nd.compile(lambda x: 2.0 * jnp.sin(x))
FIXED = {
    "state and simulate": lambda k: nd.simulate(BODY, BODY.state(Omega=(0.7, 0.4, 0.1 * k)), t1=1.0, dt=0.01),
    "simulate": lambda k: nd.simulate(BODY, STATE, t1=1.0, dt=0.01),
    "other parameters": lambda k: nd.simulate(
        models.RigidBody((1.0, 2.0, 2.0 + 0.01 * (k % 50))), STATE, t1=1.0, dt=0.01
    ),
    "propagate": lambda k: nd.propagate(BODY, STATE, dt=0.01 + 0.0001 * k, steps=100),
    "many": lambda k: nd.simulate_many(BODY, [STATE] * 12, t1=1.0, dt=0.01),
    "compiled function": lambda k: SINE(np.full(3, 0.1 * k)),
}
STEPS = (
    "rigid-body cay",
    "rigid-body rkmk4",
    "vehicle flv",
    "buoyant-vehicle cay",
    "planets nystrom4",
    "string string",
)


def steps(name):
    """A call that takes 20,000 steps (a string 2,000)."""
    system, method = name.split()
    spec = {"system": system, "method": method, "seed": 0, "t0": 0.0, "steps": 2_000 if system == "string" else 20_000}
    system, states, options = arguments_of_run(spec | {"save_every": 1000, "engine": "auto", "extras": False})
    return lambda k: nd.simulate(system, states[0], progress=False, **options)
