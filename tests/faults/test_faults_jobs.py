"""A job whose server is killed again and again ends as one that never was."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from helpers.attacked_server import attacked_server
from helpers.job_server import PROGRAM
from helpers.processes import ProgramProcess

SENTENCES = 200
SECONDS = 60.0
CHAPTERS = [
    {"title": f"Chapter {number}", "text": " ".join(f"Sentence {number} {index}." for index in range(SENTENCES // 4))}
    for number in range(4)
]
BODY = {"chapters": CHAPTERS, "title": "A book", "output": ["m4b"], "seed": 7}


def submitted(server: ProgramProcess) -> str:
    answer = httpx.post(f"{server.url}/v1/jobs", json=BODY)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def reached(server: ProgramProcess, job_id: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    until = time.monotonic() + SECONDS
    with httpx.Client(base_url=server.url) as client:
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
        first = httpx.get(f"{server.url}/v1/jobs/{job_id}").json()["progress"]["sentences_done"]
        assert first >= 110, "it began again"
        killed = files(server, reached(server, job_id, lambda job: job["status"] == "done"))
        unhurt = files(server, reached(server, submitted(server), lambda job: job["status"] == "done"))
        assert killed == unhurt
        assert set(killed) == {"book.m4b"}
        assert min(map(len, killed.values())) > 1_000
        assert "Traceback" not in server.log()
