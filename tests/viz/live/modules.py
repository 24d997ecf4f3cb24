"""Modules of live pages, run by wasmtime."""

import base64
import html.parser
import json
import math
from typing import Any

import numpy as np
import wasmtime

from tests.compiler.webassembly import ENGINE, library


class PageText(html.parser.HTMLParser):
    """The tags of a page, the texts of elements by their id or tag, and the data."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.data = json.loads(self.texts["motion"])

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags:
            tag, attrs = self.tags[-1]
            self.texts.setdefault(attrs.get("id") or tag, data)

    def module(self, index: int = 0) -> "Module":
        """The program of a method."""
        method = self.data["live"]["methods"][index]
        return Module(base64.b64decode(method["code"]), method["description"])


class Module:
    """A program with named arguments and results."""

    def __init__(self, code: bytes, description: dict):
        self._store = wasmtime.Store(ENGINE)
        module = wasmtime.Module(ENGINE, code)
        imports = [wasmtime.Func(self._store, each.type, library(each.name)) for each in module.imports]
        self._exports = wasmtime.Instance(self._store, module, imports).exports(self._store)
        self._arguments = {each["name"]: each for each in description["arguments"]}
        self._results = {each["name"]: each for each in description["results"]}

    def run(self, **given: Any) -> dict[str, np.ndarray]:
        """Results by name; `values` are the numbers of sliders by their place. What is not given stays."""
        values = {f"values.{k}": value for k, value in given.pop("values", {}).items()}
        for name, value in (given | values).items():
            self._write(name, value)
        self._exports["run"](self._store)
        found = {name: self._read(slot) for name, slot in self._results.items()}
        for name in self._arguments:
            if name.startswith("standing"):
                self._write(name, found[name.replace("standing", "end", 1)])
        self._write("begin", 0)
        return found

    def _write(self, name: str, value: Any) -> None:
        slot = self._arguments[name]
        array = np.asarray(value, np.float64 if slot["dtype"] == "float64" else np.int64)
        assert list(array.shape) == slot["shape"], name
        self._exports["memory"].write(self._store, array.tobytes(), slot["offset"])

    def _read(self, slot: dict) -> np.ndarray:
        kind = np.float64 if slot["dtype"] == "float64" else np.int64
        end = slot["offset"] + 8 * math.prod(slot["shape"])
        held = bytes(self._exports["memory"].read(self._store, slot["offset"], end))
        return np.frombuffer(held, kind).reshape(slot["shape"])
