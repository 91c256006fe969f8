"""`polyvox serve` in a process of its own with the real models, as `make serve` starts it, called by real clients.

What it says, and that load does not change it, is heard from the full decoder; the rest from the small one, for a tenth
of the work.
"""

import asyncio
import base64
import hashlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import openai
import pytest

from helpers.client_environment import run_client
from helpers.processes import polyvox_process
from helpers.serving import decoded_seconds, wait_for
from helpers.speech import HARVARD_SENTENCES
from polyvox.audio.pcm import from_pcm16
from polyvox.evaluate.wer import word_error_rate

pytestmark = pytest.mark.slow

SENTENCE = "The boy was there, when the sun rose over the quiet hills of the north."
KICK = "Kick the ball straight."


@pytest.fixture(scope="module")
def server(models_dir):
    variables = {
        "POLYVOX_MODELS_DIR": str(models_dir),
        "POLYVOX_LOG_FORMAT": "console",
    }
    with polyvox_process(["serve", "--port", "0"], variables) as running:
        yield running.url
        running.terminate()
        assert running.process.wait(60) == 0, running.log()
        assert "Traceback" not in running.log()


def speech(url, text=SENTENCE, **fields):
    response = httpx.post(f"{url}/v1/audio/speech", json={"model": "wren", "input": text, **fields}, timeout=300)
    response.raise_for_status()
    return response


def chunk_events(url, text=SENTENCE, **fields):
    body = {"model": "wren", "input": text, "response_format": "pcm", "stream_format": "sse", **fields}
    response = httpx.post(f"{url}/v1/audio/speech", json=body, headers={"X-Polyvox-Chunks": "1"}, timeout=300)
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    return [event for event in events if event["type"] == "speech.audio.delta"]


def test_what_it_says_is_what_it_was_asked_to_say(server, moonshine):
    """Two at once; `nightly/test_intelligibility.py` holds the rate over all of these sentences against a limit."""
    texts = HARVARD_SENTENCES[2:4]
    with ThreadPoolExecutor(2) as callers:
        wanted = {"model": "kokoro", "voice": "af_heart", "response_format": "pcm"}
        spoken = callers.map(lambda text: speech(server, text, **wanted).content, texts)
        errors = [
            word_error_rate(text, moonshine.transcribe(from_pcm16(audio), 24_000)).errors
            for text, audio in zip(texts, spoken, strict=True)
        ]
    assert sum(errors) <= 1, errors


@pytest.mark.skipif(sys.platform != "linux", reason="several processes of doors need Linux")
def test_several_processes_of_doors_say_the_same_words_at_the_same_times(server, models_dir):
    variables = {"POLYVOX_MODELS_DIR": str(models_dir), "POLYVOX_MODELS": "wren", "POLYVOX_LOG_FORMAT": "console"}
    with polyvox_process(["serve", "--port", "0", "--workers", "2"], variables) as running:
        with ThreadPoolExecutor(4) as callers:
            heard = list(callers.map(lambda _: chunk_events(running.url), range(4)))
        body = {"model": "wren", "input": SENTENCE, "voice": "af_heart", "timestamps": "phonemes", "stream": False}
        captions = [httpx.post(f"{url}/dev/captioned_speech", json=body, timeout=300) for url in (running.url, server)]
        running.terminate()
        assert running.process.wait(60) == 0, running.log()
        assert "Traceback" not in running.log()
    alone = said_and_timed(chunk_events(server))
    assert [said_and_timed(events) for events in heard] == [alone] * 4
    assert len(alone[1]) == len(SENTENCE.split())
    theirs, expected = (caption.json()["timestamps"] for caption in captions)
    assert theirs == expected
    assert all(word["phonemes"] for word in theirs)


def said_and_timed(events):
    """The audio of chunks, and their words."""
    return [event["audio"] for event in events], [word for event in events for word in event["chunk"]["words"]]


def test_a_dialogue_is_heard_turn_by_turn(server, moonshine):
    # Without the second sentence, whose "background" the recogniser may write as two words.
    sentences = (HARVARD_SENTENCES[0], *HARVARD_SENTENCES[2:4])
    turns = [
        {"voice": voice, "text": text}
        for voice, text in zip(("af_heart", "bm_george", "af_heart"), sentences, strict=True)
    ]
    body = {"turns": turns, "pause": 0.5, "response_format": "pcm", "stream_format": "sse"}
    response = httpx.post(f"{server}/v1/audio/dialogue", json=body, headers={"X-Polyvox-Chunks": "1"}, timeout=300)
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
    pieces = [(event["chunk"]["turns"], base64.b64decode(event["audio"])) for event in events if "chunk" in event]
    errors = 0
    for index, turn in enumerate(turns):
        said = b"".join(audio for heard, audio in pieces if heard == [index])
        errors += word_error_rate(turn["text"], moonshine.transcribe(from_pcm16(said), 24_000)).errors
    assert errors <= 2
    # The silence with which turns end and begin is part of the pause between them.
    loud = np.flatnonzero(np.abs(from_pcm16(b"".join(audio for _, audio in pieces))) > 2e-3)
    sizes = [len(audio) // 2 for _, audio in pieces]
    ends = [sum(sizes[: at + 1]) for at, (heard, _) in enumerate(pieces[:-1]) if heard and not pieces[at + 1][0]]
    gaps = [int(loud[loud >= end][0] - loud[loud < end][-1]) for end in ends if end <= loud[-1]]
    assert gaps == [pytest.approx(12_000, abs=250)] * 2


def test_it_says_over_openais_realtime_socket_what_its_messages_hold(server, moonshine):
    result = run_client(
        "sdks", "openai_realtime_speaks.py", f"{server}/v1", "wren", *HARVARD_SENTENCES[2:4], timeout=300
    )
    said = moonshine.transcribe(from_pcm16(base64.b64decode(result["sound"])), 24_000)
    assert word_error_rate("\n".join(HARVARD_SENTENCES[2:4]), said).errors <= 1
    assert result["words"] == "\n".join(HARVARD_SENTENCES[2:4])
    assert len(result["times"]) > 3, "the words come along with the sound"
    assert result["times"] == sorted(result["times"])
    assert word_error_rate("\n".join(HARVARD_SENTENCES[2:4]), " ".join(result["heard"])).errors <= 1


@pytest.fixture(scope="module")
def kick(server):
    """How long a short sentence lasts."""
    return len(speech(server, KICK, response_format="pcm").content) / 2 / 24_000


@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav", "pcm", "webm"])
def test_every_format_lasts_as_long_as_the_speech(server, kick, name):
    audio = speech(server, KICK, response_format=name).content
    seconds = len(audio) / 2 / 24_000 if name == "pcm" else decoded_seconds(audio)
    assert seconds == pytest.approx(kick, abs=0.12)


def test_a_streamed_mp3_of_many_sentences_is_one_file_as_long_as_the_speech(server):
    text = f"{KICK} Hold it. Now run home."
    expected = len(speech(server, text, response_format="pcm", voice="af_heart").content) / 2 / 24_000
    body = {"text": text, "voice_type": "af_heart", "stream": True}
    audio = httpx.post(f"{server}/v1/model/cosyvoice/tts", json=body, timeout=300).content
    print(f"\nmp3: {1000 * (decoded_seconds(audio) - expected):+.1f} ms against {expected:.2f} s of samples")
    assert decoded_seconds(audio) == pytest.approx(expected, abs=0.03)


def test_openai_own_client_sync_async_and_events(server):
    options = {"base_url": f"{server}/v1", "api_key": "none", "max_retries": 0}
    request = {"model": "tts-1", "voice": "alloy", "input": "Hello.", "response_format": "pcm"}
    plain = openai.OpenAI(**options).audio.speech.create(**request).content
    with openai.OpenAI(**options).audio.speech.with_streaming_response.create(**request) as response:
        streamed = b"".join(response.iter_bytes())

    async def again():
        async with openai.AsyncOpenAI(**options) as client:
            return (await client.audio.speech.create(**request)).content

    assert plain == streamed == asyncio.run(again())
    deltas = chunk_events(server, "Hello.", voice="alloy")
    assert b"".join(base64.b64decode(delta["audio"]) for delta in deltas) == plain


def test_the_same_request_gives_the_same_audio_and_boundaries_alone_and_under_load(server):
    def chunks():
        return [
            (delta["chunk"]["start"], delta["chunk"]["end"], from_pcm16(base64.b64decode(delta["audio"])))
            for delta in chunk_events(server, voice="am_michael", model="kokoro")
        ]

    alone = chunks()
    with ThreadPoolExecutor(4) as callers:
        others = [callers.submit(speech, server, "Meanwhile.", voice="bf_emma", model="kokoro") for _ in range(3)]
        busy = chunks()
        for other in others:
            other.result()
    assert len(alone) > 1
    assert [part[:2] for part in busy] == [part[:2] for part in alone]
    for one, other in zip(alone, busy, strict=True):
        np.testing.assert_allclose(one[2], other[2], atol=1e-3)


def test_the_hash_of_a_chunk_is_the_hash_of_its_samples(server):
    for delta in chunk_events(server, "One, two, three."):
        assert hashlib.sha256(base64.b64decode(delta["audio"])).hexdigest() == delta["chunk"]["sha256"]


def test_captions_point_at_the_words_of_the_text(server):
    body = {"model": "wren", "input": "It cost $5, Dr. Smith.", "voice": "af_heart", "stream": False}
    answer = httpx.post(f"{server}/dev/captioned_speech", json=body, timeout=300).json()
    assert [item["word"] for item in answer["timestamps"]] == ["It", "cost", "$5", "Dr.", "Smith"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": "🙂 🙂"}, "input"),
        ({"input": "?!..." * 8}, "input"),
        ({"input": "a" * 100_001}, "input"),
        ({"input": "hello \x00 there"}, "input"),
        ({"input": "Hi.", "voice": "nobody"}, "voice"),
        ({"input": "Hi.", "model": "nothing"}, "model"),
        ({"input": "Hi.", "response_format": "midi"}, "response_format"),
        ({"input": "Hi.", "speed": 0}, "speed"),
        ({"input": "Hi.", "speed": 100}, "speed"),
        ({"input": ["Hi."]}, "input"),
    ],
)
def test_bad_input_gets_one_clear_sentence_and_the_server_goes_on(server, fields, param):
    response = httpx.post(f"{server}/v1/audio/speech", json={"model": "wren", **fields}, timeout=60)
    assert 400 <= response.status_code < 500
    assert response.json()["error"]["param"] == param
    assert httpx.get(f"{server}/ready").status_code == 200


def test_a_client_that_leaves_is_noticed_within_a_chunk(server):
    long_text = " ".join(HARVARD_SENTENCES)
    body = {"model": "wren", "input": long_text, "response_format": "pcm"}
    with httpx.stream("POST", f"{server}/v1/audio/speech", json=body, timeout=300) as response:
        next(response.iter_raw())

    wait_for(lambda: "polyvox_active_sessions 0.0" in httpx.get(f"{server}/metrics").text, seconds=60)
