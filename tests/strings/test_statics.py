"""Strings at rest or in uniform motion, against statics by hand."""

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.models import HangingBody, Hooke, LineDrag, StringPendulum
from naiad.strings import StringVariational

L, DENSITY, EA, MASS, G = 3.0, 0.4, 200.0, 0.5, 9.81


def hanging_shape(elements, pull, EA=EA):
    """The nodes of a string whose end is pulled sideways: an element carries what hangs below its middle."""
    length = L / elements
    below = elements - 0.5 - np.arange(elements)
    tension = np.stack([pull + 0.0 * below, 0.0 * below, (MASS + DENSITY * length * below) * G], axis=1)
    size = np.linalg.norm(tension, axis=1, keepdims=True)
    return np.cumsum(tension / size * length * (1.0 + size / EA), axis=0)


def stays(system, q, velocity, t1=0.4, **options):
    state = system.state(q=q, q_v=np.zeros_like(q) + velocity, **options)
    run = nd.simulate(system, state, t1=t1, dt=0.002, method=StringVariational(), save_every=1)
    return np.max(np.abs(np.asarray(run.final.g.q) - q - np.asarray(velocity) * run.t.to_numpy()[-1]))


def test_a_towed_body_hangs_back_as_its_drag_says():
    """A guide way at constant speed; - k V |V| on the body."""
    V, k, elements = 1.5, 0.6, 5
    body = HangingBody(MASS, forces=lambda m: jnp.concatenate([jnp.zeros(3), -k * m.v * jnp.sqrt(m.v @ m.v)]))
    system = StringPendulum(
        length=L,
        mass_per_length=DENSITY,
        stiffness=EA,
        elements=elements,
        body=body,
        guide=lambda t: jnp.stack([-V * t, 0.0 * t, 0.0 * t]),
    )
    q = hanging_shape(elements, k * V**2)
    assert q[-1, 0] > 0.4  # far from hanging straight down
    assert stays(system, q, (-V, 0.0, 0.0)) < 1e-12


def test_a_current_is_a_wind_on_the_body_at_rest():
    U, k, elements = 1.5, 0.6, 5
    body = HangingBody(
        MASS, forces=lambda m: -k * jnp.concatenate([jnp.zeros(3), m.through_water * jnp.abs(m.through_water)])
    )
    options = {"length": L, "mass_per_length": DENSITY, "stiffness": Hooke(EA), "elements": elements, "body": body}
    system = StringPendulum(current=lambda x, t: jnp.stack([U + 0.0 * x[2], 0.0, 0.0]), **options)
    assert stays(system, hanging_shape(elements, k * U**2), 0.0) < 1e-12


def test_a_string_falls_at_its_terminal_velocity():
    """A level string with a guide way that sinks as fast: weight = drag on each metre."""
    elements, fluid, diameter = 4, 1000.0, 0.01
    sinking = np.sqrt(2.0 * DENSITY * G / (fluid * diameter * 1.2))
    system = StringPendulum(
        length=L,
        mass_per_length=DENSITY,
        stiffness=EA,
        elements=elements,
        loads=LineDrag(fluid, diameter, normal=1.2, tangential=0.3),
        guide=lambda t: jnp.stack([0.0 * t, 0.0 * t, sinking * t]),
    )
    level = np.arange(1, elements + 1)[:, None] * np.array((L / elements, 0.0, 0.0))
    assert stays(system, level, (0.0, 0.0, sinking)) < 1e-12
    slow = system.state(q=level, q_v=np.tile((0.0, 0.0, 0.9 * sinking), (elements, 1)))
    acceleration = np.asarray(system.equations(slow).mu).reshape(-1, 3)[1, 2] / (DENSITY * L / elements)
    np.testing.assert_allclose(acceleration, G * (1 - 0.81), rtol=1e-9)


def test_a_string_pulled_sideways_is_a_catenary():
    """x = a (asinh((w L + W)/H) - asinh(W/H)), a = H/w, where it does not stretch; second order in the elements."""
    w, H, W = DENSITY * G, 3.0, MASS * G
    a = H / w
    x = a * (np.arcsinh((w * L + W) / H) - np.arcsinh(W / H))
    z = a * (np.hypot(1.0, (w * L + W) / H) - np.hypot(1.0, W / H))
    off = []
    for elements in (8, 16):
        body = HangingBody(MASS, forces=lambda m: jnp.array([0.0, 0.0, 0.0, H, 0.0, 0.0]))
        stiff = StringPendulum(length=L, mass_per_length=DENSITY, stiffness=1e9, elements=elements, body=body)
        q = hanging_shape(elements, H, EA=1e9)
        rate = np.asarray(stiff.equations(stiff.state(q=q)).mu)
        assert np.max(np.abs(rate)) < 1e-5  # in balance, to the round-off of EA
        off.append(np.abs(q[-1] - (x, 0.0, z)).max())
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.05)


def test_a_crane_that_speeds_up_carries_its_load_at_an_angle():
    """tan(angle) = a/g, in all elements."""
    a, elements = 2.0, 3
    system = StringPendulum(
        length=L,
        mass_per_length=DENSITY,
        stiffness=EA,
        elements=elements,
        body=HangingBody(MASS),
        guide=lambda t: jnp.stack([0.5 * a * t**2, 0.0 * t, 0.0 * t]),
    )
    below = (elements - 0.5 - np.arange(elements)) * DENSITY * L / elements + MASS
    along = np.array((-a, 0.0, G))
    step = L / elements * (1.0 + below * np.linalg.norm(along) / EA)
    q = np.cumsum(step[:, None] * along / np.linalg.norm(along), axis=0)
    run = nd.simulate(system, system.state(q=q), t1=0.5, dt=0.005, method=StringVariational(), save_every=1)
    moved = np.asarray(run.final.g.q) - q
    np.testing.assert_allclose(moved, np.tile((0.5 * a * 0.25, 0.0, 0.0), (elements, 1)), atol=1e-12)
