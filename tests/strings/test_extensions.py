"""The O(N) step of a string with forces, bending, fields, a moving guide way and a given length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute_rows
from naiad.models import (
    Bending,
    Drag,
    GravityGradient,
    HangingBody,
    Hooke,
    Inextensible,
    LineDrag,
    Reel,
    Rubber,
    StringPendulum,
    Thrusters,
)
from naiad.strings import StringRule, StringVariational
from tests.strings.strings import CENTRE, INERTIA
from tests.strings.test_step import off_the_legs

BODY = HangingBody(
    0.1,
    CENTRE,
    INERTIA,
    forces=(Drag(linear=np.full(6, 0.02), quadratic=np.full(6, 0.05)), Thrusters((0.1, 0, 0), (0, 1, 0.3), 0.2)),
)


def guide(t):
    return jnp.stack([0.3 * jnp.sin(2.0 * t), 0.1 * t, 0.2 * jnp.cos(3.0 * t)])


def length(t):
    return 90.0 + 0.5 * jnp.sin(t)


def shear(x, t):
    return jnp.stack([0.4 + 0.1 * x[2], jnp.zeros(()), 0.05 * jnp.sin(t)])


ALL = {
    "damping": 0.3,
    "bending": Bending(0.5, clamp=(0.2, 0.0, 1.0)),
    "loads": LineDrag(1.2, 0.03, normal=1.1, tangential=0.05),
    "current": shear,
    "guide": guide,
    "field": GravityGradient(0.4),
}
CASES = {
    "damped": {"damping": 0.3},
    "bent": {"bending": 0.4},
    "driven": {"wound": length, "guide": guide, "gravity": (0.0, 2.0, 9.0)},
    "all, held": ALL | {"wound": 90.0},
    "all, turning": ALL | {"reel": Reel(moment=lambda g, speed, t: 1.0 + 0.3 * speed + 0.1 * g.q[0, 0])},
    "all, driven": ALL | {"wound": length},
}


def system(name, elements=4, **more):
    options = {"reel": Reel(locked=True), "wound": 90.0} | CASES[name] | more
    if not options["reel"].locked:
        options["wound"] = 0.0
    return StringPendulum(length=100.0, mass_per_length=0.025, stiffness=40.0, elements=elements, body=BODY, **options)


def moving(pendulum, seed=0):
    """A state that is bent, stretched and moving in all ways."""
    rng, N = np.random.default_rng(seed), pendulum.elements
    q = np.asarray(pendulum.outlet(0.0)) + 11.0 / N * np.arange(1, N + 1)[:, None] * np.array((0.6, 0.0, 0.8))
    more = {"s": [90.0], "s_v": [0.4]} if pendulum.reeled else {}
    return pendulum.state(
        q=q + 0.05 * rng.normal(size=(N, 3)), q_v=rng.normal(size=(N, 3)), R_Omega=rng.normal(size=3), **more
    )


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("all, turning", nd.Implicit()),
        pytest.param("bent", nd.Left(), marks=pytest.mark.long),
        pytest.param("damped", nd.Midpoint(), marks=pytest.mark.long),
        pytest.param("driven", nd.Midpoint(), marks=pytest.mark.long),
        pytest.param("all, held", nd.Midpoint(), marks=pytest.mark.long),
        pytest.param("all, turning", nd.Left(), marks=pytest.mark.long),
        pytest.param("all, driven", nd.Implicit(), marks=pytest.mark.long),
    ],
)
def test_the_step_is_that_of_the_general_integrator(name, rule):
    pendulum, h = system(name), 0.002
    found = nd.simulate(
        pendulum, moving(pendulum), t1=4 * h, dt=h, method=StringVariational(rule), save_every=1, engine="compiled"
    )
    dense = nd.Variational(nd.Cayley(), StringRule(rule))
    before, after = (jax.tree.map(lambda leaf, part=part: leaf[part], found.states) for part in (np.s_[:-1], np.s_[1:]))
    off = execute_rows(off_the_legs, (pendulum, dense, h), before, after, found.t.to_numpy()[:-1], parameters=(0,))
    assert np.max(np.abs(off)) < 3e-11


@pytest.mark.parametrize("law", [Hooke, Rubber])
def test_a_stiff_string_tends_to_one_that_does_not_stretch_at_a_given_step(law):
    """`imex` at 250 to 2,500 times the step that the fastest wave allows the explicit schemes."""

    def end(stiffness):
        string = StringPendulum(length=2.0, mass_per_length=0.1, stiffness=stiffness, elements=4, body=HangingBody(0.5))
        along = np.arange(1.0, 5.0)
        start = string.state(q=np.outer(along, (0.3, 0.0, 0.4)), q_v=np.outer(along, (0.2, 0.5, -0.15)))
        run = nd.simulate(string, start, t1=0.8, dt=0.02, method=StringVariational(nd.Implicit()), save_every=10**9)
        assert run.outcome is nd.Outcome.COMPLETED
        return np.asarray(run.final.g.q)

    rigid = end(Inextensible())
    for EA in (1e6, 1e7, 1e8):  # weight and centrifugal forces stretch it by some 10 N/EA, on which it rings
        assert np.max(np.abs(end(law(EA)) - rigid)) < 40.0 / EA


INEXTENSIBLE = {
    "held": {"bending": 0.4, "loads": ALL["loads"], "current": shear},
    "driven": {"wound": length, "guide": guide, "field": GravityGradient(0.4)},
    "turning": {"reel": Reel(moment=2.0), "body": HangingBody(0.1)},
    "all, turning": {**ALL, "damping": 0.0, "reel": CASES["all, turning"]["reel"]},
}


@pytest.mark.parametrize(
    ("name", "elements", "rule"),
    [
        ("held", 1, nd.Midpoint()),
        ("turning", 2, nd.Midpoint()),
        pytest.param("driven", 3, nd.Midpoint(), marks=pytest.mark.long),
        pytest.param("held", 3, nd.Midpoint(), marks=pytest.mark.long),
        *(
            pytest.param("all, turning", elements, rule, marks=pytest.mark.long)
            for elements in (1, 3)
            for rule in (nd.Left(), nd.Midpoint(), nd.Implicit())
        ),
    ],
)
def test_a_string_that_does_not_stretch_takes_the_general_constrained_step(name, elements, rule):
    """RATTLE by sweeps, and by the general solver with multipliers."""
    options = {"reel": Reel(locked=True)} | INEXTENSIBLE[name]
    turns = not options["reel"].locked
    pendulum = StringPendulum(
        length=100.0,
        mass_per_length=0.025,
        stiffness=Inextensible(),
        elements=elements,
        **{"body": BODY} | ({} if turns else {"wound": 90.0}) | options,
    )
    more = {"s": 90.0, "s_v": [0.4]} if turns else {}
    if pendulum.turning:
        more["R_Omega"] = (0.3, -0.2, 0.5)
    start, h = pendulum.straight((0.6, 0.0, 0.8), **more), 0.004
    ends = []
    for method in (StringVariational(rule), nd.Variational(nd.Cayley(), StringRule(rule))):
        ends.append(nd.simulate(pendulum, start, t1=5 * h, dt=h, method=method, save_every=10**9).final)
    for mine, general in zip(jax.tree.leaves(ends[0]), jax.tree.leaves(ends[1]), strict=True):
        np.testing.assert_allclose(mine, general, atol=2e-11)
    assert np.max(np.abs(pendulum.links(ends[0].g, 5 * h))) < 1e-12
