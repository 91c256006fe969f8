"""ElevenLabs' speech to text, in process."""

import pytest

from helpers.fakes import tone_service
from helpers.listening import SPEECH, ScriptedRecogniser, listening_with
from helpers.serving import called
from polyvox.audio.decode import decode
from polyvox.audio.pcm import to_pcm16

pytestmark = pytest.mark.anyio
PATH = "/v1/speech-to-text"


async def posted(client, file=SPEECH, path=PATH, **fields):
    return await client.post(path, files={"file": ("speech", file)}, data={"model_id": "scribe_v1", **fields})


async def test_words_come_with_their_times_and_the_spaces_between_them():
    service = listening_with(tone_service(), any=ScriptedRecogniser())
    async with called(service) as client:
        answer = await posted(client)
        untimed = await posted(client, timestamps_granularity="none", path=f"/elevenlabs{PATH}")
    found = answer.json()
    assert (found["language_code"], found["language_probability"], found["text"]) == ("eng", 1.0, "Hello there.")
    assert [(word["text"], word["type"]) for word in found["words"]] == [
        ("Hello", "word"),
        (" ", "spacing"),
        ("there.", "word"),
    ]
    assert found["words"][0]["end"] == found["words"][1]["start"] <= found["words"][2]["start"]
    assert found["words"][0]["logprob"] == -0.25
    assert untimed.json()["words"] == []


async def test_fields_reach_the_recogniser_and_bare_samples_are_read():
    heard = ScriptedRecogniser()
    pcm, _ = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    async with called(listening_with(tone_service(), any=heard)) as client:
        bare = await posted(client, to_pcm16(pcm), file_format="pcm_s16le_16", language_code="deu")
        assert bare.status_code == 200, bare.text
        assert bare.json()["language_code"] == "deu"
        tagged = await posted(client, keyterms=["Wren", "Kokoro"], temperature="1.5", tag_audio_events="true")
    assert tagged.headers["x-polyvox-warning"] == "Sounds beside words are not tagged."
    assert [(task.language, task.prompt, task.temperature) for task in heard.tasks] == [
        ("de", "", 0.0),
        (None, "Wren, Kokoro", 1.5),
    ]


async def test_what_nothing_here_does_is_refused_with_its_reason():
    heard = ScriptedRecogniser()
    rows = {
        "diarize": "true",
        "cloud_storage_url": "https://example.com/a.wav",
        "use_multi_channel": "true",
        "webhook": "true",
        "additional_formats": '[{"format": "srt"}]',
        "timestamps_granularity": "character",
        "language_code": "klingon",
    }
    async with called(listening_with(tone_service(), any=heard)) as client:
        for field, value in rows.items():
            answer = await posted(client, **{field: value})
            assert (answer.status_code, answer.json()["detail"]["param"]) == (422, field), answer.text
    assert heard.tasks == []
