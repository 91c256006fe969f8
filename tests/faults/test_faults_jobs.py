"""Jobs of servers that are killed, of owners without quota, and behind the many jobs of somebody else."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.job_server import PROGRAM
from helpers.processes import ProgramProcess
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore

pytestmark = pytest.mark.long

SENTENCES = 200
SECONDS = 60.0
CHAPTERS = [
    {"title": f"Chapter {number}", "text": " ".join(f"Sentence {number} {index}." for index in range(SENTENCES // 4))}
    for number in range(4)
]
BODY = {"chapters": CHAPTERS, "title": "A book", "output": ["m4b"], "seed": 7}


Headers = dict[str, str]


def submitted(server: ProgramProcess, body: dict[str, Any] = BODY, headers: Headers | None = None) -> str:
    answer = httpx.post(f"{server.url}/v1/jobs", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def reached(
    server: ProgramProcess, job_id: str, holds: Callable[[dict[str, Any]], bool], headers: Headers | None = None
) -> dict[str, Any]:
    until = time.monotonic() + SECONDS
    with httpx.Client(base_url=server.url, headers=headers) as client:
        while not holds(job := client.get(f"/v1/jobs/{job_id}").json()):
            assert job["status"] in ("queued", "running", "binding"), job
            assert time.monotonic() < until, job
            time.sleep(0.05)
    return job


def files(server: ProgramProcess, job: dict[str, Any]) -> dict[str, bytes]:
    return {file["name"]: httpx.get(server.url + file["url"]).content for file in job["files"]}


def test_a_job_of_200_sentences_killed_three_times_ends_byte_identical_to_one_never_killed(tmp_path: Path) -> None:
    moments: tuple[Callable[[dict[str, Any]], bool], ...] = (
        lambda job: job["progress"]["sentences_done"] >= 20,
        lambda job: job["progress"]["sentences_done"] >= 110,
        lambda job: job["status"] == "binding",
    )
    job_id = ""
    for moment in moments:
        with attacked_server(tmp_path, program=PROGRAM) as server:
            job_id = job_id or submitted(server)
            before = reached(server, job_id, moment)
            server.process.kill()
            assert before["status"] != "done"
    with attacked_server(tmp_path, program=PROGRAM) as server:
        killed = files(server, reached(server, job_id, lambda job: job["status"] == "done"))
        assert "polyvox_job_sentences_total 0.0\n" in httpx.get(f"{server.url}/metrics").text, "it spoke some again"
        unhurt = files(server, reached(server, submitted(server), lambda job: job["status"] == "done"))
        assert killed == unhurt
        assert set(killed) == {"book.m4b"}
        assert min(map(len, killed.values())) > 1_000
        assert "Traceback" not in server.log()


def key_store(folder: Path) -> KeyStore:
    return KeyStore(folder / "data" / "keys.sqlite")


def key_of(folder: Path, name: str, limits: Limits) -> Headers:
    """The headers of a new key of the server whose data lies there."""
    (folder / "data").mkdir(exist_ok=True)
    return {"Authorization": f"Bearer {key_store(folder).create(name, ['speak'], limits).secret}"}


def refusals(server: ProgramProcess, headers: Headers) -> int:
    """Requests of a key that were over its limits."""
    (usage,) = httpx.get(f"{server.url}/v1/usage", headers=headers).json()["data"]
    return sum(day["refused"] for day in usage["days"])


def test_a_job_without_quota_is_set_aside_through_kills_and_goes_on_when_its_limit_is_raised(tmp_path: Path) -> None:
    short = {"text": "One. Two. Three.", "output": ["mp3"]}
    poor, rich = key_of(tmp_path, "poor", Limits(characters_a_day=300)), key_of(tmp_path, "rich", Limits())
    with attacked_server(tmp_path, program=PROGRAM, max_jobs=1) as server:
        job_id = submitted(server, BODY, poor)
        job = reached(server, job_id, lambda job: job["error"] is not None, poor)
        assert (job["status"], job["error"]["code"], job["waits"]["for"]) == ("queued", "quota_exceeded", "quota")
        assert 0 < job["progress"]["sentences_done"] < SENTENCES
        refused = refusals(server, poor)
        reached(server, submitted(server, short, rich), lambda job: job["status"] == "done", rich)
        assert refusals(server, poor) == refused, "the quota is asked for again and again"
        server.process.kill()
    with attacked_server(tmp_path, program=PROGRAM, max_jobs=1) as server:
        reached(server, submitted(server, short, rich), lambda job: job["status"] == "done", rich)
        waiting = httpx.get(f"{server.url}/v1/jobs/{job_id}", headers=poor).json()
        assert waiting == job
        key_store(tmp_path).change("poor", limits={"characters_a_day": 1_000_000})
        done = reached(server, job_id, lambda job: job["status"] == "done", poor)
        assert (done["error"], done["waits"]) == (None, None)
        assert "Traceback" not in server.log()


def test_the_one_job_of_an_owner_does_not_wait_for_the_twenty_of_another(tmp_path: Path) -> None:
    body = {"text": " ".join(f"Sentence {index}." for index in range(30)), "output": ["mp3"]}
    many, one = key_of(tmp_path, "many", Limits()), key_of(tmp_path, "one", Limits())
    with attacked_server(tmp_path, program=PROGRAM, max_jobs=1) as server:
        for _ in range(20):
            submitted(server, body, many)
        job_id = submitted(server, body, one)
        reached(server, job_id, lambda job: job["status"] == "done", one)
        jobs = httpx.get(f"{server.url}/v1/jobs", headers=many).json()["jobs"]
        waiting = [job["waits"]["for"] for job in jobs if job["status"] == "queued"]
        assert len(waiting) >= 16
        assert set(waiting) == {"turn"}
