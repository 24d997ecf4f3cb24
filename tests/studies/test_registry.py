import pytest

from naiad import studies
from naiad.errors import InputError


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


@pytest.mark.parametrize("find", [studies.find, studies.summary])
def test_an_unknown_name_gets_the_nearest(find):
    with pytest.raises(InputError) as caught:
        find("Pont")
    assert str(caught.value) == "there is no study Pont; did you mean pond? `naiad list` lists them"


def test_a_wrong_line_in_the_registry_is_told(monkeypatch):
    monkeypatch.setitem(studies.STUDIES, "lake", "tests.studies.lake:Lake")
    with pytest.raises(ModuleNotFoundError, match=r"tests\.studies\.lake"):
        studies.summary("lake")
