"""The real clients of Cartesia's API against a server of ours: its SDK, LiveKit's plugin and Pipecat's services."""

import base64

import pytest

from helpers.client_environment import run_client
from helpers.fakes import tone_service
from helpers.serving import served, wait_for
from helpers.slow_speech import SlowWordEngine
from helpers.speech import HARVARD_SENTENCES
from polyvox.audio.pcm import from_pcm16
from polyvox.engines.catalog import Catalog
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import settings_loader
from polyvox.service.local_service import build_service

KEY = "secret"
KATIE = "f786b574-daa5-4673-aa0c-cbe3e8534c02"
WORDS = ["Well,", "hello", "there:", "this", "is", "one-two", "three."]
SPOKEN = 2 * 7_200
"""Bytes of one sentence of the tone engine, 16 bits at 24 kHz."""


class Server:
    """A server with a key on a tone engine."""

    def __init__(self, url, service, engine):
        self.url = url
        self._service = service
        self._engine = engine

    def is_idle(self):
        """Whether nothing is spoken and no slot is taken."""
        return not (self._engine.speaking or self._service._admission.active or self._service._sessions)


@pytest.fixture(scope="module")
def server():
    engine = SlowWordEngine()
    service = tone_service(engine, api_keys=[KEY], cartesia_voices=[f"{KATIE}=high"])
    with served(service) as url:
        yield Server(url, service, engine)


def test_cartesias_sdk(server):
    found = run_client("sdks", "cartesia_sdk.py", server.url, KEY, KATIE)
    http, socket, asynchronous = found["http"], found["socket"], found["async"]

    assert http["status"] is True
    assert http["bytes"] == SPOKEN
    assert http["wav"] == ["RIFF", pytest.approx(4 * 13_230, abs=1_000)]
    for events in (http["sse"], asynchronous["sse"]):
        assert (events["bytes"], events["words"], events["ordered"]) == (SPOKEN, WORDS, True)
        assert events["types"][-1] == "done"
    assert http["sse"]["contexts"] == ["c"]
    for events in (http["sse"], socket["continued"]):
        assert events["phonemes"] == "wellhellotherethisisonetwothree"
    assert not asynchronous["sse"]["phonemes"], "they come only where they are asked for"
    assert http["voices"] == asynchronous["voices"] == ["low", "high"]
    assert http["voice"] == KATIE
    for name, kind, status, code in (
        ("unknown", "NotFoundError", 404, "voice_not_found"),
        ("sse_unknown", "NotFoundError", 404, "voice_not_found"),
        ("no_voice", "NotFoundError", 404, "not_found"),
        ("empty", "BadRequestError", 400, "invalid_text"),
        ("wrong_key", "AuthenticationError", 401, "invalid_api_key"),
        ("token", "PermissionDeniedError", 403, "forbidden"),
    ):
        assert http[name] == {"class": kind, "status": status, "code": code}

    for events in (socket["continued"], *socket["both"], socket["cancelled"]["after"], asynchronous["again"]):
        assert (events["bytes"], events["types"][-1], len(events["contexts"])) == (SPOKEN, "done", 1)
    assert (socket["continued"]["words"], socket["continued"]["ordered"]) == (WORDS, True)
    assert socket["flushed"]["flushes"] == [1]
    assert socket["flushed"]["bytes"] == 2 * SPOKEN
    assert socket["error"] == {"types": ["error"], "status": 404}
    assert socket["cancelled"]["first"] == "chunk"
    assert socket["old"] == {"bytes": SPOKEN, "words": WORDS}

    low, high, cancelled, bad = asynchronous["contexts"]
    for events in (low, high):
        assert events["words"] == ["Well,", "he", "llo", "there:", "this", "is", "one-two", "three."]
        assert (events["bytes"], events["types"][-1]) == (3 * SPOKEN, "done")
    assert cancelled == {"first": "chunk"}
    assert bad["types"] == ["error"]
    wait_for(server.is_idle)


def test_livekits_plugin(server):
    found = run_client("livekit", "livekit_cartesia.py", server.url, KEY, KATIE)
    words = ["Well,", " hello", " there!", " This", " is", " one-two", " three."]
    samples = 2 * 7_200
    for speech in (found["stream"], *found["at_once"], found["after"], found["reconnected"]):
        assert speech == {"samples": samples, "words": words, "ordered": True}
    assert found["whole"]["samples"] == pytest.approx(7_200, abs=480)
    assert found["same_socket"] == {"samples": 7_200, "words": ["Once", " more."], "ordered": True}
    assert found["known"] == {"samples": round(samples / 1.5), "words": words, "ordered": True}
    assert 0 < found["interrupted"] < 7_200
    assert found["unknown"] is not None
    assert found["unknown_whole"]["status"] == 404
    assert found["wrong_key"]["status"] == 401
    wait_for(server.is_idle)


def test_pipecats_services(server):
    found = run_client("pipecat", "pipecat_cartesia.py", server.url, KEY, KATIE)
    words = ["Well,", "hello", "there!", "This", "is", "one-two", "three."]
    whole = {"rates": [24_000], "timed": True, "errors": []}
    assert found["turn"] == whole | {"bytes": 3 * SPOKEN, "words": [*words, "Once", "more."], "stopped": 2}
    assert found["tokens"] == whole | {"bytes": 2 * SPOKEN, "words": words, "stopped": 1}
    assert found["interrupted"] == whole | {"bytes": SPOKEN, "words": ["After", "it."], "stopped": 1}
    assert found["known"] == whole | {"bytes": round(SPOKEN / 1.5), "words": words[:3], "stopped": 1}
    assert found["reconnected"] == whole | {"bytes": 2 * SPOKEN, "words": [*words[:3], "Once", "more."], "stopped": 2}
    assert found["http"] | {"timed": True, "words": []} == whole | {"bytes": SPOKEN, "words": [], "stopped": 1}
    for name in ("unknown", "http_unknown"):
        assert found[name]["bytes"] == 0
        assert "voice_not_found" in found[name]["errors"][0]
    wait_for(server.is_idle)


@pytest.mark.slow
def test_kokoro_says_what_arrives_word_by_word_in_every_context(models_dir, moonshine):
    settings = settings_loader().given(models_dir=models_dir, kokoro_decoder="wren")
    texts = HARVARD_SENTENCES[4:6]
    with served(build_service(settings, Catalog.installed().factories)) as url:
        spoken = run_client("sdks", "cartesia_speaks.py", url, *texts)["spoken"]
    for text, told in zip(texts, spoken, strict=True):
        audio = from_pcm16(base64.b64decode(told["audio"]))
        assert word_error_rate(text, moonshine.transcribe(audio, 16_000)).errors <= 1
        assert " ".join(told["words"]) == text
        assert told["starts"] == sorted(told["starts"])
        assert told["starts"][-1] < len(audio) / 16_000
