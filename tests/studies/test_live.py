"""The live pages of the studies: which have one, what it begins with, and that it computes what the study does."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad import studies
from naiad.errors import InputError
from naiad.studies.fish.motion import one_period
from naiad.studies.live import study_page, with_parameters
from naiad.studies.study import Study
from tests.viz.live.modules import PageText

AFRESH = 1
OPTIMA = (
    "mpc-docking",
    "reorientation",
    "swing-up",
    "vehicle-docking",
)  # which are solved first; smaller ones are in test_following
PAGES = [pytest.param(name, marks=pytest.mark.long) if name in OPTIMA else name for name in studies.LIVE]


def test_the_list_is_that_of_the_studies_with_a_page():
    assert set(studies.LIVE) == {name for name in studies.STUDIES if studies.find(name).live is not Study.live}


def test_a_study_without_a_page_names_those_that_have_one():
    with pytest.raises(
        InputError, match=r"crane has no live page; those that have one are buoyant-vehicle, .*heavy-top"
    ):
        studies.find("crane")().live()


@pytest.mark.parametrize("name", PAGES)
def test_sliders_are_parameters_within_their_bounds(name):
    study = studies.find(name)()
    page = study.live()
    assert page.dt > 0
    assert page.span > page.dt
    assert page.methods
    for key, given in page.sliders.items():
        value = getattr(given, "value", None)
        if key in study.parameters and value is None:
            value = getattr(study, key)
        assert value is not None, key
        low, high = given[:2]
        assert low < high
        if key in study.parameters and np.ndim(value) < 2:
            study.parameters[key].read(np.broadcast_to(low, np.shape(value)) if np.ndim(value) else low)
            study.parameters[key].read(np.broadcast_to(high, np.shape(value)) if np.ndim(value) else high)


@pytest.mark.parametrize("name", PAGES)
def test_the_system_of_the_sliders_is_that_of_the_study(name):
    """Traced by JAX, with the numbers of the sliders as arguments, it is the one that is built of plain numbers."""
    study = studies.find(name)()
    page = study.live()
    values = {
        key: np.asarray(
            getattr(given, "value", None) if getattr(given, "value", None) is not None else getattr(study, key)
        )
        for key, given in page.sliders.items()
    }
    with jax.enable_x64(True):
        plain, start = page.build(with_parameters(study, values))
        traced = jax.jit(lambda values: page.build(with_parameters(study, values))[1])(values)
    for one, other in zip(jax.tree.leaves(start), jax.tree.leaves(traced), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    assert isinstance(plain, nd.LagrangianSystem)


def test_a_method_of_fixed_steps_is_asked_for():
    with pytest.raises(InputError, match="chooses its own steps"):
        studies.find("connected-bodies")(scheme="rk45").live()
    with pytest.raises(InputError, match="hydro=decoupled"):
        studies.find("three-link-fish")(hydro="coupled").live()


def test_the_fish_swims_as_far_as_in_the_study():
    study = studies.find("three-link-fish")()
    page = study.live()
    build = nd.double(lambda values: page.build(with_parameters(study, values)))
    fish, state = build({key: np.asarray(slider.value) for key, slider in page.sliders.items()})
    period = one_period(study.fish(coupled=False), study.shape_motion)
    errors = []
    for steps in (100, 200):
        run = nd.simulate(fish, state, t1=2 * np.pi, dt=2 * np.pi / steps, progress=False)
        errors.append(np.hypot(*(run.final.g.x - period.poses[-1, 1:])))
    assert errors[1] < 2e-3 * period.distance
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


@pytest.mark.long
@pytest.mark.parametrize("name", studies.LIVE)
def test_every_page_computes_what_a_run_does(name):
    study = studies.find(name)()
    page = study.live()
    text = PageText(study_page(study))
    values = {
        each["name"]: np.reshape(each["value"], len(each["value"]) if each["parts"] != [""] else ())
        for each in text.data["live"]["sliders"]
    }
    system, state = nd.double(lambda: page.build(with_parameters(study, values)))()
    for index, method in enumerate(page.methods.values()):
        module = text.module(index)
        module.run(begin=AFRESH, t0=0.0, h=page.dt, count=0, every=1)
        end = module.run(count=1000, every=1000)
        start = system.state(g=state.g, mu=state.mu)
        run = nd.simulate(system, start, t1=1000 * page.dt, dt=page.dt, method=method, progress=False)
        found = [values for key, values in end.items() if key.startswith("end.carry.state.")]
        for got, want in zip(found, jax.tree.leaves(run.final), strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=2e-12 * max(1.0, np.max(np.abs(want))))
