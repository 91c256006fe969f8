"""Every door that speaks, as a function from a request to 16-bit samples at 24 kHz."""

import asyncio
import base64
import io
import json
import socket
import wave
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import grpc
from starlette.testclient import TestClient

from helpers import openai_realtime_client
from helpers.grpc_clients import speech_client
from helpers.wyoming import WyomingClient, audio_of
from polyvox.api.dialects.grpc.schema import message_type
from polyvox.api.dialects.grpc.server import GrpcServer
from polyvox.api.dialects.wyoming.server import WyomingServer
from polyvox.server.connection_limits import ConnectionLimits, LimitReports

RATE = 24_000
_RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE}
_PCM = "pcm_24000"
WORDS = "He was not an ill-disposed young man."


@dataclass(frozen=True, slots=True)
class Asked:
    """A text in a voice of a model; `recording` is a file of that voice, for doors that take no names."""

    model: str
    voice: str
    text: str
    recording: bytes


@dataclass(frozen=True, slots=True)
class Doors:
    """All doors of one application that is called in process."""

    client: TestClient
    SPEAKING: ClassVar = (
        "openai kokoro_fastapi zipvoice streamable cosyvoice_speaker cosyvoice_recording cosyvoice_rust rayserve "
        "rayserve_recording elevenlabs elevenlabs_stream_input elevenlabs_multi_stream_input elevenlabs_turn "
        "cartesia cartesia_events cartesia_socket realtime openai_realtime mcp wyoming grpc_speech grpc_conversation "
        "grpc_cosyvoice"
    ).split()

    def openai(self, asked: Asked, **fields: object) -> bytes:
        return self.posted(
            "/v1/audio/speech",
            json={"model": asked.model, "voice": asked.voice, "input": asked.text, "response_format": "pcm", **fields},
        )

    def kokoro_fastapi(self, asked: Asked, **fields: object) -> bytes:
        body = {"model": asked.model, "voice": asked.voice, "input": asked.text, "response_format": "pcm", **fields}
        answer = self.posted("/dev/captioned_speech", json={**body, "stream": False, "return_timestamps": False})
        return base64.b64decode(json.loads(answer)["audio"])

    def zipvoice(self, asked: Asked, **fields: object) -> bytes:
        body = {"model": asked.model, "voice": asked.voice, "input": asked.text, "response_format": "pcm", **fields}
        return self.posted("/v1/zipvoice/audio/speech", json=body)

    def streamable(self, asked: Asked, **fields: str) -> bytes:
        form = {"model": asked.model, "generate_text": asked.text, "reference_text": WORDS, **fields}
        return self.posted("/v1/audio/vc", data=form, files={"reference_audio": ("a.wav", asked.recording)})

    def cosyvoice_speaker(self, asked: Asked) -> bytes:
        form = {"model": asked.model, "spk_id": asked.voice, "tts_text": asked.text}
        return self.posted("/inference_sft", data=form)

    def cosyvoice_recording(self, asked: Asked) -> bytes:
        form = {"model": asked.model, "tts_text": asked.text, "prompt_text": WORDS}
        return self.posted("/inference_zero_shot", data=form, files={"prompt_wav": ("a.wav", asked.recording)})

    def cosyvoice_rust(self, asked: Asked) -> bytes:
        body = {"model": asked.model, "text": asked.text, "speaker": asked.voice}
        return _samples(self.posted("/synthesize", json=body))

    def rayserve(self, asked: Asked) -> bytes:
        body = {"model": asked.model, "text": asked.text, "voice_type": asked.voice, "response_format": "pcm"}
        return self.posted("/v1/model/cosyvoice/tts", json=body)

    def rayserve_recording(self, asked: Asked) -> bytes:
        form = {"model": asked.model, "text": asked.text, "response_format": "pcm"}
        return self.posted("/cross_lingual_tts", data=form, files={"reference_audio": ("a.wav", asked.recording)})

    def elevenlabs(self, asked: Asked, **settings: float) -> bytes:
        body = {"model_id": asked.model, "text": asked.text, "voice_settings": settings or None}
        return self.posted(f"/v1/text-to-speech/{asked.voice}?output_format={_PCM}", json=body)

    def elevenlabs_stream_input(self, asked: Asked, **settings: float) -> bytes:
        path = f"/v1/text-to-speech/{asked.voice}/stream-input?output_format={_PCM}&model_id={asked.model}"
        with self.client.websocket_connect(path) as talk:
            talk.send_json({"text": " ", "voice_settings": settings or None})
            for text in (*_halves(asked.text), ""):
                talk.send_json({"text": text})
            return _heard(_until(talk, "isFinal"), "audio")

    def elevenlabs_multi_stream_input(self, asked: Asked, **settings: float) -> bytes:
        path = f"/v1/text-to-speech/{asked.voice}/multi-stream-input?output_format={_PCM}&model_id={asked.model}"
        with self.client.websocket_connect(path) as talk:
            talk.send_json({"text": " ", "context_id": "a", "voice_settings": settings or None})
            for text in _halves(asked.text):
                talk.send_json({"text": text, "context_id": "a"})
            talk.send_json({"context_id": "a", "close_context": True})
            return _heard(_until(talk, "isFinal"), "audio")

    def elevenlabs_turn(self, asked: Asked) -> bytes:
        return self.elevenlabs_dialogue(asked.model, [{"voice_id": asked.voice, "text": asked.text}])

    def elevenlabs_dialogue(self, model: str, inputs: Sequence[Mapping[str, str]]) -> bytes:
        body = {"model_id": model, "inputs": inputs}
        return self.posted(f"/v1/text-to-dialogue?output_format={_PCM}", json=body)

    def elevenlabs_dialogue_input(self, model: str, inputs: Sequence[Mapping[str, str]]) -> bytes:
        path = f"/v1/text-to-dialogue/multi-stream-input?output_format={_PCM}&model_id={model}"
        voices = [each["voice_id"] for each in inputs]
        with self.client.websocket_connect(path) as talk:
            talk.send_json({"context_id": "a", "voices": voices, "inputs": inputs})
            talk.send_json({"context_id": "a", "close_context": True})
            return _heard(_until(talk, "is_final"), "audio")

    def cartesia(self, asked: Asked) -> bytes:
        return self.posted("/tts/bytes", json=_cartesia(asked))

    def cartesia_events(self, asked: Asked) -> bytes:
        lines = self.posted("/tts/sse", json=_cartesia(asked)).decode().splitlines()
        events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
        assert events[-1]["type"] == "done", events[-1]
        return _heard(events, "data")

    def cartesia_socket(self, asked: Asked) -> bytes:
        with self.client.websocket_connect("/tts/websocket") as talk:
            for text in _halves(asked.text):
                message = _cartesia(replace(asked, text=text))
                talk.send_json({**message, "context_id": "a", "continue": True})
            talk.send_json({**_cartesia(replace(asked, text="")), "context_id": "a", "continue": False})
            return _heard(_until(talk, "done"), "data")

    def realtime(self, asked: Asked, **fields: object) -> bytes:
        with self.client.websocket_connect("/v1/realtime/speech") as talk:
            talk.send_json({"type": "start", "model": asked.model, "voice": asked.voice, **fields})
            for text in _halves(asked.text):
                talk.send_json({"type": "text", "text": text})
            talk.send_json({"type": "end"})
            return _heard([event for event in _until(talk, "done") if event["type"] == "audio"], "data")

    def openai_realtime(self, asked: Asked) -> bytes:
        with openai_realtime_client.connected(self.client, f"?model={asked.model}") as client:
            client.update(type="realtime", audio={"output": {"voice": asked.voice}})
            client.say(asked.text)
            return openai_realtime_client.audio(client.speak())

    def mcp(self, asked: Asked) -> bytes:
        given = {"text": asked.text, "voice": asked.voice, "model": asked.model, "format": "wav"}
        content = self.mcp_call("speak", given)["content"]
        return _samples(base64.b64decode(next(part["data"] for part in content if part["type"] == "audio")))

    def mcp_clone(self, name: str, recording: bytes) -> str:
        """The id of a voice that is cloned by an agent."""
        given = {"name": name, "audio": base64.b64encode(recording).decode(), "consent": True}
        return str(self.mcp_call("clone", given)["structuredContent"]["id"])

    def mcp_call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """The result of a tool, which must not be an error."""
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        headers = {"Accept": "application/json, text/event-stream"}
        begun = self.client.post("/mcp", json=_rpc("initialize", hello), headers=headers)
        headers |= {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
        self.client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        message = _rpc("tools/call", {"name": tool, "arguments": arguments})
        answer = self.client.post("/mcp", json=message, headers=headers)
        text = next((line for line in answer.text.splitlines() if line.startswith("data: {")), answer.text)
        result: dict[str, Any] = json.loads(text.removeprefix("data: "))["result"]
        assert not result.get("isError"), result
        return result

    def wyoming(self, asked: Asked) -> bytes:
        async def heard() -> bytes:
            service, listener = self._state.service, socket.create_server(("127.0.0.1", 0))
            reports = LimitReports(service.metrics)
            limits = ConnectionLimits(service.settings, reports, 10_000)
            server = WyomingServer(service, self._state.voices, listener, limits, reports.closed)
            await server.start()
            connected = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
            try:
                async with WyomingClient(*connected) as client:
                    await client.send("synthesize-start", voice={"name": asked.model, "speaker": asked.voice})
                    for text in _halves(asked.text):
                        await client.send("synthesize-chunk", text=text)
                    await client.send("synthesize-stop")
                    return audio_of(await client.read_until("synthesize-stopped"))
            finally:
                await server.close()

        return self._called(heard)

    def grpc_speech(self, asked: Asked, **fields: object) -> bytes:
        client = speech_client()
        config = client.Config(model=asked.model, voice=asked.voice, **fields)
        request = client.SpeakRequest(config=config, text=asked.text)

        async def call(channel: grpc.aio.Channel) -> bytes:
            answer = client.stubs.SpeechStub(channel).Speak(request)
            return b"".join([part.audio.data async for part in answer])

        return self._over_grpc(call)

    def grpc_conversation(self, asked: Asked) -> bytes:
        client = speech_client()

        async def call(channel: grpc.aio.Channel) -> bytes:
            config = client.Config(model=asked.model, voice=asked.voice)
            messages = [client.ConverseRequest(config=config)]
            messages += [client.ConverseRequest(text=text) for text in _halves(asked.text)]
            answer = client.stubs.SpeechStub(channel).Converse(iter(messages))
            return b"".join([part.audio.data async for part in answer])

        return self._over_grpc(call)

    def grpc_cosyvoice(self, asked: Asked) -> bytes:
        request = message_type("cosyvoice.Request")(model=asked.model)
        request.sft_request.spk_id, request.sft_request.tts_text = asked.voice, asked.text

        async def call(channel: grpc.aio.Channel) -> bytes:
            inference = channel.unary_stream(
                "/cosyvoice.CosyVoice/Inference",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=message_type("cosyvoice.Response").FromString,
            )
            return b"".join([part.tts_audio async for part in inference(request)])

        return self._over_grpc(call)

    @property
    def _state(self) -> Any:
        return self.client.app.state  # type: ignore[attr-defined]

    def _over_grpc(self, call: Callable[[grpc.aio.Channel], Awaitable[bytes]]) -> bytes:
        async def heard() -> bytes:
            server = GrpcServer(self._state.service, self._state.voices)
            address = server.bind(0)
            await server.start()
            try:
                async with grpc.aio.insecure_channel(address) as channel:
                    return await call(channel)
            finally:
                await server.close()

        return self._called(heard)

    def _called(self, call: Callable[[], Awaitable[bytes]]) -> bytes:
        assert self.client.portal is not None
        return self.client.portal.call(call)

    def posted(self, path: str, **content: Any) -> bytes:
        """The body of an answer, which must not be an error."""
        answer = self.client.post(path, **content)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return answer.content


def _halves(text: str) -> tuple[str, str]:
    """A text as two fragments, cut in the midst of a word."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def _cartesia(asked: Asked) -> dict[str, object]:
    voice = {"mode": "id", "id": asked.voice}
    return {"model_id": asked.model, "transcript": asked.text, "voice": voice, "output_format": _RAW}


def _rpc(method: str, params: Mapping[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _until(talk: Any, last: str) -> list[dict[str, Any]]:
    """The messages of a socket up to the one with this field or of this type."""
    events: list[dict[str, Any]] = []
    while not events or not (events[-1].get(last) or events[-1].get("type") == last):
        events.append(talk.receive_json())
        assert "error" not in (events[-1].get("type"), *events[-1]), events[-1]
    return events


def _heard(events: list[dict[str, Any]], field: str) -> bytes:
    return b"".join(base64.b64decode(event[field]) for event in events if event.get(field))


def _samples(file: bytes) -> bytes:
    """The samples of a WAV file."""
    with wave.open(io.BytesIO(file)) as sound:
        assert sound.getframerate() == RATE
        return sound.readframes(sound.getnframes())
