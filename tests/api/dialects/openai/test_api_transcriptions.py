"""Transcriptions and translations, in process and by OpenAI's own client."""

import asyncio
import json

import numpy as np
import openai
import pytest

from helpers.fakes import tone_service
from helpers.listening import SPEECH, ScriptedRecogniser, listening_with
from helpers.serving import called, error_of, served
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.service.speech import SpeechService

pytestmark = pytest.mark.anyio
TRANSCRIPTIONS = "/v1/audio/transcriptions"
TRANSLATIONS = "/v1/audio/translations"
WORDS = ("Hello", "there.", "How", "are", "you?")


def scripted() -> tuple[SpeechService, ScriptedRecogniser]:
    heard = ScriptedRecogniser(WORDS)
    return listening_with(tone_service(), any=heard), heard


async def posted(client, path=TRANSCRIPTIONS, file=SPEECH, **fields):
    return await client.post(path, files={"file": ("speech.flac", file)}, data={"model": "whisper-1", **fields})


async def test_every_format_says_the_same_words():
    service, _ = scripted()
    async with called(service) as client:
        answers = {form: await posted(client, response_format=form) for form in ("json", "text", "srt", "vtt")}
        timed = await posted(
            client, response_format="verbose_json", **{"timestamp_granularities[]": ["word", "segment"]}
        )
        sentences = await posted(client, response_format="verbose_json", language="de")
    assert answers["json"].json() == {"text": " ".join(WORDS), "usage": {"type": "duration", "seconds": 2.99}}
    assert answers["text"].text == " ".join(WORDS) + "\n"
    for form, start in (("srt", "1\n00:00:0"), ("vtt", "WEBVTT\n")):
        assert answers[form].text.startswith(start)
        assert "How are you?" in answers[form].text
    body = timed.json()
    assert (body["task"], body["language"], body["duration"]) == ("transcribe", "english", 2.99)
    assert [word["word"] for word in body["words"]] == list(WORDS)
    assert [segment["text"] for segment in body["segments"]] == [" Hello there.", " How are you?"]
    assert body["segments"][0]["end"] <= body["segments"][1]["start"] < body["segments"][1]["end"] <= 2.99
    assert body["segments"][0]["avg_logprob"] == -0.25
    assert 0 <= body["segments"][0]["no_speech_prob"] < 0.5
    assert "words" not in sentences.json()
    assert sentences.json()["language"] == "german"
    assert timed.headers["x-polyvox-model"] == "any"


async def test_fields_reach_the_recogniser_and_a_translation_is_one():
    service, heard = scripted()
    async with called(service) as client:
        await posted(client, language="fr-CA", prompt="Wren", temperature="0.4")
        translated = await posted(client, TRANSLATIONS, response_format="verbose_json", prompt="Kokoro")
    first, second = heard.tasks
    assert (first.language, first.prompt, first.temperature, first.translate) == ("fr", "Wren", 0.4, False)
    assert (second.language, second.prompt, second.translate) == (None, "Kokoro", True)
    assert translated.json()["task"] == "translate"


async def test_what_cannot_be_done_is_refused_by_its_field_before_any_work():
    service, heard = scripted()
    rows = [
        ({"response_format": "diarized_json"}, 400, "response_format"),
        ({"language": "klingon"}, 400, "language"),
        ({"temperature": "2"}, 400, "temperature"),
        ({"timestamp_granularities[]": "word"}, 400, "timestamp_granularities"),
        ({"response_format": "srt", "stream": "true"}, 400, "stream"),
        ({"include[]": "logprobs"}, 400, "include"),
        ({"chunking_strategy": '{"type": "server_vad"}'}, 400, "chunking_strategy"),
        ({"prompt": "x" * 5_000}, 400, "prompt"),
        ({"model": "nova-3"}, 404, "model"),
    ]
    async with called(service) as client:
        for fields, status, field in rows:
            answer = await posted(client, **fields)
            assert (answer.status_code, error_of(answer)["param"]) == (status, field), answer.text
        broken = await posted(client, file=b"no audio at all")
        assert (broken.status_code, error_of(broken)["param"]) == (400, "file")
        without = await client.post(TRANSCRIPTIONS, data={"model": "whisper-1"}, files={"other": b""})
        assert without.status_code == 400
    assert heard.tasks == []


async def test_wishes_that_the_model_cannot_obey_are_warned_of():
    service = listening_with(tone_service(), english=ScriptedRecogniser())
    async with called(service) as client:
        answer = await posted(client, language="en", prompt="Wren")
    assert answer.headers["x-polyvox-warning"] == "english takes no prompt; it was ignored."


async def test_events_bring_each_passage_and_then_all_of_them():
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    twice = encode(np.concatenate([pcm, np.zeros(3 * rate, np.float32), pcm]), AudioFormat.WAV, rate)
    service, _ = scripted()
    async with called(service) as client:
        answer = await posted(client, file=twice, stream="true")
        refused = await posted(client, file=b"no audio", stream="true")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert [event["type"].rpartition(".")[2] for event in events] == ["delta", "delta", "done"]
    assert "".join(event.get("delta", "") for event in events) == events[-1]["text"]
    assert refused.status_code == 400


async def test_a_larger_recording_than_a_prompt_is_taken_up_to_its_own_limit():
    service = listening_with(
        tone_service(max_body_bytes=1024, prompt_max_bytes=1024, listen_max_bytes=len(SPEECH)), any=ScriptedRecogniser()
    )
    async with called(service) as client:
        assert (await posted(client)).status_code == 200
        assert (await posted(client, file=SPEECH + bytes(4_000))).status_code == 413


def test_openais_client_reads_transcripts_events_and_translations():
    service, _ = scripted()
    with served(service) as url, openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        create = client.audio.transcriptions.create
        plain = create(model="whisper-1", file=("speech.flac", SPEECH))
        assert plain.text == " ".join(WORDS)
        timed = create(
            model="whisper-1",
            file=("speech.flac", SPEECH),
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
        assert [word.word for word in timed.words] == list(WORDS)
        assert timed.segments[1].text == " How are you?"
        events = list(create(model="gpt-4o-transcribe", file=("speech.flac", SPEECH), stream=True))
        assert [event.type for event in events] == ["transcript.text.delta", "transcript.text.done"]
        assert events[-1].text == " ".join(WORDS)
        captions = create(model="whisper-1", file=("speech.flac", SPEECH), response_format="srt")
        assert "-->" in captions
        assert client.audio.translations.create(model="whisper-1", file=("speech.flac", SPEECH)).text == " ".join(WORDS)
        with pytest.raises(openai.NotFoundError, match="no model 'nova-3' that transcribes"):
            create(model="nova-3", file=("speech.flac", SPEECH))


@pytest.mark.slow
async def test_moonshine_hears_what_is_said_and_when(installed):
    bundle = installed("moonshine-base")
    service = tone_service(models_dir=bundle.folder.parent)
    async with called(service) as client:
        asked = {"language": "en", "response_format": "verbose_json", "timestamp_granularities[]": "word"}
        one, other = await asyncio.gather(posted(client, **asked), posted(client, **asked))
    assert one.json() == other.json()
    assert one.json()["text"] == "He was not an ill-disposed young man."
    starts = {word["word"]: word["start"] for word in one.json()["words"]}
    assert starts["ill-disposed"] == pytest.approx(1.29, abs=0.15)
