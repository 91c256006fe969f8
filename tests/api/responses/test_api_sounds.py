"""Phonemes and visemes at every door that gives them."""

import json

import pytest

from helpers.fakes import tone_service
from helpers.realtime_client import realtime_client
from helpers.serving import called, served
from helpers.sounding import SoundingToneEngine
from helpers.untimed import UntimedToneEngine

pytestmark = pytest.mark.anyio

TEXT = "Map be, sit. Boom!"
LETTERS = ["map", "be", "sit", "boom"]
WISH = {"input": TEXT, "voice": "low", "response_format": "pcm"}
SOUNDS = {"timestamps": "phonemes", "visemes": True}
CARTESIA = {
    "transcript": TEXT,
    "voice": "low",
    "model_id": "sonic-3",
    "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000},
}
# m a p, b e, s i t, b o o m: three chunks of 0.6 s, the last with two words.
VISEMES = [21, 2, 21, 0, 21, 4, 0, 15, 6, 19, 0, 21, 8, 8, 21, 0]


@pytest.fixture
async def client():
    async with called(tone_service(SoundingToneEngine(chunk_seconds=0.6))) as client:
        yield client


@pytest.fixture
async def untimed(tmp_path):
    async with called(tone_service(UntimedToneEngine(), models_dir=tmp_path)) as client:
        yield client


def events_of(answer):
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


def checked(words, start="start", end="end"):
    """The phonemes of each word, which lie within it and in order."""
    for word in words:
        times = [time for each in word["phonemes"] for time in (each[start], each[end])]
        assert times == sorted(times)
        assert word[start] <= times[0]
        assert times[-1] <= word[end]
    return ["".join(each["phoneme"] for each in word["phonemes"]) for word in words]


def shown(visemes):
    offsets = [viseme["audio_offset"] for viseme in visemes]
    assert offsets == sorted(offsets)
    return [viseme["viseme_id"] for viseme in visemes]


async def test_events_have_them_without_a_header(client):
    for path, body in (
        ("/v1/audio/speech", WISH),
        (
            "/v1/audio/dialogue",
            {"turns": [{"voice": "low", "text": "Map be,"}, {"voice": "high", "text": "sit. Boom!"}], "pause": 0.5},
        ),
    ):
        wish = {**body, **SOUNDS, "response_format": "pcm", "stream_format": "sse"}
        chunks = [event["chunk"] for event in events_of(await client.post(path, json=wish)) if "chunk" in event]
        assert checked([word for chunk in chunks for word in chunk["words"]]) == LETTERS, path
        mouth = shown([each for chunk in chunks for each in chunk["visemes"]])
        assert mouth == VISEMES or mouth == [0, *VISEMES], "the tone's dialogue begins with a silent chunk"
    seconds = [word["start"] for chunk in chunks for word in chunk["words"]]
    assert seconds[2] >= 1.8 + 0.5, "the second turn begins behind the first one and the pause"


async def test_captions_as_json_have_them_and_a_speed_scales_their_times(client):
    plain = (await client.post("/v1/audio/speech", json={**WISH, "response_format": "json"})).json()
    assert "visemes" not in plain
    assert "phonemes" not in plain["cues"][0]["words"][0]
    once, twice = [
        (await client.post("/v1/audio/speech", json={**WISH, **SOUNDS, "response_format": "json", "speed": s})).json()
        for s in (1, 2)
    ]
    assert checked([word for cue in once["cues"] for word in cue["words"]]) == LETTERS
    assert shown(once["visemes"]) == shown(twice["visemes"]) == VISEMES
    for one, other in zip(once["visemes"], twice["visemes"], strict=True):
        assert other["audio_offset"] == pytest.approx(one["audio_offset"] / 2, abs=1)


async def test_a_tempo_that_the_engine_does_not_have_scales_them_too():
    engine = SoundingToneEngine(chunk_seconds=0.6, native_speed=False)
    wish = {**WISH, **SOUNDS, "response_format": "json", "speed": 2}
    async with called(tone_service(engine)) as client:
        found = (await client.post("/v1/audio/speech", json=wish)).json()
    assert checked([word for cue in found["cues"] for word in cue["words"]]) == LETTERS
    assert shown(found["visemes"]) == VISEMES
    assert found["visemes"][-1]["audio_offset"] <= 9_000_000


async def test_captions_beside_the_audio_have_them(client):
    answer = await client.post("/v1/audio/speech", json={**WISH, **SOUNDS, "captions": "json"})
    file = (await client.get(answer.headers["x-captions"])).json()
    assert checked([word for cue in file["cues"] for word in cue["words"]]) == LETTERS
    assert shown(file["visemes"]) == VISEMES


async def test_captioned_speech_has_them_where_they_are_asked_for(client):
    plain = (await client.post("/dev/captioned_speech", json=WISH | {"stream": False})).json()
    assert set(plain) == {"audio", "audio_format", "timestamps", "timing_source"}
    assert set(plain["timestamps"][0]) == {"word", "start_time", "end_time"}
    whole = (await client.post("/dev/captioned_speech", json=WISH | SOUNDS | {"stream": False})).json()
    assert checked(whole["timestamps"], "start_time", "end_time") == LETTERS
    assert shown(whole["visemes"]) == VISEMES
    streamed = await client.post("/dev/captioned_speech", json=WISH | SOUNDS)
    lines = [json.loads(line) for line in streamed.text.splitlines()]
    assert [stamp for line in lines for stamp in line["timestamps"]] == whole["timestamps"]
    assert [viseme for line in lines for viseme in line["visemes"]] == whole["visemes"]
    alone = (await client.post("/dev/timestamp", json=WISH | SOUNDS)).json()
    assert (alone["timestamps"], alone["visemes"]) == (whole["timestamps"], whole["visemes"])


async def test_times_without_a_place_are_refused(client):
    for path, wish in (
        ("/v1/audio/speech", {"timestamps": "words"}),
        ("/v1/audio/speech", {"visemes": True}),
        ("/v1/audio/speech", {"timestamps": "phonemes", "captions": "srt"}),
        ("/v1/audio/speech", {"visemes": True, "response_format": "vtt", "stream_format": "sse"}),
        ("/dev/captioned_speech", {"timestamps": "phonemes", "return_timestamps": False}),
    ):
        answer = await client.post(path, json=WISH | wish)
        assert answer.status_code == 400, wish
        assert answer.json()["error"]["param"] in wish
    words = {"timestamps": "words", "captions": "srt"}
    assert (await client.post("/v1/audio/speech", json=WISH | words)).status_code == 200


async def test_a_model_without_durations_refuses_them_with_a_sentence(untimed):
    for path, wish in (
        ("/v1/audio/speech", {"timestamps": "phonemes", "stream_format": "sse"}),
        ("/v1/audio/speech", {"visemes": True, "response_format": "json"}),
        ("/dev/captioned_speech", SOUNDS),
    ):
        answer = await untimed.post(path, json=WISH | wish)
        assert answer.status_code == 400, wish
        assert "does not know when its phonemes are heard" in answer.json()["error"]["message"]


async def test_cartesias_events_have_phonemes_in_its_shape(client):
    asked = {"add_timestamps": True, "add_phoneme_timestamps": True, "context_id": "one"}
    events = events_of(await client.post("/tts/sse", json=CARTESIA | asked))
    found = [event for event in events if event["type"] == "phoneme_timestamps"]
    assert set(found[0]) == {"type", "phoneme_timestamps", "status_code", "done", "context_id"}
    assert all(set(event["phoneme_timestamps"]) == {"phonemes", "start", "end"} for event in found)
    stamps = [event["phoneme_timestamps"] for event in found]
    assert "".join(each for stamp in stamps for each in stamp["phonemes"]) == "".join(LETTERS)
    assert [len(stamp["start"]) for stamp in stamps] == [len(stamp["phonemes"]) for stamp in stamps]
    assert "warnings" not in events[-1]
    alone = events_of(await client.post("/tts/sse", json=CARTESIA | {"add_phoneme_timestamps": True}))
    assert {event["type"] for event in alone} == {"phoneme_timestamps", "chunk", "done"}


async def test_cartesias_events_warn_where_the_model_does_not_know_phonemes(untimed):
    events = events_of(await untimed.post("/tts/sse", json=CARTESIA | {"add_phoneme_timestamps": True}))
    assert {event["type"] for event in events} == {"chunk", "done"}
    assert any("does not know when its phonemes are heard" in warning for warning in events[-1]["warnings"])


async def test_the_realtime_socket_has_them(tmp_path):
    with served(tone_service(SoundingToneEngine(chunk_seconds=0.6))) as url:
        async with realtime_client(url) as client:
            heard = await client.speak("a", TEXT, phoneme_timings=True, visemes=True)
            plain = await client.speak("b", TEXT, word_timings=True)
    assert checked(heard.words) == LETTERS
    assert shown(heard.visemes) == VISEMES
    assert heard.final["type"] == "done"
    assert not plain.visemes
    assert "phonemes" not in plain.words[0]
    with served(tone_service(UntimedToneEngine(), models_dir=tmp_path)) as url:
        async with realtime_client(url) as client:
            refused = await client.start("a", phoneme_timings=True)
            await refused.ended.wait()
    assert refused.final["param"] == "phoneme_timings"
