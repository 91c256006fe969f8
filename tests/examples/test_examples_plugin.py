"""The example engine, installed as a package of its own in an environment of its own, speaks without a line of ours."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import polyvox
from polyvox.audio.decode import decode
from polyvox.bench.process import server_process

PLUGIN = Path(__file__).parents[2] / "examples" / "engine_plugin"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that sees this one's packages, and has the plug-in installed by pip."""
    folder = tmp_path_factory.mktemp("plugin") / "venv"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    seen = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(polyvox.__file__).parents[1]))
    (Path(own) / "seen.pth").write_text("".join(f"{path}\n" for path in dict.fromkeys(seen)))
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(PLUGIN)]
    subprocess.run(install, check=True, capture_output=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return python


@pytest.fixture(scope="module")
def server(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("serving")
    settings = {"POLYVOX_DATA_DIR": str(folder), "POLYVOX_DEFAULT_VOICE": "low", "POLYVOX_CHIME_NOTE_SECONDS": "0.5"}
    with server_process(("serve", "--port", "0", "--model", "chime"), settings, python=str(python)) as server:
        yield server.url


def test_its_source_is_short() -> None:
    assert len((PLUGIN / "polyvox_chime.py").read_text().splitlines()) < 80


@pytest.mark.long
def test_it_speaks_through_the_server(server: str) -> None:
    answer = httpx.post(f"{server}/v1/audio/speech", json={"model": "chime", "input": "two notes", "voice": "high"})
    assert answer.status_code == 200, answer.text
    pcm, rate = decode(answer.content, max_seconds=60, max_samples=60 * 48_000)
    assert len(pcm) / rate == pytest.approx(1.0, abs=0.1)


@pytest.mark.long
def test_the_server_lists_it_with_what_it_can_do(server: str) -> None:
    [model] = [model for model in httpx.get(f"{server}/v1/models").json()["data"] if model["id"] == "chime"]
    assert model["available"] is True


@pytest.mark.long
def test_it_speaks_through_the_library(python: Path, tmp_path: Path) -> None:
    program = """
import json
from polyvox import Speaker
with Speaker("chime") as speaker:
    speech = speaker.say("one two three", voice="high")
print(json.dumps([speech.seconds, [word.word for word in speech.words]]))
"""
    environment = {**os.environ, "POLYVOX_DATA_DIR": str(tmp_path)}
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, env=environment)
    seconds, words = json.loads(done.stdout)
    assert seconds == pytest.approx(0.75, abs=0.01)
    assert words == ["one", "two", "three"]


@pytest.mark.long
def test_its_settings_are_listed_with_ours(python: Path, tmp_path: Path) -> None:
    command = [python, "-m", "polyvox", "config", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    [row] = [row for row in json.loads(done.stdout) if row["name"] == "chime_note_seconds"]
    assert row["value"] == 0.25


@pytest.mark.long
def test_nothing_of_ours_knows_it() -> None:
    source = Path(polyvox.__file__).parent
    assert not [path for path in source.rglob("*.py") if "chime" in path.read_text(encoding="utf-8").lower()]
