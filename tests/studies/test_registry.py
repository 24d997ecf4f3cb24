import pytest

from naiad import studies
from naiad.errors import InputError
from naiad.studies import groups
from naiad.studies.groups import group_of
from naiad.studies.progress import Progress


@pytest.fixture(autouse=True)
def pond(monkeypatch):
    monkeypatch.setitem(studies.STUDIES, "pond", "tests.studies.pond:Pond")


def test_every_registered_study_is_what_the_registry_says():
    for name in studies.STUDIES:
        study = studies.find(name)
        assert study.name == name
        assert study.summary() == studies.summary(name)
        assert study.summary()
        assert all(each.options.help for each in study.parameters.values())
        assert {"dt", "t1", "method"} & study.parameters.keys() <= {
            each for each in study.parameters if group_of(each) == "numerics"
        }


def test_every_name_that_has_a_group_is_one_of_some_study():
    names = {each for name in studies.STUDIES for each in studies.find(name).parameters}
    assert set(groups.NAMED) <= names


@pytest.mark.parametrize("find", [studies.find, studies.summary])
def test_an_unknown_name_gets_the_nearest(find):
    with pytest.raises(InputError) as caught:
        find("Pont")
    assert str(caught.value) == "there is no study Pont; did you mean pond? `naiad list` lists them"


def test_a_wrong_line_in_the_registry_is_told(monkeypatch):
    monkeypatch.setitem(studies.STUDIES, "lake", "tests.studies.lake:Lake")
    with pytest.raises(ModuleNotFoundError, match=r"tests\.studies\.lake"):
        studies.summary("lake")


QUICK = {
    "added-inertia": {"points": 64},
    "buoyant-vehicle": {"t1": 0.1},
    "falling-plate": {"t1": 0.1, "grid": 2},
    "heavy-top": {"t1": 0.1},
    "light-body": {"t1": 0.1},
    "mesh-vehicle": {"t1": 0.1, "tolerance": 0.5},
    "oblate-earth": {"t1": 600},
    "outer-solar-system": {"t1": 1000},
    "rigid-body": {"t1": 0.1},
    "rotor-spacecraft": {"t1": 0.1},
    "three-link-fish": {},
    "underwater-vehicle": {"t1": 0.1},
}


@pytest.mark.parametrize("name", QUICK)
def test_units_are_those_of_results(name):
    found = studies.find(name)(**QUICK[name]).run(Progress())
    assert set(found.units) <= set(found.results)
    assert all(found.units.get(each, "rad/s") == "rad/s" for each in ("Omega", "omega"))
    assert not any("error" in each for each in found.units)  # relative in these studies
