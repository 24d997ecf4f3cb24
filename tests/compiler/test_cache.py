"""The cache gives back what was stored or nothing, trusts nobody else, and never breaks a run."""

import dataclasses
import errno
import os
import pathlib
import stat
import subprocess
import sys
import time
import warnings

import pytest

from naiad.compiler import cache as caches
from naiad.compiler.cache import Cache, default_cache

KEY, OTHER = "a" * 64, "0123456789abcdef" * 4
DATA = bytes(range(256)) * 10


@pytest.fixture
def cache(tmp_path):
    caches._warn.cache_clear()
    return Cache(tmp_path / "deep" / "cache")


def entry(cache: Cache, key: str = KEY) -> pathlib.Path:
    return cache.folder / f"{key}.bin"


def mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def foreign(monkeypatch, *paths: pathlib.Path) -> None:
    """Let `paths` belong to another user."""
    uid = os.getuid() + 1

    def reported(real):
        def status(path, *args, **kwargs):
            found = real(path, *args, **kwargs)
            mine = all((found.st_dev, found.st_ino) != inode for inode in inodes)
            return found if mine else os.stat_result((*found[:4], uid, *found[5:]))

        return status

    inodes = [(path.lstat().st_dev, path.lstat().st_ino) for path in paths]
    for name in ("stat", "lstat", "fstat"):
        monkeypatch.setattr(os, name, reported(getattr(os, name)))


def test_entries_of_two_kinds_lie_side_by_side(cache):
    sources = dataclasses.replace(cache, suffix="sources")
    cache.store(KEY, b"code")
    assert sources.load(KEY) is None
    sources.store(KEY, b"sources")
    assert (cache.load(KEY), sources.load(KEY)) == (b"code", b"sources")
    sources.clear()
    assert not list(cache.folder.iterdir())


def test_what_is_stored_is_loaded(cache):
    assert cache.load(KEY) is None
    cache.store(KEY, DATA)
    cache.store(OTHER, b"")
    assert cache.load(KEY) == DATA
    assert cache.load(OTHER) == b""
    cache.store(KEY, b"new")
    assert cache.load(KEY) == b"new"
    assert sorted(os.listdir(cache.folder)) == sorted([entry(cache).name, entry(cache, OTHER).name])


def test_loading_makes_no_folder(cache):
    assert cache.load(KEY) is None
    assert cache.size() == 0
    cache.clear()
    assert not cache.folder.exists()


def test_only_the_user_may_enter(cache):
    old = os.umask(0)
    try:
        cache.store(KEY, DATA)
    finally:
        os.umask(old)
    assert mode(cache.folder) == 0o700
    assert mode(entry(cache)) == 0o600


def test_the_folder_is_never_open(cache, monkeypatch):
    """Not even between being made and being closed."""
    monkeypatch.setattr(os, "chmod", lambda *args, **kwargs: pytest.fail("it was made open"))
    cache.store(KEY, DATA)
    assert mode(cache.folder) == 0o700


def test_size_and_clear(cache):
    cache.store(KEY, DATA)
    cache.store(OTHER, DATA)
    (cache.folder / "notes.txt").write_text("mine")
    (cache.folder / ".part-abc").write_text("left by a killed writer")
    assert cache.size() == sum(entry(cache, key).stat().st_size for key in (KEY, OTHER))
    assert 2 * len(DATA) < cache.size() < 2 * len(DATA) + 200
    cache.clear()
    assert cache.size() == 0
    assert cache.load(KEY) is None
    assert os.listdir(cache.folder) == ["notes.txt"]


@pytest.mark.parametrize(
    "key", ["", "../a", "a/b", "A" * 64, "g", "a.bin", "a\n", "a" * 129, "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_a_key_is_hexadecimal(cache, key):
    for use in (lambda: cache.load(key), lambda: cache.store(key, DATA)):
        with pytest.raises(ValueError, match="hexadecimal"):
            use()


# Entries that are not what was stored


def flipped(place: int):
    def change(contents: bytes) -> bytes:
        changed = bytearray(contents)
        changed[place] ^= 1
        return bytes(changed)

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(flipped(0), flipped(27), flipped(30), flipped(59), flipped(60), flipped(-1)),
        *(lambda c: c[:-1], lambda c: c[:40], lambda c: c[:10], lambda c: b"", lambda c: c + b"0", lambda c: c[1:]),
        lambda c: c.replace(b"format 1", b"format 2"),
    ],
)
def test_a_damaged_entry_is_removed(cache, change):
    cache.store(KEY, DATA)
    entry(cache).write_bytes(change(entry(cache).read_bytes()))
    assert cache.load(KEY) is None
    assert not entry(cache).exists()
    cache.store(KEY, DATA)
    assert cache.load(KEY) == DATA


def test_an_entry_under_anothers_name_is_removed(cache):
    cache.store(KEY, DATA)
    entry(cache).rename(entry(cache, OTHER))
    assert cache.load(OTHER) is None
    assert not entry(cache, OTHER).exists()


@pytest.mark.parametrize("bits", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_removed(cache, bits):
    cache.store(KEY, DATA)
    entry(cache).chmod(bits)
    assert cache.load(KEY) is None
    assert not entry(cache).exists()


def test_an_entry_of_another_user_is_removed(cache, monkeypatch):
    cache.store(KEY, DATA)
    foreign(monkeypatch, entry(cache))
    assert cache.load(KEY) is None
    assert not os.path.lexists(entry(cache))


def test_an_entry_that_is_a_link_is_removed(cache, tmp_path):
    cache.store(KEY, DATA)
    entry(cache).rename(tmp_path / "elsewhere")
    entry(cache).symlink_to(tmp_path / "elsewhere")
    assert cache.load(KEY) is None
    assert not os.path.lexists(entry(cache))
    assert (tmp_path / "elsewhere").exists()


# Folders that are not the user's alone


def refuses(cache: Cache, reason: str) -> None:
    """Neither loads nor stores, and warns once."""
    before = sorted(os.listdir(cache.folder)) if cache.folder.is_dir() else None
    with pytest.warns(RuntimeWarning, match=f"{reason}.*NAIAD_CACHE_DIR"):
        assert cache.load(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.load(KEY) is None
        cache.store(OTHER, DATA)
    assert before == (sorted(os.listdir(cache.folder)) if cache.folder.is_dir() else None)


@pytest.mark.parametrize("bits", [0o700, 0o755, 0o777])
def test_a_folder_of_another_user_is_not_used(cache, monkeypatch, bits):
    cache.store(KEY, DATA)
    cache.folder.chmod(bits)
    foreign(monkeypatch, cache.folder)
    refuses(cache, "belongs to another user")
    assert mode(cache.folder) == bits


def test_another_user_does_not_use_the_folder(cache, monkeypatch):
    cache.store(KEY, DATA)
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    refuses(cache, "belongs to another user")


def test_a_link_of_another_user_is_not_followed(cache, tmp_path, monkeypatch):
    cache.store(KEY, DATA)
    link = Cache(tmp_path / "link")
    link.folder.symlink_to(cache.folder)
    assert link.load(KEY) == DATA
    foreign(monkeypatch, link.folder)
    refuses(link, "symbolic link of another user")


def test_a_file_is_no_folder(cache):
    cache.folder.parent.mkdir(parents=True)
    cache.folder.write_text("")
    with pytest.warns(RuntimeWarning, match="not a folder"):
        assert cache.load(KEY) is None
    with pytest.warns(RuntimeWarning, match="cannot be kept"):
        cache.store(KEY, DATA)


@pytest.mark.parametrize("bits", [0o755, 0o770, 0o701])
def test_an_open_folder_with_nothing_else_in_it_is_closed(cache, bits):
    cache.store(KEY, DATA)
    cache.folder.chmod(bits)
    assert cache.load(KEY) == DATA
    assert mode(cache.folder) == 0o700


def test_an_open_folder_with_other_files_is_left_alone(cache):
    cache.store(KEY, DATA)
    (cache.folder / "thesis.tex").write_text("")
    assert cache.load(KEY) == DATA
    cache.folder.chmod(0o755)
    refuses(cache, "other users can enter it")
    assert mode(cache.folder) == 0o755


def test_a_folder_that_cannot_be_closed_is_not_used(cache, monkeypatch):
    cache.store(KEY, DATA)
    cache.folder.chmod(0o777)

    def denied(*args, **kwargs):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", denied)
    refuses(cache, "Operation not permitted")


# A disk that fails


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("call", ["replace", "mkdir", "open"])
def test_a_disk_that_cannot_be_written_costs_a_warning(cache, monkeypatch, number, call):
    def failing(path, *args, **kwargs):
        raise OSError(number, os.strerror(number), str(path))

    if call != "mkdir":
        cache.folder.mkdir(mode=0o700, parents=True)
    monkeypatch.setattr(os, call, failing)
    with pytest.warns(RuntimeWarning, match=f"{os.strerror(number)}.*NAIAD_CACHE_DIR"):
        cache.store(KEY, DATA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store(KEY, DATA)
    monkeypatch.undo()
    assert not cache.folder.exists() or os.listdir(cache.folder) == []
    assert cache.load(KEY) is None


def test_a_full_disk_keeps_the_old_entry(cache):
    """A real failure to write: the system ends the file at 1000 bytes."""
    cache.store(KEY, DATA)
    code = (
        "import resource, sys, warnings, pathlib; from naiad.compiler.cache import Cache; import signal; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        "warnings.simplefilter('always'); Cache(pathlib.Path(sys.argv[1])).store(sys.argv[2], b'x' * 100000)"
    )
    source = str(pathlib.Path(caches.__file__).parents[2])
    command = [sys.executable, "-c", code, str(cache.folder), KEY]
    environment = {**os.environ, "PYTHONPATH": source}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "File too large" in run.stderr
    assert cache.load(KEY) == DATA
    assert os.listdir(cache.folder) == [entry(cache).name]


# Many writers, many entries


def test_writers_do_not_disturb_each_other_or_a_reader(cache):
    """Forked, so that they start together: each entry read is whole, and one of those written."""
    versions = [bytes([i]) * 200_000 for i in range(3)]
    cache.store(KEY, versions[0])
    children = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX dislikes fork; these children do not touch it
        for version in versions:
            child = os.fork()
            if child == 0:
                try:
                    for _ in range(30):
                        cache.store(KEY, version)
                    os._exit(0)
                finally:
                    os._exit(1)
            children.append(child)
    seen = [cache.load(KEY) for _ in range(100)]
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert set(seen) <= set(versions)
    assert cache.load(KEY) in versions
    assert os.listdir(cache.folder) == [entry(cache).name]


def test_the_least_recently_used_go(cache, monkeypatch):
    monkeypatch.setattr(caches, "LIMIT", 3 * (len(DATA) + 100))
    keys = ["1" * 64, "2" * 64, "3" * 64, "0" * 64]  # the others are looked at when the last one is stored
    for key in keys[:3]:
        cache.store(key, DATA)
    assert cache.load(keys[0]) == DATA
    cache.store(keys[3], DATA)
    assert [entry(cache, key).exists() for key in keys] == [True, False, True, True]
    assert cache.size() <= caches.LIMIT


def test_the_limit_is_512_mebibytes():
    assert caches.LIMIT == 512 * 1024**2


def test_what_killed_writers_left_goes_in_time(cache):
    cache.store(KEY, DATA)
    old, new = cache.folder / ".part-old", cache.folder / ".part-new"
    for path in (old, new):
        path.write_bytes(DATA)
    os.utime(old, (time.time() - 7200,) * 2)
    cache.store(OTHER, DATA)
    assert not old.exists()
    assert new.exists()


# Where it is


def test_the_folder_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path))
    assert default_cache() == Cache(tmp_path)
    monkeypatch.setenv("NAIAD_CACHE_DIR", "~/mine")
    assert default_cache() == Cache(pathlib.Path("/home/someone/mine"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAIAD_CACHE_DIR", "here")
    assert default_cache() == Cache(tmp_path / "here")
    monkeypatch.delenv("NAIAD_CACHE_DIR")
    assert default_cache() == Cache(pathlib.Path("/var/xdg/naiad"))
    for unset in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert default_cache() == Cache(pathlib.Path("/home/someone/.cache/naiad"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache() == Cache(pathlib.Path("/home/someone/.cache/naiad"))


def test_it_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    assert default_cache() is None


def test_homes_that_are_none_have_no_cache(monkeypatch, tmp_path):
    caches._warn.cache_clear()
    monkeypatch.setenv("NAIAD_CACHE_DIR", "~nosuchuser/x")
    with pytest.warns(RuntimeWarning, match="'~nosuchuser/x' names no user"):
        assert default_cache() is None
    monkeypatch.delenv("NAIAD_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")  # which os.path.expanduser takes for the root folder
    assert default_cache() is None
