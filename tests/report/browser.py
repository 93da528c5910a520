"""A headless Chromium that tests talk to through its debugging pipe (no port, no package)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


class Browser:
    """One browser with one page; messages are JSON, ended by a zero byte."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="drl-chromium-")
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        # Chromium reads commands on descriptor 3 and writes answers on descriptor 4.
        shell = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'
        arguments = [*FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, program, *arguments],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.problems: list[str] = []
        target = self._first_page()
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def _first_page(self) -> str:
        for _ in range(100):
            for target in self.send("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
            time.sleep(0.05)
        raise RuntimeError("Chromium opened no page")

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Carry out one command of the protocol and return its result."""
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium closed its pipe")
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, event: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(event["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            self.problems.append(event["entry"]["text"])

    def open(self, path: Path, place: str = "", *, before: str | None = None) -> None:
        """Load a file afresh; `before` is a script that runs ahead of everything in it."""
        self.send("Page.navigate", url="about:blank")
        self.requests.clear()
        self.problems.clear()
        script = None
        if before is not None:
            script = self.send("Page.addScriptToEvaluateOnNewDocument", source=before)["identifier"]
        self.send("Page.navigate", url=f"{path.as_uri()}{place}")
        self.wait("document.readyState === 'complete' && !!document.body.className")
        if script is not None:
            self.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def evaluate(self, expression: str) -> Any:  # JSON of any shape
        """The value of a JavaScript expression in the page; promises are awaited."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:1000])
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until a JavaScript expression is true."""
        for _ in range(400):
            if self.evaluate(condition):
                return
            time.sleep(0.025)
        raise AssertionError(f"never true: {condition}")

    def text(self, selector: str) -> str:
        """The text of the first element that matches."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def count(self, selector: str) -> int:
        """How many elements match."""
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector: str) -> None:
        """A click on the first element that matches."""
        self.evaluate(
            f"document.querySelector({json.dumps(selector)})"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )

    def press_mouse(self, selector: str) -> None:
        """The mouse's button, down and up over the middle of the first element that matches."""
        x, y = self.evaluate(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    @contextmanager
    def window(self, width: int, height: int, *, mobile: bool = False) -> Iterator[None]:
        """A window of this size, in CSS pixels, for as long as the block runs."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        try:
            yield
        finally:
            self.send("Emulation.clearDeviceMetricsOverride")

    def press(self, key: str) -> None:
        """A key goes down."""
        self.evaluate(
            f"document.body.dispatchEvent(new KeyboardEvent('keydown', "
            f"{{key: {json.dumps(key)}, bubbles: true}}))"
        )

    def close(self) -> None:
        """End this browser and remove its profile."""
        self._process.terminate()
        self._process.wait(timeout=20)
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)


def start_browser() -> Browser:
    """A running browser; skips the test where none is installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs a browser: apt-get install chromium")
    return Browser(program)
