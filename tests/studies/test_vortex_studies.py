"""The studies with vortices: known numbers, what they keep, what they refuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad import studies
from naiad.errors import InputError
from naiad.studies.flow.vortex_body import throw
from naiad.studies.progress import Progress

VortexBody = studies.find("vortex-body")
FishVortices = studies.find("fish-vortices")


def test_vortex_body_reports_the_known_circle():
    findings = VortexBody().run(Progress())
    results = findings.results
    assert results["pose"] == pytest.approx([2.3, 2.15287193, -2.44436098], abs=2e-8)
    assert results["vortices"] == pytest.approx([1.67149120, 0.48822975, -1.37608094, 0.75792081], abs=2e-8)
    assert results["energy"] == pytest.approx(0.42173341, abs=1e-8)
    assert results["impulse"] == pytest.approx([-0.27311481, 0.59166625, -4.08640719], abs=1e-8)
    assert results["energy_error_max"] < 1e-12
    assert results["momentum_error_max"] < 1e-13
    assert results["ending"] == "The run reached its end."
    assert [*findings.figures] == ["paths", "streamlines-start", "streamlines-end", "errors"]


def test_vortex_body_refuses_what_cannot_be():
    with pytest.raises(InputError, match="Vortex 1 lies inside the body"):
        VortexBody(at=(0.3, 0.0, -1.5, 1.4))
    with pytest.raises(InputError, match=r"expected a place .x, y. of finite numbers for each of 2 vortices"):
        VortexBody(at=(2.0, 0.0))
    with pytest.raises(InputError, match=r"t1 = 0.01 is less than a step"):
        VortexBody(t1=0.01)


SHEDDING = {"shedding": "edge", "gamma": None, "at": None, "xi": (0.0, 1.0, 0.0), "pose": (0.0, 0.0, 0.0)}


def test_vortex_body_sheds_and_swims():
    study = VortexBody(shape="plate", heave=1.0, I=50.0, m=1.0, t1=3.0, dt=0.1, **SHEDDING)
    findings = study.run(Progress())
    results = findings.results
    assert results["xi"][1] == pytest.approx(1.01392, abs=1e-5)
    assert results["shed"] == 31
    assert results["impulse_error_max"] < 1e-14
    assert results["impulse"][2] == pytest.approx(np.sin(9.0) / 3.0, abs=2e-3)
    assert findings.dataset()["vortex"].shape == (31, 2)
    assert [*findings.figures] == ["wake", "velocity"]
    assert len(findings.figures["wake"]().axes) == 1


def test_vortex_body_refuses_to_shed_without_an_edge():
    with pytest.raises(InputError, match="a circle has no edge"):
        VortexBody(**SHEDDING)
    with pytest.raises(InputError, match="with shedding=edge only"):
        VortexBody(shape="plate")
    with pytest.raises(InputError, match="with shedding=edge only"):
        VortexBody(heave=1.0)


def test_a_pair_that_is_thrown_flies_at_the_body():
    study = VortexBody(gamma=(-2.0, 2.0), pose=(0.0, 0.0, 0.0), xi=(0.0, 0.5, 0.0))
    system = study.system()
    state = study.start(system)

    @jax.jit
    def after(state):
        thrown = throw(system, state, jnp.asarray(4.0), jnp.asarray(3.0), 0.5)
        return thrown.g.vortex, system.velocity(*thrown)

    with jax.enable_x64(True):
        q, xi = map(np.asarray, after(state))
    assert np.mean(q, axis=0) == pytest.approx([4.0, 3.0])
    assert np.linalg.norm(q[0] - q[1]) == pytest.approx(0.5)
    assert xi[:3] == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)  # the body is not pushed
    flying = 0.5 * (xi[3:5] + xi[5:7])
    assert flying @ [-0.8, -0.6] == pytest.approx(2.0 / (2.0 * np.pi * 0.5), rel=0.05)


@pytest.mark.long
def test_a_fish_gains_from_a_street_that_goes_with_it():
    results = FishVortices().run(Progress()).results
    assert results["momentum_error_max"] < 1e-12
    assert results["gain"] > 0.0 > results["gain_reversed"]
    assert abs(results["gain_mean"]) < abs(results["gain"])
