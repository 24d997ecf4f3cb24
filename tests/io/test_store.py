"""Whole datasets: exact, atomic, and clear about what is wrong."""

import errno
import json
import os
import pathlib
import re
import shutil
import warnings

import numpy as np
import pytest
import xarray as xr
import zarr

from naiad.errors import InputError, RunError
from naiad.files import whole_file
from naiad.io import layout, open_lazily, places, read, write


def example(seed: int = 0) -> xr.Dataset:
    rng = np.random.default_rng(seed)
    return xr.Dataset(
        {
            "R": (("time", "i", "j"), rng.normal(size=(5, 3, 3)), {"long_name": "attitude"}),
            "odd": ("time", np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])),
            "steps": ("time", np.array([0, 1, -2, 2**62, -(2**63)])),
            "ok": ("time", np.array([True, False, True, True, False])),
            "scalar": ((), np.float64(0.1) + 0.2),
            "none": (("crossing", "k"), np.empty((0, 3))),
            "z": ("time", np.array([1 + 2j, np.nan, 0, -1j, 3])),
        },
        coords={
            "time": ("time", np.linspace(0.0, 0.4, 5), {"units": "s"}),
            "component": ("component", np.array(["x", "ÿ", "longer"])),
            "label": ("time", np.array(["", "a", "b", "c", "d"])),
        },
        attrs={"system": "free body", "J": np.array([1.0, 2.0, 3.0]), "n": np.int64(3), "nested": {"a": [1, None]}},
    )


def same_bits(a: xr.Dataset, b: xr.Dataset) -> None:
    assert list(a.variables) == list(b.variables)
    assert set(a.coords) == set(b.coords)
    for name in a.variables:
        x, y = a.variables[name], b.variables[name]
        assert (x.dims, x.dtype, x.shape, x.attrs) == (y.dims, y.dtype, y.shape, y.attrs), name
        assert x.to_numpy().tobytes() == y.to_numpy().tobytes(), name


def files(path: pathlib.Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def test_round_trip_is_exact(tmp_path):
    dataset = example()
    write(dataset, tmp_path / "a.zarr")
    back = read(tmp_path / "a.zarr")
    same_bits(dataset, back)
    assert back.attrs == {"system": "free body", "J": [1.0, 2.0, 3.0], "n": 3, "nested": {"a": [1, None]}}
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_nan_payloads_survive(tmp_path):
    bits = np.array([0x7FF8000000000001, 0xFFF80000DEADBEEF, 0x8000000000000000], dtype=np.uint64)
    write(xr.Dataset({"a": ("time", bits.view(np.float64))}), tmp_path / "a.zarr")
    np.testing.assert_array_equal(read(tmp_path / "a.zarr")["a"].to_numpy().view(np.uint64), bits)


def test_non_finite_attributes_survive(tmp_path):
    write(xr.Dataset(attrs={"a": np.inf, "b": [np.nan], "c": 0.1 + 0.2}), tmp_path / "a.zarr")
    attrs = read(tmp_path / "a.zarr").attrs
    assert attrs["a"] == np.inf
    assert np.isnan(attrs["b"][0])
    assert attrs["c"] == 0.1 + 0.2


def test_other_byte_orders_and_widths(tmp_path):
    dataset = xr.Dataset({"a": ("k", np.arange(3, dtype=">f8")), "b": ("k", np.arange(3, dtype="f4"))})
    write(dataset, tmp_path / "a.zarr")
    back = read(tmp_path / "a.zarr")
    assert back["a"].dtype == np.float64
    assert back["b"].dtype == np.float32
    np.testing.assert_array_equal(back["a"], dataset["a"])


def test_many_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "CHUNK_BYTES", 1000)
    dataset = xr.Dataset({"a": (("time", "k"), np.random.default_rng(1).normal(size=(137, 5)))})
    write(dataset, tmp_path / "a.zarr")
    assert zarr.open_group(tmp_path / "a.zarr", mode="r")["a"].chunks == (25, 5)
    same_bits(dataset, read(tmp_path / "a.zarr"))


@pytest.mark.parametrize("shape", [(10**9,), (3, 10**8, 7), (1, 1, 10**9), ()])
def test_chunks_are_bounded_whatever_the_shape(shape):
    for growing in (None, 0) if shape else (None,):
        assert 8 * np.prod(layout.chunk_shape(shape, 8, growing)) <= layout.CHUNK_BYTES


def test_xarray_opens_it_without_naiad(tmp_path):
    write(example(), tmp_path / "a.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = xr.open_zarr(tmp_path / "a.zarr", decode_times=False).load()
    assert set(opened.coords) == {"time", "component", "label"}
    np.testing.assert_array_equal(opened["R"], example()["R"])
    assert opened.attrs["naiad_format"] == layout.FORMAT


def test_no_pickle(tmp_path):
    dataset = xr.Dataset({"bad": ("k", np.array([{"a": 1}, None], dtype=object))})
    with pytest.raises(InputError, match=r"'bad' has dtype object.*\.astype"):
        write(dataset, tmp_path / "a.zarr")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (xr.Dataset({"a b": 1.0}), "'a b'"),
        (xr.Dataset({"a/b": 1.0}), "'a/b'"),
        (xr.Dataset({"..": 1.0}), r"'\.\.'"),
        (xr.Dataset({"a": ("k", np.zeros(2, dtype="M8[ns]"))}), "datetime64"),
        (xr.Dataset({"a": ("k", np.zeros(2, dtype=np.longdouble))}), "longdouble|float128"),
        (xr.Dataset(attrs={"a": {1, 2}}), "attribute 'a' of the dataset holds a set"),
        (xr.Dataset(attrs={"a": {"b": 1j}}), "holds a complex"),
        (xr.Dataset({"v": ((), 1.0, {"u": object()})}), "attribute 'u' of v"),
        (xr.Dataset(attrs={"coordinates": "x"}), "reserved"),
    ],
)
def test_what_cannot_be_stored_is_refused(tmp_path, dataset, message):
    with pytest.raises(InputError, match=message):
        write(dataset, tmp_path / "a.zarr")
    assert not os.listdir(tmp_path)


def test_overwrite_only_on_request(tmp_path):
    path = tmp_path / "a.zarr"
    write(example(0), path)
    with pytest.raises(InputError, match="overwrite=True"):
        write(example(1), path)
    same_bits(read(path), example(0))
    write(example(1), path, overwrite=True)
    same_bits(read(path), example(1))
    assert os.listdir(tmp_path) == ["a.zarr"]


def foreign_places(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("mine")
    (tmp_path / "empty").mkdir()
    zarr.create_group(tmp_path / "foreign.zarr", zarr_format=3)
    (tmp_path / "dangling").symlink_to(tmp_path / "file" / "nowhere")
    return ["file", "folder", "empty", "foreign.zarr"]


def test_what_is_not_ours_is_never_overwritten(tmp_path):
    for name in foreign_places(tmp_path):
        before = files(tmp_path)
        with pytest.raises(InputError, match="not a naiad store"):
            write(example(), tmp_path / name, overwrite=True)
        assert files(tmp_path) == before


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.zarr").symlink_to(tmp_path / "real" / "a.zarr")
    write(example(0), tmp_path / "link.zarr")
    write(example(1), tmp_path / "link.zarr", overwrite=True)
    assert (tmp_path / "link.zarr").is_symlink()
    same_bits(read(tmp_path / "real" / "a.zarr"), example(1))


def test_a_write_that_comes_late_is_removed_with_the_rest(tmp_path, monkeypatch):
    """A thread that writes on while its directory is removed, as those of zarr may."""
    remove, late = shutil.rmtree, []

    def remove_and_find_more(path, **options):
        remove(path, **options)
        if len(late) < 3:
            late.append(path)
            path.mkdir()
            (path / "late").write_text("")

    def fail():
        with places.aside(tmp_path / "a.zarr") as fresh:
            (fresh / "early").write_text("")
            raise MemoryError

    monkeypatch.setattr(places.shutil, "rmtree", remove_and_find_more)
    with pytest.raises(MemoryError):
        fail()
    assert len(late) == 3
    assert os.listdir(tmp_path) == []


def test_a_file_is_whole_or_as_it_was(tmp_path):
    place = tmp_path / "table.csv"
    with whole_file(place) as file:
        file.write_text("old")
    assert place.read_text() == "old"

    def fail():
        with whole_file(place) as file:
            file.write_text("half")
            raise MemoryError

    with pytest.raises(MemoryError):
        fail()
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]
    with pytest.raises(InputError, match="is a folder"), whole_file(tmp_path):
        pass


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
@pytest.mark.parametrize("survivors", [0, 1, 5, 12, 20])
def test_a_failure_in_the_middle_leaves_the_old_one(tmp_path, fail_after, failure, survivors):
    path = tmp_path / "a.zarr"
    write(example(0), path)
    before = files(path)
    with fail_after(survivors, failure), pytest.raises((RunError, MemoryError)) as caught:
        write(example(1), path, overwrite=True)
    if isinstance(failure, OSError):
        assert re.fullmatch(r"cannot write .*a\.zarr: No space left on device; .*free some space.*", str(caught.value))
    assert os.listdir(tmp_path) == ["a.zarr"]
    assert files(path) == before


def test_a_failed_rename_brings_the_old_one_back(tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    write(example(0), path)
    rename, calls = pathlib.Path.rename, []

    def second_fails(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(pathlib.Path, "rename", second_fails)
    with pytest.raises(RunError, match="Input/output error"):
        write(example(1), path, overwrite=True)
    assert os.listdir(tmp_path) == ["a.zarr"]
    same_bits(read(path), example(0))


def test_unwritable_places(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "a.zarr", tmp_path / "missing" / "a.zarr"):
        with pytest.raises(InputError, match="is not a folder; create it"):
            write(example(), path)
    with pytest.raises(InputError, match=r"cannot write /proc/a\.zarr: .*choose a place"):
        write(example(), "/proc/a.zarr")


def test_read_names_what_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"a\.zarr does not exist$"):
        read(tmp_path / "a.zarr")
    names = foreign_places(tmp_path)
    for name in names[:3]:
        with pytest.raises(InputError, match="is not a naiad store"):
            read(tmp_path / name)
    with pytest.raises(InputError, match="naiad did not write"):
        read(tmp_path / "foreign.zarr")


def test_newer_format(tmp_path):
    write(example(), tmp_path / "a.zarr")
    root = tmp_path / "a.zarr" / "zarr.json"
    node = json.loads(root.read_text())
    node["attributes"]["naiad_format"] = 4
    root.write_text(json.dumps(node))
    with pytest.raises(InputError, match="has format 4, this naiad reads up to format 3; install a newer"):
        read(tmp_path / "a.zarr")


def test_every_kind_of_damage_is_found(tmp_path):
    """Remove, cut, and spoil every single file; metadata that still reads the same is no damage."""
    path = tmp_path / "a.zarr"
    write(example(), path)
    whole = read(path)
    for name, content in files(path).items():
        flipped = bytearray(content)
        flipped[len(content) // 2] ^= 0x10
        for spoilt in (None, b"", content[:-1], content[: len(content) // 2], bytes(flipped)):
            file = path / name
            file.unlink() if spoilt is None else file.write_bytes(spoilt)
            try:
                back, complaint = read(path), None
            except InputError as error:
                back, complaint = whole, str(error)
            if complaint is None:
                assert name.endswith("zarr.json")
                assert spoilt is not None
                np.testing.assert_array_equal(back["R"], whole["R"])
            else:
                assert re.match(r"\S*a\.zarr is (damaged|not a naiad store)[^\n]*$", complaint)
            file.write_bytes(content)
    same_bits(read(path), whole)


@pytest.mark.parametrize("name", ["R", "odd", "z"])
def test_a_number_that_another_program_wrote_is_damage(tmp_path, name):
    """Its chunk is sound, with a checksum of its own, but it is not the one that was written."""
    path = tmp_path / "a.zarr"
    write(example(), path)
    zarr.open_group(path, mode="r+")[name][2] = np.nan
    says = rf"a\.zarr is damaged \(a chunk, {name}/c/.* was changed after naiad wrote it\)"
    with pytest.raises(InputError, match=says):
        read(path)
    seen = open_lazily(path)
    with pytest.raises(InputError, match=says):
        seen[name].load()


def test_stores_without_checksums_of_their_chunks_are_read(tmp_path):
    """Those of format 2, whose chunks nothing is known of."""
    path = tmp_path / "a.zarr"
    write(example(), path)
    node = json.loads((path / "zarr.json").read_text())
    own = {name: value for name, value in node["attributes"].items() if name != "naiad_checksum"} | {"naiad_format": 2}
    for word in ("checksums", "tails"):
        del own["naiad_layout"][word]
    node["attributes"] = {**own, "naiad_checksum": layout.digest(own)}
    (path / "zarr.json").write_text(json.dumps(node))
    same_bits(read(path), example())
    xr.testing.assert_identical(open_lazily(path).load(), read(path))


def test_a_damaged_store_may_be_replaced(tmp_path):
    path = tmp_path / "a.zarr"
    write(example(0), path)
    (path / "R" / "zarr.json").unlink()
    with pytest.raises(InputError, match="is damaged"):
        read(path)
    write(example(1), path, overwrite=True)
    same_bits(read(path), example(1))


def test_is_store(tmp_path):
    write(example(), tmp_path / "a.zarr")
    assert places.is_store(tmp_path / "a.zarr")
    assert not places.is_store(tmp_path)
    assert not places.is_store(tmp_path / "nothing")
