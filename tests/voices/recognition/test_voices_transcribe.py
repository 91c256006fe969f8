import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.kokoro_recordings import RATE, SENTENCES, spoken
from helpers.speech import align_words
from polyvox.errors import AudioDecodeError
from polyvox.evaluate.wer import word_error_rate
from polyvox.types import Pcm
from polyvox.voices.recognition.transcribe import SAMPLE_RATE, Detokenizer, Moonshine, windows

SENTENCE = SENTENCES["fox"]
STORY = ("canoe", "glue", "well", "chicken", "rice", "juice", "hogs", "hours", "stockings")


@pytest.fixture(scope="session")
def sentence() -> Pcm:
    return spoken("fox")


def noise(seconds: float, level: float = 0.3) -> Pcm:
    return np.random.default_rng(0).uniform(-level, level, int(seconds * SAMPLE_RATE)).astype(np.float32)


@given(st.floats(0.0, 95.0), st.floats(1.0, 30.0))
@settings(max_examples=30, deadline=None)
def test_windows_lose_nothing_and_keep_to_their_limit(seconds, longest):
    pcm = noise(seconds)
    parts = list(windows(pcm, longest))
    np.testing.assert_array_equal(np.concatenate(parts), pcm)
    assert max(len(part) for part in parts) <= longest * SAMPLE_RATE
    assert all(len(part) >= longest * SAMPLE_RATE / 2 - 1 for part in parts[:-1])


def test_a_window_ends_in_the_pause():
    pause = np.zeros(SAMPLE_RATE // 2, np.float32)
    pcm = np.concatenate((noise(13.0), pause, noise(12.0)))
    first, second = windows(pcm, 20.0)
    assert len(first) / SAMPLE_RATE == pytest.approx(13.25, abs=0.15)
    assert len(first) + len(second) == len(pcm)


def test_short_speech_is_one_window():
    (only,) = windows(noise(20.0), 20.0)
    assert len(only) == 20 * SAMPLE_RATE


@pytest.fixture
def pieces(tmp_path: Path) -> Detokenizer:
    vocabulary = {"<s>": 1, "</s>": 2, "▁Hello": 3, "▁wor": 4, "ld": 5, "<0xC3>": 6, "<0xA9>": 7, "<0x2>": 8, "▁": 9}
    special = [{"id": 1, "content": "<s>", "special": True}, {"id": 2, "content": "</s>", "special": True}]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"added_tokens": special, "model": {"vocab": vocabulary}}), encoding="utf-8")
    return Detokenizer.read(path)


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([3, 4, 5], "Hello world"),
        ([1, 3, 2], "Hello"),
        ([6, 7], "é"),
        ([3, 6], "Hello\ufffd"),
        ([9, 3, 9], "Hello"),
        ([8], "<0x2>"),
        ([3, 99_999], "Hello"),
        ([], ""),
    ],
)
def test_tokens_become_text(pieces, ids, text):
    assert pieces.text(ids) == text


@pytest.mark.slow
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100])
def test_a_sentence_is_transcribed_at_any_sample_rate(moonshine: Moonshine, sentence, rate):
    pcm = soxr.resample(sentence, RATE, rate)
    assert word_error_rate(SENTENCE, moonshine.transcribe(pcm, rate)).errors == 0


@pytest.mark.slow
def test_speech_of_which_nothing_is_heard_is_heard_again_behind_a_longer_silence(
    moonshine: Moonshine, sentence, monkeypatch: pytest.MonkeyPatch
):
    lengths, decode = [], moonshine._decode

    def deaf_at_first(states, limit):
        lengths.append(states.shape[1])
        return decode(states, limit) if len(lengths) > 1 else iter(())

    monkeypatch.setattr(moonshine, "_decode", deaf_at_first)
    assert word_error_rate(SENTENCE, moonshine.transcribe(sentence, RATE)).errors == 0
    assert lengths[0] < lengths[1]
    assert len(lengths) == 2


@pytest.mark.slow
def test_both_channels_of_a_stereo_recording_are_transcribed(moonshine: Moonshine, sentence):
    quiet = np.zeros_like(sentence)
    heard = moonshine.transcribe(np.stack((quiet, sentence), axis=1), RATE)
    assert word_error_rate(SENTENCE, heard).errors == 0


@pytest.mark.slow
def test_long_speech_is_transcribed_to_its_end(moonshine: Moonshine):
    story = np.concatenate([spoken(name) for name in STORY])
    assert len(story) / RATE > 20, "longer than a window of the recogniser"
    result = word_error_rate(" ".join(SENTENCES[name] for name in STORY), moonshine.transcribe(story, RATE))
    assert result.errors <= 2


@pytest.mark.slow
@pytest.mark.parametrize("samples", [0, 1, RATE, 30 * RATE])
def test_silence_says_nothing(moonshine: Moonshine, samples):
    assert moonshine.transcribe(np.zeros(samples, np.float32), RATE) == ""


@pytest.mark.slow
def test_noise_comes_to_an_end(moonshine: Moonshine):
    heard = moonshine.transcribe(noise(10.0), SAMPLE_RATE)
    assert len(heard.split()) < 100


@pytest.mark.slow
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_not_numbers_are_refused(moonshine: Moonshine, bad):
    with pytest.raises(AudioDecodeError):
        moonshine.transcribe(np.array([0.0, bad], np.float32), RATE)


@pytest.mark.slow
def test_calls_from_several_threads_do_not_disturb_each_other(moonshine: Moonshine, sentence):
    alone = moonshine.transcribe(sentence, RATE)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda _: moonshine.transcribe(sentence, RATE), range(6)))
    assert together == [alone] * 6


@pytest.mark.slow
def test_the_aligner_of_the_tests_finds_each_word_in_its_order(sentence):
    aligned = align_words(sentence, RATE, SENTENCE)
    assert [word for word, _, _ in aligned] == SENTENCE.lower().rstrip(".").split()
    assert all(start < end for _, start, end in aligned)
    assert all(before.end <= after.start for before, after in pairwise(aligned))
    assert aligned[-1].end < len(sentence) / RATE


@pytest.mark.slow
def test_the_aligner_of_the_tests_moves_with_the_sound(sentence):
    later = np.concatenate((np.zeros(RATE // 2, np.float32), sentence))
    first, second = align_words(sentence, RATE, SENTENCE), align_words(later, RATE, SENTENCE)
    moved = [after.start - before.start for before, after in zip(first, second, strict=True)]
    assert moved == pytest.approx([0.5] * len(moved), abs=0.03)


@pytest.mark.slow
def test_the_aligner_of_the_tests_refuses_words_it_does_not_know(sentence):
    with pytest.raises(ValueError, match="dictionary"):
        align_words(sentence, RATE, "the quick brown zxqy")
