"""Laws of strings: tension and stiffness against closed forms, and bad input."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.models import Bending, GravityGradient, Hooke, LineDrag, MooneyRivlin, Reel, Rubber, StringPendulum

STRAINS = (-0.3, 0.0, 0.1, 1.5)


@pytest.mark.parametrize("strain", STRAINS)
def test_mooney_rivlin_has_the_tension_of_the_books(strain):
    law, x = MooneyRivlin(2.0, 0.7), 1.0 + strain
    np.testing.assert_allclose(
        law.tension(strain), 2.0 * (x - x**-2) * 2.0 + 2.0 * (1.0 - x**-3) * 0.7, rtol=1e-13, atol=1e-14
    )
    np.testing.assert_allclose(law.stiffness(0.0), 6.0 * 2.7, rtol=1e-14)


@pytest.mark.parametrize("strain", STRAINS)
def test_without_its_second_constant_it_is_the_other_rubber(strain):
    np.testing.assert_allclose(MooneyRivlin(2.0).energy(strain), Rubber(12.0).energy(strain), rtol=1e-14)


def string(**options):
    return StringPendulum(**{"length": 2.0, "mass_per_length": 0.1, "stiffness": 50.0, "elements": 3} | options)


def test_a_function_is_a_law():
    given, hooke = (string(stiffness=law) for law in (lambda strain: 25.0 * strain**2, Hooke(50.0)))
    state = hooke.straight((1.0, 0.0, 0.0), strain=0.2)
    np.testing.assert_allclose(given.elastic_energy(state.g), hooke.elastic_energy(state.g), rtol=1e-15)
    np.testing.assert_allclose(hooke.elastic_energy(state.g), 2.0 * 25.0 * 0.04, rtol=1e-13)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"stiffness": lambda strain: jnp.ones(2)}, "shape"),
        ({"damping": -1.0}, "damping"),
        ({"bending": -1.0}, "EI"),
        ({"loads": 3.0}, "no load"),
        ({"loads": lambda point: point.t}, "shape"),
        ({"current": (1.0, 2.0)}, "current"),
        ({"current": lambda x, t: t}, "shape"),
        ({"guide": lambda t: t}, "guide"),
        ({"field": 2.0}, "field"),
        ({"field": lambda x, t: x}, "shape"),
        ({"wound": lambda t: 1.0}, "locked"),
        ({"wound": lambda t: jnp.ones(3), "reel": Reel(locked=True)}, "shape"),
    ],
)
def test_what_does_not_fit_is_refused(options, what):
    with pytest.raises(InputError, match=what):
        string(**options)


def test_a_load_sees_the_middles_of_the_elements_and_acts_on_both_ends():
    """On a straight string stretched by a fifth, of three elements, along x; it is in N for each metre as stretched."""
    seen = string(loads=lambda point: point.stretch * (point.x + point.v + 10.0 * point.tangent))
    state = seen.straight((1.0, 0.0, 0.0), strain=0.2)
    g, rate = state.g, np.tile((0.0, 3.0, 0.0), (3, 1))
    bare = string().forces(g, rate.reshape(-1), 0.0) if string().force is not None else 0.0
    found = np.asarray(seen.forces(g, rate.reshape(-1), 0.0) - bare).reshape(-1, 3)
    middles, velocities = np.array([0.4, 1.2, 2.0]), np.array([1.5, 3.0, 3.0])
    each = 1.2 * 0.8 * np.stack([middles + 10.0, velocities, np.zeros(3)], axis=1)
    np.testing.assert_allclose(found, 0.5 * (each + np.concatenate([each[1:], np.zeros((1, 3))])), rtol=1e-13)


def test_parts_refuse_what_has_no_meaning():
    for make in (
        lambda: LineDrag(-1.0, 0.1),
        lambda: LineDrag(1.0, 0.1, normal=-1.0),
        lambda: Bending(1.0, clamp=(0, 0, 0)),
        lambda: GravityGradient(0.0),
        lambda: GravityGradient(1.0, normal=(0, 0, 1), radial=(0, 1, 1)),
        lambda: MooneyRivlin(0.0),
        lambda: string(reel=Reel(), wound=0.0).reel_moment(None),
    ):
        with pytest.raises(InputError):
            make()


def test_a_schedule_that_starts_off_the_reel_is_refused():
    driven = string(reel=Reel(locked=True), wound=lambda t: 3.0 - t)
    with pytest.raises(InputError, match="s = 3 m"):
        driven.straight((0.0, 0.0, 1.0))


def test_a_schedule_that_runs_out_stops_the_run():
    driven = string(reel=Reel(locked=True), wound=lambda t: 0.7 - t)
    start = driven.straight((0.0, 0.0, 1.0))
    with pytest.warns(RuntimeWarning, match="ran out"):
        run = nd.simulate(driven, start, t1=0.5, dt=0.01, method=nd.StringVariational(), save_every=1)
    np.testing.assert_allclose(run.t[-1], 0.2, atol=0.011)
