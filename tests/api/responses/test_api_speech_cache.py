"""The cache of speech at the doors: the same answer without the model, for those who may have it."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers.cloning import CloneEngine, Studio, sample
from helpers.fakes import tone_service
from helpers.job_client import job_client
from helpers.serving import called, served
from polyvox.audio.encode import AudioFormat
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Capabilities

pytestmark = pytest.mark.anyio

PATH = "/v1/audio/speech"
KEYS = {"api_keys": ["first-key", "second-key"]}
FIRST, SECOND = ({"Authorization": f"Bearer {key}"} for key in KEYS["api_keys"])


class KnownEngine(CloneEngine):
    """An engine that clones, and whose weights are known by a name."""

    fingerprint = "first weights"

    def __init__(self, *, stochastic: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._stochastic = stochastic

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, stochastic=self._stochastic)


@asynccontextmanager
async def cached(
    folder: Path, engine: KnownEngine | None = None, **settings: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, KnownEngine]]:
    chosen = KnownEngine() if engine is None else engine
    given = {"speech_cache_bytes": 50_000_000, "speech_cache_folder": folder / "cache"} | settings
    studio = Studio(folder, chosen, **given)
    studio.voices.forget_speech = VoiceService.for_service(studio.speech).forget_speech
    async with called(studio.speech, studio.voices) as client:
        yield client, chosen


async def spoken(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    headers = body.pop("headers", {})
    answer = await client.post(PATH, json={"input": "Hello there.", "response_format": "pcm", **body}, headers=headers)
    assert answer.status_code in (200, 412), answer.text
    return answer


def state(answer: httpx.Response) -> str | None:
    return answer.headers.get("x-speech-cache")


@pytest.mark.long
async def test_a_hit_is_byte_identical_in_every_format_streamed_or_whole(tmp_path: Path):
    forms = [{"response_format": str(form), "stream": stream} for form in AudioFormat for stream in (True, False)]
    options: dict[str, Any] = {"input": "One two three. Four.", "speed": 1.25, "voice": "high"}
    async with called(tone_service(KnownEngine())) as plain:
        wanted = [await spoken(plain, **options, **form) for form in forms]
    assert {state(answer) for answer in wanted} == {None}
    async with cached(tmp_path) as (client, engine):
        first = [await spoken(client, **options, **form) for form in forms]
        heard = len(engine.heard)
        again = [await spoken(client, **options, **form) for form in forms]
        assert len(engine.heard) == heard
    assert state(first[0]) == "miss"
    assert {state(answer) for answer in again} == {"hit"}
    for form, one, other in zip(forms, wanted, again, strict=True):
        assert one.content == other.content, form
    tags = {answer.headers["etag"] for answer in again}
    assert len(tags) == len(forms)
    assert [answer.headers["etag"] for answer in first] == [answer.headers["etag"] for answer in again]


async def test_events_have_the_same_chunks_and_words(tmp_path: Path):
    async with cached(tmp_path) as (client, _):
        body = {"input": "One two three.", "stream_format": "sse", "response_format": "pcm"}
        answers = [await client.post(PATH, json=body, headers={"X-Polyvox-Chunks": "1"}) for _ in range(2)]
        timed = [await client.post("/dev/captioned_speech", json={"input": "One two.", "stream": False}) for _ in "ab"]
    assert [state(answer) for answer in answers] == ["miss", "hit"]
    assert answers[0].text == answers[1].text
    assert answers[0].text.count("speech.audio.delta") == 3
    assert [state(answer) for answer in timed] == ["miss", "hit"]
    assert timed[0].json()["timestamps"] == timed[1].json()["timestamps"] != []


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        {"input": "Hello there!"},
        {"voice": "high"},
        {"speed": 1.1},
        {"seed": 3},
        {"volume_multiplier": 0.5},
        {"sample_rate": 16_000},
        {"normalization_options": {"normalize": False}},
    ],
)
async def test_whatever_changes_the_speech_is_another_entry(tmp_path: Path, change: dict[str, Any]):
    async with cached(tmp_path) as (client, engine):
        await spoken(client, voice="low")
        assert state(await spoken(client, voice="low")) == "hit"
        assert state(await spoken(client, **{"voice": "low"} | change)) == "miss"
        engine.fingerprint = "second weights"
    async with cached(tmp_path, engine) as (client, _):
        assert state(await spoken(client, voice="low")) == "miss"


async def test_a_hit_waits_for_no_slot(tmp_path: Path):
    engine = KnownEngine()
    async with cached(tmp_path, engine, max_sessions=1, max_queue=0) as (client, _):
        await spoken(client)
        engine.gate = asyncio.Event()
        busy = asyncio.create_task(spoken(client, input="Somebody else."))
        while not engine.speaking:  # noqa: ASYNC110 - the engine of all tests has no event for it
            await asyncio.sleep(0.001)
        assert state(await spoken(client)) == "hit"
        refused = await client.post(PATH, json={"input": "A third."})
        assert refused.status_code == 429
        engine.gate.set()
        await busy
        metrics = (await client.get("/metrics")).text
    assert 'polyvox_speech_cache_events_total{event="hit"} 1.0' in metrics
    assert "polyvox_speech_cache_bytes" in metrics


async def test_what_is_broken_off_is_not_kept(tmp_path: Path):
    engine = KnownEngine(fail_at=2)
    async with cached(tmp_path, engine) as (client, _):
        assert (await client.post(PATH, json={"input": "Hello there.", "stream": False})).status_code == 500
        engine.fail_at = None
        assert state(await spoken(client)) == "miss"


async def test_a_client_that_leaves_leaves_nothing_in_the_cache(tmp_path: Path):
    engine = KnownEngine(chunks=40, delay=0.02)
    settings = {"speech_cache_bytes": 50_000_000, "speech_cache_folder": tmp_path / "cache"}
    with served(tone_service(engine, **settings)) as url:
        async with httpx.AsyncClient(base_url=url) as client:
            body = {"input": "Hello there.", "response_format": "pcm"}
            async with client.stream("POST", PATH, json=body) as answer:
                assert state(answer) == "miss"
            while engine.speaking:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
            engine.chunks = 2
            assert state(await client.post(PATH, json=body)) == "miss"
            assert state(await client.post(PATH, json=body)) == "hit"


async def test_a_model_that_samples_is_cached_by_its_seed_alone(tmp_path: Path):
    async with cached(tmp_path, KnownEngine(stochastic=True)) as (client, _):
        assert [state(await spoken(client)) for _ in "ab"] == [None, None]
        assert [state(await spoken(client, seed=5)) for _ in "ab"] == ["miss", "hit"]


async def test_validators_age_and_wishes_to_hear_it_anew(tmp_path: Path):
    async with cached(tmp_path) as (client, engine):
        first = await spoken(client)
        tag = first.headers["etag"]
        assert "age" not in first.headers
        unchanged = await spoken(client, headers={"If-None-Match": tag})
        assert (unchanged.status_code, unchanged.content) == (412, b"")
        assert unchanged.headers["etag"] == tag
        other = await spoken(client, headers={"If-None-Match": '"other"'})
        assert (other.status_code, state(other), other.headers["age"]) == (200, "hit", "0")
        heard = len(engine.heard)
        anew = await spoken(client, headers={"Cache-Control": "no-cache"})
        assert (state(anew), len(engine.heard)) == (None, heard + 1)
        fresh = await spoken(client, input="Never heard.", headers={"If-None-Match": "*"})
        assert (fresh.status_code, state(fresh)) == (200, "miss")


async def test_an_unchanged_answer_to_get_is_304(tmp_path: Path):
    form = {"tts_text": "Hello there.", "spk_id": "low"}
    async with cached(tmp_path) as (client, _):
        first = await client.request("GET", "/inference_sft", data=form)
        again = await client.request(
            "GET", "/inference_sft", data=form, headers={"If-None-Match": first.headers["etag"]}
        )
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


async def test_speech_is_an_owners_own_unless_the_settings_share_it(tmp_path: Path):
    async with cached(tmp_path, **KEYS) as (client, _):
        assert [state(await spoken(client, headers=key)) for key in (FIRST, SECOND, FIRST)] == ["miss", "miss", "hit"]
    async with cached(tmp_path / "shared", speech_cache_shared=True, **KEYS) as (client, _):
        assert [state(await spoken(client, headers=key)) for key in (FIRST, SECOND)] == ["miss", "hit"]


async def test_a_registered_voice_stays_its_owners_and_is_forgotten_with_it(tmp_path: Path):
    async with cached(tmp_path, speech_cache_shared=True, **KEYS) as (client, _):
        ids = []
        for key in (FIRST, SECOND):
            form = {"name": "anna", "consent": "true", "transcript": "Some words."}
            made = await client.post("/v1/voices", data=form, files={"audio": ("a.wav", sample(1))}, headers=key)
            assert made.status_code in (200, 201), made.text
            ids.append(made.json()["id"])
        states = [state(await spoken(client, voice="anna", headers=key)) for key in (FIRST, SECOND, FIRST, SECOND)]
        assert states == ["miss", "miss", "hit", "hit"]
        assert len(list((tmp_path / "cache").glob("*/*.speech"))) == 2
        assert (await client.delete(f"/v1/voices/{ids[0]}", headers=FIRST)).status_code == 200
        assert list((tmp_path / "cache").glob("*/*.speech")) == []


async def test_a_recording_that_comes_with_the_request_is_not_cached(tmp_path: Path):
    voice = f"base64+{base64.b64encode(sample(1)).decode()}"
    async with cached(tmp_path) as (client, _):
        for _ in "ab":
            answer = await client.post(PATH, json={"input": "Hi.", "voice": voice, "prompt_text": "Some words."})
            assert (answer.status_code, state(answer)) == (200, None)


async def test_markup_dialogues_and_batches_are_cached_too(tmp_path: Path):
    async with cached(tmp_path) as (client, engine):
        marked = {"input": "One. [pause:0.2s] [voice:high] Two.", "allow_voice_tags": True}
        assert [state(await spoken(client, **marked)) for _ in "ab"] == ["miss", "hit"]
        turns = {"turns": [{"voice": "low", "text": "Yes?"}, {"voice": "high", "text": "No."}]}
        for wanted in ("miss", "hit"):
            answer = await client.post("/v1/audio/dialogue", json=turns)
            assert (answer.status_code, state(answer)) == (200, wanted), answer.text
        items = {"items": [{"input": "A."}, {"input": "B."}], "response_format": "wav"}
        await client.post("/v1/audio/speech/batch", json=items)
        heard = len(engine.heard)
        again = await client.post("/v1/audio/speech/batch", json=items)
        assert (again.status_code, len(engine.heard)) == (200, heard)


async def test_a_changed_dictionary_is_heard(tmp_path: Path):
    async with cached(tmp_path) as (client, engine):
        for word in ("hole", "void"):
            entries = [{"kind": "word", "match": "gap", "say": word}]
            put = await client.put("/v1/dictionaries/mine", json={"default": True, "entries": entries})
            assert put.status_code in (200, 201), put.text
            assert [state(await spoken(client, input="Mind the gap.")) for _ in "ab"] == ["miss", "hit"]
            assert engine.heard[-1].text == f"Mind the {word}."


async def test_jobs_leave_nothing_in_the_cache(tmp_path: Path):
    settings = {"speech_cache_bytes": 1_000_000, "speech_cache_folder": tmp_path / "cache"}
    async with job_client(tmp_path / "jobs", KnownEngine(chunks=1), **settings) as client:
        assert (await client.rested((await client.submitted(output=["mp3"]))["id"]))["status"] == "done"
    assert not (tmp_path / "cache").exists()
