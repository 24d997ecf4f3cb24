"""Added inertia of ellipsoids and elliptic cylinders: high precision, limits, and the numbers of the papers."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naiad.errors import InputError
from naiad.hydro import Ellipsoid, EllipticCylinder, Sphere, Spheroid
from naiad.hydro.carlson import rd, rd_difference
from tests.sampling import log_uniform

lengths = log_uniform(1e-6, 1e6)
differences = st.one_of(st.just(0.0), log_uniform(1e-15, 0.5))


def added(shape, density=1.0):
    return np.diag(shape.added_inertia(density))


def by_quadrature_formula(axes):
    """[lee2009, eqs. (6), (7)] as printed, rho V for the mass, with 60 digits against the cancellation."""
    with mp.workdps(60):
        a = [mp.mpf(float(axis)) for axis in axes]
        product = a[0] * a[1] * a[2]
        gamma = [2 * product * mp.elliprd(a[i - 1] ** 2, a[i - 2] ** 2, a[i] ** 2) / 3 for i in range(3)]
        mass = 4 * mp.pi * product / 3
        moments = []
        for i in range(3):
            b2, c2, gb, gc = a[i - 2] ** 2, a[i - 1] ** 2, gamma[i - 2], gamma[i - 1]
            flat = b2 == c2
            moments.append(
                0 if flat else mass / 5 * (b2 - c2) ** 2 * (gc - gb) / (2 * (b2 - c2) + (b2 + c2) * (gb - gc))
            )
        return [float(value) for value in [*moments, *(mass * g / (2 - g) for g in gamma)]]


def prolate(a, b):
    """Lamb's elementary functions of the eccentricity, prolate or oblate by the sign of e^2: masses and moment."""
    with mp.workdps(80):
        a, b = mp.mpf(a), mp.mpf(b)
        e2 = 1 - (b / a) ** 2
        e = mp.sqrt(e2)
        logarithm = mp.atanh(e) / e
        alpha = mp.re(2 * (1 - e2) / e2 * (logarithm - 1))
        beta = 2 - alpha / 2 - 1
        volume = 4 * mp.pi * a * b * b / 3
        along, across = alpha / (2 - alpha), beta / (2 - beta)
        turning = e2**2 * (beta - alpha) / ((2 - e2) * (2 * e2 - (2 - e2) * (beta - alpha)))
        moment = volume * (a * a + b * b) / 5 * turning
        return [float(mp.re(value)) for value in (volume * along, volume * across, moment)]


@given(st.permutations(range(3)), lengths, lengths, lengths)
def test_any_axes_to_round_off(order, a, b, c):
    axes = np.array([a, b, c])[list(order)]
    np.testing.assert_allclose(added(Ellipsoid(tuple(axes))), by_quadrature_formula(axes), rtol=1e-14)


@given(st.permutations(range(3)), lengths, differences, differences, st.booleans())
def test_axes_that_are_nearly_equal_to_round_off(order, a, first, second, sphere):
    axes = np.array([a, a * (1 + first), a * (1 + second) if sphere else second + 0.1])[list(order)]
    np.testing.assert_allclose(added(Ellipsoid(tuple(axes))), by_quadrature_formula(axes), rtol=1e-14, atol=0)


@given(lengths, lengths, lengths)
def test_the_divided_difference_of_carlsons_integral(x, y, z):
    with mp.workdps(60):
        X, Y, Z = map(mp.mpf, (x, y, z))
        exact = (mp.elliprd(X, Y, Z) - mp.elliprd(X, Z, Y)) / (Y - Z) if y != z else None
    if exact is not None:
        assert rd_difference(x, y, z) == pytest.approx(float(exact), rel=1e-14)
    assert rd(x, y, z) == pytest.approx(float(mp.elliprd(x, y, z)), rel=1e-14)
    assert rd_difference(x, x, x) == pytest.approx(0.6 * x**-2.5, rel=1e-15)


@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 0.3, 0.999, 1.001, 2.0, 50.0, 1e3, 1e6])
def test_spheroids_are_lambs(ratio):
    along, across, moment = prolate(ratio * 0.7, 0.7)
    found = added(Spheroid(ratio * 0.7, 0.7), density=1.3) / 1.3
    np.testing.assert_allclose(found, [0.0, moment, moment, along, across, across], rtol=1e-12)


def test_the_connected_bodies_of_the_paper():
    """Dry and added inertia of [lee2009, section V] with masses normalised to 1 and 1/4, to ten digits."""
    expected = {
        ((8.0, 1.5, 2.0), 1.0): "1.3480064529 20.1500330188 25.3275794634 1.0659263920 2.1695637590 1.6640962963",
        ((5.0, 0.8, 1.5), 0.25): "0.1961472329 1.7889323040 2.9210091946 0.2663724703 0.6550634602 0.3677432345",
    }
    for (axes, mass), digits in expected.items():
        body = Ellipsoid(axes)
        density = mass / body.volume
        total = body.added_inertia(density) + body.inertia(density)
        assert " ".join(f"{entry:.10f}" for entry in np.diag(total)) == digits
        assert np.count_nonzero(total - np.diag(np.diag(total))) == 0


def test_a_sphere_has_half_its_displaced_mass():
    half = 0.5 * 1000.0 * 4 / 3 * np.pi * 0.2**3
    expected = [0, 0, 0, half, half, half]
    np.testing.assert_allclose(added(Sphere(0.2), 1000.0), expected, rtol=1e-15)
    np.testing.assert_allclose(added(Ellipsoid((0.2, 0.2, 0.2)), 1000.0), expected, rtol=1e-14)
    np.testing.assert_allclose(Sphere(0.2).inertia(3.0), Ellipsoid((0.2, 0.2, 0.2)).inertia(3.0), rtol=1e-15)


def test_a_disc_moves_the_fluid_before_it():
    """8/3 rho a^3 broadside, 16/45 rho a^5 about a diameter, nothing edgewise or about its axis."""
    disc = Ellipsoid((2.0, 0.0, 2.0))
    assert disc.volume == 0.0
    assert not np.any(disc.inertia(1.0))
    expected = [16 / 45 * 2.0**5, 0, 16 / 45 * 2.0**5, 0, 8 / 3 * 2.0**3, 0]
    np.testing.assert_allclose(added(disc), expected, rtol=1e-14, atol=0)
    np.testing.assert_allclose(added(Spheroid(0.0, 2.0)), np.array(expected)[[1, 0, 2, 4, 3, 5]], rtol=1e-14, atol=0)
    thin = added(Spheroid(2e-13, 2.0))
    np.testing.assert_allclose(thin[[1, 2, 3]], np.array(expected)[[0, 2, 4]], rtol=2e-12)
    assert thin[4] == pytest.approx(4 / 3 * np.pi * 8e-13 * np.pi / 4 * 1e-13, rel=1e-12)  # V (pi/4) (c/a)


def test_an_elliptic_disc():
    """Broadside (4/3) pi a b^2 / E(m), m = 1 - b^2/a^2, b < a [lamb1932, art. 114]."""
    a, b = 1.5, 0.4
    found = added(Ellipsoid((a, b, 0.0)))
    assert found[5] == pytest.approx(float(4 / 3 * mp.pi * a * b**2 / mp.ellipe(1 - (b / a) ** 2)), rel=1e-14)
    assert min(found[0], found[1]) > 0
    np.testing.assert_array_equal(found[2:5], 0.0)


def test_a_needle_is_a_row_of_elliptic_cylinders():
    """Strips of the local section: sum over the length of the planar added inertia, for a -> infinity."""
    a, b, c = 1e9, 2.0, 0.5
    moment, along_b, along_c = np.diag(EllipticCylinder(b, c).added_inertia(1.3))
    needle = added(Ellipsoid((a, b, c)), 1.3)
    assert needle[0] == pytest.approx(moment * 16 / 15 * a, rel=1e-12)  # int (1 - x^2)^2
    assert needle[4] == pytest.approx(along_b * 4 / 3 * a, rel=1e-12)  # int (1 - x^2)
    assert needle[5] == pytest.approx(along_c * 4 / 3 * a, rel=1e-12)
    assert needle[1] == pytest.approx(along_c * 4 / 15 * a**3, rel=1e-12)  # int x^2 (1 - x^2)
    assert needle[2] == pytest.approx(along_b * 4 / 15 * a**3, rel=1e-12)
    assert needle[3] < 1e-11 * needle[4]


def test_across_a_tall_tail_moves_more_water_than_an_eel_and_less_than_in_the_plane():
    """[kanso2005, section 7.3]: the added mass across, over that of the water displaced; in the plane it is a/b."""

    def across(*axes):
        body = Ellipsoid(axes)
        return added(body)[4] / body.volume

    assert across(10.0, 0.5, 0.5) == pytest.approx(0.987, abs=5e-4)
    assert across(1.0, 0.1, 4.0) == pytest.approx(9.25, abs=5e-3)
    widths = [across(10.0, 1.0, width) for width in (0.2, 1.0, 5.0, 40.0, 1000.0)]
    plane = added(EllipticCylinder(10.0, 1.0))[2] / (10.0 * np.pi)
    assert plane == pytest.approx(10.0)
    assert np.all(np.diff([*widths, plane]) > 0.0)


def test_elliptic_cylinders_have_their_closed_form():
    a, b, rho = 1.5, 0.3, 1.2
    found = EllipticCylinder(a, b).added_inertia(rho)
    np.testing.assert_allclose(
        found, np.diag([rho * math.pi * (a**2 - b**2) ** 2 / 8, rho * math.pi * b**2, rho * math.pi * a**2]), rtol=1e-15
    )
    np.testing.assert_array_equal(added(EllipticCylinder(0.5, 0.5), 2.0), [0, np.pi / 2, np.pi / 2])
    plate = EllipticCylinder(a, 0.0)
    np.testing.assert_allclose(added(plate), [np.pi * a**4 / 8, 0, np.pi * a**2], rtol=1e-15)
    assert plate.volume == 0.0
    mass = rho * np.pi * a * b
    np.testing.assert_allclose(np.diag(EllipticCylinder(a, b).inertia(rho)), [mass * (a**2 + b**2) / 4, mass, mass])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ellipsoid((1.0, -2.0, 1.0)), r"axes = \(1.0, -2.0, 1.0\); expected 3 finite numbers above 0"),
        (lambda: Ellipsoid((1.0, 0.0, 0.0)), r"1 of them may be 0"),
        (lambda: Ellipsoid((1.0, 2.0)), "expected 3 finite numbers"),
        (lambda: Ellipsoid("ship"), "axes = 'ship'"),
        (lambda: Ellipsoid((1.0, np.inf, 1.0)), "expected 3 finite numbers"),
        (lambda: Ellipsoid((1.0, 1e-120, 1.0)), r"expected a ratio of at most 1e\+100"),
        (lambda: Sphere(0.0), "radius = 0.0; expected a finite number above 0"),
        (lambda: Spheroid(-1.0, 1.0), r"polar = -1.0; expected a finite number of at least 0"),
        (lambda: Spheroid(1.0, 0.0), "equatorial = 0.0; expected"),
        (lambda: EllipticCylinder(0.0, 0.0), r"\(a, b\) = \(0.0, 0.0\); expected 2 finite numbers above 0"),
        (lambda: Sphere(1.0).added_inertia(-1.0), "density = -1.0; expected a finite number above 0"),
        (lambda: Ellipsoid((1, 2, 3)).added_inertia(0.0), "density = 0.0"),
        (lambda: EllipticCylinder(1, 2).inertia(float("nan")), "density = nan"),
    ],
)
def test_bad_shapes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
