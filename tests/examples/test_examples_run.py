"""The example programs run as their first lines say, and write audio."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from helpers.documented_server import SMALL_DECODER, documented_server
from helpers.documents import ROOT, blocks
from helpers.fork_server import forked_python
from helpers.tables import each_row
from polyvox.audio.decode import decode

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with documented_server(models_dir, tmp_path_factory.mktemp("voices"), SMALL_DECODER) as server:
        yield server.url


def run(name: str, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **SMALL_DECODER, "POLYVOX_DATA_DIR": str(folder / ".voices"), **variables}
    command = [*(node() if name.endswith(".mjs") else [forked_python()]), str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done


def node() -> list[str]:
    """The command that runs JavaScript; before version 22, its WebSocket has to be asked for."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return ["node"] if int(version.strip().lstrip("v").split(".")[0]) >= 22 else ["node", "--experimental-websocket"]


def seconds(file: Path) -> float:
    pcm, rate = decode(file.read_bytes(), max_seconds=60, max_samples=10**7)
    assert abs(pcm).max() > 0.01
    return len(pcm) / rate


def test_the_library_example_saves_speech_and_streams(models_dir: Path, tmp_path: Path) -> None:
    printed = run("library.py", tmp_path, POLYVOX_MODELS_DIR=str(models_dir)).stdout.decode()
    assert seconds(tmp_path / "canoe.mp3") > 1.5
    assert "birch" in printed
    assert "chunk 1:" in printed


def test_the_openai_example_writes_a_file(url: str, tmp_path: Path) -> None:
    run("openai_client.py", tmp_path, POLYVOX_URL=url)
    assert seconds(tmp_path / "mixed.wav") > 1.0


def test_the_streaming_example_writes_samples_to_standard_output(url: str, tmp_path: Path) -> None:
    done = run("streaming_player.py", tmp_path, "Good morning.", POLYVOX_URL=url)
    samples = np.frombuffer(done.stdout, np.int16)
    assert len(samples) > 0.5 * 24_000
    assert abs(samples.astype(int)).max() > 300
    assert b"first audio after" in done.stderr


@pytest.mark.parametrize("name", ["realtime_client.py", "realtime_client.mjs"])
def test_the_realtime_examples_write_a_file_and_the_times_of_its_words(url: str, tmp_path: Path, name: str) -> None:
    printed = run(name, tmp_path, POLYVOX_URL=url).stdout.decode().splitlines()
    assert seconds(tmp_path / "tide.mp3") > 2.5
    assert [line.split()[1] for line in printed[:4]] == ["The", "tide", "is", "out"]


@each_row(("language", "name"), [("python", "realtime_client.py"), ("js", "realtime_client.mjs")])
def test_the_page_shows_the_realtime_examples_as_they_are(language: str, name: str) -> None:
    shown = [block.text for block in blocks(ROOT / "docs/doors/realtime.md") if block.language == language]
    assert shown == [(EXAMPLES / name).read_text(encoding="utf-8")]
