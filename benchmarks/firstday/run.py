"""Run every script here twice, with an empty cache and with a warm one, and print a table: python run.py [NAME ...]"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = [
    "double_pendulum",
    "satellite",
    "four_bar",
    "rod 10",
    "rod 20",
    "rod 50",
    "rod 100",
    "rod 20 sparse",
    "network",
    "binary",
    "rov",
]

here = Path(__file__).parent
print("| system | part | first, CPU s | again in a new process, CPU s | a step, microseconds |\n|---|---|---|---|---|")
for script in [each for each in SCRIPTS if not sys.argv[1:] or each.split()[0] in sys.argv[1:]]:
    name, *options = script.split()
    with tempfile.TemporaryDirectory() as cache:
        runs = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", here / f"{name}.py", *options],
                env={**os.environ, "NAIAD_CACHE_DIR": cache},
                capture_output=True,
                text=True,
            )
            runs.append([line.split("\t") for line in done.stdout.splitlines()])
            if done.returncode:
                print(f"| {script} | failed | {done.stderr.strip().splitlines()[-1][:80]} | | |")
    for (part, first, *_), (_, again, *each) in zip(*runs, strict=False):
        print(f"| {script} | {part} | {first} | {again} | {each[0] if each else ''} |", flush=True)
