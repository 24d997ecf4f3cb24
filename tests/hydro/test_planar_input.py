"""What is refused, and in which words."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.hydro import ClosedCurve, Ellipse, PlanarBodies, SplineCurve


def eight(t):
    return np.sin(t), np.sin(2 * t)


def loop(t):
    """A limacon with an inner loop: it turns twice."""
    r = 0.5 + np.cos(t)
    return r * np.cos(t), r * np.sin(t)


@pytest.mark.parametrize("boundary", ["nystrom", "panels"])
@pytest.mark.parametrize("curve", [eight, loop])
def test_a_curve_that_crosses_itself(curve, boundary):
    with pytest.raises(InputError, match="crosses itself"):
        PlanarBodies([ClosedCurve(curve)], points=128, boundary=boundary)


@pytest.mark.parametrize("boundary", ["nystrom", "panels"])
@pytest.mark.parametrize(
    "second", [(0.0, 3.0, 0.0), (1.5, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 4.0, 0.0)], ids=["side", "cross", "in", "touch"]
)
def test_bodies_that_overlap(second, boundary):
    curve = Ellipse(2.0, 0.5)
    bodies = PlanarBodies([curve, Ellipse(1.0, 0.1) if second[2] else curve], boundary=boundary)
    for call in (bodies.added_inertia, bodies.added_inertia_with_derivative, bodies.flow, bodies.flux_error):
        with pytest.raises(InputError, match="Bodies 1 and 2 touch or overlap"):
            call([(0.0, 0.0, 0.0), second])


def test_bodies_too_near_for_their_points():
    bodies = PlanarBodies([Ellipse(1.0, 1.0)] * 2, points=64)
    with pytest.raises(InputError, match="too near each other for 64 points on body 1"):
        bodies.added_inertia([(0.0, 0.0, 0.0), (0.0, 2.001, 0.0)])
    assert bodies.flux_error([(0.0, 0.0, 0.0), (0.0, 2.2, 0.0)]) == pytest.approx((1 / 1.2) ** 64, rel=0.1)
    assert bodies.flux_error([(0.0, 0.0, 0.0), (0.0, 4.0, 0.0)]) < 1e-15


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PlanarBodies([Ellipse(100.0, 1.0)], points=32), "32 points are too few for this curve"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], points=12), "even number, 16 or more"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], points=63), "even number, 16 or more"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], points=4, boundary="panels"), "8 panels or more"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], boundary="mesh"), "expected one of nystrom, panels"),
        (lambda: PlanarBodies([]), "0 curves"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], points=[64, 64]), "1 curves and 2 numbers of points"),
        (lambda: PlanarBodies([3.0]), r"curves = \[3.0\]; expected a sequence, each of them a curve or"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], density=-1.0), "density"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)], points=64, coupling=20), r"coupled at \[16, 32, 64\] nodes"),
        (lambda: Ellipse(1.0, 0.0), "above 0"),
        (lambda: ClosedCurve(lambda t: (t, t)).sample(32), "does not close"),
        (lambda: ClosedCurve(lambda t: t).sample(32), "expected two finite numbers"),
        (lambda: SplineCurve([(0, 0), (1, 0), (0, 1)]), "at least 6 rows"),
        (lambda: SplineCurve([(0, 0), (1, 0), (2, 1), (2, 1), (0, 2), (-1, 1)]), "are the same"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)] * 2).added_inertia([(0.0, 0.0)]), "2 rows"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)]).added_inertia([np.nan, 0.0, 0.0]), "1 rows"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)]).added_inertia(frame=1), "number of a body, 0 to 0"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)]).flow(None, [1.0, 2.0]), "velocities"),
        (lambda: PlanarBodies([Ellipse(2.0, 1.0)]).flow().potential([1.0]), "last axis"),
    ],
)
def test_other_input_is_refused_with_what_was_expected(make, words):
    with pytest.raises(InputError, match=words):
        make()
