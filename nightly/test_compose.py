"""`compose.yaml`, started: podman runs the image of `scripts/build_image.py` as the file says, and it speaks."""

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helpers.client_environment import client_python
from helpers.documents import ROOT
from helpers.shared_services import free_port
from helpers.speech import HARVARD_SENTENCES

KEY = "a-key-for-this-test"
IMAGE = "localhost/polyvox:cpu"
MISSING = [name for name in ("podman", "runc", "buildah", "mmdebstrap") if not shutil.which(name)]
PODMAN = '#!/bin/sh\nexec podman --cgroup-manager=cgroupfs --runtime=runc "$@"\n'

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or bool(MISSING), reason=f"wants root, and {', '.join(MISSING) or 'no more'}"
)


class Stack:
    """The project of the compose file, with what this machine cannot do taken out."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._podman = folder / "podman"
        self._podman.write_text(PODMAN)
        self._podman.chmod(0o755)
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = {"soft": min(65_536, most), "hard": min(65_536, most)}
        # The health check is run by systemd, and a machine for tests need not have it; the test runs it by itself.
        service = {"image": IMAGE, "healthcheck": {"disable": True}, "ulimits": {"nofile": limit, "nproc": 4_096}}
        self._overlay = folder / "here.yaml"
        self._overlay.write_text(json.dumps({"services": {"polyvox": service}}))
        self._project = f"polyvox-{self.port}"

    def compose(self, *command: str) -> None:
        program = client_python("charts").with_name("podman-compose")
        files = [f"--file={file}" for file in (ROOT / "compose.yaml", self._overlay)]
        words = [program, f"--podman-path={self._podman}", f"--project-name={self._project}", *files, *command]
        given = {"POLYVOX_API_KEYS": KEY, "POLYVOX_PUBLISHED_PORT": str(self.port)}
        subprocess.run(words, check=True, timeout=180, env={**os.environ, **given}, stdout=subprocess.DEVNULL)

    def inside(self, *command: str) -> "subprocess.CompletedProcess[str]":
        words = [self._podman, "exec", f"{self._project}_polyvox_1", *command]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)

    def speech(self, text: str) -> bytes:
        body = {"model": "wren", "voice": "af_heart", "input": text, "response_format": "pcm"}
        headers = {"Authorization": f"Bearer {KEY}"}
        url = f"http://127.0.0.1:{self.port}/v1/audio/speech"
        return httpx.post(url, json=body, headers=headers, timeout=120).raise_for_status().content

    def ready(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/ready").status_code == 200
        except httpx.TransportError:
            return False


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    subprocess.run([sys.executable, ROOT / "scripts/build_image.py", "--tag", IMAGE], check=True, timeout=1800)
    started = Stack(tmp_path)
    started.compose("up", "--detach", "--no-build")
    try:
        yield started
    finally:
        started.compose("down", "--volumes")


def test_it_speaks_through_the_published_port_may_do_nothing_else_and_lets_a_stream_finish(stack: Stack) -> None:
    until = time.monotonic() + 180
    while not stack.ready():
        assert time.monotonic() < until, "it is not ready"
        time.sleep(0.2)
    text = " ".join(HARVARD_SENTENCES[:8])
    whole = stack.speech(text)
    assert stack.inside("python", "-I", "/opt/polyvox/healthcheck.py").returncode == 0
    assert stack.inside("id", "-u").stdout.strip() == "10001"
    assert "CapEff:\t0000000000000000" in stack.inside("cat", "/proc/1/status").stdout
    assert "Read-only file system" in stack.inside("touch", "/opt/here").stderr
    assert stack.inside("touch", "/data/here", "/tmp/here").returncode == 0

    heard: list[bytes] = []
    listener = threading.Thread(target=lambda: heard.append(stack.speech(text)))
    listener.start()
    while (
        "polyvox_active_sessions 1.0"
        not in httpx.get(f"http://127.0.0.1:{stack.port}/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
    ):
        assert listener.is_alive(), "the stream was over too soon"
    stack.compose("stop")
    listener.join(10)
    assert [len(part) for part in heard] == [len(whole)]
