"""Models in a heat bath: what they refuse, and their energies."""

import numpy as np
import pytest

import naiad as nd


def test_bad_parameters_are_refused():
    for options, message in (
        ({"m": 0.0}, r"m = 0\.0; expected a number above 0"),
        ({"c": -1.0}, r"c = -1\.0; expected a number at least 0"),
        ({"potential": "bowl"}, r"potential = 'bowl'; expected one of none, harmonic, quartic, cosine"),
        ({"noise": "loud"}, r"noise = 'loud'; expected 'isothermal' or 'translation'"),
    ):
        with pytest.raises(nd.InputError, match=message):
            nd.models.SlidingDisk(**options)
    with pytest.raises(nd.InputError, match=r"temperature = -1\.0; expected kT in J"):
        nd.models.IsothermalRigidBody((1, 2, 3), (1, 1, 1), -1.0)
    with pytest.raises(nd.InputError, match=r"C has the eigenvalue -1; friction must not give energy"):
        nd.models.IsothermalRigidBody((1, 2, 3), (1, -1, 1), 1.0)
    assert nd.models.IsothermalRigidBody((1, 2, 3), (1, 0, 0), 1.0).dissipation[1, 1] == 0.0


def test_energies():
    x, v, omega = 0.7, 0.3, -1.1
    for name, U in (("none", 0.0), ("harmonic", x**2), ("quartic", 0.5 * x**4), ("cosine", 2 * (1 - np.cos(x)))):
        disk = nd.models.SlidingDisk(1.3, 0.4, 0.8, k=2.0, potential=name)
        state = disk.state(q=(x, 5.0), v=(v, omega))
        assert float(disk.energy(state)) == pytest.approx(0.5 * 1.3 * v**2 + 0.5 * 0.4 * omega**2 + U, rel=1e-14)
    body = nd.models.IsothermalRigidBody((1, 2, 3), (1, 1, 1), 1.0, kappa=0.7)
    assert float(body.energy(body.state(Omega=(0.1, 0.2, 0.3)))) == pytest.approx(0.5 * 0.36 - 0.7, rel=1e-14)
