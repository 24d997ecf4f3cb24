"""What a power cut would take of what was said to be on the disk."""

import os
import threading
from pathlib import Path

from naiad.io import places


class PowerCut:
    """Looks on as files are written, and notes what a power cut would lose of what was told: new contents over old
    ones, contents of files and names in folders that were not synced when a file said that they are there."""

    def __init__(self, monkeypatch):
        self.commits, self.faults, self.safe, self.contents, self.names = 0, [], set(), {}, set()
        replace, rename, mkdir, self.lock = Path.replace, Path.rename, Path.mkdir, threading.Lock()

        def sync(descriptor):
            known = os.fstat(descriptor)
            with self.lock:
                self.safe.add(_content(known))
                self.contents = {file: content for file, content in self.contents.items() if content != _content(known)}
                self.names = {folder for folder in self.names if folder.stat().st_ino != known.st_ino}

        def replaced(fresh, target):
            with self.lock:
                content = _content(fresh.stat())
                root = target.name == "zarr.json" and places.is_store(target.parent)
                block = target.suffix == ".npz"
                if root or (block and ".halfway" not in target.stem):
                    self.commits += 1
                    self.check(target.parent.parent if block else target.parent)
                old = _content(target.stat()) if target.exists() else None
                self.contents.pop(target, None)
                if content not in self.safe and (root or block or old in self.safe):
                    self.faults.append(f"{target} has its name before the disk has its contents")
                elif content not in self.safe:
                    self.contents[target] = content
                self.names.add(target.parent)
            return replace(fresh, target)

        def renamed(folder, target):
            with self.lock:
                self.check(folder)
                self.names.add(target.parent)
            return rename(folder, target)

        def made(folder, *args, **options):
            with self.lock:
                self.names |= set() if folder.exists() else {folder.parent}
            return mkdir(folder, *args, **options)

        for name, changed in (("replace", replaced), ("rename", renamed), ("mkdir", made)):
            monkeypatch.setattr(Path, name, changed)
        monkeypatch.setattr(os, "fsync", sync)

    def check(self, within):
        """What is in a folder must be there, but for files that speak for themselves alone."""
        folders = (folder for folder in self.names if folder.is_relative_to(within) and folder.name != ".blocks")
        self.faults += [f"{folder} may lose names" for folder in folders]
        files = (file for file in self.contents if file.is_relative_to(within) and file.exists())
        self.faults += [f"{file} may lose its contents" for file in files]


def _content(known):
    """What tells a content from others; numbers of files are used again."""
    return known.st_ino, known.st_mtime_ns
