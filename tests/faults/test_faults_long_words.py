"""Hostile texts take time in proportion to their length, off the event loop, whatever they are made of."""

import time
from collections.abc import Callable, Iterator
from functools import cache

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.tables import each_row
from helpers.trials import watched
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.phoneme_frontend import PhonemeFrontend
from polyvox.types import NormalizationOptions

CHARS = 2_000
"""In the everyday tests; five times as many in the long ones."""
SECONDS_PER_CHAR = 1e-3
UNITS = {
    "figure": "1",
    "letter": "a",
    "capital": "A",
    "bracket": "[",
    "brackets": "[](",
    "comma": "1,",
    "slash": "1/",
    "currency": "$1",
    "address": "http://a.b/",
    "mail": "a@",
    "emoji": "\U0001f600",
    "accents": "a\u0301\u0301\u0301\u0301\u0301",
    "hash": "#",
    "han": "一",
    "mixed": "一1",
}


@cache
def reader(language: str) -> Callable[[str], int]:
    if language == "ms":
        frontend = GraphemeFrontend()
        read: Callable[[str], int] = lambda text: len(list(frontend.segments(text, NormalizationOptions())))  # noqa: E731
    else:
        phonemes = PhonemeFrontend(language, espeak="espeak-ng")
        read = lambda text: len(list(phonemes.read(text, NormalizationOptions())))  # noqa: E731
    read("Ready, 1.")
    return read


@each_row("unit", UNITS)
@each_row("language", ["en-us", "zh", "ms"])
def test_reading_is_linear(language: str, unit: str, scale: int) -> None:
    read, chars = reader(language), CHARS * min(scale, 5)
    text = (UNITS[unit] * chars)[:chars]
    began = time.process_time()
    read(text)
    assert time.process_time() - began < SECONDS_PER_CHAR * chars


def test_figures_without_end_are_read_in_other_languages_too() -> None:
    began = time.process_time()
    assert reader("es")("1" * 2_000)
    assert time.process_time() - began < 10


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def test_a_text_that_is_spoken_for_hours_is_refused_at_once(server: ProgramProcess, scale: int) -> None:
    with watched(server) as toll:
        for _ in range(5 * min(scale, 5)):
            body = {"input": "1" * 100_000, "stream": False}
            answer = httpx.post(server.url + "/v1/audio/speech", json=body, timeout=60)
            assert answer.status_code == 400
            assert "minutes to speak" in answer.json()["error"]["message"]
    toll.check()
