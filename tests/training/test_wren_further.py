"""The further sentences by which voices that are not English are judged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from polyvox.engines.kokoro.voices import VOICES
from polyvox.types import AudioChunk, Utterance
from training.wren import further
from training.wren.held_out import read_archive
from training.wren.languages import LANGUAGES

LEVELS = (0.2, 0.4)


class ConstantEngine:
    """Says everything as a constant and keeps what it was asked for."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.asked: list[tuple[str, str]] = []

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.asked.append((utterance.voice, utterance.text))
        yield AudioChunk(np.full(240, self.level, np.float32), 24_000, 0, 0)


def test_sentences_are_of_kokoro_voices_and_none_was_held_out_before() -> None:
    sentences = further.FurtherSentences.read()
    assert set(sentences.voices) <= {voice.id for voice in VOICES}
    assert {voice[0] for voice in sentences.voices} == set(sentences.sentences)
    assert len(sentences.of("ef_dora")) == 10
    for letter, texts in sentences.sentences.items():
        assert len(set(texts)) == len(texts)
        assert not set(texts) & set(LANGUAGES[letter].held_out)


def test_both_models_say_the_sentences_of_the_voices_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [ConstantEngine(level) for level in LEVELS]

    @asynccontextmanager
    async def started(threads: int) -> AsyncIterator[list[ConstantEngine]]:
        assert threads == 1
        yield engines

    monkeypatch.setattr(further, "started", started)
    further.main([str(tmp_path / "further.npz"), "--voices", "if_sara", "pf_dora"])
    expected = [(voice, text) for voice in ("if_sara", "pf_dora") for text in further.FurtherSentences.read().of(voice)]
    recordings = list(read_archive(tmp_path / "further.npz"))
    assert [(row.speaker, row.text) for row in recordings] == expected
    assert all(engine.asked == expected for engine in engines)
    assert {row.language for row in recordings} == {"i", "p"}
    for row in recordings:
        assert row.teacher == pytest.approx(LEVELS[0], abs=1e-3)
        assert row.student == pytest.approx(LEVELS[1], abs=1e-3)
