"""A vehicle from CAD: what is read is what is solved, and the energy stays."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.hydro import Mesh
from naiad.studies.progress import Progress
from naiad.studies.vehicles.mesh_vehicle import MeshVehicle, torpedo
from tests.hydro.surfaces import box


def results(**parameters):
    return MeshVehicle(**parameters).run(Progress()).results


def test_a_box_from_a_file_in_millimetres(tmp_path):
    import trimesh

    trimesh.Trimesh(*box(400.0, 200.0, 100.0)).export(tmp_path / "box.stl")
    found = results(file=str(tmp_path / "box.stl"), unit="mm", density=1000.0, tolerance=0.1, below=0.01, t1=1.0)
    assert found["volume"] == pytest.approx(0.008, rel=1e-6)
    assert found["mass"] == pytest.approx(8.0, rel=1e-6)
    expected = Mesh(*box(0.4, 0.2, 0.1), tolerance=0.1).added_inertia(1000.0)
    np.testing.assert_allclose(found["added"], expected, atol=0.02 * expected.max())
    assert found["added_error"] < 0.15
    assert found["energy_error_max"] < 5e-3
    assert found["steps"] == 100


@pytest.mark.long
def test_the_hull_of_its_own_is_sound_and_its_weight_holds_it_upright():
    hull = Mesh(*torpedo(), tolerance=0.5)
    assert not hull.notes
    found = results(tolerance=0.5, v0=(0.0, 0.0, 0.0), Omega0=(0.2, 0.0, 0.0), t1=2.0)
    assert found["R"][2][2] > 0.8
    assert found["energy_error_max"] < 1e-3


def test_bad_values(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        results(file=str(tmp_path / "none.stl"))
    with pytest.raises(InputError, match="unit"):
        MeshVehicle(unit="furlong")
    with pytest.raises(InputError, match="less than a step"):
        MeshVehicle(t1=0.001)
