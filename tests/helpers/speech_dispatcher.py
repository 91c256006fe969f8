"""Debian's Speech Dispatcher with Polyvox as its only module, and a client of it; what is played goes to a file."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = shutil.which("speech-dispatcher")
START_SECONDS = 60.0

_CONFIGURATION = """\
LogLevel 3
AudioOutputMethod "alsa"
AudioALSADevice "heard"
SymbolsPreproc "char"
SymbolsPreprocFile "symbols.dic"
AddModule "polyvox" "{module}" "" ""
DefaultModule "polyvox"
"""
_SOUND = """\
pcm.null {{ type null }}
pcm.heard {{ type file; slave.pcm "null"; file "{heard}"; format "raw" }}
"""


class SpeechClient:
    """A client that speaks SSIP over the host's socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(START_SECONDS)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rb")
        for command in ("CLIENT_NAME me:test:main", "OUTPUT_MODULE polyvox", "NOTIFICATION ALL on", "LANGUAGE en"):
            assert self.ask(f"SET SELF {command}")[-1].startswith("2"), command

    def ask(self, command: str) -> list[str]:
        """Send a command; the lines of its reply."""
        self._socket.sendall(f"{command}\r\n".encode())
        return self.reply()

    def reply(self) -> list[str]:
        """The next reply or event: lines up to the one that ends it."""
        lines = [self._line()]
        while lines[-1][3] == "-":
            lines.append(self._line())
        return lines

    def speak(self, text: str) -> None:
        assert self.ask("SPEAK") == ["230 OK RECEIVING DATA"]
        assert self.ask(f"{text}\r\n.")[-1] == "225 OK MESSAGE QUEUED"

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def _line(self) -> str:
        line = self._lines.readline()
        assert line, "Speech Dispatcher closed the connection"
        return line.decode().rstrip("\r\n")


@contextmanager
def speech_dispatcher(folder: Path, command: list[str], **variables: str) -> Iterator[tuple[SpeechClient, Path]]:
    """A client of a host that runs the command as its module, and the file of raw samples that the host plays."""
    assert PROGRAM is not None
    heard, address, module = folder / "heard.raw", folder / "socket", folder / "module"
    module.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    module.chmod(0o700)
    (folder / "speechd.conf").write_text(_CONFIGURATION.format(module=module))
    (folder / "asound.conf").write_text(_SOUND.format(heard=heard))
    log = folder / "host.log"
    with log.open("wb") as output:
        host = subprocess.Popen(
            [PROGRAM, "-s", "-t", "0", "-C", folder, "-L", folder, "-S", address, "-P", folder / "pid"],
            stdout=output,
            stderr=output,
            env={**os.environ, "ALSA_CONFIG_PATH": str(folder / "asound.conf"), "HOME": str(folder), **variables},
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not address.exists():
            assert host.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        client = SpeechClient(address)
        try:
            yield client, heard
        finally:
            client.close()
    finally:
        host.terminate()
        host.wait(30)


def tones_module() -> list[str]:
    """The module with an engine of tones."""
    return [sys.executable, "-m", "helpers.screen_reader_engine", "--model", "tone"]
