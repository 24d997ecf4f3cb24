"""The labels of what a run gives: dimensions that variables share, words and units, and the ways out to other tools."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import xarray as xr

import naiad as nd
from naiad.errors import InputError
from naiad.mechanics import split_rows
from naiad.mechanics.labels import labels
from tests.verification.problems import PROBLEMS


def rotation(vector):
    x, y, z = vector
    return scipy.linalg.expm(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))


BODY = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))


@pytest.fixture(scope="module")
def run():
    state = BODY.state(Omega=(0.3, 0.2, 0.1), v=(1.0, 0.5, 0.2))
    return nd.simulate(BODY, state, t1=0.5, dt=0.01, outputs={"speed": lambda s, t: s.mu[3:5]})


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_component_has_a_label_that_fits(name):
    system, state = PROBLEMS[name].system, PROBLEMS[name].state
    known, names = labels(system), system.group.names
    element = dict(zip(names.element, jax.tree.leaves(state.g), strict=True))
    both = dict(zip(names.momentum, split_rows(system.group, state.mu), strict=True)) | element
    sizes = {}
    for each, values in both.items():
        assert known[each].words, each
        for dim, size in zip(known[each].dims, np.shape(values), strict=True):
            assert sizes.setdefault(dim, size) == size, each
    assert [known[each].dims for each in names.velocity] == [known[each].dims for each in names.momentum]


@pytest.mark.parametrize("name", ["tree", "string-reel", "swimmer"])
def test_a_table_has_every_number_once(name):
    problem = PROBLEMS[name]
    run = nd.simulate(problem.system, problem.state, t1=problem.t1 / 50, dt=problem.t1 / 100)
    dataset, table = run.dataset, run.to_dataframe()
    numbers = [x.to_numpy().reshape(len(dataset.time), -1) for x in dataset.data_vars.values() if "time" in x.dims]
    assert len(set(table.columns)) == len(table.columns)
    np.testing.assert_array_equal(table.to_numpy(), np.hstack(numbers))
    np.testing.assert_array_equal(table.index, dataset.time)


def test_axes_of_space_and_of_the_body_are_told_apart(run):
    """So that a product over the labels is the rotation of a vector."""
    dataset = run.dataset
    assert dataset.R.dims == ("time", "axis", "body_axis")
    assert dataset.x.dims == ("time", "axis")
    assert list(dataset.axis.to_numpy()) == list(dataset.body_axis.to_numpy()) == ["x", "y", "z"]
    in_space = (dataset.R * dataset.p).sum("body_axis")
    np.testing.assert_allclose(in_space - in_space.isel(time=0), 0.0, atol=1e-13)
    units = {name: dataset[name].attrs["units"] for name in ("R", "x", "Omega", "v", "Pi", "p", "energy", "time")}
    assert units == {"R": "1", "x": "m", "Omega": "rad/s", "v": "m/s", "Pi": "kg m^2/s", "p": "kg m/s", "energy": "J",
                     "time": "s"}  # fmt: skip


def test_bodies_have_the_names_that_the_picture_gives():
    class Pair(nd.models.PointMasses):
        picture = nd.mechanics.Picture(names=("sun", "jupiter"))

    pair = Pair((1.0, 0.1))
    run = nd.simulate(pair, pair.state(q=[[0.0, 0, 0], [1.0, 0, 0]], v=[[0.0, 0, 0], [0, 1.0, 0]]), t1=0.1, dt=0.01)
    assert run.dataset.q.dims == ("time", "body", "axis")
    np.testing.assert_array_equal(run.dataset.q.sel(body="jupiter"), run.g[:, 1])
    assert "q_jupiter_y" in run.to_dataframe()


def test_a_dimension_with_two_lengths_is_named_after_the_variable():
    class Two(nd.LagrangianSystem):
        group = nd.Product(a=nd.Rn(2), b=nd.Rn(4))

        def lagrangian(self, g, xi, t):
            return 0.5 * xi @ xi - 0.5 * jnp.sum(g.a**2)

    run = nd.simulate(Two(), Two().state(a=(1.0, 2.0)), t1=0.1, dt=0.01)
    assert run.dataset.a.dims == ("time", "component")
    assert run.dataset.b.dims == ("time", "b_0")


def test_what_is_on_disk_has_the_same_labels(run, tmp_path):
    state = BODY.state(Omega=(0.3, 0.2, 0.1), v=(1.0, 0.5, 0.2))
    streamed = nd.simulate(
        BODY, state, t1=0.5, dt=0.01, outputs={"speed": lambda s, t: s.mu[3:5]}, out=tmp_path / "a.zarr"
    )
    streamed.save(tmp_path / "b.zarr")
    for path in (tmp_path / "a.zarr", tmp_path / "b.zarr"):
        loaded = nd.load(path, BODY, run.method)
        xr.testing.assert_identical(loaded.dataset.drop_attrs(deep=False), run.dataset.drop_attrs(deep=False))
        assert xr.open_zarr(path).Pi.attrs["units"] == "kg m^2/s"


def test_tables_and_netcdf_hold_every_digit(run, tmp_path):
    run.to_csv(tmp_path / "run.csv")
    head, *lines = (line.split(",") for line in (tmp_path / "run.csv").read_text().splitlines())
    table = run.to_dataframe()
    assert head == ["time", *table.columns]
    np.testing.assert_array_equal(np.array(lines, float)[:, 1:], table)
    np.testing.assert_array_equal(table["R_x_z"], run.g.R[:, 0, 2])
    run.to_csv(tmp_path / "few.csv", every=10)
    assert len((tmp_path / "few.csv").read_text().splitlines()) == 7
    run.to_netcdf(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc") as stored:
        xr.testing.assert_equal(stored.load(), run.dataset)
        assert stored.Omega.attrs == run.dataset.Omega.attrs


def test_files_that_are_there_stay_and_names_are_kept_to(run, tmp_path):
    (tmp_path / "a.csv").write_text("mine")
    for write in (run.to_csv, run.to_netcdf):
        with pytest.raises(InputError, match="exists"):
            write(tmp_path / "a.csv")
        with pytest.raises(InputError, match="is a folder"):
            write(tmp_path)
        with pytest.raises(InputError, match="cannot write"):
            write(tmp_path / "nowhere" / "a.x")
    assert (tmp_path / "a.csv").read_text() == "mine"
    run.to_csv(tmp_path / "a.csv", overwrite=True)
    assert (tmp_path / "a.csv").read_text().startswith("time,R_x_x,")
    with pytest.raises(InputError, match=r"run\.to_netcdf"):
        run.save(tmp_path / "a.nc")
    with pytest.raises(InputError, match="web page"):
        run.animate(tmp_path / "a.avi")
    with pytest.raises(InputError, match="every = 0"):
        run.to_dataframe(every=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv"]


def test_attitudes_in_other_forms_are_the_same_rotations(run):
    R = run.g.R
    w, x, y, z = run.attitude().transpose("quaternion", ...).to_numpy()
    np.testing.assert_allclose(np.abs(np.diff(run.attitude(), axis=0)).max(), 0.0, atol=0.01)
    np.testing.assert_allclose(R[:, 0, 1], 2 * (x * y - w * z), atol=1e-15)
    np.testing.assert_allclose(R[:, 2, 1], 2 * (y * z + w * x), atol=1e-15)
    vector = run.attitude("vector")
    np.testing.assert_allclose([rotation(v) for v in vector.to_numpy()], R, rtol=0, atol=1e-14)
    yaw, pitch, roll = run.attitude("euler").transpose("angle", ...).to_numpy()
    np.testing.assert_allclose(R[:, 2, 0], -np.sin(pitch), atol=1e-15)
    np.testing.assert_allclose(R[:, 1, 0], np.sin(yaw) * np.cos(pitch), atol=1e-15)
    np.testing.assert_allclose(R[:, 2, 1], np.cos(pitch) * np.sin(roll), atol=1e-15)
    with pytest.raises(InputError, match="form = 'axis'"):
        run.attitude("axis")
    with pytest.raises(InputError, match="this run has R"):
        run.attitude(name="S")


def test_quaternions_of_a_full_turn_do_not_jump():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    turning = nd.simulate(body, body.state(Omega=(0.0, 0.0, 1.0)), t1=15.0, dt=0.05, save_every=1)
    q = turning.attitude()
    angle = np.unwrap(np.arctan2(turning.g[:, 1, 0], turning.g[:, 0, 0]))
    assert angle[-1] > 14.9
    np.testing.assert_allclose(q.sel(quaternion="w"), np.cos(0.5 * angle), atol=1e-14)
    np.testing.assert_allclose(q.sel(quaternion="z"), np.sin(0.5 * angle), atol=1e-14)


def test_bodies_on_the_three_sphere_and_many_bodies_have_attitudes_too():
    for name in ("free-body-s3", "tree"):
        problem = PROBLEMS[name]
        run = nd.simulate(problem.system, problem.state, t1=problem.t1 / 50, dt=problem.t1 / 100)
        q = run.attitude()
        np.testing.assert_allclose((q**2).sum("quaternion"), 1.0, atol=1e-12)
        assert q.dims == (("time", "quaternion") if name == "free-body-s3" else ("time", "body", "quaternion"))


def test_a_state_takes_quaternions_and_rotation_vectors():
    turn = np.array([0.3, -0.5, 0.7])
    angle = np.linalg.norm(turn)
    q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * turn / angle)])
    expected = rotation(turn)
    for given in (q, -q, turn, expected):
        np.testing.assert_allclose(BODY.state(R=given).g.R, expected, rtol=0, atol=1e-15)
    with pytest.raises(InputError, match="no unit quaternion"):
        BODY.state(R=2 * q)
    tree = PROBLEMS["tree"].system
    many = tree.state(R=np.tile(turn, (tree.tree.count, 1)))
    np.testing.assert_allclose(many.g.R, np.tile(expected, (tree.tree.count, 1, 1)), atol=1e-15)
