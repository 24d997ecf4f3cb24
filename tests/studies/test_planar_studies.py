"""The studies of planar bodies: the paper's fish in numbers, and pictures that are drawn."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.hydro import moved
from naiad.locomotion import link_poses, three_link_fish
from naiad.studies.flow.added_inertia import AddedInertia
from naiad.studies.flow.streamlines import Streamlines
from naiad.studies.progress import Progress


def results(study):
    return study.run(Progress()).results


def test_added_inertia_has_the_numbers_of_independent_codes():
    found = results(AddedInertia())
    M = found["matrix"]
    entries = [M[0, 0], M[1, 1], M[2, 2], M[6, 6], M[0, 6], M[0, 2], M[0, 3]]
    exact = [1231.518230479, 1.002895939, 102.694872873, 1237.056332348, -45.296843226, -4.062949359, -4.954558109]
    assert entries == pytest.approx(exact, abs=1e-9)
    assert found["asymmetry"] < 1e-14
    assert found["min_eigenvalue"] == pytest.approx(np.linalg.eigvalsh(M)[0], rel=1e-9)
    assert found["points"] == 192


def test_the_diagonal_blocks_in_the_frame_of_b3_are_moved_there():
    shape = {"theta1": 0.7, "theta2": -0.4, "b": 1.5}
    own, in_b3 = (results(AddedInertia(frame=frame, **shape))["matrix"] for frame in ("body", "b3"))
    beta, *x = link_poses(three_link_fish(b=1.5), [0.7, -0.4])[0]
    assert np.max(np.abs(in_b3[:3, :3] - moved(own[:3, :3], x=x, R=beta))) < 1e-9
    assert np.max(np.abs(in_b3[6:, 6:] - own[6:, 6:])) < 1e-12


def test_fifty_panels_are_a_few_percent_high_and_not_symmetric():
    exact, panels = results(AddedInertia()), results(AddedInertia(boundary="panels"))
    ratio = np.diag(panels["matrix"]) / np.diag(exact["matrix"])
    assert np.all((ratio > 1.0145) & (ratio < 1.03))
    assert 1e-5 < panels["asymmetry"] < 1e-2
    assert panels["points"] == 50


def test_links_that_overlap_are_refused():
    with pytest.raises(InputError, match="Bodies 1 and 2 touch or overlap"):
        results(AddedInertia(theta1=3.1, theta2=-3.1))


def test_only_the_coupled_flow_goes_around_the_links():
    coupled, decoupled = (results(Streamlines(hydro=hydro)) for hydro in ("coupled", "decoupled"))
    assert coupled["flow_through_bodies"] < 1e-11
    assert decoupled["flow_through_bodies"] > 0.1
    assert decoupled["kinetic_energy"] == pytest.approx(2 * 0.5 * (99.0**2 / 8 + 100 * 12**2))
    panels = results(Streamlines(boundary="panels", points=400))
    assert panels["kinetic_energy"] == pytest.approx(coupled["kinetic_energy"], rel=0.01)


@pytest.mark.parametrize("study", [AddedInertia(theta1=0.5), Streamlines(points=96, hydro="decoupled", thetadot2=0)])
def test_the_figures_are_drawn(study, tmp_path):
    findings = study.run(Progress())
    for name, make in findings.figures.items():
        make().savefig(tmp_path / f"{name}.png", dpi=40)
        assert (tmp_path / f"{name}.png").stat().st_size > 3000
    if findings.dataset is not None:
        psi = findings.dataset().stream_function
        assert psi.dims == ("y", "x")
        assert np.count_nonzero(np.isnan(psi)) > 0
