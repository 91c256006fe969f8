"""Captions of speech and dialogues: alone, or beside the audio."""

import json

import pytest

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called
from helpers.untimed import UntimedToneEngine

pytestmark = pytest.mark.anyio

SPEECH, DIALOGUE = "/v1/audio/speech", "/v1/audio/dialogue"
WISH = {"input": 'One two, "three"! <b>Four</b> & five.'}
TURNS = {
    "turns": [
        {"voice": "low", "text": "One two!", "speaker": "Ann"},
        {"voice": "high", "text": "Three."},
    ]
}


@pytest.fixture
async def client():
    async with called(tone_service()) as client:
        yield client


async def test_captions_alone_are_the_callers_text(client):
    answer = await client.post(SPEECH, json=WISH | {"response_format": "srt"})
    head, times, *lines = answer.text.splitlines()
    assert answer.headers["content-type"] == "application/x-subrip"
    assert answer.headers["content-disposition"] == "attachment; filename=speech.srt"
    assert (head, lines) == ("1", ['One two, "three"! Four & five.'])
    assert times.startswith("00:00:00,000 --> 00:00:0")


@pytest.mark.parametrize(
    ("kind", "media_type", "holds"),
    [
        ("vtt", "text/vtt", "Four &amp; five."),
        ("word_vtt", "text/vtt", "<00:00:00.050>two,"),
        ("json", "application/json", '"word": "five."'),
    ],
)
async def test_captions_come_in_every_format(client, kind, media_type, holds):
    answer = await client.post(SPEECH, json=WISH | {"response_format": kind, "stream_format": "sse"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == media_type
    assert holds in answer.text


@pytest.mark.parametrize("stream", [True, False])
async def test_captions_beside_the_audio_can_be_fetched_when_it_is_complete(client, stream):
    plain = await client.post(SPEECH, json=WISH | {"response_format": "pcm"})
    answer = await client.post(SPEECH, json=WISH | {"response_format": "pcm", "captions": "vtt", "stream": stream})
    captions = await client.get(answer.headers["x-captions"])
    assert answer.content == plain.content
    assert "x-download-path" not in answer.headers
    assert captions.headers["content-type"].startswith("text/vtt")
    assert 'One two, "three"! Four &amp; five.' in captions.text


async def test_captions_stand_beside_download_links_and_their_times(client):
    wish = WISH | {"captions": "json", "return_download_link": True, "return_timing": True}
    answer = await client.post(SPEECH, json=wish)
    cues = (await client.get(answer.headers["x-captions"])).json()["cues"]
    times = (await client.get(f"/v1{answer.headers['x-timing-path']}")).json()["chunks"]
    audio = await client.get(f"/v1{answer.headers['x-download-path']}")
    assert audio.content == answer.content
    assert [word["word"] for word in cues[0]["words"]] == [word["word"] for chunk in times for word in chunk["words"]]


async def test_the_captions_of_a_dialogue_name_its_speakers(client):
    alone = await client.post(DIALOGUE, json=TURNS | {"response_format": "vtt"})
    beside = await client.post(DIALOGUE, json=TURNS | {"captions": "srt"})
    fetched = await client.get(beside.headers["x-captions"])
    assert "<v Ann>One two!\n" in alone.text
    assert "<v high>Three.\n" in alone.text
    assert "Ann: One two!\n" in fetched.text


async def test_voices_of_a_text_are_named_by_their_aliases(client):
    wish = {
        "input": "[voice:hero] One! [voice:high] Two.",
        "allow_voice_tags": True,
        "voice_aliases": {"Hero": "low"},
        "response_format": "json",
    }
    cues = (await client.post(SPEECH, json=wish)).json()["cues"]
    assert [(cue["speaker"], cue["text"]) for cue in cues] == [("Hero", "One!"), ("high", "Two.")]


async def test_words_that_are_timed_afterwards_are_in_the_captions(tmp_path):
    async with called(tone_service(UntimedToneEngine(), models_dir=tmp_path)) as client:
        alone = (await client.post(SPEECH, json=WISH | {"response_format": "json"})).json()
        beside = await client.post(SPEECH, json=WISH | {"captions": "json"})
        fetched = (await client.get(beside.headers["x-captions"])).json()
    assert " ".join(cue["text"] for cue in alone["cues"]) == 'One two, "three"! Four & five.'
    assert fetched == alone


@pytest.mark.parametrize("path", [SPEECH, DIALOGUE])
async def test_captions_beside_events_are_refused(client, path):
    answer = await client.post(path, json=WISH | TURNS | {"captions": "srt", "stream_format": "sse"})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "captions"


async def test_an_unknown_caption_format_is_refused(client):
    answer = await client.post(SPEECH, json=WISH | {"captions": "ass"})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "captions"


async def test_captions_need_download_links_only_beside_audio():
    async with called(tone_service(max_downloads=0)) as client:
        beside = await client.post(SPEECH, json=WISH | {"captions": "srt"})
        alone = await client.post(SPEECH, json=WISH | {"response_format": "srt"})
    assert (beside.status_code, alone.status_code) == (403, 200)


async def test_punctuation_alone_has_no_captions(client):
    answer = await client.post(SPEECH, json={"input": "...", "response_format": "vtt"})
    assert (answer.status_code, answer.text) == (200, "WEBVTT\n")


async def test_captions_of_failed_speech_are_an_error():
    async with called(tone_service(ToneEngine(fail_at=0))) as client:
        answer = await client.post(SPEECH, json=WISH | {"response_format": "srt"})
    assert answer.status_code == 500
    assert json.loads(answer.text)["error"]
