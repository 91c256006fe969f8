"""Manuscripts made to be slow: they are read in time that grows with their length alone, and nobody waits for them."""

import time
from collections.abc import Iterator

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.trials import watched

SECONDS = 60.0
PARAGRAPH = b"A sentence of some words that somebody may read. " * 20 + b"\n\n"
HOSTILE = {
    "brackets.html": b"<" * 1_000_000 + b" and a word",
    "tags.html": b"<a " * 300_000 + b" and a word",
    "comments.html": b"<!-- > " * 150_000 + b" and a word",
    "headings.txt": b"Chapter 1\n" * 300_000 + b"\nAnd a word.",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), max_jobs=1) as server:
        yield server


def test_slow_manuscripts_are_read_in_time_and_cost_others_little(server: ProgramProcess, scale: int) -> None:
    books = HOSTILE | {"long.txt": PARAGRAPH * (2_000 if scale == 1 else 11_000)}
    with watched(server) as toll:
        for name, data in books.items():
            began = time.monotonic()
            answer = httpx.post(f"{server.url}/v1/jobs", files={"file": (name, data)}, timeout=2 * SECONDS)
            assert answer.status_code == 202, (name, answer.text)
            assert time.monotonic() - began < SECONDS, name
            assert httpx.delete(f"{server.url}/v1/jobs/{answer.json()['id']}", timeout=SECONDS).status_code == 200
        toll.requests = len(books)
    toll.check()
    assert "Traceback" not in server.log()


def test_a_quote_in_the_name_of_a_file_is_one_in_the_title(server: ProgramProcess) -> None:
    answer = httpx.post(f"{server.url}/v1/jobs", files={"file": ('The "best" book.txt', b"Words.")}, timeout=SECONDS)
    assert answer.json()["title"] == 'The "best" book'
