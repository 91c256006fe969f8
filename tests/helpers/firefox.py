"""The system's Firefox, driven by the standard protocol WebDriver BiDi: no driver program, no build of its own."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from helpers.studio_tools import need

_START_SECONDS = 60.0
_ANSWER_SECONDS = 30.0
_PROGRAMS = ("firefox-esr", "firefox")
_PREFERENCES = {
    "media.autoplay.default": 0,  # sound may begin without a click
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.aboutwelcome.enabled": False,
}
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """One tab; `errors` has what the pages' scripts threw or logged as an error."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._asked = 0
        self.errors: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        """The answer to one command; events that come before it are noted."""
        self._asked += 1
        self._connection.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=_ANSWER_SECONDS))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
            if message.get("id") == self._asked:
                assert message["type"] == "success", message
                return message["result"]

    def resize(self, size: tuple[int, int]) -> None:
        viewport = {"width": size[0], "height": size[1]}
        self.ask("browsingContext.setViewport", context=self._tab, viewport=viewport)

    def go(self, url: str) -> None:
        self.ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """A script's value, which JSON can write; a promise is awaited."""
        wrapped = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        target = {"context": self._tab}
        answer = self.ask("script.evaluate", expression=wrapped, target=target, awaitPromise=True, userActivation=True)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def wait_for(self, condition: str) -> None:
        """Wait until an expression of the page is true, looking at each of its frames."""
        self.evaluate(
            f"""new Promise((resolve, reject) => {{
              const latest = performance.now() + {1000 * (_ANSWER_SECONDS - 5)};
              const look = () => {{
                if ({condition}) resolve(true);
                else if (performance.now() > latest) reject(new Error({json.dumps(condition)}));
                else setTimeout(look, 16);
              }};
              look();
            }})"""
        )


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A fresh Firefox whose profile is an empty folder."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), "")
    need(program, "This test of the Studio needs Firefox; run: apt-get install firefox-esr")
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    log = profile / "firefox.log"
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "about:blank"], stdout=output, stderr=output)
    try:
        with connect(f"{_address(log, process)}/session", max_size=None) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait(30)


def _address(log: Path, process: "subprocess.Popen[bytes]") -> str:
    """Where it listens, as soon as it says so."""
    latest = time.monotonic() + _START_SECONDS
    while time.monotonic() < latest and process.poll() is None:
        if found := _LISTENING.search(log.read_text(encoding="utf-8", errors="replace")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"Firefox did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
