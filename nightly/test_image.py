"""The Dockerfile, executed: the image is built on a base made by mmdebstrap, run as it says, and heard.

It wants root, buildah and mmdebstrap, and takes some minutes the first time; then the layers are there.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from helpers.image_container import ImageContainer, running_image
from helpers.speech import HARVARD_SENTENCES
from polyvox.audio.pcm import from_pcm16
from polyvox.bundles.validate import open_bundle
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import load_settings
from polyvox.voices.recognition.transcribe import Moonshine

ROOT = Path(__file__).parents[1]
TAG = "localhost/polyvox:cpu"
KEY = "a-key-for-this-test"
MAX_BYTES = 1_200_000_000

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("buildah") or not shutil.which("mmdebstrap"),
    reason="wants root, buildah and mmdebstrap",
)


@pytest.fixture(scope="module")
def image() -> str:
    """What the build printed last: the image's size."""
    build = [sys.executable, ROOT / "scripts/build_image.py", "--target", "cpu", "--tag", TAG]
    return subprocess.run(build, check=True, stdout=subprocess.PIPE, text=True, timeout=1800).stdout


@pytest.fixture(scope="module")
def container(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageContainer]:
    environment = {"POLYVOX_API_KEYS": KEY, "POLYVOX_PORT": "18881"}
    with running_image(TAG, tmp_path_factory.mktemp("container"), environment) as container:
        yield container


@pytest.fixture(scope="module")
def moonshine() -> Moonshine:
    return Moonshine(open_bundle("moonshine-base", load_settings().models_dir))


def speech(container: ImageContainer, text: str, model: str) -> bytes:
    body = {"model": model, "input": text, "voice": "af_heart", "response_format": "pcm"}
    headers = {"Authorization": f"Bearer {KEY}"}
    response = httpx.post(f"{container.url}/v1/audio/speech", json=body, headers=headers, timeout=300)
    assert response.status_code == 200, response.text
    return response.content


def test_the_image_is_smaller_than_it_may_be(image: str) -> None:
    megabytes = float(image.splitlines()[-1].split(": ")[1].split()[0])
    print(f"\n{megabytes:.0f} MB")
    assert 300 < megabytes < MAX_BYTES / 1e6


@pytest.mark.parametrize("model", ["kokoro", "wren"])
def test_what_it_says_is_what_it_was_asked_to_say(container: ImageContainer, moonshine: Moonshine, model: str) -> None:
    errors = 0
    for text in HARVARD_SENTENCES[2:6]:
        heard = moonshine.transcribe(from_pcm16(speech(container, text, model)), 24_000)
        errors += word_error_rate(text, heard).errors
    assert errors <= 1


def test_it_is_not_root_and_writes_only_where_it_may(container: ImageContainer) -> None:
    assert container.run("id", "-u").stdout.strip() == "10001"
    status = Path(f"/proc/{container.pid}/status").read_text()
    assert "Uid:\t10001\t10001\t10001\t10001" in status
    assert "CapEff:\t0000000000000000" in status
    for folder in ("/opt/polyvox", "/models", "/etc", "/var"):
        assert "Read-only file system" in container.run("touch", f"{folder}/here").stderr
    for folder in ("/data", "/tmp"):
        assert container.run("touch", f"{folder}/here").returncode == 0


def test_the_healthcheck_tells_a_server_that_speaks_from_one_that_does_not(container: ImageContainer) -> None:
    kind, *command = container.configuration.healthcheck
    assert kind == "CMD"
    assert container.run(*command).returncode == 0
    elsewhere = container.run("env", "POLYVOX_PORT=18899", *command)
    assert elsewhere.returncode == 1
    assert "18899" in elsewhere.stderr


def test_it_lists_what_is_in_it(container: ImageContainer) -> None:
    listing = json.loads(container.run("cat", "/opt/polyvox/sbom.cdx.json").stdout)
    assert listing["bomFormat"] == "CycloneDX"
    assert listing["metadata"]["component"]["name"] == "polyvox"
    references = {component["bom-ref"].split("@")[0] for component in listing["components"]}
    assert {"pkg:pypi/fastapi", "pkg:pypi/onnxruntime", "pkg:deb/debian/libc6", "model:kokoro/model.onnx"} <= references
    assert len(container.configuration.labels["org.opencontainers.image.revision"]) == 40


def test_it_has_what_every_setting_can_turn_on_and_names_its_commit(container: ImageContainer) -> None:
    lacking = "[e.name for e in EXTRAS if 'cpu' in e.images and not e.installed]"
    asked = container.run("python", "-c", f"from polyvox.extras import EXTRAS; print({lacking})")
    assert asked.stdout.strip() == "[]"
    revision = container.configuration.labels["org.opencontainers.image.revision"]
    assert f"({revision})" in container.run("polyvox", "--version").stdout


def test_nothing_of_the_machine_that_built_it_is_left(container: ImageContainer) -> None:
    for path in ("etc/pip.conf", "etc/npmrc", "root/.npmrc", "root/.config", "usr/bin/npm", "models/.cache"):
        assert not (container.tree / path).exists(), path


def test_without_keys_and_names_it_does_not_start(image: str, tmp_path: Path) -> None:
    with running_image(TAG, tmp_path, {"POLYVOX_PORT": "18882"}, wait=False) as container:
        assert container.process.wait(60) != 0
        assert "POLYVOX_API_KEYS" in container.log.read_text()


def test_a_stop_lets_an_open_stream_finish(image: str, tmp_path: Path) -> None:
    environment = {
        "POLYVOX_API_KEYS": KEY,
        "POLYVOX_PORT": "18883",
        "POLYVOX_MODELS": "wren",
        "POLYVOX_DEFAULT_MODEL": "wren",
    }
    text = " ".join(HARVARD_SENTENCES[:4])
    with running_image(TAG, tmp_path, environment) as container:
        whole = speech(container, text, "wren")
        heard: list[bytes] = []
        first = threading.Event()

        def listen() -> None:
            body = {"model": "wren", "input": text, "voice": "af_heart", "response_format": "pcm"}
            headers = {"Authorization": f"Bearer {KEY}"}
            with httpx.stream(
                "POST", f"{container.url}/v1/audio/speech", json=body, headers=headers, timeout=60
            ) as answer:
                for piece in answer.iter_raw():
                    heard.append(piece)
                    first.set()

        listener = threading.Thread(target=listen)
        listener.start()
        assert first.wait(30)
        began = time.monotonic()
        assert container.stop(45) == 0
        listener.join(10)
        print(f"\nstopped in {time.monotonic() - began:.1f} s")
        assert len(b"".join(heard)) == len(whole)
