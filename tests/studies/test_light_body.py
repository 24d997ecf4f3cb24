"""A light body: what is exact for a sphere, and when a force from the last acceleration grows."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.light_body import LightBody

SPHERE = {"axes": (0.2, 0.2, 0.2), "Omega0": (0.0, 0.0, 0.0)}
DISPLACED = 1000.0 * 4.0 / 3.0 * np.pi * 0.2**3


def results(**parameters):
    return LightBody(**parameters).run(Progress()).results


def test_a_sphere_rises_with_half_of_what_it_displaces():
    """(m + m_d/2) z'' = (m_d - m) g, and sideways it goes on."""
    found = results(**SPHERE, mass=10.0, v0=(1.5, 0.0, 0.0), t1=1.0, dt=0.01)
    rise = 0.5 * (DISPLACED - 10.0) * 9.81 / (10.0 + DISPLACED / 2)
    np.testing.assert_allclose(found["x"], (1.5, 0.0, rise), rtol=1e-9, atol=1e-12)
    assert found["added_over_dry"] == pytest.approx(DISPLACED / 20.0, rel=1e-12)


@pytest.mark.parametrize(
    ("share", "mass", "ends"), [(1.0, 17.0, True), (1.0, 16.5, False), (0.5, 6.0, True), (0.5, 5.0, False)]
)
def test_a_force_from_the_last_acceleration_grows_where_it_is_said_to(share, mass, ends):
    """A sphere that displaces 33.5 kg: at half of that, and with a filter of one half at a sixth."""
    found = results(**SPHERE, mass=mass, v0=(0.0, 0.0, 0.0), filter=share, dt=0.001, t1=2.0)
    assert (found["factor"] < 1.0) == ends
    assert found["fed_back"] == ("reaches t1" if ends else "grows without bound")
    if ends:  # symplectic Euler is a step of gravity ahead
        assert found["fed_back_apart"] == pytest.approx(0.0, abs=0.03)
        assert found["fed_back_ends"] == 2.0


def test_a_smaller_step_does_not_help():
    """The run ends after a few steps more, in a tenth of the time."""
    ends = [results(dt=dt, t1=40 * dt)["fed_back_ends"] / dt for dt in (1e-3, 1e-4)]
    assert ends[0] < ends[1] < ends[0] + 5 < 20


def test_figures_and_bad_values():
    findings = LightBody(t1=0.05).run(Progress())
    for draw in findings.figures.values():
        draw()
    with pytest.raises(InputError, match="filter"):
        LightBody(filter=2.0)
    with pytest.raises(InputError, match=r"t1 = 0\.001 is less than a step"):
        LightBody(t1=0.001)
