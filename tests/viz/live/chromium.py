"""Pages in Chromium without a window, by the DevTools protocol over a pair of pipes."""

import base64
import itertools
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds that an answer may take
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--no-first-run",
)

LAUNCH = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
for pipe, place in zip(pipes, (3, 4)):  # where Chromium looks for them
    os.dup2(pipe, place)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """A browser, which ends with its `with` block."""

    def __init__(self, path: str):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self._to = os.pipe()
        self._from, ours = os.pipe()
        command = [path, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"]
        launcher = [sys.executable, "-c", LAUNCH, str(theirs), str(ours)]
        self._process = subprocess.Popen(
            [*launcher, *command],
            pass_fds=(theirs, ours),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(ours)
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.Queue] = {}
        self._listeners: dict[str, list[dict[str, Any]]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._to)
        self._folder.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """What the browser answers."""
        number = next(self._numbers)
        self._answers[number] = answer = queue.Queue()
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._to, json.dumps(message).encode() + b"\0")
        found = answer.get(timeout=PATIENCE)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']['message']}")
        return found["result"]

    def page(
        self, path: Path, fragment: str = "", *, width: int = 1280, height: int = 800, phone: bool = False
    ) -> "Page":
        """A page of a file, once it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._listeners[session] = events = []
        page = Page(self, session, events)
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            page.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        page.wait("typeof engines !== 'undefined' && engines.length > 0 && frames > 0")
        return page

    def _listen(self) -> None:
        pending = b""
        while part := os.read(self._from, 2**16):
            *messages, pending = (pending + part).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self._answers.pop(message["id"]).put(message)
                elif message.get("sessionId") in self._listeners:
                    self._listeners[message["sessionId"]].append(message)
        os.close(self._from)


class Page:
    """A page, and all that it said."""

    def __init__(self, browser: Chromium, session: str, events: list[dict[str, Any]]):
        self._browser, self._session, self.events = browser, session, events

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers."""
        return self._browser.call(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript, or of the promise that it is."""
        options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        found = self.call("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:1000])
        return found["result"].get("value")

    def cpu(self, script: str = "") -> float:
        """Seconds that a script takes of its thread's own time, whatever else the machine does; of all until now, if
        there is no script."""
        before = self._thread_time() if script else 0.0
        self.run(script or "0")
        return self._thread_time() - before

    def _thread_time(self) -> float:
        metrics = {each["name"]: each["value"] for each in self.call("Performance.getMetrics")["metrics"]}
        return metrics["ThreadTime"]

    def wait(self, condition: str, seconds: float = PATIENCE) -> None:
        """Until an expression is true; in front of others, which it would wait behind."""
        self.call("Page.bringToFront")
        until = time.monotonic() + seconds
        while not self.run(f"!!({condition})"):
            if time.monotonic() > until:
                raise TimeoutError(f"{condition} did not come true; the page said {self.complaints}")
            time.sleep(0.02)

    def screenshot(self, path: Path) -> None:
        """A picture of the page."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """What went to the console, errors that nobody caught, and what the browser had to say."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in kinds]

    @property
    def requests(self) -> list[str]:
        """The addresses that the page asked for, but for itself."""
        asked = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in asked if each["type"] != "Document"]
