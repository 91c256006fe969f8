"""How an offset is scaled down until speech is clear, its acoustic half first."""

import numpy as np
import pytest
import torch

from benchmarks.cloning import SENTENCES
from helpers.tables import each_row
from polyvox.engines.kokoro.fitting.scoring import TargetSpeaker
from polyvox.engines.kokoro.fitting.sentences import LONG, TRAINING, VALIDATION
from polyvox.engines.kokoro.fitting.validation import (
    ValidationScores,
    Validator,
    count_word_errors,
    scale_acoustic,
    smaller_scale,
)
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import PromptError

BASE, STOCK, OFFSET = torch.zeros(3, 4), torch.zeros(3, 4), torch.ones(4)
SPEAKER = TargetSpeaker(torch.ones(1), None)


class Recogniser:
    """Recognises every word, or all but the first `misses`."""

    def __init__(self, misses: int = 0) -> None:
        self._misses = misses

    def transcribe(self, pcm: np.ndarray, sample_rate: int) -> str:
        sentence = list(VALIDATION)[int(pcm[0])]
        return " ".join(sentence.split()[self._misses :])


class ScriptedValidator(Validator):
    """The MOS drops with the acoustic and the prosodic half of the offset; nothing is synthesised."""

    def __init__(self, drop: float, recogniser: Recogniser | None = None, prosodic_drop: float = 0.0) -> None:
        super().__init__(None, None, recogniser)
        self._drop, self._prosodic_drop = drop, prosodic_drop
        self.scored = 0

    def scores(self, style: torch.Tensor, speaker: TargetSpeaker) -> ValidationScores:
        self.scored += 1
        acoustic, prosodic = float(style[0, 0]), float(style[0, 2])
        spoken = tuple(np.full(1, index, np.float32) for index in range(len(VALIDATION)))
        mos = 4.5 - self._drop * acoustic - self._prosodic_drop * prosodic
        return ValidationScores(spoken, similarity=0.1 + 0.5 * acoustic, mos=mos)

    def run(self):
        return self.validate(BASE, OFFSET, STOCK, SPEAKER)


def test_a_voice_that_is_clear_is_kept_whole():
    validator = ScriptedValidator(drop=0.1, recogniser=Recogniser())
    validated = validator.run()
    assert torch.equal(validated.offset, OFFSET)
    assert (validated.similarity, validated.word_errors) == (pytest.approx(0.6), 0.0)
    assert validator.scored == 2


def test_where_it_is_not_clear_its_acoustic_half_is_scaled_down():
    validator = ScriptedValidator(drop=0.5)
    validated = validator.run()
    assert torch.equal(validated.offset, torch.tensor([0.375, 0.375, 1.0, 1.0]))
    assert validated.similarity == pytest.approx(0.1 + 0.5 * 0.375)
    assert validated.word_errors is None
    assert validator.scored == 3


def test_where_its_prosody_is_not_clear_all_of_it_is_scaled_down():
    validated = ScriptedValidator(drop=0.1, prosodic_drop=0.25).run()
    assert torch.equal(validated.offset, 0.5 * OFFSET)
    assert validated.similarity == pytest.approx(0.1 + 0.5 * 0.5)


def test_a_voice_that_is_clear_at_no_scale_is_refused_after_six_runs_at_most():
    validator = ScriptedValidator(drop=5.0)
    with pytest.raises(PromptError, match="cleaner"):
        validator.run()
    assert validator.scored == 6


def test_word_errors_count_whatever_the_mos():
    with pytest.raises(PromptError):
        ScriptedValidator(drop=0.0, recogniser=Recogniser(misses=2)).run()


@each_row(
    ("scale", "drop", "smaller"),
    [(1.0, 0.25, 0.75), (1.0, 0.4, 0.5), (0.5, 0.3, 0.25), (1.0, 0.1, 0.5), (1.0, 9.0, 0.125)],
)
def test_the_next_scale_follows_from_the_drop_in_mos(scale, drop, smaller):
    assert smaller_scale(scale, drop) == smaller


def test_missing_and_added_words_are_errors():
    assert count_word_errors("my cousin keeps two horses", "My cousin keeps two horses.") == 0
    assert count_word_errors("my cousin keeps two horses", "'Cause my cousin keeps two horses.") == 1
    assert count_word_errors("my cousin keeps two horses", "My cousin keeps to horses.") == 1
    assert count_word_errors("my cousin keeps two horses", "") == 5


def test_only_the_acoustic_half_is_scaled():
    assert torch.equal(scale_acoustic(torch.tensor([2.0, 2.0, 3.0, 3.0]), 0.5), torch.tensor([1.0, 1.0, 3.0, 3.0]))


def test_all_sentences_are_in_the_vocabulary_and_none_is_used_twice():
    texts = [*TRAINING, *LONG, *VALIDATION.values()]
    assert len(set(texts)) == len(texts)
    assert all(symbol in IDS for text in texts for symbol in text)
    evaluated = {frozenset(sentence.lower().strip(".").split()) for sentence in SENTENCES}
    for sentence in VALIDATION:
        assert all(len(words & set(sentence.split())) < len(words) / 2 for words in evaluated)
