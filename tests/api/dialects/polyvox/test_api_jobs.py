"""`/v1/jobs`: long texts become files, for their owner alone, whatever happens on the way."""

import asyncio
import errno
import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal
from urllib.parse import quote

import httpx
import pytest

from helpers.fakes import ToneEngine, missing_bundle
from helpers.job_client import JobClient, job_client
from helpers.serving import decoded_seconds, error_of
from polyvox.books.narration import journal
from polyvox.errors import OverloadedError, TextError, UnavailableError, UnknownVoiceError
from polyvox.service.jobs import runner, work
from polyvox.service.jobs.record import JobStatus
from polyvox.service.jobs.store import JobStore
from polyvox.service.keys.record import Limits, owner_of
from polyvox.service.keys.store import KeyStore
from polyvox.service.keys.usage import DayClock
from polyvox.types import AudioChunk, Utterance

pytestmark = pytest.mark.anyio

MP3 = {"output": ["mp3"]}
KEYS = {"api_keys": ["first-key", "second-key"]}
FIRST, SECOND = ({"Authorization": f"Bearer {key}"} for key in KEYS["api_keys"])


EPUB = (Path(__file__).parents[3] / "golden" / "books" / "pandoc3.epub").read_bytes()


class CountedGate(asyncio.Event):
    """A gate that shuts behind so many who passed it, once."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._left = count

    async def wait(self) -> Literal[True]:
        await super().wait()
        self._left -= 1
        if self._left == 0:
            self.clear()
        return True


def gated(passing: int | None = None) -> ToneEngine:
    """An engine that speaks when its gate is opened; once it shuts by itself behind so many that are `passing`."""
    gate = asyncio.Event() if passing is None else CountedGate(passing)
    return ToneEngine(chunks=1, chunk_seconds=0.05, gate=gate)


def sentences(count: int) -> str:
    return " ".join(f"This is sentence number {index}." for index in range(count))


@pytest.mark.long
async def test_a_text_becomes_a_book_with_chapters_and_files_of_chapters(tmp_path: Path):
    chapters = [{"title": "The first", "text": "One. Two."}, {"title": "The second", "text": "Three.", "voice": "high"}]
    async with job_client(tmp_path) as client:
        body = {"chapters": chapters, "title": "A book", "output": ["m4b", "mp3"], "chapter_files": "mp3"}
        answer = await client.http.post("/v1/jobs", json=body)
        assert answer.status_code == 202
        job = await client.rested(answer.json()["id"])
        files = {file["name"]: file for file in job["files"]}
        audio = {name: (await client.http.get(file["url"])).content for name, file in files.items()}
        voices = {spoken.text: spoken.voice for spoken in client.engine.heard}
        assert [each["id"] for each in (await client.http.get("/v1/jobs")).json()["jobs"]] == [job["id"]]
        metrics = (await client.http.get("/metrics")).text
    assert (job["status"], job["title"], job["error"]) == ("done", "A book", None)
    assert job["progress"] == {
        "sentences_done": 5,
        "sentences": 5,
        "chapter": 2,
        "chapters": 2,
        "seconds_spoken": pytest.approx(0.25),
        "percent": 100.0,
    }
    assert job["expires"] > job["created"]
    kinds = {name: (file["kind"], file["chapter"]) for name, file in files.items()}
    assert {("book", None), ("chapter", 1), ("chapter", 2)} == set(kinds.values())
    assert all(len(data) == files[name]["bytes"] for name, data in audio.items())
    assert all(decoded_seconds(data) > 1.0 for data in audio.values())
    assert (voices["One."], voices["Three."], voices["The second"]) == ("low", "high", "high")
    assert "polyvox_job_sentences_total 5.0" in metrics
    assert 'polyvox_ended_jobs_total{status="done"} 1.0' in metrics
    assert not (tmp_path / job["id"] / "narration").exists()


async def test_a_job_is_paused_resumed_and_goes_on_where_it_was(tmp_path: Path):
    engine = gated(passing=3)
    async with job_client(tmp_path, engine) as client:
        job = await client.submitted(sentences(12), **MP3)
        url = f"/v1/jobs/{job['id']}"
        engine.gate.set()
        await client.until(job["id"], lambda each: each["progress"]["sentences_done"] >= 2)
        paused = (await client.http.post(f"{url}/pause")).json()
        assert paused["status"] == "paused"
        assert engine.speaking == 0
        assert (await client.http.post(f"{url}/pause")).json()["status"] == "paused"
        done = paused["progress"]["sentences_done"]
        heard = len(engine.heard)
        engine.gate.set()
        resumed = (await client.http.post(f"{url}/resume")).json()
        assert resumed["status"] == "queued"
        finished = await client.rested(job["id"])
        assert finished["status"] == "done"
        assert len(engine.heard) - heard == 12 - (await spoken_before(client, done, engine, heard))
        refused = await client.http.post(f"{url}/resume")
        assert (refused.status_code, error_of(refused)["code"]) == (409, "job_state")


async def spoken_before(client: JobClient, at_least: int, engine: ToneEngine, heard: int) -> int:
    """Sentences that were on disk before the pause: those that were not heard again after it."""
    again = {spoken.text for spoken in engine.heard[heard:]}
    kept = 12 - len(again)
    assert kept >= at_least
    return kept


async def test_a_cancelled_job_leaves_no_speech_and_a_deleted_one_nothing(tmp_path: Path):
    engine = gated()
    async with job_client(tmp_path, engine) as client:
        job = await client.submitted(sentences(3), **MP3)
        await client.until(job["id"], lambda each: each["status"] == "running")
        cancelled = (await client.http.post(f"/v1/jobs/{job['id']}/cancel")).json()
        assert cancelled["status"] == "cancelled"
        assert engine.speaking == 0
        assert not (tmp_path / job["id"] / "narration").exists()
        assert (await client.http.post(f"/v1/jobs/{job['id']}/resume")).status_code == 409
        running = await client.submitted(sentences(3), **MP3)
        await client.until(running["id"], lambda each: each["status"] == "running")
        deleted = await client.http.delete(f"/v1/jobs/{running['id']}")
        assert deleted.json() == {"id": running["id"], "object": "job", "deleted": True}
        assert not (tmp_path / running["id"]).exists()
        assert (await client.http.get(f"/v1/jobs/{running['id']}")).status_code == 404
        engine.gate.set()


async def test_a_server_that_stops_parks_its_jobs_and_the_next_one_goes_on(tmp_path: Path):
    engine = gated(passing=2)
    async with job_client(tmp_path, engine) as client:
        job = await client.submitted(sentences(8), **MP3)
        engine.gate.set()
        await client.until(job["id"], lambda each: each["progress"]["sentences_done"] >= 1)
    assert engine.speaking == 0
    async with job_client(tmp_path) as client:
        finished = await client.rested(job["id"])
        assert finished["status"] == "done"
        assert len(client.engine.heard) < 8


async def test_an_owner_sees_no_job_of_another(tmp_path: Path):
    async with job_client(tmp_path, **KEYS) as client:
        job = await client.submitted(**MP3, headers=FIRST)
        finished = await client.rested(job["id"], headers=FIRST)
        url = f"/v1/jobs/{job['id']}"
        calls = [
            ("GET", url),
            ("GET", f"{url}/events"),
            ("GET", finished["files"][0]["url"]),
            ("POST", f"{url}/pause"),
            ("POST", f"{url}/resume"),
            ("POST", f"{url}/cancel"),
            ("DELETE", url),
        ]
        for method, path in calls:
            refused = await client.http.request(method, path, headers=SECOND)
            assert (refused.status_code, error_of(refused)["code"]) == (404, "not_found"), path
            assert (await client.http.request(method, path)).status_code == 401, path
        assert (await client.http.get("/v1/jobs", headers=SECOND)).json()["data"] == []
        assert (await client.http.get(finished["files"][0]["url"], headers=FIRST)).status_code == 200


async def test_limits_hold_before_anything_is_spoken(tmp_path: Path):
    settings: dict[str, Any] = {"max_jobs_per_owner": 2, "max_manuscript_bytes": 1_024}
    async with job_client(tmp_path, gated(), **settings) as client:
        large = await client.http.post("/v1/jobs", json={"text": "word " * 300})
        assert (large.status_code, error_of(large)["param"]) == (413, "text")
        pieces = await client.http.post("/v1/jobs", json={"chapters": [{"text": "word " * 150}] * 2})
        assert (pieces.status_code, error_of(pieces)["param"]) == (413, "chapters")
        for _ in range(2):
            job = await client.submitted()
        many = await client.http.post("/v1/jobs", json={"text": "One."})
        assert (many.status_code, error_of(many)["code"]) == (429, "too_many_jobs")
        assert "retry-after" in many.headers
        await client.http.delete(f"/v1/jobs/{job['id']}")
        await client.submitted()
    async with job_client(tmp_path / "none", max_jobs=0) as client:
        assert (await client.http.post("/v1/jobs", json={"text": "One."})).status_code == 403
        assert (await client.http.get("/v1/jobs")).json()["data"] == []
    assert not (tmp_path / "none").exists()


HOSTILE: list[tuple[dict[str, Any], int, str | None]] = [
    ({}, 400, "text"),
    ({"text": "One.", "chapters": [{"text": "Two."}]}, 400, "text"),
    ({"text": "... !"}, 400, None),
    ({"text": "One.", "voice": "nobody"}, 400, "voice"),
    ({"chapters": [{"text": "One.", "voice": "../../etc/passwd"}]}, 400, "voice"),
    ({"text": "One.", "model": "other"}, 404, "model"),
    ({"text": "One.", "speed": 99}, 400, "speed"),
    ({"text": "One.", "seed": -1}, 400, "seed"),
    ({"text": "One.", "output": ["exe"]}, 400, "output[0]"),
    ({"text": "One.", "output": []}, 400, "output"),
    ({"text": "One.", "captions": ["../x"]}, 400, "captions[0]"),
    ({"text": "One.", "format": "pdf"}, 400, "format"),
    ({"text": "One.", "language": "no such\nlanguage"}, 400, "language"),
    ({"text": "One.\x00", "format": "text"}, 400, "text"),
    ({"text": "One.", "expires_seconds": 0}, 400, "expires_seconds"),
    ({"text": "One.", "webhook": "https://example.com/"}, 403, None),
    ({"text": "One.", "title": "x" * 2_000}, 400, "title"),
]


async def test_fields_that_cannot_be_are_refused_and_leave_nothing(tmp_path: Path):
    async with job_client(tmp_path) as client:
        for body, status, param in HOSTILE:
            refused = await client.http.post("/v1/jobs", json=body)
            assert refused.status_code == status, (body, refused.text)
            assert param is None or error_of(refused)["param"] == param
        assert (await client.http.get("/v1/jobs")).json()["data"] == []
    assert [path.name for path in tmp_path.glob("job_*")] == []  # noqa: ASYNC240 - all is over


async def test_a_file_is_read_by_its_ending_and_its_name_reaches_no_path(tmp_path: Path):
    async with job_client(tmp_path / "jobs") as client:
        name = "../../../tmp/evil\n book.txt"
        answer = await client.http.post(
            "/v1/jobs", files={"file": (name, b"One. Two.")}, data={"output": "mp3", "speed": "1.5", "author": "Me"}
        )
        assert answer.status_code == 202, answer.text
        job = await client.rested(answer.json()["id"])
        assert job["status"] == "done"
        assert "/" not in job["title"]
        assert job["title"].endswith("book")
        assert [file["name"] for file in job["files"]] == ["book.mp3"]
        assert {spoken.speed for spoken in client.engine.heard} == {1.5}
        odd = await client.http.post("/v1/jobs", files={"file": ("book.exe", b"MZ")})
        assert (odd.status_code, error_of(odd)["param"]) == (400, "file")
        picture = {"file": ("a.txt", b"One."), "cover": ("cover.png", b"no picture")}
        refused = await client.http.post("/v1/jobs", files=picture)
        assert (refused.status_code, error_of(refused)["param"]) == (400, "cover")
        other = await client.http.post("/v1/jobs", files={"else": ("a.txt", b"One.")})
        assert other.status_code == 400
        for path in ("..%2f..%2fjobs.sqlite", "../lock", "%2e%2e", "jobs.sqlite", "book.mp3%00"):
            assert (await client.http.get(f"/v1/jobs/{job['id']}/files/{path}")).status_code == 404
    assert {path.name for path in (tmp_path / "jobs").iterdir()} >= {job["id"], "jobs.sqlite"}
    assert not (tmp_path / "tmp").exists()


async def test_files_are_saved_under_the_title_and_have_the_length_that_players_show(tmp_path: Path):
    body = {"text": "# One\n\nOne two.\n\n# Two\n\nThree.", "title": 'Die Häfen: ../a"b', "voice": "low"}
    async with job_client(tmp_path) as client:
        submitted = await client.submitted(
            **body, format="markdown", output=["mp3"], chapter_files="mp3", captions=["srt"]
        )
        job = await client.rested(submitted["id"])
        assert [file["saved_name"] for file in job["files"] if file["kind"] != "captions"] == [
            "Die Häfen a b.mp3",
            "Die Häfen a b-001.mp3",
            "Die Häfen a b-002.mp3",
        ]
        for file in job["files"]:
            if file["kind"] == "captions":
                assert file["seconds"] is None
                continue
            answer = await client.http.get(file["url"])
            assert decoded_seconds(answer.content) == pytest.approx(file["seconds"], abs=0.1)
            name = quote(file["saved_name"])
            assert answer.headers["content-disposition"].endswith(f"; filename*=UTF-8''{name}")
        book, *chapters = [file["seconds"] for file in job["files"] if file["seconds"] is not None]
        assert book == pytest.approx(sum(chapters))
        assert book > job["progress"]["seconds_spoken"]  # which counts no pauses


async def test_a_file_is_served_by_ranges_with_a_validator(tmp_path: Path):
    async with job_client(tmp_path) as client:
        job = await client.rested((await client.submitted(**MP3))["id"])
        url = job["files"][0]["url"]

        async def get(**headers: str) -> httpx.Response:
            return await client.http.get(url, headers={name.replace("_", "-"): each for name, each in headers.items()})

        whole = await get()
        data, etag = whole.content, whole.headers["etag"]
        size = len(data)
        assert whole.headers["accept-ranges"] == "bytes"
        assert whole.headers["content-disposition"] == 'attachment; filename="book.mp3"'
        assert whole.headers["content-type"] == "audio/mpeg"
        for asked, part in (
            ("bytes=0-9", data[:10]),
            ("bytes=10-", data[10:]),
            ("bytes=-7", data[-7:]),
            (f"bytes=5-{size + 999}", data[5:]),
        ):
            answer = await get(range=asked)
            assert (answer.status_code, answer.content) == (206, part), asked
            first = size - 7 if asked == "bytes=-7" else int(asked[6:].partition("-")[0])
            assert answer.headers["content-range"] == f"bytes {first}-{first + len(part) - 1}/{size}"
        for ignored in ("bytes=0-1,4-5", "items=0-1", "bytes=9-2", "bytes=-", "bytes=" + "9" * 40 + "-"):
            assert (await get(range=ignored)).content == data, ignored
        beyond = await get(range=f"bytes={size}-")
        assert (beyond.status_code, error_of(beyond)["code"]) == (416, "range_not_satisfiable")
        assert beyond.headers["content-range"] == f"bytes */{size}"
        assert (await get(range="bytes=-0")).status_code == 416
        assert (await get(range="bytes=0-9", if_range=etag)).status_code == 206
        assert (await get(range="bytes=0-9", if_range='"other"')).content == data
        unchanged = await get(if_none_match=f'"x", {etag}')
        assert (unchanged.status_code, unchanged.content) == (304, b"")


async def test_progress_comes_as_events_until_the_job_rests(tmp_path: Path):
    engine = ToneEngine(chunks=1, chunk_seconds=0.05, delay=0.02)
    async with job_client(tmp_path, engine) as client:
        job = await client.submitted(sentences(6), **MP3)
        answer = await client.http.get(f"/v1/jobs/{job['id']}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [part for part in answer.text.split("\n\n") if part.startswith("event: job")]
        shown = [json.loads(event.partition("data: ")[2]) for event in events]
        assert shown[-1]["status"] == "done"
        assert shown[0]["status"] in ("queued", "running")
        done = [each["progress"]["sentences_done"] for each in shown]
        assert done == sorted(done)


@pytest.mark.parametrize("error", [missing_bundle(), UnknownVoiceError("There is no voice 'anna'.", field="voice")])
async def test_a_model_or_voice_that_is_gone_fails_the_job_with_a_plain_message_and_can_be_resumed(
    tmp_path: Path, error: Exception
):
    engine = ToneEngine(chunks=1, chunk_seconds=0.05, fail_at=0, error=error)
    async with job_client(tmp_path, engine) as client:
        job = await client.rested((await client.submitted(**MP3))["id"])
        assert job["status"] == "failed"
        assert job["error"]["message"] == str(error)
        engine.fail_at = None
        await client.http.post(f"/v1/jobs/{job['id']}/resume")
        assert (await client.rested(job["id"]))["status"] == "done"


class StumblingEngine(ToneEngine):
    """An engine that refuses each text with one word in it."""

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        if "xyzzy" in utterance.text:
            raise TextError("Nobody can say that.", field="input")
        async for chunk in super().speak(utterance):
            yield chunk


async def test_a_failed_job_is_corrected_at_its_sentence_and_keeps_what_was_spoken(tmp_path: Path):
    engine = StumblingEngine(chunks=1, chunk_seconds=0.05)
    async with job_client(tmp_path, engine) as client:
        job = await client.rested((await client.submitted("One. Two. Now xyzzy. Four.", **MP3))["id"])
        url = f"/v1/jobs/{job['id']}"
        assert job["status"] == "failed"
        assert job["error"] == {
            "code": "invalid_text",
            "message": "Nobody can say that.",
            "sentence": 3,
            "text": "Now xyzzy.",
        }
        for body, status, field in (
            ({"text": "Uno.", "sentence": 1}, 400, "sentence"),
            ({"text": "Cinque.", "sentence": 5}, 400, "sentence"),
            ({"text": "..."}, 400, "text"),
            ({"text": "And [pause:61s] so."}, 400, "text"),
            ({}, 400, "text"),
        ):
            refused = await client.http.patch(url, json=body)
            assert (refused.status_code, error_of(refused)["param"]) == (status, field), body
        assert (await client.http.get(url)).json() == job
        corrected = (await client.http.patch(url, json={"text": "Now three. And a half."})).json()
        assert (corrected["status"], corrected["error"], corrected["progress"]["sentences"]) == ("paused", None, 5)
        heard = len(engine.heard)
        await client.http.post(f"{url}/resume")
        done = await client.rested(job["id"])
        assert (done["status"], done["progress"]["sentences_done"]) == ("done", 5)
        assert [each.text for each in engine.heard[heard:]] == ["Now three.", "And a half.", "Four."]
        late = await client.http.patch(url, json={"text": "Too late."})
        assert (late.status_code, error_of(late)["code"]) == (409, "job_state")


async def test_markup_of_a_book_is_refused_at_submission_in_every_form_of_it(tmp_path: Path):
    bodies = (
        ({"text": "One.\n\nTwo [pause:61s] three."}, "line 3, column 5 of 'text'"),
        ({"text": "# One\n\n*Two* [pause:61s] three.", "format": "markdown"}, "line 3, column 7 of 'text'"),
        ({"chapters": [{"text": "One."}, {"text": "Two [pause:x]."}]}, "column 5 of 'chapters[1].text'"),
        ({"text": "Wait. " + "[pause:60s]" * 6 + " Now."}, "Sentence 2"),
    )
    async with job_client(tmp_path) as client:
        for body, place in bodies:
            refused = await client.http.post("/v1/jobs", json=body)
            assert (refused.status_code, error_of(refused)["code"]) == (400, "invalid_markup"), body
            assert place in error_of(refused)["message"], body
        assert (await client.http.get("/v1/jobs")).json()["jobs"] == []
        assert client.engine.heard == []


async def test_a_full_disk_pauses_the_job_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with job_client(tmp_path, job_min_free_bytes=1_000) as client:
        with monkeypatch.context() as patched:
            patched.setattr(journal, "append_durably", full)
            job = await client.rested((await client.submitted(**MP3))["id"])
        assert (job["status"], job["error"]["code"]) == ("paused", "disk_full")
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=999))
            await client.http.post(f"/v1/jobs/{job['id']}/resume")
            again = await client.rested(job["id"])
            refused = await client.http.post("/v1/jobs", json={"text": "One."})
        assert (again["status"], again["error"]["code"]) == ("paused", "disk_full")
        assert (refused.status_code, error_of(refused)["code"]) == (507, "disk_full")
        await client.http.post(f"/v1/jobs/{job['id']}/resume")
        assert (await client.rested(job["id"]))["status"] == "done"


@pytest.mark.long
async def test_what_passes_by_itself_is_tried_again_and_then_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner, "_RETRY_SECONDS", (0.01, 0.02))
    monkeypatch.setattr(runner, "_MOST_ATTEMPTS", 3)
    engine = ToneEngine(chunks=1, chunk_seconds=0.05, fail_at=0, error=UnavailableError("It loads.", retry=True))
    async with job_client(tmp_path, engine) as client:
        job = await client.rested((await client.submitted("One.", **MP3))["id"])
        assert (job["status"], job["error"]["message"]) == ("failed", "It loads.")
        assert len(engine.heard) == 3


async def test_a_job_over_its_disk_space_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(work, "_MEASURE_SECONDS", 0.0)
    monkeypatch.setattr(work, "_STORE_SECONDS", 0.01)
    engine = ToneEngine(chunks=1, chunk_seconds=4.0, delay=0.01)
    async with job_client(tmp_path, engine, max_job_bytes=1_048_576) as client:
        job = await client.rested((await client.submitted(sentences(50), **MP3))["id"])
        assert (job["status"], job["error"]["code"]) == ("failed", "job_too_large")
        assert len(engine.heard) < 50


async def test_jobs_of_several_owners_take_turns(tmp_path: Path):
    engine = gated()
    async with job_client(tmp_path, engine, max_jobs=2, **KEYS) as client:
        mine = [await client.submitted(headers=FIRST, **MP3) for _ in range(3)]
        await client.until(mine[1]["id"], lambda job: job["status"] == "running", headers=FIRST)
        other = await client.submitted(headers=SECOND, **MP3)
        assert (await client.http.post(f"/v1/jobs/{mine[0]['id']}/pause", headers=FIRST)).status_code == 200
        await client.until(other["id"], lambda job: job["status"] == "running", headers=SECOND)
        third = (await client.http.get(f"/v1/jobs/{mine[2]['id']}", headers=FIRST)).json()
        assert third["status"] == "queued"
        engine.gate.set()


async def test_all_places_go_to_different_owners_and_the_one_served_longest_ago_is_next(tmp_path: Path):
    engine = gated()
    async with job_client(tmp_path, engine, max_jobs=1, **KEYS) as client:
        mine = [await client.submitted(headers=FIRST, **MP3) for _ in range(3)]
        other = await client.submitted(headers=SECOND, **MP3)
        await client.until(mine[0]["id"], lambda job: job["status"] == "running", headers=FIRST)
        waiting = (await client.http.get(f"/v1/jobs/{other['id']}", headers=SECOND)).json()
        assert waiting["waits"] == {"for": "turn", "until": None}
        assert (await client.http.post(f"/v1/jobs/{mine[0]['id']}/cancel", headers=FIRST)).status_code == 200
        running = await client.until(other["id"], lambda job: job["status"] == "running", headers=SECOND)
        assert running["waits"] is None
        assert (await client.http.post(f"/v1/jobs/{other['id']}/cancel", headers=SECOND)).status_code == 200
        late = await client.submitted(headers=SECOND, **MP3)
        await client.until(mine[1]["id"], lambda job: job["status"] == "running", headers=FIRST)
        assert (await client.http.get(f"/v1/jobs/{late['id']}", headers=SECOND)).json()["status"] == "queued"
        engine.gate.set()


@pytest.mark.long
async def test_a_long_job_makes_way_for_another_owner_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    engine = gated(passing=3)
    async with job_client(tmp_path, engine, max_jobs=1, **KEYS) as client:
        long = await client.submitted(sentences(8), headers=FIRST, **MP3)
        engine.gate.set()
        await client.until(long["id"], lambda job: job["progress"]["sentences_done"] >= 2, headers=FIRST)
        second = await client.submitted("More of mine.", headers=FIRST, **MP3)
        other = await client.submitted("One of theirs.", headers=SECOND, **MP3)
        monkeypatch.setattr(runner, "_TURN_SECONDS", 0.0)
        await client.until(other["id"], lambda job: job["status"] == "running", headers=SECOND)
        parked = (await client.http.get(f"/v1/jobs/{long['id']}", headers=FIRST)).json()
        assert parked["status"] == "queued"
        assert parked["progress"]["sentences_done"] >= 2
        monkeypatch.undo()
        heard = len(engine.heard)
        engine.gate.set()
        for job, headers in ((other, SECOND), (long, FIRST), (second, FIRST)):
            assert (await client.rested(job["id"], headers=headers))["status"] == "done"
        again = [spoken.text for spoken in engine.heard[heard:]]
        assert len(again) == len(set(again)) < 8 + 2


@pytest.mark.long
async def test_a_job_without_quota_is_set_aside_and_goes_on_when_the_day_is_over(tmp_path: Path):
    keys = tmp_path / "keys.sqlite"
    poor = KeyStore(keys).create("poor", ["speak"], Limits(characters_a_day=40)).secret
    headers = {"Authorization": f"Bearer {poor}"}
    almost_midnight = datetime(2030, 1, 1, 23, 59, 58, tzinfo=UTC).timestamp()
    async with job_client(tmp_path / "jobs", keys_file=keys, max_jobs=1) as client:
        client.accounts.ledger.clock = DayClock(wall=lambda: almost_midnight)
        job = await client.submitted(sentences(2), headers=headers, **MP3)
        aside = await client.until(job["id"], lambda each: each["error"] is not None, headers=headers)
        assert (aside["status"], aside["waits"]["for"]) == ("queued", "quota")
        assert aside["error"]["code"] == "quota_exceeded"
        assert "40 characters a day" in aside["error"]["message"]
        assert (await client.http.post(f"/v1/jobs/{job['id']}/pause", headers=headers)).json()["waits"] is None
        await client.http.post(f"/v1/jobs/{job['id']}/resume", headers=headers)
        done = await client.rested(job["id"], headers=headers)
        assert (done["status"], done["error"], done["waits"]) == ("done", None, None)
        assert [spoken.text for spoken in client.engine.heard] == sentences(2).replace(". ", ".|").split("|")


@pytest.mark.long
async def test_a_revoked_key_ends_the_wait_of_its_jobs(tmp_path: Path):
    keys = tmp_path / "keys.sqlite"
    poor = KeyStore(keys).create("poor", ["speak"], Limits(characters_a_day=10)).secret
    async with job_client(tmp_path / "jobs", keys_file=keys) as client:
        job = await client.submitted(sentences(1), headers={"Authorization": f"Bearer {poor}"}, **MP3)
        [aside] = await client.service.jobs(owner_of(poor))
        async with asyncio.timeout(10):
            while aside.wait is None:
                await asyncio.sleep(0.01)
                aside = await client.service.get(job["id"], owner_of(poor))
            KeyStore(keys).revoke("poor")
            store = JobStore(tmp_path / "jobs")  # a revoked key reads no job any more
            while store.find(job["id"]).status is not JobStatus.FAILED:  # noqa: ASYNC110 - the store is waited for
                await asyncio.sleep(0.01)
        assert "revoked" in store.find(job["id"]).error.message
        store.close()


async def test_an_expired_job_is_swept_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner, "_SWEEP_SECONDS", 0.0)
    async with job_client(tmp_path) as client:
        job = await client.submitted(**MP3, expires_seconds=0.001)
        async with asyncio.timeout(10):
            while (await client.http.get(f"/v1/jobs/{job['id']}")).status_code != 404:  # noqa: ASYNC110 - a caller polls
                await asyncio.sleep(0.02)
            while (tmp_path / job["id"]).exists():  # noqa: ASYNC110 - it is the disk that is waited for
                await asyncio.sleep(0.02)


async def test_pages_of_other_origins_change_nothing(tmp_path: Path):
    async with job_client(tmp_path) as client:
        foreign = {"Origin": "https://elsewhere.example"}
        refused = await client.http.post("/v1/jobs", files={"file": ("a.txt", b"One.")}, headers=foreign)
        assert refused.status_code == 403
        job = await client.submitted()
        assert (await client.http.delete(f"/v1/jobs/{job['id']}", headers=foreign)).status_code == 403


@pytest.mark.long
async def test_an_epub_is_uploaded_and_spoken(tmp_path: Path):
    async with job_client(tmp_path) as client:
        answer = await client.http.post(
            "/v1/jobs", files={"file": ("novel.epub", EPUB)}, data={"output": '["mp3"]', "captions": "vtt,srt"}
        )
        assert answer.status_code == 202, answer.text
        job = await client.rested(answer.json()["id"])
        assert (job["status"], job["title"]) == ("done", "The Tide")
        assert {file["kind"] for file in job["files"]} == {"book", "captions"}
        captions = next(file for file in job["files"] if file["name"].endswith(".vtt"))
        assert (await client.http.get(captions["url"])).text.startswith("WEBVTT")
        broken = await client.http.post("/v1/jobs", files={"file": ("novel.epub", EPUB[:900])})
        assert (broken.status_code, error_of(broken)["code"]) == (400, "invalid_manuscript")
        assert len((await client.http.get("/v1/jobs")).json()["data"]) == 1


@pytest.mark.long
async def test_a_server_that_has_no_room_for_a_sentence_waits_for_it(tmp_path: Path):
    engine = ToneEngine(
        chunks=1, chunk_seconds=0.05, fail_at=0, error=OverloadedError("Busy; try again.", retry_after=0.01)
    )
    async with job_client(tmp_path, engine) as client:
        job = await client.submitted("One.", **MP3)
        await client.until(job["id"], lambda each: each["status"] == "running")
        while not engine.heard:  # noqa: ASYNC110 - the engine of all tests has no event for it
            await asyncio.sleep(0.005)
        engine.fail_at = None
        assert (await client.rested(job["id"]))["status"] == "done"


class OneAtATime(ToneEngine):
    """An engine that makes one chunk at a time, whoever it is for, and notes for whom."""

    def __init__(self) -> None:
        super().__init__(chunks=4, chunk_seconds=0.5)
        self.made: list[str] = []
        self._device = asyncio.Lock()

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            async with self._device:
                await asyncio.sleep(0.08)
            self.made.append(utterance.text)
            yield chunk


@pytest.mark.long
async def test_a_live_request_does_not_wait_for_jobs(tmp_path: Path):
    engine = OneAtATime()
    async with job_client(tmp_path, engine) as client:
        jobs = [await client.submitted(sentences(60), **MP3) for _ in range(2)]
        for job in jobs:
            await client.until(job["id"], lambda each: each["progress"]["sentences_done"] >= 6)
        for number in range(3):
            before = len(engine.made)
            live = {"input": f"Live words {number}.", "response_format": "pcm", "stream": True}
            answer = await client.http.post("/v1/audio/speech", json=live)
            assert answer.status_code == 200
            assert engine.made.index(live["input"]) - before <= 4, "chunks of the jobs came first"
        for job in jobs:
            assert (await client.http.post(f"/v1/jobs/{job['id']}/cancel")).status_code == 200


@pytest.mark.long
async def test_two_servers_on_one_folder_speak_a_job_once_and_obey_each_other(tmp_path: Path):
    ours, theirs = gated(), gated()
    async with job_client(tmp_path, ours) as here, job_client(tmp_path, theirs) as there:
        job = await here.submitted(sentences(5), **MP3)
        await there.until(job["id"], lambda each: each["status"] == "running")
        await asyncio.sleep(1.5)  # in which the other looks for jobs more than once
        runner_engine, idle = (ours, theirs) if ours.heard else (theirs, ours)
        assert idle.heard == []
        other = there if runner_engine is ours else here
        assert (await other.http.post(f"/v1/jobs/{job['id']}/pause")).json()["status"] == "paused"
        async with asyncio.timeout(10):
            while runner_engine.speaking:  # noqa: ASYNC110 - the engine of all tests has no event for it
                await asyncio.sleep(0.01)
        ours.gate.set()
        theirs.gate.set()
        await other.http.post(f"/v1/jobs/{job['id']}/resume")
        assert (await other.rested(job["id"]))["status"] == "done"
        texts = [spoken.text for engine in (ours, theirs) for spoken in engine.heard]
        assert set(texts) == set(sentences(5).replace(". ", ".|").split("|"))
