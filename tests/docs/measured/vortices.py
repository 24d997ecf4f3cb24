"""Numbers of docs/vortices.md on fields and motions of vortices."""

import jax
import numpy as np

import naiad as nd
from naiad.hydro import ClosedCurve, Ellipse, PlanarBodies, Vortices
from naiad.models import PointVortices, VortexBody
from naiad.numerics import double
from tests.docs.measured.registry import measured
from tests.models.test_vortices import SIXTH, moved

A, B, DENSITY = 1.3, 0.6, 2.0
GAMMA, CIRCULATION = [1.0, -0.4], 0.7
AWAY = np.array([[2.0, 1.0], [-1.5, 1.4]])


def ellipses():
    """In closed form, and as any outline."""
    outlines = Ellipse(A, B), ClosedCurve(lambda t: (A * np.cos(t), B * np.sin(t)))
    return [Vortices(GAMMA, outline, circulation=CIRCULATION, density=DENSITY) for outline in outlines]


SHIFTS = np.linspace(0.0, 1.0, 11)
"""Along the outline: the largest difference of many, since at one place it may be none."""


def beside(distance, shift):
    """Two vortices at a distance from the wall."""
    t = np.array([0.4, 2.5]) + shift
    normal = np.stack([B * np.cos(t), A * np.sin(t)], axis=1)
    return (
        np.stack([A * np.cos(t), B * np.sin(t)], axis=1) + distance * normal / np.linalg.norm(normal, axis=1)[:, None]
    )


@double
def of_the_series():
    """W at three distances from the wall, the momenta there, the added inertia: largest differences."""
    exact, found = ellipses()
    energies, momenta = [], []
    for distance in (0.7, 0.01, 1e-4):
        places = [beside(distance, shift) for shift in SHIFTS]
        energies.append(max(abs(float(found.energy(X)) - float(exact.energy(X))) for X in places))
        momenta += [np.max(np.abs(np.asarray(found.impulse(X)) - np.asarray(exact.impulse(X)))) for X in places]
    return [*energies, max(momenta), np.max(np.abs(np.asarray(found.body.added) - np.asarray(exact.body.added)))]


@double
def of_the_images():
    """Velocities by W, rho Gamma x' = dW/dy, against images in the circle and Routh's term."""
    slopes = jax.grad(ellipses()[0].energy)
    return max(off_the_images(X, np.asarray(slopes(X))) for X in [beside(0.7, shift) for shift in SHIFTS])


def off_the_images(X, slope):
    found = (slope[:, 1] - 1j * slope[:, 0]) / (DENSITY * np.array(GAMMA))
    R2, c, z = (0.5 * (A + B)) ** 2, 0.25 * (A * A - B * B), X @ [1.0, 1.0j]
    s = 0.5 * (z + np.sqrt(z - 2.0 * np.sqrt(c)) * np.sqrt(z + 2.0 * np.sqrt(c)))
    off = []
    for k in range(2):
        w = CIRCULATION / s[k] + GAMMA[1 - k] / (s[k] - s[1 - k])
        w += sum(g * (1.0 / s[k] - 1.0 / (s[k] - R2 / np.conj(s[j]))) for j, g in enumerate(GAMMA))
        slope, bend = 1.0 - c / s[k] ** 2, 2.0 * c / s[k] ** 3
        velocity = np.conj(w / (2j * np.pi) / slope - GAMMA[k] / (4j * np.pi) * bend / slope**2)
        off.append(abs(found[k] - velocity))
    return max(off)


@double
def of_boundary_elements():
    exact = Vortices(GAMMA, Ellipse(A, B), density=DENSITY).at_rest(AWAY)
    found = PlanarBodies([Ellipse(A, B)], DENSITY, points=96).among_vortices(np.array(GAMMA), AWAY)
    momenta = np.max(np.abs(np.asarray(found.impulse) - np.asarray(exact.impulse)))
    return max(abs(float(found.energy) - float(exact.energy)), momenta)


def of_a_free_circle():
    """Place, energy and impulse of orders 2 and 6 at t = 10; the place against order 8 with a small step."""
    body = VortexBody(Vortices([1.0, -1.0], Ellipse(1.0, 1.0)), (0.7, 2.0, 2.0))
    state = body.start([2.0, 1.0, -1.5, 1.4], pose=(0.3, 0.2, -0.1), xi=(0.2, 0.1, -0.3))

    def run(method, dt):
        return nd.simulate(body, state, t1=10.0, dt=dt, method=method, progress=False)

    exact = run(nd.Composition(nd.Variational(), 8), 0.05).final.g.body.x
    assert np.max(np.abs(exact - [2.15287193, -2.44436098])) < 1e-8
    runs = [run(method, 0.1) for method in (nd.Variational(), SIXTH)]
    off = [np.linalg.norm(each.final.g.body.x - exact) for each in runs]
    return off, np.transpose([moved(each) for each in runs])


def of_leapfrogging():
    """Period and advance of two pairs."""
    pairs = PointVortices(Vortices([1.0, 1.0, -1.0, -1.0]))
    state = pairs.start([0.0, 1.0, 0.0, 0.5, 0.0, -1.0, 0.0, -0.5])
    passing = nd.Section(lambda state, t: state.g[0, 0] - state.g[1, 0], direction=0)
    run = nd.simulate(pairs, state, t1=6.0, dt=0.02, method=SIXTH, sections={"passing": passing}, progress=False)
    crossings = run.crossings["passing"]
    return crossings["time"].to_numpy()[-1], abs(np.mean(crossings["q"].to_numpy()[-1, :, 0]))


@measured("checks-of-vortices")
def checks_of_vortices():
    energies, (momenta, inertia) = (series := of_the_series())[:3], series[3:]
    places, (energy, impulse) = of_a_free_circle()
    return {
        "1e-4 from the wall | #, #, # |": energies,
        "the added inertia | #, # |": (momenta, inertia),
        "Routh's term | # |": of_the_images(),
        "order 6 at h = 0.1 | #, # of its place |": places,
        "T = 10) | # and # with order 2 and 6; # and # |": (*energy, *impulse),
        "period, advance | #, # |": of_leapfrogging(),
        "against its map | # |": of_boundary_elements(),
    }
