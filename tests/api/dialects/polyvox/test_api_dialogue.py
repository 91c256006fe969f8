"""Dialogues over HTTP: voices in turn, pauses, formats, events, and everything that is refused."""

import base64
import io
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import av
import httpx
import numpy as np
import pytest

from helpers.cloning import CloneEngine, Studio, sample, studio_client
from helpers.fakes import TONES, PlainToneEngine, ToneEngine, tone, tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat
from polyvox.audio.pcm import from_pcm16
from polyvox.errors import TextError
from polyvox.types import AudioChunk, Capabilities, Pcm, PreparedVoice, Utterance

pytestmark = pytest.mark.anyio

DIALOGUE = "/v1/audio/dialogue"
RATE = 24_000
TURNS = [
    {"voice": "low", "text": "Is the tide out?"},
    {"voice": "high", "text": "It is, and the boats lie on the sand."},
    {"voice": "low", "text": "Good to know."},
]
TURN_SAMPLES = 7_200


async def asked(client: httpx.AsyncClient, turns: list[dict[str, Any]] = TURNS, **fields: Any) -> httpx.Response:
    return await client.post(DIALOGUE, json={"turns": turns, "response_format": "pcm"} | fields)


def pcm_of(response: httpx.Response) -> Pcm:
    assert response.status_code == 200, response.text
    return from_pcm16(response.content)


async def chunks_of(client: httpx.AsyncClient, **fields: Any) -> list[dict[str, Any]]:
    body = {"turns": TURNS, "stream_format": "sse", "response_format": "pcm"} | fields
    response = await client.post(DIALOGUE, json=body, headers={"X-Polyvox-Chunks": "1"})
    events = [json.loads(line.removeprefix("data: ")) for line in response.text.split("\n\n") if line]
    return [event["chunk"] for event in events if "chunk" in event]


async def test_each_turn_is_heard_in_its_voice_with_the_pause_between() -> None:
    async with called(tone_service()) as client:
        pcm = pcm_of(await asked(client, pause=0.25))
    pause = round(0.25 * RATE)
    assert len(pcm) == 3 * TURN_SAMPLES + 2 * pause
    for index, turn in enumerate(TURNS):
        start = index * (TURN_SAMPLES + pause)
        expected = tone(TONES[turn["voice"]], 0, TURN_SAMPLES, RATE)
        np.testing.assert_allclose(pcm[start : start + TURN_SAMPLES], expected, atol=1e-4)
        assert not pcm[start + TURN_SAMPLES : start + TURN_SAMPLES + pause].any()


@each_row(("pause", "seconds"), [(None, 0.3), (0, 0.0), (0.0004, 10 / RATE), (10, 10.0)])
async def test_the_pause_is_exact(pause: float | None, seconds: float) -> None:
    async with called(tone_service()) as client:
        fields = {} if pause is None else {"pause": pause}
        assert len(pcm_of(await asked(client, **fields))) == 3 * TURN_SAMPLES + 2 * round(seconds * RATE)


@each_row("native", [True, False])
async def test_speed_does_not_change_the_pause(native: bool) -> None:
    async with called(tone_service(ToneEngine(native_speed=native))) as client:
        pcm = pcm_of(await asked(client, pause=1.0, speed=2.0))
    assert len(pcm) / RATE == pytest.approx(3 * 0.15 + 2 * 1.0, abs=0.06)


async def test_chunks_words_and_turns_run_on_through_the_whole() -> None:
    async with called(tone_service()) as client:
        chunks = await chunks_of(client, pause=0.5)
    assert [chunk["index"] for chunk in chunks] == list(range(len(chunks)))
    assert all(after["start"] == before["end"] for before, after in itertools.pairwise(chunks))
    # The end of a pause is sent when it is known how the next turn begins.
    assert [chunk["turns"] for chunk in chunks] == [[0]] * 3 + [[]] * 2 + [[1]] * 3 + [[]] * 2 + [[2]] * 3
    words = [word for chunk in chunks for word in chunk["words"]]
    assert " ".join(word["word"] for word in words) == " ".join(turn["text"] for turn in TURNS)
    assert all(after["start"] >= before["end"] - 1e-9 for before, after in itertools.pairwise(words))
    second = next(word for word in words if word["word"] == "It")
    assert second["start"] == pytest.approx(TURN_SAMPLES / RATE + 0.5)


async def test_usage_counts_the_text_of_all_turns() -> None:
    async with called(tone_service()) as client:
        response = await asked(client, stream_format="sse")
    done = json.loads(response.text.strip().split("\n\n")[-1].removeprefix("data: "))
    assert done["usage"]["input_tokens"] == sum(len(turn["text"]) for turn in TURNS)


@pytest.mark.long
@each_row("stream", [True, False])
@each_row("audio", list(AudioFormat))
@each_row("channels", [1, 2])
async def test_every_format_holds_the_whole_dialogue_in_mono_and_stereo(
    audio: AudioFormat, stream: bool, channels: int
) -> None:
    async with called(tone_service(SidesEngine(channels=channels))) as client:
        response = await asked(client, response_format=audio.value, stream=stream, sample_rate=48_000)
    assert response.status_code == 200, response.text
    assert response.headers["X-Audio-Channels"] == str(channels)
    assert ("content-length" in response.headers) is not stream
    sides = _sides(response.content, audio, channels)
    assert len(sides) / 48_000 == pytest.approx(3 * TURN_SAMPLES / RATE + 2 * 0.3, abs=0.12)
    if channels == 2:
        loud = np.sqrt(np.mean(np.square(sides), axis=0))
        assert loud[0] > 20 * loud[1]


class SidesEngine(ToneEngine):
    """Hums on the left only."""

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            pcm = chunk.pcm.copy()
            if pcm.ndim > 1:
                pcm[:, 1] = 0.0
            yield replace(chunk, pcm=pcm)


def _sides(data: bytes, audio: AudioFormat, channels: int) -> Pcm:
    if audio is AudioFormat.PCM:
        return from_pcm16(data).reshape(-1, channels)
    with av.open(io.BytesIO(data)) as container:
        to_float = av.AudioResampler("fltp", "stereo" if channels == 2 else "mono", 48_000)
        frames = [out for frame in container.decode(audio=0) for out in to_float.resample(frame)]
    return np.concatenate([frame.to_ndarray() for frame in frames], axis=1).T


async def test_mixes_and_voices_as_objects_are_understood() -> None:
    engine = ToneEngine()
    async with called(tone_service(engine)) as client:
        response = await asked(client, [{"voice": {"id": "low"}, "text": "Yes."}, {"voice": "high", "text": "No."}])
    assert response.status_code == 200
    assert [heard.voice for heard in engine.heard] == ["low", "high"]


async def test_what_is_asked_for_the_whole_holds_for_every_turn() -> None:
    engine = ToneEngine()
    fields = {"seed": 5, "lang_code": "a", "num_steps": 4, "temperature": 0.5, "guidance_scale": 2}
    options = {"normalization_options": {"normalize": False}}
    async with called(tone_service(engine)) as client:
        assert (await asked(client, **fields, **options)).status_code == 200
    seeds = [heard.seed for heard in engine.heard]
    assert seeds[0] == 5
    assert len(set(seeds)) == 3  # equal turns do not sound equal
    assert {heard.language for heard in engine.heard} == {"en-us"}
    assert {heard.normalization.normalize for heard in engine.heard} == {False}
    assert engine.heard[0].tuning == {"num_steps": 4.0, "temperature": 0.5, "guidance_scale": 2.0}


class DuetEngine(CloneEngine):
    """An engine for dialogues: it hums both voices of a scene in one go."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.duets: list[tuple[str, str]] = []

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, dialogue=True)

    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        self.duets.append((first.digest, second.digest))
        return PreparedVoice(self.name, f"{first.digest}+{second.digest}", {})


async def register(client: httpx.AsyncClient, seed: int, name: str) -> None:
    form = {"name": name, "transcription": f"I am {name}."}
    files = {"audio_file": ("s.wav", sample(seed))}
    response = await client.post("/v1/zipvoice/voices/register", data=form, files=files)
    assert response.status_code == 200, response.text


@pytest.fixture
async def duet(tmp_path: Any) -> AsyncIterator[tuple[Studio, httpx.AsyncClient]]:
    async with studio_client(tmp_path, DuetEngine()) as (studio, client):
        for seed, name in enumerate(("anna", "bert", "carl"), start=1):
            await register(client, seed, name)
        yield studio, client


def said(*turns: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"voice": voice, "text": text} for voice, text in turns]


async def test_two_voices_of_the_callers_are_spoken_in_one_go_each_prepared_once(duet: Any) -> None:
    studio, client = duet
    turns = said(("bert", "One."), ("anna", "Two."), ("anna", "Three."), ("bert", "Four."))
    assert (await asked(client, turns)).status_code == 200
    (heard,) = studio.engine.heard
    assert heard.text == "[S1] One.\n[S2] Two.\n[S2] Three.\n[S1] Four."
    assert [prompt.transcript for prompt in studio.engine.prepared] == ["I am bert.", "I am anna."]
    assert len(studio.engine.duets) == 1
    assert (await asked(client, turns)).status_code == 200
    assert len(studio.engine.prepared) == 2


async def test_three_voices_are_spoken_two_at_a_time(duet: Any) -> None:
    studio, client = duet
    turns = said(("anna", "One."), ("bert", "Two."), ("carl", "Three."), ("bert", "Four."))
    assert (await asked(client, turns, pause=1.0)).status_code == 200
    assert [heard.text for heard in studio.engine.heard] == [
        "[S1] One. [pause:1000ms] \n[S2] Two.",
        "[S1] Three. [pause:1000ms] \n[S2] Four.",
    ]


async def test_a_cloning_engine_without_dialogue_speaks_cloned_and_own_voices_in_turn(tmp_path: Any) -> None:
    async with studio_client(tmp_path) as (studio, client):
        await register(client, 1, "anna")
        inline = f"base64+{base64.b64encode(sample(2)).decode()}"
        turns = said(("anna", "One."), ("low", "Two."), (inline, "Three."), ("anna", "Four."))
        turns[2]["prompt_text"] = "Inline words."
        assert (await asked(client, turns)).status_code == 200
        assert [heard.text for heard in studio.engine.heard] == ["One.", "Two.", "Three.", "Four."]
        assert [heard.prepared is None for heard in studio.engine.heard] == [False, True, False, False]
        assert [prompt.transcript for prompt in studio.engine.prepared] == ["I am anna.", "Inline words."]


@pytest.mark.parametrize("door", ["/v1/audio/speech", "/v1/zipvoice/audio/speech"])
async def test_a_script_with_tags_takes_two_voices_by_name(duet: Any, door: str) -> None:
    studio, client = duet
    body = {"model": "tone", "input": "[S1] Hello. [S2] Yes?", "voice": "bert, anna"}
    response = await client.post(door, json=body)
    assert response.status_code == 200, response.text
    assert studio.engine.heard[0].text == body["input"]
    assert [prompt.transcript for prompt in studio.engine.prepared] == ["I am bert.", "I am anna."]


@pytest.mark.long
@pytest.mark.parametrize("voice", ["anna,nobody", "nobody,anna", "anna,", ",", "anna,bert,carl"])
async def test_a_pair_with_a_voice_that_is_not_there_is_refused(duet: Any, voice: str) -> None:
    _, client = duet
    refused = await client.post("/v1/audio/speech", json={"input": "[S1] Hello.", "voice": voice})
    assert refused.status_code == 400
    assert error_of(refused)["param"] == "voice"


async def test_a_pair_takes_no_transcript(duet: Any) -> None:
    _, client = duet
    body = {"input": "[S1] Hello.", "voice": "anna,bert", "prompt_text": "Words."}
    refused = await client.post("/v1/audio/speech", json=body)
    assert error_of(refused)["param"] == "prompt_text"


LONG = "x" * 80


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "field", "word"),
    [
        ({}, "turns", "required"),
        ({"turns": "hello"}, "turns", "list"),
        ({"turns": []}, "turns", "no turns"),
        ({"turns": said(*[("low", "Hi.")] * 11)}, "turns", "at most 10"),
        ({"turns": said(("low", LONG), ("high", LONG))}, "turns", "characters"),
        ({"turns": said(("low", "x"), ("high", "x"), ("other", "x"))}, "turns", "at most 2"),
        ({"turns": ["hello"]}, "turns[0]", "valid dictionary"),
        ({"turns": [{"voice": "low"}]}, "turns[0].text", "required"),
        ({"turns": [*TURNS, {"text": "Hi."}]}, "turns[3].voice", "required"),
        ({"turns": [{"voice": 5, "text": "Hi."}]}, "turns[0].voice", "voice's name"),
        ({"turns": [{"voice": "low", "text": "nul\0"}]}, "turns[0].text", "control character"),
        ({"turns": said(("low", "Hi."), ("high", ""))}, "turns[1].text", "empty"),
        ({"turns": said(("low", "Hi."), ("high", " \n "))}, "turns[1].text", "empty"),
        ({"turns": said(("low", "Hi."), ("high", "... ?!"))}, "turns[1].text", "no word"),
        ({"turns": said(("low", "Hi."), ("nobody", "Hi."))}, "turns[1].voice", "no voice"),
        ({"turns": said(("low", "Hi."), ("voice_" + "0" * 32, "Hi."))}, "turns[1].voice", "no voice"),
        ({"turns": said(("low", "Hi."), ("  ", "Hi."))}, "turns[1].voice", "empty"),
        ({"turns": said(("low", "Hi."), ("file+mine", "Hi."))}, "turns[1].voice", "uploaded"),
        ({"turns": said(("low", "Hi."), ("url+", "Hi."))}, "turns[1].voice", "url+"),
        ({"turns": said(("low", "Hi."), ("base64+%%%", "Hi."))}, "turns[1].voice", "base64"),
        ({"turns": said(("low", "Hi."), ("base64+PHN2Zy8+", "Hi."))}, "turns[1].voice", "recording"),
        ({"turns": said(("low", "Hi."), ("high", "I say [S1] no."))}, "turns[1].text", "[S1]"),
        ({"turns": said(("low", "Hi."), ("high", "I say \\[S2\\] no."))}, "turns[1].text", "[S1]"),
        ({"turns": said(("low", "Hi."), ("high", "I say [S</b>2] no."))}, "turns[1].text", "[S1]"),
        ({"turns": said(("low", "Hi."), ("high", "I say [S\u200b2] no."))}, "turns[1].text", "[S1]"),
        ({"turns": said(("low", "[pause:99s] Hi."))}, "turns[0].text", "pause"),
        ({"turns": TURNS, "pause": -0.1}, "pause", "greater"),
        ({"turns": TURNS, "pause": 10.5}, "pause", "less"),
        ({"turns": TURNS, "pause": "long"}, "pause", "number"),
        ({"turns": TURNS, "speed": 9}, "speed", "less"),
        ({"turns": TURNS, "num_steps": 0}, "num_steps", "greater"),
        ({"turns": TURNS, "num_steps": 33}, "num_steps", "less"),
        ({"turns": TURNS, "response_format": "mp9"}, "response_format", "mp9"),
    ],
)
async def test_what_cannot_be_spoken_is_refused_with_its_place(
    tmp_path: Any, body: dict[str, Any], field: str, word: str
) -> None:
    limits = {"dialogue_max_turns": 10, "dialogue_max_voices": 2, "max_input_chars": 100}
    async with studio_client(tmp_path, **limits) as (studio, client):
        refused = await client.post(DIALOGUE, json=body)
        assert refused.status_code == 400
        error = error_of(refused)
        assert error["param"] == field
        assert word in error["message"]
        assert studio.engine.heard == []


async def test_pauses_have_a_limit_together(tmp_path: Any) -> None:
    async with studio_client(tmp_path) as (_, client):
        refused = await asked(client, said(*[("low", "Hi.")] * 62), pause=10.0)
        assert error_of(refused)["param"] == "pause"


async def test_two_transcripts_of_one_voice_are_refused(duet: Any) -> None:
    _, client = duet
    turns = [
        turn | {"prompt_text": f"Words {index}."} for index, turn in enumerate(said(("anna", "A."), ("anna", "B.")))
    ]
    refused = await asked(client, turns)
    assert error_of(refused)["param"] == "turns[1].prompt_text"


async def test_recordings_may_be_forbidden_here_too(tmp_path: Any) -> None:
    async with studio_client(tmp_path, allow_inline=False) as (_, client):
        inline = f"base64+{base64.b64encode(sample(2)).decode()}"
        assert (await asked(client, said((inline, "Hi.")))).status_code == 403


async def test_a_voice_of_the_callers_on_an_engine_that_has_only_its_own_is_refused(tmp_path: Any) -> None:
    async with studio_client(tmp_path, ToneEngine()) as (_, client):
        await register(client, 1, "anna")
        assert error_of(await asked(client, said(("low", "Hi."), ("anna", "Hi."))))["param"] == "model"


async def test_a_turn_that_turns_out_to_hold_nothing_is_named() -> None:
    engine = MuteEngine()
    async with called(tone_service(engine)) as client:
        refused = await asked(client, said(("low", "☃")))
    assert refused.status_code == 400
    assert error_of(refused)["param"] == "turns[0].text"


class MuteEngine(PlainToneEngine):
    """Finds nothing to say."""

    def check(self, utterance: Utterance) -> None:
        pass

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        for chunk in ():
            yield chunk


async def test_an_unknown_model_is_not_found() -> None:
    async with called(tone_service()) as client:
        assert (await asked(client, model="nothing")).status_code == 404


async def test_a_failure_in_a_later_turn_ends_the_events_with_an_error() -> None:
    class FailingSecond(ToneEngine):
        async def _work(self) -> None:
            if len(self.heard) == 2:
                raise TextError("Nothing in the text can be spoken.", field="input")

    async with called(tone_service(FailingSecond())) as client:
        response = await asked(client, stream_format="sse")
    last = json.loads(response.text.strip().split("\n\n")[-1].removeprefix("data: "))
    assert (last["type"], last["error"]["param"]) == ("error", "turns[1].text")


@pytest.mark.long
async def test_the_document_of_the_api_describes_it() -> None:
    async with called(tone_service()) as client:
        document = (await client.get("/openapi.json")).json()
    assert set(document["components"]["schemas"]["TurnBody"]["properties"]) == {
        "voice",
        "text",
        "prompt_text",
        "speaker",
    }
    assert DIALOGUE in document["paths"]
