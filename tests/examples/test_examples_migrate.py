"""The scripts for those who come from another server: every call of theirs is answered.

Servers and scripts run in this process, with HTTP and gRPC between them. The models are tiny, or those of `make serve`.
"""

import asyncio
import contextlib
import io
import runpy
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from helpers.fakes import ToneEngine
from polyvox.api.app import create_app
from polyvox.audio.decode import decode
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.server.descriptors import raise_descriptor_limit
from polyvox.server.guarded_config import GuardedConfig
from polyvox.server.guarded_http import GuardedHttp
from polyvox.server.guarded_websocket import GuardedWebSocket
from polyvox.server.uvicorn_server import GuardedServer
from polyvox.service.local_service import build_service
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.storage.recordings import wav_bytes

MIGRATE = Path(__file__).parents[2] / "examples" / "migrate"
RECORDING = Path(__file__).parents[1] / "recordings" / "librivox_a.flac"
PROMPT_SECONDS = 1.6
"""Enough to clone; a tiny model's time goes into the frames of the recording."""

needs_grpc = pytest.mark.skipif(find_spec("grpc") is None, reason="grpcio is not installed, which cosyvoice.py needs")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed, which the models need")


@dataclass(frozen=True)
class Addresses:
    """Where a server answers."""

    url: str
    grpc: str


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginning of a recording, in a folder of its own."""
    pcm, rate = decode(RECORDING.read_bytes(), max_seconds=60, max_samples=10_000_000)
    path = tmp_path_factory.mktemp("recordings") / "me.wav"
    path.write_bytes(wav_bytes(pcm[: int(PROMPT_SECONDS * rate)], rate))
    return path


@contextlib.contextmanager
def served(service: SpeechService) -> Iterator[Addresses]:
    """HTTP and gRPC of a service, in a thread with an event loop of its own."""
    from polyvox.api.dialects.grpc.server import GrpcServer

    bound: Future[Addresses] = Future()
    voices = VoiceService.for_service(service)
    app = create_app(service, voices)
    options = {"http": GuardedHttp, "ws": GuardedWebSocket, "log_config": None, "lifespan": "off"}
    server = GuardedServer(GuardedConfig(app, service, raise_descriptor_limit(), **options))

    async def serve() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        grpc = GrpcServer(service, voices)
        addresses = Addresses(f"http://127.0.0.1:{listener.getsockname()[1]}", grpc.bind(0))
        async with app.router.lifespan_context(app):  # which starts the service
            await grpc.start()
            bound.set_result(addresses)
            await server.serve([listener])
            await grpc.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield bound.result(timeout=120)
    finally:
        server.should_exit = True
        thread.join()


def await_ready(url: str) -> None:
    """Return once all models are loaded, as somebody does who waits for `make serve`."""
    for _ in range(600):
        if httpx.get(f"{url}/ready").status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError("the server was not ready within a minute")


def run(script: str, server: Addresses, recording: Path, *options: str) -> list[str]:
    """The lines that a script prints where it ends well."""
    arguments = [script, "--url", server.url, "--recording", str(recording), "--text", "a", *options]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(sys, "argv", arguments)
        patch.syspath_prepend(MIGRATE)
        runpy.run_path(str(MIGRATE / script), run_name="__main__")  # SystemExit where a call failed
    return printed.getvalue().splitlines()


def outcomes(lines: list[str]) -> dict[str, int]:
    """Calls that were answered as they should be, and calls for which a model is missing."""
    return {word: sum(line.endswith(f"  {word}") for line in lines) for word in ("yes", "needs a model")}


def tiny_service(folder: Path, model: str, **settings: object) -> SpeechService:
    """A service with nothing but one tiny model; where Kokoro is named, a hum takes its place."""
    chosen = load_settings(
        **{
            "models": [model],
            "default_model": model,
            "models_dir": folder,
            "data_dir": folder / "data",
            "grpc_port": 0,
            **settings,
        }
    )
    kokoro = {"kokoro": lambda _: ToneEngine("kokoro")}
    return build_service(chosen, {**Catalog.installed().factories, **kokoro})


@needs_grpc
@needs_torch
@pytest.mark.long
@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_call_of_the_cosyvoice_scripts_is_answered(
    tmp_path: Path, recording: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a folder of each version; those of 2 and 3 are published without speakers."""
    from helpers.small_networks import on_one_thread, without_onednn
    from helpers.tiny_cosyvoice import let_speech_end, tiny_model
    from polyvox.models.cosyvoice import flow
    from polyvox.models.cosyvoice.ode_solver import cosine_schedule

    # Two steps of the solver in place of ten: no call is answered otherwise for them.
    monkeypatch.setattr(flow, "cosine_schedule", lambda steps: cosine_schedule(2))
    model = f"cosyvoice{version}"
    folder = tiny_model(tmp_path / "model", version)
    let_speech_end(folder)
    if version > 1:
        (folder / "spk2info.pt").unlink()
    service = tiny_service(tmp_path, model, recording_dirs=[recording.parent], **{f"{model}_dir": folder})
    with without_onednn(), on_one_thread(), served(service) as server:
        answered = run("cosyvoice.py", server, recording, "--grpc", server.grpc)
        assert outcomes(answered) == {"yes": 13, "needs a model": 0}
        assert outcomes(run("rayserve.py", server, recording)) == {"yes": 11, "needs a model": 0}
        if version == 1:
            bundle = run("cosyvoice_bundle.py", server, recording, "--model_dir", str(folder))
            assert outcomes(bundle) == {"yes": 4, "needs a model": 0}


@needs_torch
@pytest.mark.long
def test_every_call_of_the_streamable_script_is_answered(tmp_path: Path, recording: Path) -> None:
    from helpers.small_networks import on_one_thread
    from helpers.tiny_speechlm import write_cloning_model

    service = tiny_service(
        write_cloning_model(tmp_path), "speechlm", default_voice="husein", speechlm_device="cpu", speechlm_max_tokens=60
    )
    with on_one_thread(), served(service) as server:
        answered = run("streamable.py", server, recording, "--requests", "2")
    assert outcomes(answered) == {"yes": 6, "needs a model": 0}


@needs_torch
@pytest.mark.long
def test_every_call_of_the_zipvoice_script_is_answered(
    tmp_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the check of the files' hashes, which no tiny model has."""
    from helpers.small_networks import on_one_thread
    from helpers.zipvoice_bundle import write_model, write_vocoder
    from polyvox.engines.zipvoice import loading

    monkeypatch.setattr(loading, "open_bundle", lambda name, folder: SimpleNamespace(folder=folder / name))
    write_model(tmp_path / "zipvoice", "zipvoice")
    write_vocoder(tmp_path / "vocos")
    service = tiny_service(
        tmp_path,
        "zipvoice",
        models=["kokoro", "zipvoice"],
        default_model="kokoro",
        voice_aliases=["af_heart=low"],
        zipvoice_num_steps=2,
    )
    with on_one_thread(), served(service) as server:
        answered = run("zipvoice.py", server, recording)
    assert outcomes(answered) == {"yes": 12, "needs a model": 0}


@needs_grpc
@pytest.mark.slow
def test_the_stock_server_answers_each_script_or_names_the_model_to_install(
    models_dir: Path, tmp_path: Path, recording: Path
) -> None:
    """The server of `make serve`, with none of the models that were served before."""
    settings = load_settings(
        models=["wren", "kokoro"],
        default_model="wren",
        hd_model="kokoro",
        models_dir=models_dir,
        data_dir=tmp_path,
        recording_dirs=[recording.parent],
        grpc_port=0,
    )
    catalog = Catalog.installed()
    absence, outline = partial(catalog.absence, settings=settings), partial(catalog.outline, settings=settings)
    with served(build_service(settings, catalog.factories, absence, outline)) as server:
        await_ready(server.url)
        printed = {
            "cosyvoice.py": run("cosyvoice.py", server, recording, "--grpc", server.grpc),
            "rayserve.py": run("rayserve.py", server, recording),
            "streamable.py": run("streamable.py", server, recording, "--requests", "2"),
            "zipvoice.py": run("zipvoice.py", server, recording),
        }
    assert {script: outcomes(lines) for script, lines in printed.items()} == {
        "cosyvoice.py": {"yes": 2, "needs a model": 11},
        "rayserve.py": {"yes": 5, "needs a model": 6},
        "streamable.py": {"yes": 2, "needs a model": 4},
        "zipvoice.py": {"yes": 6, "needs a model": 6},
    }
    for script, lines in printed.items():
        assert "calls need a model" in lines[-1], script
        assert "polyvox pull " in lines[-1], script
