"""Modes of curvature: waves along a body, and joints under a cloth."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import floats, positive

Mode = Callable[[float], float]


@checked_throughout
def curvature_wave(wavelength: float, envelope: Mode = lambda s: 1.0) -> tuple[Mode, Mode]:
    """The two modes  envelope(s) (cos, sin)(2 pi s / wavelength).

    With q = (cos, sin)(2 pi t / T) they make a wave that runs towards larger s, with (cos, -sin) one towards smaller.
    """
    k = 2.0 * math.pi / positive("wavelength", wavelength)
    return (lambda s: envelope(s) * math.cos(k * s)), (lambda s: envelope(s) * math.sin(k * s))


@checked_throughout
def cloth_joints(places: Sequence[float], width: float) -> tuple[Mode, ...]:
    """A mode for each joint at s = `places`: a bend by 1 rad in all, spread like a Gaussian of standard deviation
    `width`, so that amplitudes are the angles of joints. Before the middle (s > 0) and behind it an angle is that of
    the part beyond the joint, as a hinge's in `three_link_fish`."""
    width = positive("width", width)

    def mode(place: float) -> Mode:
        size = math.copysign(1.0, place) / (width * math.sqrt(2.0 * math.pi))
        return lambda s: size * math.exp(-0.5 * ((s - place) / width) ** 2)

    return tuple(mode(float(place)) for place in np.atleast_1d(floats("places", places)))
