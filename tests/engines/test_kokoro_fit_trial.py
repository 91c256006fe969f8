"""What is kept of a fitted voice: as much as leaves speech clear, and of its manner all."""

import numpy as np
import pytest
import torch

from benchmarks.cloning import SENTENCES
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_texts import LONG, TRIAL, USUAL
from polyvox.engines.kokoro.fit_trial import Account, Trial, coloured, lesser, words_wrong
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import PromptError

BASE, STOCK, OFFSET = torch.zeros(3, 4), torch.zeros(3, 4), torch.ones(4)
SPEAKER = Speaker(torch.ones(1), None)


class Recogniser:
    """Makes out every word, or all but those it is told to miss."""

    def __init__(self, misses: int = 0) -> None:
        self._misses = misses

    def transcribe(self, pcm: np.ndarray, sample_rate: int) -> str:
        sentence = list(TRIAL)[int(pcm[0])]
        return " ".join(sentence.split()[self._misses :])


class Scripted(Trial):
    """A trial in which the opinion falls with the colour, and with the manner, and nobody has to speak."""

    def __init__(self, fall: float, recogniser: Recogniser | None = None, by_manner: float = 0.0) -> None:
        super().__init__(None, None, recogniser)
        self._fall, self._by_manner = fall, by_manner
        self.accounts = 0

    def account(self, style: torch.Tensor, speaker: Speaker) -> Account:
        self.accounts += 1
        colour, manner = float(style[0, 0]), float(style[0, 2])
        spoken = tuple(np.full(1, place, np.float32) for place in range(len(TRIAL)))
        return Account(
            spoken, likeness=0.1 + 0.5 * colour, opinion=4.5 - self._fall * colour - self._by_manner * manner
        )

    def decide(self):
        return self.verdict(BASE, OFFSET, STOCK, SPEAKER)


def test_a_voice_that_is_clear_is_kept_whole():
    trial = Scripted(fall=0.1, recogniser=Recogniser())
    verdict = trial.decide()
    assert torch.equal(verdict.offset, OFFSET)
    assert (verdict.likeness, verdict.word_errors) == (pytest.approx(0.6), 0.0)
    assert trial.accounts == 2


def test_of_one_that_is_not_so_much_is_kept_as_is_clear_and_its_manner_whole():
    trial = Scripted(fall=0.5)
    verdict = trial.decide()
    assert torch.equal(verdict.offset, torch.tensor([0.375, 0.375, 1.0, 1.0]))
    assert verdict.likeness == pytest.approx(0.1 + 0.5 * 0.375)
    assert verdict.word_errors is None
    assert trial.accounts == 3


def test_where_its_manner_is_what_is_not_clear_less_of_everything_is_kept():
    verdict = Scripted(fall=0.1, by_manner=0.25).decide()
    assert torch.equal(verdict.offset, 0.5 * OFFSET)
    assert verdict.likeness == pytest.approx(0.1 + 0.5 * 0.5)


def test_one_of_which_hardly_anything_is_clear_is_none_after_six_accounts_at_most():
    trial = Scripted(fall=5.0)
    with pytest.raises(PromptError, match="cleaner"):
        trial.decide()
    assert trial.accounts == 6


def test_words_that_are_not_made_out_count_however_it_sounds():
    with pytest.raises(PromptError):
        Scripted(fall=0.0, recogniser=Recogniser(misses=2)).decide()


@pytest.mark.parametrize(
    ("share", "fall", "less"),
    [(1.0, 0.25, 0.75), (1.0, 0.4, 0.5), (0.5, 0.3, 0.25), (1.0, 0.1, 0.5), (1.0, 9.0, 0.125)],
)
def test_what_is_tried_next_follows_from_how_far_the_opinion_fell(share, fall, less):
    assert lesser(share, fall) == less


def test_words_count_as_wrong_if_they_are_missed_or_heard_on_top():
    assert words_wrong("my cousin keeps two horses", "My cousin keeps two horses.") == 0
    assert words_wrong("my cousin keeps two horses", "'Cause my cousin keeps two horses.") == 1
    assert words_wrong("my cousin keeps two horses", "My cousin keeps to horses.") == 1
    assert words_wrong("my cousin keeps two horses", "") == 5


def test_a_share_is_one_of_the_colour():
    assert torch.equal(coloured(torch.tensor([2.0, 2.0, 3.0, 3.0]), 0.5), torch.tensor([1.0, 1.0, 3.0, 3.0]))


def test_all_texts_can_be_said_and_none_is_used_twice():
    texts = [*USUAL, *LONG, *TRIAL.values()]
    assert len(set(texts)) == len(texts)
    assert all(symbol in IDS for text in texts for symbol in text)
    evaluated = {frozenset(sentence.lower().strip(".").split()) for sentence in SENTENCES}
    for sentence in TRIAL:
        assert all(len(words & set(sentence.split())) < len(words) / 2 for words in evaluated)
