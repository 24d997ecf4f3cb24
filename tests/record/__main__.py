"""Run two checkouts of naiad on this machine and tell what differs: python -m tests.record OLD NEW [--quick]

Compared are drawn runs, refusals of drawn bad calls, results of studies (all to the bit), the calls of functions that
short runs take, and times. The exit code is 1 if anything but times differs. Each checkout has one process, with an
empty cache; the two work side by side, but take turns where times are measured.
"""

import argparse
import base64
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.record.compare import differences, shown
from tests.record.small_studies import SMALL

HERE = Path(__file__).parent
PARTS = ("runs", "refusals", "studies", "fixed", "firstday")
SIZES = {"runs": (200, 60), "refusals": (500, 500)}  # how many are drawn, and how many by --quick
QUICK_FIRST_DAY = ("double_pendulum", "satellite")
LONG = {"argon-cluster", "falling-plate", "fish-school", "fish-vortices", "near-wall", "swimming-robot"}  # not --quick
MORE_CALLS = 1.1  # a short run may take so many times the old calls of functions
SLOWER = 1.15  # what takes so many times as long is marked


class Checkout:
    """A folder with naiad, and its worker, which is started anew where it died."""

    def __init__(self, folder, adapter, cache):
        self.folder, self.adapter, self.process = Path(folder).resolve(), Path(adapter).resolve(), None
        if not (self.folder / "src" / "naiad").is_dir():
            raise SystemExit(f"{folder} has no src/naiad; give the folder of a checkout")
        aside = {"NAIAD_CACHE_DIR": cache, "JAX_PLATFORMS": "cpu", "MPLBACKEND": "Agg"}
        self.environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), **aside}

    def ask(self, do, *given):
        if self.process is None:
            command = [sys.executable, str(HERE / "worker.py"), str(self.adapter)]
            place = tempfile.mkdtemp(dir=self.environment["NAIAD_CACHE_DIR"])
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, env=self.environment, cwd=place, text=True, **pipes)
        try:
            self.process.stdin.write(json.dumps({"do": do, "with": given}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def answer(self):
        """What was asked for, and the CPU seconds that it took."""
        line = self.process.stdout.readline()
        if line:
            return pickle.loads(base64.b64decode(line))
        code, self.process = self.process.wait(), None
        return {"error": f"the process ended with code {code}"}, 0.0

    def get(self, do, *given):
        self.ask(do, *given)
        return self.answer()[0]


class Record:
    """The report of a comparison, and how many differences there are."""

    def __init__(self, old, new, seed, quick):
        self.old, self.new, self.seed, self.quick, self.differing = old, new, seed, quick, 0
        self.tables = old.get("tables")
        if "error" in self.tables:
            raise SystemExit(f"{old.folder}: {self.tables}; does its adapter fit?")
        self.sides = (old, new)

    def both(self, do, *given):
        """The answers of both, who work side by side, and their CPU seconds."""
        for side in self.sides:
            side.ask(do, *given)
        (old, old_seconds), (new, new_seconds) = (side.answer() for side in self.sides)
        return old, new, old_seconds, new_seconds

    def say(self, text):
        print(text, flush=True)

    def differs(self, title, lines):
        if lines:
            self.differing += 1
            self.say("\n".join([f"DIFFERS  {title}", *(f"    {line}" for line in lines[:8])]))
            if len(lines) > 8:
                self.say(f"    ... and {len(lines) - 8} more")

    def runs(self, count):
        rng, refused = random.Random(self.seed), 0
        for number in range(count):
            system = rng.choice(list(self.tables["systems"]))
            spec = {
                "system": system,
                "method": rng.choice(self.tables["systems"][system]),
                "seed": rng.randrange(2**31),
            }
            spec |= {"steps": rng.choice((30, 40, 40.3)), "save_every": rng.choice((1, 3, 10))}
            spec |= {"t0": rng.choice((0.0, 0.7)), "many": rng.choice((False, False, "all", "reduced"))}
            spec |= {"extras": rng.random() < 0.4, "engine": "xla" if rng.random() < 0.05 else "auto"}
            spec["extras"] = spec["extras"] and spec["many"] != "reduced"
            old, new, *_ = self.both("run", spec)
            refused += "error" in old
            told = [f"old: {old['~text'][-200:]}"] if "error" in old and "error" not in new else []
            told += [f"new: {new['~text'][-200:]}"] if "error" in new and "error" not in old else []
            self.differs(f"run {number}: {spec}", told or differences(old, new))
        self.say(f"runs: {count} drawn, {refused} of them refused by the old")

    def refusals(self, count):
        done = 0
        for seed in range(count):
            call = self.old.get("draw_call", self.seed + seed)
            old, new, *_ = self.both("call", call)
            done += old.get("ends") == "done"
            lines = [] if old.get("ends") == "no answer in time" else differences(old, new)
            if lines:
                lines += [f"{side}: {shown(each.get('~text', 'done'))}" for side, each in (("old", old), ("new", new))]
            given = ", ".join([*call["args"], *(f"{key}={value}" for key, value in call["kwargs"].items())])
            self.differs(f"call {self.seed + seed}: {call['name']}({given})", lines)
        self.say(f"refusals: {count} calls drawn, {count - done} of them refused by the old")

    def studies(self):
        names = self.tables["studies"]
        self.differs("names of studies", differences(names, self.new.get("tables").get("studies")))
        self.say("study: CPU seconds of its first run in a process with an empty cache, old and new")
        for name in names:
            if self.quick and name in LONG:
                continue
            old, new, old_seconds, new_seconds = self.both("study", name, SMALL.get(name, {}) if self.quick else {})
            self.times(name, old_seconds, new_seconds)
            self.differs(f"study {name}", differences(old, new))

    def fixed(self):
        for name in self.tables["fixed"]:
            old, new, *_ = self.both("calls", name)
            if isinstance(old, dict) or isinstance(new, dict) or new > MORE_CALLS * old:
                self.differs(f"fixed cost of {name}", [f"calls of functions: old {shown(old)}, new {shown(new)}"])
            else:
                self.say(f"fixed cost of {name}: calls of functions: old {old}, new {new}")
        self.say("seconds of a call that has run before, old and new by turns, the least of each")
        for name in [*self.tables["fixed"], *self.tables["steps"]]:
            times = 3 if name in self.tables["steps"] else 50
            found = [[], []]
            for k in range(5):
                for i in (0, 1) if k % 2 else (1, 0):
                    found[i].append(self.sides[i].get("time", name, times))
            if any(isinstance(each, dict) for both in found for each in both):
                self.differs(f"times of {name}", differences(found[0][0], found[1][0]))
            else:
                self.times(name, *map(min, found))

    def firstday(self):
        for name in QUICK_FIRST_DAY if self.quick else [""]:
            for label, side in zip(("old", "new"), self.sides, strict=True):
                home = side.folder / "benchmarks" / "firstday"
                home = home if home.is_dir() else HERE.parents[1] / "benchmarks" / "firstday"
                command = [sys.executable, str(home / "run.py"), *name.split()]
                done = subprocess.run(command, env=side.environment, capture_output=True, text=True)
                self.say(f"first day, {label}:\n{done.stdout}{done.stderr[-500:]}".rstrip())
                self.differs(f"first day, {label}", [line for line in done.stdout.splitlines() if "| failed |" in line])

    def times(self, name, old, new):
        mark = "SLOWER" if new > SLOWER * old + 1e-6 else ""
        self.say(f"{mark:8} {name:24} {old:12.6f} {new:12.6f}  x {new / max(old, 1e-9):.2f}")


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.add_argument("old", help="folder of a checkout")
    parser.add_argument("new", help="folder of another")
    parser.add_argument("--quick", action="store_true", help="ten minutes: fewer runs, studies with small parameters")
    parser.add_argument("--old-adapter", default=HERE / "adapter.py", help="names of the old checkout's public API")
    parser.add_argument("--new-adapter", default=HERE / "adapter.py", help="names of the new checkout's public API")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--count", type=int, help="how many runs and calls are drawn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        old, new = Checkout(given.old, given.old_adapter, one), Checkout(given.new, given.new_adapter, two)
        record = Record(old, new, given.seed, given.quick)
        for part in given.parts:
            size = [given.count or SIZES[part][given.quick]] if part in SIZES else []
            getattr(record, part)(*size)
        for side in record.sides:
            if side.process is not None:
                side.process.stdin.close()
                side.process.wait()
    record.say(f"{record.differing} differences" if record.differing else "nothing differs, but for times")
    sys.exit(record.differing > 0)


if __name__ == "__main__":
    main()
