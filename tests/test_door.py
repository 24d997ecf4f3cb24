"""Bad calls of every public name: refused in naiad's own words, or done as asked; none fails deep inside."""

import enum
import importlib
import inspect
import random
import signal
import warnings
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import NaiadError
from naiad.numerics.arguments import kind_of

BODY = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
STATE = BODY.state(Omega=(0.3, 0.2, 0.1))
PENDULUM = nd.models.SphericalPendulum()
VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
STRING = nd.models.StringPendulum(length=1.0, mass_per_length=0.1, stiffness=40.0, elements=2)

GOOD = {
    "numbers": [0.0, 1.0, -2.5, 3, 10, 0, -1, 1e-300, 1e300, 0.1, np.float64(0.5), np.int64(2)],
    "arrays": [np.ones(3), np.eye(3), np.zeros(6), np.ones((2, 3)), (1.0, 2.0, 3.0), np.ones(10), np.zeros((0, 3))],
    "choices": [True, False, None, "rk4", "gauss2", "auto", "midpoint", "symmetric", "runs.zarr", ("energy",)],
    "objects": [
        BODY,
        PENDULUM,
        STATE,
        nd.SO3(),
        nd.SE3(),
        nd.Rn(2),
        nd.Variational(),
        nd.RK4(),
        nd.Cayley(),
        nd.Exponential(),
        nd.Trapezoid(),
        nd.Newton(),
        nd.Dense(),
        nd.Section(lambda state, t: t - 0.5),
        nd.Noise(1),
        nd.hydro.Ellipse(2.0, 1.0),
        nd.hydro.Sphere(1.0),
        nd.models.Hooke(10.0),
        nd.models.Gravity(),
        nd.locomotion.three_link_fish(),
        nd.locomotion.FORWARD,
        lambda *_: 1.0,
    ],
    "wholes": [{"a": np.ones(4), "b": np.ones(4)}, [STATE, STATE], {}, [], (), [1, 2], {"x": [1, 2, 3]}],
}
BAD = [
    "no such thing",
    "",
    b"bytes",
    float("nan"),
    float("inf"),
    -float("inf"),
    2**70,
    1j,
    object(),
    nd.SO3,
    nd.Variational,
    int,
    {"a": 1},
    {"x": "y"},
    [1, [2, 3]],
    ["a", None],
    np.array(["a", "b"]),
    np.array([object()]),
    np.full(3, np.nan),
    np.ones(3, np.float32),
    np.float32(0.1),
    np.ones((3, 3, 3)),
    np.ones(3, complex),
    np.ones((0,)),
    jnp.ones(3),
    range(3),
    lambda: None,
    Exception("e"),
    STATE._replace(mu=np.ones(2)),
    STATE._replace(g="R"),
    nd.State(None, None),
    slice(None),
]
ANY = [*BAD, *(value for values in GOOD.values() for value in values)]
INTERNAL = {
    "compiler.execute",
    "compiler.execute_rows",
    "hydro.PlanarFlow",
    "hydro.SpatialFlow",
    "hydro.VortexFlow",
}  # what naiad hands its own things to
RECORDS = (tuple, BaseException, enum.Enum)  # a named tuple holds what it is given, and an error says it


def _public() -> dict[str, Callable[..., Any]]:
    """Every public class and function, and the methods that make states."""
    found = {}
    for package in nd._PACKAGES:
        home = importlib.import_module(f"naiad.{package}")
        for name in home.__all__:
            thing = getattr(home, name)
            is_record = isinstance(thing, type) and issubclass(thing, RECORDS)
            if is_record or f"{package}.{name}" in INTERNAL or not callable(thing):
                continue
            if inspect.isclass(thing) or inspect.isfunction(inspect.unwrap(thing)):
                found[f"{package}.{name}"] = thing
    return found


PUBLIC = _public()
HELD = {
    "models.RigidBody.state": BODY.state,
    "models.SphericalPendulum.state": PENDULUM.state,
    "models.KirchhoffBody.state": VEHICLE.state,
    "models.StringPendulum.state": STRING.state,
    "locomotion.Swimmer.start": nd.locomotion.three_link_fish().start,
    "simulation.Trajectory.evaluate": lambda *a, **k: RUN.evaluate(*a, **k),
    "simulation.Trajectory.save": lambda *a, **k: RUN.save(*a, **k),
    "simulation.Trajectory.animate": lambda *a, **k: RUN.animate(*a, **k),
    "simulation.Trajectory.plot": lambda *a, **k: RUN.plot(*a, **k),
}
# seconds, where the arguments are right
SLOW = {"control.solve", "control.solve_many", "locomotion.optimise_gait", "locomotion.tabulated"}
RUN = nd.simulate(BODY, STATE, t1=0.1, dt=0.05)


def drawn_call(rng: random.Random) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """A public name and arguments, of which about half are of the annotated kinds."""
    everything = {**PUBLIC, **HELD}
    name = rng.choice(sorted(everything))
    parameters = list(inspect.signature(everything[name]).parameters.values())
    args, kwargs = [], {}
    for parameter in parameters:
        if parameter.default is not parameter.empty and rng.random() < 0.7:
            continue
        fitting = [value for value in ANY if _fits(parameter, value)]
        value = rng.choice(fitting) if fitting and rng.random() < 0.6 and name not in SLOW else rng.choice(ANY)
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [value] * rng.randrange(3)
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= {rng.choice(("R", "Omega", "mu", "nonsense")): value for _ in range(rng.randrange(2))}
        elif rng.random() > 0.97:  # it is missing
            continue
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and any(p.kind is p.VAR_POSITIONAL for p in parameters):
            args.append(value)
        else:
            kwargs[parameter.name] = value
    if rng.random() < 0.05:
        kwargs["unheard_of"] = 1
    return name, tuple(args), kwargs


def _fits(parameter: inspect.Parameter, value: Any) -> bool:
    if isinstance(parameter.annotation, str) or parameter.annotation is parameter.empty:
        return True
    return kind_of(parameter.annotation).fits(value)


def outcome(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, seconds: int = 60) -> str | None:
    """What is wrong with how a call ended, if anything is."""

    def late(*_):
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            {**PUBLIC, **HELD}[name](*args, **kwargs)
    except NaiadError as error:
        text = str(error)
        return None if text and "\n" not in text else f"a message that is no line: {text!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return None


def check_calls(first: int, last: int) -> None:
    failures = []
    for seed in range(first, last):
        name, args, kwargs = drawn_call(random.Random(seed))
        wrong = outcome(name, args, kwargs)
        if wrong is not None:
            given = ", ".join([*map(str, args), *(f"{key}={value!r:.60}" for key, value in kwargs.items())])
            failures.append(f"seed {seed}: {name}({given}) -> {wrong}")
    assert not failures, "\n".join(failures)


@pytest.fixture
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.parametrize("part", range(4))
def test_bad_calls_are_refused_in_a_line(part):
    check_calls(250 * part, 250 * (part + 1))


def test_behind_the_door_numbers_are_in_double_precision():
    """JAX's own setting is 32 bits: left to it, the third of a turn would be off by 3e-8."""
    turn = nd.mechanics.left_velocity(nd.SO2(), lambda s: nd.SO2().exp(jnp.array([s / 3.0])))
    assert isinstance(turn, np.ndarray)
    assert turn == pytest.approx(1.0 / 3.0, rel=1e-15)
    form = nd.diagnostics.symplectic_matrix(nd.SO3(), np.full(3, 0.1))
    assert np.unique(np.abs(form)).tolist() == [0.0, 0.1, 1.0]
