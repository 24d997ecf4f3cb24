import dataclasses

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.parameters import Block, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from tests.studies.pond import Pond


def test_defaults_and_given_values():
    study = Pond(dt="0.5", J=(2.0, 2.0, 2.0))
    assert (study.dt, study.steps, study.Pi0) == (0.5, 10, None)
    np.testing.assert_array_equal(study.J, (2.0, 2.0, 2.0))
    assert list(study.values()) == list(Pond.parameters)


def test_assignments_are_parsed():
    study = Pond.parse(["dt = 0.5", "J=1,0,0;0,2,0;0,0,3", "methods=exp,cay"])
    assert (study.dt, study.methods, study.J.shape) == (0.5, ("exp", "cay"), (3, 3))


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["Dt=1"], "pond has no parameter Dt; did you mean dt? `naiad show pond` lists them"),
        (["weight=1"], "pond has no parameter weight; did you mean weights? `naiad show pond` lists them"),
        (["zzz=1"], "pond has no parameter zzz; `naiad show pond` lists them"),
        (["dt"], "-p dt: expected NAME=VALUE; `naiad show pond` lists them"),
        (["=3"], "-p =3: expected NAME=VALUE; `naiad show pond` lists them"),
        (["dt=1", "dt=2"], "dt is given twice, dt=1 and dt=2; give it once"),
        (["damped=yes"], "damped=true needs Pi0: give -p Pi0=0,0,1, or leave damped out"),
    ],
)
def test_mistakes_have_one_clear_line(assignments, message):
    with pytest.raises(InputError) as caught:
        Pond.parse(assignments)
    assert str(caught.value) == message


class Basin(Block):
    """What several ponds share."""

    depth: float = parameter(1.0, unit="m", above=0.0, help="depth")
    width: float = parameter(5.0, unit="m", above=0.0, help="width")


def test_studies_share_blocks_of_parameters():
    """Their own come first; a study may have a default of its own for a shared one; each is checked."""

    class Deep(Study, Basin, name="deep"):
        dt: float = parameter(0.1, help="time step")
        depth: float = parameter(9.0, unit="m", above=0.0, help="depth")

        def run(self, progress):
            return Findings({"volume": self.depth * self.width})

    class Wide(Study, Basin, name="wide"):
        def run(self, progress):
            return Findings({"volume": self.depth * self.width})

    assert list(Deep.parameters) == ["dt", "depth", "width"]
    assert list(Wide.parameters) == ["depth", "width"]
    assert Deep(width="2").run(Progress()).results == {"volume": 18.0}
    assert Wide().run(Progress()).results == {"volume": 5.0}
    assert Deep(width="2").changed() == {"width": "2"}
    with pytest.raises(InputError, match=r"width=-1: expected a finite number above 0 \(in m\)"):
        Wide(width="-1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wide().width = 3.0


def test_an_unknown_name_from_python_is_the_same_mistake():
    with pytest.raises(InputError, match="did you mean steps"):
        Pond(step=3)


def test_a_study_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Pond().dt = 1.0
    assert dataclasses.replace(Pond(dt=0.5), steps=3).values()["dt"] == 0.5


def test_the_docstring_is_summary_and_description():
    assert Pond.summary() == "Ripples on a <small> pond."
    assert Pond.description() == "Expect `rings` that spread & fade.\n\nSecond paragraph."


def test_changed_parameters_rebuild_the_study():
    study = Pond(J=np.diag([1.0, 2.0, 4.0]), dt=0.1 + 0.2, Pi0=(0.0, 0.0, 1.0), damped=True)
    assert set(study.changed()) == {"J", "dt", "Pi0", "damped"}
    again = Pond.parse(f"{key}={text}" for key, text in study.changed().items())
    for key, value in study.values().items():
        np.testing.assert_array_equal(getattr(again, key), value)
    assert Pond().changed() == {}


def test_every_field_must_be_a_parameter():
    with pytest.raises(TypeError, match=r"declare it as dt: TYPE = parameter\(DEFAULT, help=\.\.\.\)"):

        class Plain(Study, name="plain"):
            """A field that is no parameter."""

            dt: float = 0.1


def test_progress_is_reported_in_parts():
    seen = []
    progress = Progress(lambda fraction, label: seen.append((fraction, label)))
    progress.part(1, 2, "second").part(1, 2)(0.5)
    progress(7.0)
    assert seen == [(0.875, "second"), (1.0, "")]
    Progress()(0.5)
