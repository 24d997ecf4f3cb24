"""Vortices alone, around a fixed body and with a free one: what they keep, and numbers that are known."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError, RunWarning
from naiad.hydro import ClosedCurve, Ellipse, Vortices
from naiad.models import PointVortices, VortexBody
from naiad.simulation import Outcome

SIXTH = nd.Composition(nd.Variational(), 6)


def moved(run):
    """How far energy and impulse move from where they began."""
    energy, impulse = run.energy.to_numpy(), run.momentum.to_numpy()
    return np.max(np.abs(energy - energy[0])), np.max(np.abs(impulse - impulse[0]))


def test_leapfrogging_pairs_have_the_known_period_and_advance():
    system = PointVortices(Vortices([1.0, 1.0, -1.0, -1.0]))
    state = system.start([0.0, 1.0, 0.0, 0.5, 0.0, -1.0, 0.0, -0.5])
    passing = nd.Section(lambda state, t: state.g[0, 0] - state.g[1, 0], direction=0)
    run = nd.simulate(system, state, t1=6.0, dt=0.02, method=SIXTH, sections={"passing": passing}, progress=False)
    crossings = run.crossings["passing"]
    times, q = crossings["time"].to_numpy(), crossings["q"].to_numpy()
    assert times[-1] == pytest.approx(5.65085420, abs=2e-8)
    assert np.mean(q[-1, :, 0]) == pytest.approx(1.19210843 * np.sign(np.mean(q[-1, :, 0])), abs=2e-8)
    energy, impulse = moved(run)
    assert energy < 1e-10
    assert impulse < 1e-13


def test_a_step_of_vortices_alone_is_the_implicit_midpoint_rule():
    system = PointVortices(Vortices([1.0, -0.5, 2.0], density=3.0))
    state = system.start([0.0, 1.0, 0.3, -0.5, -1.0, 0.2])
    new = nd.propagate(system, state, dt=0.1, steps=1)
    before, after = np.asarray(state.g), np.asarray(new.g)
    v = np.asarray(system.velocity(0.5 * (before + after), state.mu)).reshape(-1, 2)
    assert np.max(np.abs(after - before - 0.1 * v)) < 1e-15
    z, gamma = (0.5 * (before + after)) @ [1.0, 1.0j], np.array([1.0, -0.5, 2.0])
    flow = [sum(gamma[j] / (2j * np.pi * (z[k] - z[j])) for j in range(3) if j != k) for k in range(3)]
    assert np.max(np.abs(v @ [1.0, 1.0j] - np.conj(flow))) < 1e-15


def test_a_circle_with_two_vortices_comes_where_it_is_known_to_come():
    body = VortexBody(Vortices([1.0, -1.0], Ellipse(1.0, 1.0)), (0.7, 2.0, 2.0))
    state = body.start([2.0, 1.0, -1.5, 1.4], pose=(0.3, 0.2, -0.1), xi=(0.2, 0.1, -0.3))
    errors = []
    for dt in (0.1, 0.05):
        run = nd.simulate(body, state, t1=10.0, dt=dt, progress=False)
        errors.append(np.abs(run.final.g.body.x - [2.15287193, -2.44436098]))
        energy, impulse = moved(run)
        assert energy < 3e-6
        assert impulse < 2e-14
    assert np.allclose(errors[0] / errors[1], 4.0, rtol=0.01)


def test_circulation_alone_lets_a_circle_go_round():
    m, circulation, v, rho = 2.0, 1.5, 0.8, 1.2
    body = VortexBody(Vortices((), Ellipse(1.0, 1.0), circulation=circulation, density=rho), (0.7, m, m))
    rate = rho * circulation / (m + rho * np.pi)
    run = nd.simulate(body, body.start(xi=(0.0, v, 0.0)), t1=2.0, dt=0.002, progress=False)
    x, y = run.final.g.x
    turned = 2.0 * rate
    assert x == pytest.approx(v / rate * np.sin(turned), abs=2e-7)
    assert y == pytest.approx(v / rate * (1.0 - np.cos(turned)), abs=2e-7)  # lift is to the left of the way
    assert moved(run)[1] < 1e-13


@pytest.mark.long
def test_a_neutral_circle_that_a_vortex_carries():
    body = VortexBody(Vortices([2.0], Ellipse(1.0, 1.0)), (0.7, np.pi, np.pi))
    run = nd.simulate(body, body.start([2.0, 0.0]), t1=10.0, dt=0.1, method=SIXTH, progress=False)
    assert run.final.g.body.x == pytest.approx([0.71830060, -0.02695924], abs=2e-8)
    assert run.final.g.vortex[0] == pytest.approx([2.00528653, -0.86686874], abs=2e-8)


def test_foeppls_pair_stays_behind_the_circle():
    """Body and pair go on together at one speed, whatever the mass of the body."""
    x, y, gamma = 1.85404962, 0.75, 8.83572934
    body = VortexBody(Vortices([-gamma, gamma], Ellipse(1.0, 1.0)), (0.7, 2.0, 2.0))
    state = body.start([x, y, x, -y], xi=(0.0, -1.0, 0.0))
    run = nd.simulate(body, state, t1=0.5, dt=0.01, progress=False)
    assert run.final.g.body.x == pytest.approx([-0.5, 0.0], abs=1e-6)
    assert run.final.g.vortex == pytest.approx(np.array([[x - 0.5, y], [x - 0.5, -y]]), abs=1e-6)


@pytest.mark.long
def test_an_ellipse_with_circulation_keeps_its_order_and_its_map_is_symplectic():
    body = VortexBody(Vortices([1.0, -0.4], Ellipse(1.3, 0.6), circulation=0.7), (0.7, 2.0, 2.0))
    state = body.start([2.0, 1.0, -1.5, 1.4], pose=(0.3, 0.2, -0.1), xi=(0.2, 0.1, -0.3))
    run = nd.simulate(body, state, t1=10.0, dt=0.1, method=SIXTH, progress=False)
    assert run.final.g.body.beta == pytest.approx(1.1972414977, abs=1e-9)  # DOP853 of the equations in the body frame
    assert run.final.g.body.x == pytest.approx([2.600961381, -1.8437384676], abs=1e-9)
    energy, impulse = moved(run)
    assert energy < 1e-11
    assert impulse < 1e-13
    assert nd.diagnostics.symplecticity_defect(body, nd.Variational(), state, dt=0.1) < 1e-13


@pytest.mark.long
def test_any_outline_moves_as_the_ellipse_that_it_is():
    runs = []
    for outline in (Ellipse(1.3, 0.6), ClosedCurve(lambda t: (1.3 * np.cos(t), 0.6 * np.sin(t)))):
        body = VortexBody(Vortices([1.0], outline, circulation=0.7), (0.7, 2.0, 2.0))
        state = body.start([1.5, 0.6], xi=(0.2, 0.1, -0.3))
        runs.append(nd.simulate(body, state, t1=2.0, dt=0.05, progress=False))
    one, other = (np.concatenate([run.final.g.body.x, run.final.g.vortex[0]]) for run in runs)
    assert np.max(np.abs(one - other)) < 1e-12
    assert moved(runs[1])[1] < 1e-13


def test_a_vortex_goes_round_a_fixed_circle():
    r, gamma, circulation = 1.5, 2.0, 0.5
    system = PointVortices(Vortices([gamma], Ellipse(1.0, 1.0), circulation=circulation), pose=(0.4, 1.0, -2.0))
    state = system.start([1.0 + r, -2.0])
    speed = (circulation + gamma / r * r - gamma * r * r / (r * r - 1.0)) / (2.0 * np.pi * r)
    assert np.asarray(system.velocity(state.g, state.mu)) == pytest.approx([0.0, speed], abs=1e-14)
    assert not nd.mechanics.has_symmetry(system)


def test_the_run_ends_before_three_vortices_collapse():
    """They meet at 3 sqrt(2) pi; what was computed until then is there."""
    system = PointVortices(Vortices([2.0, 2.0, -1.0]))
    with pytest.warns(RunWarning, match="so near the wall or another vortex that the step cannot follow"):
        run = nd.simulate(
            system, system.start([-1.0, 0.0, 1.0, 0.0, 1.0, np.sqrt(2.0)]), t1=20.0, dt=0.02, progress=False
        )
    assert run.outcome is Outcome.LIMIT
    assert "take a smaller dt" in run.ending
    assert 13.0 < float(run.t[-1]) < 3.0 * np.sqrt(2.0) * np.pi
    assert np.all(np.isfinite(run.states.g))
    assert moved(run)[1] < 1e-12


def test_chaos_of_four_vortices_keeps_energy_and_impulse():
    system = PointVortices(Vortices([1.0, 1.0, 1.0, 1.0]))
    state = system.start([1.0, 0.1, -0.9, 0.0, 0.0, 1.1, 0.2, -0.8])
    run = nd.simulate(system, state, t1=200.0, dt=0.05, progress=False)
    energy, impulse = moved(run)
    assert energy < 2e-4
    assert impulse < 1e-12
    momenta = np.asarray(run.final.mu).reshape(-1, 2)  # stay those of the places
    q = np.asarray(run.final.g)
    assert np.max(np.abs(momenta - 0.5 * np.stack([q[:, 1], -q[:, 0]], axis=1))) < 1e-11


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ([0.5, 0.2, 3.0, 0.0], "Vortex 1 lies inside the body, at .0.5, 0.2. in its frame; move it out"),
        ([3.0, 0.0, 1.0, 0.0], "Vortex 2 lies on the wall of the body"),
        ([3.0, 1.0, 3.0, 1.0], "Vortices 1 and 2 lie at one place, .3, 1.; move them apart, or make them one"),
        ([3.0, 1.0, 3.0], "at has shape .3,.; expected a place .x, y. of finite numbers for each of 2 vortices"),
    ],
)
def test_places_that_no_vortices_have(at, words):
    body = VortexBody(Vortices([1.0, 2.0], Ellipse(1.0, 1.0)), (1.0, 1.0, 1.0))
    with pytest.raises(InputError, match=words):
        body.start(at)


def test_other_mistakes_are_said_in_a_line():
    circle = Ellipse(1.0, 1.0)
    with pytest.raises(InputError, match="expected a finite strength other than 0 for each vortex"):
        Vortices([1.0, 0.0])
    with pytest.raises(InputError, match=r"circulation = 2.0 without a body"):
        Vortices([1.0], circulation=2.0)
    with pytest.raises(InputError, match="the vortices are alone; give them the outline"):
        VortexBody(Vortices([1.0]), (1.0, 1.0, 1.0))
    with pytest.raises(InputError, match="a circle that turns moves no fluid"):
        VortexBody(Vortices([1.0], circle), (0.0, 1.0, 1.0))
    with pytest.raises(InputError, match="there is no vortex"):
        PointVortices(Vortices([], circle))
    body = VortexBody(Vortices([1.0], circle), (1.0, 1.0, 1.0))
    with pytest.raises(InputError, match=r"No motion can start there. A vortex came so near the wall"):
        body.state(body_x=(0.0, 0.0), vortex=[[0.3, 0.0]])
