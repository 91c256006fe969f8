"""Forced alignment by the recogniser's attention."""

import numpy as np
import pytest
from tokenizers import Tokenizer

from helpers.kokoro_recordings import RATE, SENTENCES, spoken
from helpers.speech import align_words
from polyvox.bundles.validate import open_bundle
from polyvox.voices.recognition.alignment import MoonshineAligner, token_starts
from polyvox.voices.recognition.moonshine_tokens import MoonshineTokenizer

SENTENCE, SPANISH = SENTENCES["boy"], SENTENCES["niebla"]
SPANISH_STARTS = (0.0, 0.312, 0.8, 0.938, 1.485, 1.923, 2.06)
"""In seconds, of the words, by the durations that Kokoro spoke them with."""


def test_tokens_begin_where_the_best_path_steps_on():
    scores = np.full((3, 6), -5.0, np.float32)
    scores[0, :2] = scores[1, 2:3] = scores[2, 3:] = 0.0
    assert token_starts(scores, whole=True) == ([0, 2, 3], 2)


def test_a_path_to_its_end_passes_every_token_and_another_only_what_it_hears():
    scores = np.full((4, 5), -5.0, np.float32)
    scores[0, :2] = scores[1, 2:] = 0.0
    assert token_starts(scores, whole=False) == ([0, 2, 0, 0], 1)
    assert token_starts(scores, whole=True)[1] == 3


def test_of_fewer_frames_than_tokens_the_last_tokens_are_not_reached():
    assert token_starts(np.zeros((5, 2), np.float32), whole=True)[1] == 1


@pytest.fixture(scope="module")
def bundle(models_dir):
    return open_bundle("moonshine-base", models_dir)


@pytest.fixture(scope="module")
def aligner(bundle) -> MoonshineAligner:
    return MoonshineAligner(bundle)


@pytest.fixture(scope="module")
def sentence():
    return spoken("boy")


@pytest.mark.slow
@pytest.mark.parametrize(
    "word", ["planks", "O'Neill's", "Antidisestablishmentarianism,", "naïve", "你好", "🙂", "3.14", "x" * 50, "Zürich."]
)
def test_a_word_has_the_tokens_of_the_reference_tokenizer(bundle, word):
    path = bundle.file("tokenizer.json")
    expected = Tokenizer.from_file(str(path)).encode(word, add_special_tokens=False).ids
    assert list(MoonshineTokenizer.read(path).encode(word)) == expected


@pytest.mark.slow
def test_words_are_where_a_forced_aligner_finds_them(aligner, sentence):
    found = aligner.align(sentence, RATE, SENTENCE.split())
    expected = align_words(sentence, RATE, SENTENCE)
    errors = [abs(start - word.start) for (start, _), word in zip(found.words, expected, strict=True)]
    assert np.median(errors) <= 0.045
    assert max(errors) <= 0.15
    assert found.confidence > 0.5


@pytest.mark.slow
def test_it_follows_a_language_that_the_recogniser_does_not_know(aligner):
    found = aligner.align(spoken("niebla", "ef_dora"), RATE, SPANISH.split())
    errors = [abs(start - expected) for (start, _), expected in zip(found.words, SPANISH_STARTS, strict=True)]
    assert np.median(errors) <= 0.045
    assert found.confidence > 0.3


@pytest.mark.slow
def test_of_speech_that_breaks_off_the_words_so_far_are_found(aligner, sentence):
    whole = aligner.align(sentence, RATE, SENTENCE.split())
    cut = round((whole.words[4][1] + 0.1) * RATE)
    part = aligner.align(sentence[:cut], RATE, SENTENCE.split(), whole=False)
    assert 4 <= len(part.words) <= 6
    np.testing.assert_allclose(part.words[:4], whole.words[:4], atol=0.05)


@pytest.mark.slow
def test_speech_of_other_words_and_noise_are_not_trusted(aligner, sentence):
    other = "Glue a dozen sheets to your dark blue background".split()
    assert aligner.align(sentence, RATE, other).confidence < 0.2
    hiss = np.random.default_rng(0).normal(0, 0.1, 2 * RATE).astype(np.float32)
    assert aligner.align(hiss, RATE, SENTENCE.split()).confidence < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("samples", "words"), [(0, ["a"]), (100, ["a"]), (RATE, []), (RATE // 4, ["word"] * 300)], ids=str
)
def test_what_cannot_hold_the_words_has_none(aligner, samples, words):
    found = aligner.align(np.zeros(samples, np.float32), RATE, words)
    assert found.words == ()
    assert found.confidence == 0.0
