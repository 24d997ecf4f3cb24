"""Wagner's function, the lift of a plate that starts at once over the steady lift, by two integrals."""

import numpy as np
from scipy import special
from scipy.integrate import quad

from naiad.hydro import EllipticCylinder, shed_wake


def wagner(s):
    """Return Wagner's function after s half-chords, by the inverse Laplace transform along its branch cut."""

    def cut(x):
        waves = (special.k0(x) - special.k1(x)) ** 2 + np.pi**2 * (special.i0(x) + special.i1(x)) ** 2
        return np.exp(-s * x) / (x * x * waves)

    return 1.0 - sum(quad(cut, *part, epsabs=1e-13, limit=400)[0] for part in ((0.0, 1.0), (1.0, 50.0)))


def wagner_by_theodorsen(s):
    """Return Wagner's function after s > 0 half-chords, by Theodorsen's function of the frequency k."""

    def less_its_limit(k):
        first, zeroth = special.hankel2(1, k), special.hankel2(0, k)
        return ((first / (first + 1j * zeroth)).real - 0.5) / k

    slow = quad(lambda k: less_its_limit(k) * np.sin(k * s), 0.0, 1.0, epsabs=1e-13, limit=400)[0]
    quick = quad(less_its_limit, 1.0, np.inf, weight="sin", wvar=s, epsabs=1e-12, limit=400)[0]
    return 0.5 + 2.0 / np.pi * (slow + quick)


def excess_of_lift(dt, t1, density=1.5):
    """Return the wake of a plate that starts at once, and its lift over Wagner's less 1 at s = 1, 2, 4, 9."""
    angle = np.deg2rad(3.0)
    wake = shed_wake(
        EllipticCylinder(1.0, 0.0),
        lambda t: (0.0, np.cos(angle), -np.sin(angle)),
        t1=t1,
        dt=dt,
        pose=(angle, 0.0, 0.0),
        density=density,
    )
    at = [s for s in (1.0, 2.0, 4.0, 9.0) if s < t1]
    middle, lift = 0.5 * (wake.t[1:] + wake.t[:-1]), wake.forces[:, 1] / (2.0 * np.pi * density * np.sin(angle))
    return wake, np.interp(at, middle, lift) / [wagner(s) for s in at] - 1.0
