"""One checkout at work: reads requests as lines of JSON, answers each with a line of a pickle in base 64.

`python worker.py ADAPTER`, with the checkout's src on PYTHONPATH; the adapter is a file like `adapter.py`.
"""

import base64
import cProfile
import gc
import importlib.util
import inspect
import json
import os
import pickle
import random
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

SECONDS = 30  # that a bad call may take


def main(path):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what naiad prints is no answer
    sys.path.insert(0, str(Path(__file__).parent))
    spec = importlib.util.spec_from_file_location("adapter", path)
    adapter = sys.modules["adapter"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    worker = Worker(adapter)
    for line in sys.stdin:
        request = json.loads(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            try:
                found = getattr(worker, request["do"])(*request["with"])
            except Exception as error:
                found = {"error": type(error).__name__, "~text": "".join(traceback.format_exception(error))[-500:]}
        answer = pickle.dumps((found, time.process_time() - begun))
        print(base64.b64encode(answer).decode(), file=answers, flush=True)


class Worker:
    """What can be asked of a checkout."""

    def __init__(self, adapter):
        self.adapter, self.works = adapter, {}

    def tables(self):
        methods = {kind: names.split() for kind, names in self.adapter.KINDS.items()}
        systems = {name: [m for kind in each[-1] for m in methods[kind]] for name, each in self.adapter.SYSTEMS.items()}
        names = {"studies": self.adapter.study_names(), "steps": self.adapter.STEPS, "fixed": list(self.adapter.FIXED)}
        return {"systems": systems, "public": sorted(self.adapter.public()), **names}

    def run(self, spec):
        return self.adapter.run(spec)

    def study(self, name, parameters):
        return self.adapter.study(name, parameters)

    def draw_call(self, seed):
        """A bad call: every second time one that is right but for one argument, else of any public name."""
        rng, adapter = random.Random(seed), self.adapter
        if seed % 2:
            name = rng.choice(list(adapter.CALLS))
            given = dict(adapter.CALLS[name][1])
            spoilt = rng.choice([*given, "unheard_of"])
            right = given.get(spoilt)
            if right is not None and rng.random() < 0.7 and right[0] in "(0123456789":
                given[spoilt] = rng.choice(adapter.NEAR).format(right)
            else:
                given[spoilt] = rng.choice(adapter.BAD if rng.random() < 0.7 else adapter.GOOD)
            if rng.random() < 0.05:
                del given[spoilt]
            return {"name": name, "args": [], "kwargs": given}
        public = adapter.public()
        name = rng.choice(sorted(public))
        args, kwargs = [], {}
        parameters = list(inspect.signature(public[name]).parameters.values())
        for each in parameters:
            if (each.default is not each.empty and rng.random() < 0.7) or rng.random() > 0.97:
                continue
            fitting = [value for value in adapter.GOOD if adapter.fits(each, value)] if rng.random() < 0.6 else []
            value = rng.choice(fitting or adapter.GOOD + adapter.BAD)
            if each.kind is each.VAR_POSITIONAL:
                args += [value] * rng.randrange(3)
            elif each.kind is each.VAR_KEYWORD:
                kwargs |= {rng.choice(("R", "Omega", "mu", "nonsense")): value}
            elif each.kind is not each.KEYWORD_ONLY and any(p.kind is p.VAR_POSITIONAL for p in parameters):
                args.append(value)
            else:
                kwargs[each.name] = value
        return {"name": name, "args": args, "kwargs": kwargs}

    def call(self, spec):
        """How a call ends: done, or the type of the error, the arguments named, the value given."""
        from refusals import named_and_given

        adapter, renamed = self.adapter, self.adapter.RENAMED
        name = renamed.get(spec["name"], spec["name"])
        function = adapter.CALLS[name][0] if name in adapter.CALLS else adapter.public().get(name)
        if function is None:
            return {"ends": f"there is no {name}"}
        args = [adapter.value_of(each) for each in spec["args"]]
        kwargs = {renamed.get(key, key): adapter.value_of(value) for key, value in spec["kwargs"].items()}
        before = signal.signal(signal.SIGALRM, _late)
        signal.alarm(SECONDS)
        try:
            function(*args, **kwargs)
        except TimeoutError as error:
            return {"ends": "no answer in time", "~text": str(error)}
        except Exception as error:
            older = {new: old for old, new in renamed.items()}
            known = {*kwargs, *_parameters(function)}
            named, given = named_and_given(str(error), known)
            named = [older.get(each, each) for each in named]
            return {"ends": type(error).__name__, "names": named, "given": given, "~text": str(error)[:300]}
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        return {"ends": "done"}

    def work(self, name):
        if name not in self.works:
            adapter = self.adapter
            self.works[name] = work = adapter.FIXED.get(name) or adapter.steps(name)
            work(0), work(1), work(1)
        return self.works[name]

    def calls(self, name):
        """The calls of functions, Python's and C's, in work that has been done before."""
        work, profile = self.work(name), cProfile.Profile()
        gc.collect()
        gc.disable()
        profile.enable()
        work(2)
        profile.disable()
        gc.enable()
        return sum(entry.callcount for entry in profile.getstats())

    def time(self, name, times):
        """The seconds of one call of work that has been done before, the shortest of some."""
        work, found = self.work(name), []
        for k in range(times):
            begun = time.perf_counter()
            work(3 + k)
            found.append(time.perf_counter() - begun)
        return min(found)


def _late(*_):
    raise TimeoutError(f"no answer within {SECONDS} s")


def _parameters(function):
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []


if __name__ == "__main__":
    main(sys.argv[1])
