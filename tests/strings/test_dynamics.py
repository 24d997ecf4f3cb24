"""Strings in motion, against frequencies, rates and limits from elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j0, jn_zeros

import naiad as nd
from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.models import Bending, GravityGradient, HangingBody, Inextensible, Reel, StringPendulum
from naiad.strings import StringVariational

N_ORBIT = 0.5  # rad/s
SYMMETRIC = nd.Midpoint()


def run(system, state, t1, dt, rule=SYMMETRIC, **options):
    return nd.simulate(system, state, t1=t1, dt=dt, method=StringVariational(rule), **{"save_every": 1} | options)


def frequency(t, values):
    """That of a sine through zero, from its first and last upward crossings."""
    up = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    at = t[up] - values[up] * (t[up + 1] - t[up]) / (values[up + 1] - values[up])
    return 2.0 * np.pi * (len(at) - 1) / (at[-1] - at[0])


@pytest.mark.parametrize(("out_of_plane", "expected"), [(False, np.sqrt(3.0)), (True, 2.0)])
def test_a_tether_librates_as_the_gravity_gradient_says(out_of_plane, expected):
    """A mass on a light tether: sqrt(3) n in the plane of the orbit, 2 n across it; Jacobi's integral stays."""
    field = GravityGradient(N_ORBIT, normal=(0, 1, 0), radial=(0, 0, 1))
    tether = StringPendulum(
        length=1.0,
        mass_per_length=1e-9,
        stiffness=400.0,
        elements=1,
        gravity=(0, 0, 0),
        body=HangingBody(1.0),
        field=field,
    )
    stretch = 1.0 + 3.0 * N_ORBIT**2 / 400.0
    swing = 0.01 * np.array((0.0, 1.0, 0.0) if out_of_plane else (1.0, 0.0, 0.0))
    outward = np.array((0.0, 0.0, 1.0))
    along = N_ORBIT * np.cross((0.0, 1.0, 0.0), outward)
    start = tether.state(q=[stretch * outward], q_v=[stretch * along + N_ORBIT * swing])
    found = run(tether, start, 60.0, 0.01)
    t, q = found.t.to_numpy(), np.asarray(found.states.g.q)[:, 0]
    out = np.stack([np.sin(N_ORBIT * t), 0.0 * t, np.cos(N_ORBIT * t)], axis=1)
    ahead = np.stack([np.cos(N_ORBIT * t), 0.0 * t, -np.sin(N_ORBIT * t)], axis=1)
    angle = q[:, 1] if out_of_plane else np.sum(q * ahead, axis=1) / np.sum(q * out, axis=1)
    np.testing.assert_allclose(frequency(t, angle), expected * N_ORBIT, rtol=3e-3)  # 3 n^2/EA of stretch
    p = np.asarray(found.states.mu)
    jacobi = found.energy.to_numpy() - N_ORBIT * np.cross(q, p)[:, 1]
    assert np.max(np.abs(jacobi - jacobi[0])) < 2e-5 * abs(jacobi[0])


def test_a_clamped_string_vibrates_like_a_beam():
    """omega = (1.8751/L)^2 sqrt(EI/mu); off by second order in the elements."""
    EI, density, L = 2.0, 0.3, 1.5
    exact = (1.87510406871196 / L) ** 2 * np.sqrt(EI / density)
    off = []
    for elements in (8, 16):
        beam = StringPendulum(
            length=L,
            mass_per_length=density,
            stiffness=4e3,
            elements=elements,
            gravity=(0, 0, 0),
            bending=Bending(EI, clamp=(1, 0, 0)),
        )
        start = beam.straight((1, 0, 0))
        x = np.linspace(0.0, 1.0, elements + 1)[1:]
        b = 1.87510406871196
        ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        mode = np.cosh(b * x) - np.cos(b * x) - ratio * (np.sinh(b * x) - np.sin(b * x))
        start = beam.state(q=start.g.q, q_v=1e-4 * mode[:, None] * np.array((0.0, 0.0, 1.0)))
        found = run(beam, start, 9.0, 2.5e-4)
        off.append(frequency(found.t.to_numpy(), np.asarray(found.states.g.q)[:, -1, 2]) / exact - 1.0)
    assert abs(off[1]) < 3e-3
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.15)


def string(**options):
    about = {"length": 4.0, "mass_per_length": 0.2, "stiffness": 60.0, "elements": 4, "body": HangingBody(0.4)}
    return StringPendulum(**about | options)


def power(system, state):
    return system.power(state)


def test_damping_takes_the_strain_rates_power():
    """P = - sum l eta (d strain/dt)^2, with the rate of strain by finite differences, also where the string runs."""
    system = string(damping=0.7, reel=Reel(carnot="none"), elements=3)
    rng = np.random.default_rng(1)
    q = np.cumsum(rng.normal(size=(3, 3)), axis=0)
    v, s_v = rng.normal(size=(3, 3)), 0.6
    state = system.state(q=q, s=[1.2], q_v=v, s_v=[s_v])

    def strains(time):
        nodes = np.vstack([np.zeros(3), q + time * v])
        return np.linalg.norm(np.diff(nodes, axis=0), axis=1) / ((4.0 - 1.2 - time * s_v) / 3) - 1.0

    rate = (strains(1e-6) - strains(-1e-6)) / 2e-6
    np.testing.assert_allclose(
        execute(power, system, state, parameters=(0,)), -0.7 * (4.0 - 1.2) / 3 * np.sum(rate**2), rtol=1e-8
    )


def test_a_crane_swings_with_the_period_of_a_pendulum():
    """A payload on a light cable below a trolley that moves at constant speed: 2 pi sqrt(L/g)."""
    L = 2.0
    crane = StringPendulum(
        length=L,
        mass_per_length=1e-9,
        stiffness=1e5,
        elements=1,
        body=HangingBody(3.0),
        guide=lambda t: jnp.stack([0.7 * t, 0.0 * t, 0.0 * t]),
    )
    start = crane.straight((0.0, 0.0, 1.0), tip_velocity=(0.02, 0.0, 0.0), strain=3.0 * 9.81 / 1e5)
    found = run(crane, start, 30.0, 2e-3, nd.Implicit())
    t = found.t.to_numpy()
    swing = np.asarray(found.states.g.q)[:, 0, 0] - 0.7 * t
    np.testing.assert_allclose(frequency(t, swing), np.sqrt(9.81 / L), rtol=2e-4)


def test_a_lift_that_speeds_up_is_stronger_gravity():
    """Einstein's lift with a reel that turns: the string on the drum takes part. The two steps differ where the drum's
    sine is taken, by second order."""
    a, off = 3.0, []
    reel = Reel(moment=lambda t: 1.0 + 0.5 * jnp.sin(3.0 * t), carnot="dissipative", radius=0.2, guide=0.3)
    lift = string(reel=reel, guide=lambda t: jnp.stack([0.4 * t, 0.0 * t, -0.5 * a * t**2]), kinetic="exact")
    heavy = string(reel=reel, gravity=(0.0, 0.0, 9.81 + a), kinetic="exact")
    for h in (0.004, 0.002):
        ends = []
        for system in (lift, heavy):
            start = system.straight((0.6, 0.0, 0.8), s=1.5, tip_velocity=(0.0, 1.0, 0.0))
            ends.append(run(system, start, 0.4, h, save_every=10**9).final.g)
        moved = np.asarray(lift.outlet(0.4))
        np.testing.assert_allclose(ends[0].q - moved, ends[1].q, atol=2e-5)
        off.append(abs(ends[0].s[0] - ends[1].s[0]))
    assert off[0] < 2e-5
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.1)


def length(t):
    return 1.5 + 0.2 * jnp.sin(4.0 * t) ** 2


def moment(system, state, t):
    return system.reel_moment(state, t)


@pytest.mark.long
def test_the_moment_of_a_driven_reel_drives_a_free_one():
    """u(t) found for a length s(t), given to a reel that turns: s(t) comes back, to second order."""
    about = {"damping": 0.2, "kinetic": "exact", "gravity": (0.0, 0.0, 9.81)}
    given = {"radius": 0.2, "guide": 0.3, "inertia": 0.7}
    driven = string(reel=Reel(locked=True, **given), wound=length, **about)
    off = []
    for h in (0.004, 0.002):
        start = driven.straight((0.6, 0.0, 0.8), tip_velocity=(0.0, 1.0, 0.0))
        found = run(driven, start, 0.4, h)
        t = found.t.to_numpy()
        u = execute_rows(moment, driven, found.states, t, parameters=(0,))
        assert np.ptp(u) > 0.5
        free = string(reel=Reel(moment=lambda x, t=t, u=u: jnp.interp(x, t, u), **given), **about)
        begin = free.straight((0.6, 0.0, 0.8), s=1.5, tip_velocity=(0.0, 1.0, 0.0), s_v=[0.0])
        back = run(free, begin, 0.4, h, save_every=10**9, engine="xla").final.g
        off.append(abs(back.s[0] - float(length(0.4))))
    assert off[0] < 1e-3
    assert off[0] / off[1] > 3.5


def test_a_locked_reel_holds_what_hangs_on_it():
    """u/d is the slope of the energy of the hanging string in the length on the drum."""
    system = string(reel=Reel(locked=True, radius=0.2, guide=0.3, carnot="none"), wound=1.5)

    def hanging(s):
        each = (4.0 - s) / 4
        strain = (0.4 + 0.2 * each * (3.5 - np.arange(4))) * 9.81 / 60.0
        z = np.concatenate([[0.0], np.cumsum(each * (1.0 + strain))])
        drum = (s - 0.3) * -0.3 + 0.2**2 * (np.cos((s - 0.3) / 0.2) - 1.0)
        weight = 9.81 * (0.4 * z[-1] + 0.2 * each * np.sum(z[1:] + z[:-1]) / 2 + 0.2 * drum)
        return z[1:], np.sum(each * 30.0 * strain**2) - weight

    state = system.state(q=hanging(1.5)[0][:, None] * np.array((0.0, 0.0, 1.0)))
    slope = (hanging(1.5 + 1e-5)[1] - hanging(1.5 - 1e-5)[1]) / 2e-5
    np.testing.assert_allclose(execute(moment, system, state, 0.0, parameters=(0,)), 0.2 * slope, rtol=1e-8)


def test_a_hanging_chain_swings_as_bessel_says():
    """An inextensible chain: omega = 2.4048/2 sqrt(g/L), off by second order in the elements; its lengths stay."""
    L, off = 1.2, []
    root = jn_zeros(0, 1)[0]
    for elements in (5, 10):
        chain = StringPendulum(length=L, mass_per_length=0.3, stiffness=Inextensible(), elements=elements)
        depth = np.arange(1, elements + 1)[:, None] / elements
        mode = 1e-4 * j0(root * np.sqrt(1.0 - depth)) * np.array((1.0, 0.0, 0.0))
        start = chain.state(q=L * depth * np.array((0.0, 0.0, 1.0)), q_v=mode)
        found = run(chain, start, 12.0, 2e-3)
        swing = np.asarray(found.states.g.q)[:, -1, 0]
        off.append(frequency(found.t.to_numpy(), swing) / (0.5 * root * np.sqrt(9.81 / L)) - 1.0)
        assert np.max(np.abs(chain.links(found.final.g))) < 1e-13
    assert abs(off[1]) < 4e-3
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.2)


def test_an_inextensible_string_refuses_damping():
    with pytest.raises(InputError, match=r"damping = 0\.1 N s of an inextensible string"):
        string(stiffness=Inextensible(), damping=0.1)
