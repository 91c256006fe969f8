"""The commands with the real model."""

import os
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from helpers.documented_server import SMALL_DECODER
from helpers.fork_server import forked_python
from helpers.processes import polyvox_process
from polyvox.audio.decode import decode

pytestmark = pytest.mark.slow

SENTENCE = "Good morning."


def seconds_of(data: bytes) -> float:
    pcm, rate = decode(data, max_seconds=60, max_samples=60 * 48_000)
    return len(pcm) / rate


def test_say_writes_speech(models_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "speech.mp3"
    command = [forked_python(), "-m", "polyvox", "say", SENTENCE, "-o", str(file), "--models-dir", str(models_dir)]
    subprocess.run(command, check=True, timeout=300, env=os.environ | SMALL_DECODER)
    assert 0.5 < seconds_of(file.read_bytes()) < 2.5


def test_serve_speaks_when_it_says_so(models_dir: Path) -> None:
    with polyvox_process(["serve", "--port", "0", "--models-dir", str(models_dir)], SMALL_DECODER) as server:
        body = {"model": "kokoro", "input": SENTENCE, "voice": "bf_emma", "response_format": "mp3"}
        response = httpx.post(f"{server.url}/v1/audio/speech", json=body, timeout=300)
        # Balancers wait for the dictionaries of all languages; who calls at once is answered.
        while (ready := httpx.get(f"{server.url}/ready")).status_code == 503:
            assert any("dictionaries" in reason for reason in ready.json()["reasons"].values())
            time.sleep(0.05)
    assert (response.status_code, ready.status_code) == (200, 200)
    assert 0.5 < seconds_of(response.content) < 2.5
