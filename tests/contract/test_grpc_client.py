"""A server in a process of its own and stock gRPC clients, as CosyVoice's users run them."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from helpers.fork_server import forked_python
from helpers.grpc_clients import original_client, speech_client
from helpers.processes import ProgramProcess, polyvox_process

AUDIO_BYTES = 2 * 24_000 * 20


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest) -> Iterator[ProgramProcess]:
    with polyvox_process(["bench", "null-server", "--server", request.param, "--grpc-port", "0"]) as running:
        yield running


@pytest.mark.long
def test_the_original_client_collects_its_samples(server: ProgramProcess) -> None:
    """The loop that CosyVoice's own client runs: every answer's bytes behind those of the one before."""
    client = original_client()
    with grpc.insecure_channel(server.grpc) as channel:
        stub = client.stubs.CosyVoiceStub(channel)
        request = client.Request()
        request.sft_request.CopyFrom(client.sftRequest(spk_id="null", tts_text="Hello there."))
        audio = b""
        for response in stub.Inference(request):
            audio += response.tts_audio
    assert len(audio) == AUDIO_BYTES


@pytest.mark.long
def test_text_can_be_sent_while_audio_comes(server: ProgramProcess) -> None:
    client = speech_client()

    def messages() -> Iterator[object]:
        yield client.ConverseRequest(config=client.Config(format="pcm"))
        for fragment in ("Hello ", "there. ", "And ", "good-bye."):
            yield client.ConverseRequest(text=fragment)
        yield client.ConverseRequest(end=client.End())

    with grpc.insecure_channel(server.grpc) as channel:
        answers = list(client.stubs.SpeechStub(channel).Converse(messages()))
    assert answers[0].started.model == "null"
    assert sum(len(answer.audio.data) for answer in answers) == 2 * AUDIO_BYTES
    assert answers[-1].finished.samples == AUDIO_BYTES


@pytest.mark.long
def test_a_stream_that_is_open_is_finished_before_the_end() -> None:
    """The client reads on only after the server has been asked to stop."""
    client = original_client()
    with polyvox_process(["bench", "null-server", "--grpc-port", "0"]) as server:
        with grpc.insecure_channel(server.grpc) as channel:
            request = client.Request(sft_request=client.sftRequest(tts_text="Hello there."))
            responses = client.stubs.CosyVoiceStub(channel).Inference(request)
            received = len(next(responses).tts_audio)
            server.terminate()
            received += sum(len(response.tts_audio) for response in responses)
        assert received == AUDIO_BYTES


@pytest.mark.long
def test_a_port_in_use_is_one_line_before_any_model_loads(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [
            forked_python(),
            "-m",
            "polyvox",
            "serve",
            "--port",
            "0",
            "--grpc-port",
            str(port),
            "--max_conc",
            "4",
        ]
        result = subprocess.run(
            [*command, "--models-dir", str(tmp_path)], check=False, timeout=120, capture_output=True, text=True
        )
    assert result.returncode == 1
    assert f"error: Cannot listen on 127.0.0.1 port {port} for gRPC" in result.stderr
