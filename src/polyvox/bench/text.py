"""Start-up and latency of the text front end (normaliser and phonemiser), for English and Chinese."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from rich.table import Table

from polyvox.bench.report import Percentiles, percentile_cells
from polyvox.bench.texts import CHINESE, ENGLISH
from polyvox.errors import PolyvoxError
from polyvox.text.markup import markup
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes import phonemizer_for
from polyvox.types import NormalizationOptions

TEXTS = {"en-us": ENGLISH, "zh": CHINESE}
STARTUP_TIMEOUT = 120.0
STARTUP_MODULE = "polyvox.bench.startup"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Startup:
    """A fresh process: seconds until each part is imported, built and done with its first text."""

    normalizer: float
    phonemizer: float


@dataclass(frozen=True, slots=True)
class TextFigures:
    """One language: its start-up, and the seconds that one text takes once warm."""

    language: str
    chars: int
    startup: Startup
    normalize: Percentiles
    phonemize: Percentiles


def bench_text(rounds: int, espeak: str) -> Iterator[TextFigures]:
    """Measure each language in turn, with every text of its list `rounds` times after one to warm up."""
    for language, texts in TEXTS.items():
        normalize, phonemize = _measured(language, texts, rounds, espeak)
        yield TextFigures(
            language, sum(map(len, texts)), measure_startup(language, texts[0], espeak), normalize, phonemize
        )


def measure_startup(language: str, text: str, espeak: str) -> Startup:
    """Measure start-up in a fresh process."""
    command = [sys.executable, "-m", STARTUP_MODULE, language, espeak, text]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=STARTUP_TIMEOUT, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise PolyvoxError(f"The text front end did not start within {STARTUP_TIMEOUT:g} s.") from error
    if result.returncode != 0:
        reason = result.stderr.strip().rsplit("\n", 1)[-1]
        raise PolyvoxError(f"The text front end did not start in a fresh process: {reason}")
    return Startup(**json.loads(result.stdout))


def _measured(language: str, texts: Sequence[str], rounds: int, espeak: str) -> tuple[Percentiles, Percentiles]:
    normalize = normalizer_for(language)
    phonemize = phonemizer_for(language, espeak=espeak)
    options = NormalizationOptions()
    normalize_seconds: list[float] = []
    phonemize_seconds: list[float] = []
    for turn in range(rounds + 1):
        for text in texts:
            marked = markup.parse(text)
            normalized, normalizing = _timed(partial(normalize, marked.text, options))
            _, phonemizing = _timed(partial(phonemize, normalized, marked.inserts))
            if turn > 0:
                normalize_seconds.append(normalizing)
                phonemize_seconds.append(phonemizing)
    return Percentiles.of(normalize_seconds), Percentiles.of(phonemize_seconds)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def as_table(figures: Sequence[TextFigures]) -> Table:
    """The figures as a table for a terminal."""
    table = Table(caption="milliseconds for one text", caption_justify="left")
    table.add_column("")
    for name in ("start-up", "p50", "p90", "p95", "p99", "mean"):
        table.add_column(name, justify="right")
    for row in figures:
        parts = (
            ("normaliser", row.startup.normalizer, row.normalize),
            ("phonemiser", row.startup.phonemizer, row.phonemize),
        )
        for part, startup, percentiles in parts:
            cells = percentile_cells(percentiles, 1000.0, 2)
            table.add_row(f"{row.language} {part}", f"{startup * 1000:.0f}", *cells)
    return table
