"""Visemes of a session: one track for all of its chunks."""

import numpy as np

from polyvox.service.words.viseme_track import Viseme, VisemeTrack
from polyvox.types import AudioChunk, PhonemeTiming, Span, WordTiming

RATE = 1_000


def word(start, end, *phonemes):
    timing = WordTiming("w", start, end, Span(0, 1))
    step = (end - start) / len(phonemes)
    return timing.with_phonemes(
        PhonemeTiming(name, start + at * step, start + (at + 1) * step) for at, name in enumerate(phonemes)
    )


def chunk(start, end, *words):
    return AudioChunk(np.zeros(round((end - start) * RATE), np.float32), RATE, 0, round(start * RATE), words=words)


def track(*chunks):
    made = VisemeTrack()
    return [viseme for each in chunks for viseme in made.add(each)] + made.finish()


def rounded(found):
    return [(viseme.id, round(viseme.start, 3)) for viseme in found]


def test_the_mouth_is_closed_before_and_behind_the_speech_and_in_pauses_but_not_between_words():
    words = word(0.1, 0.3, "m", "ˈaɪ"), word(0.3, 0.5, "b"), word(0.8, 1.0, "s")
    found = track(chunk(0, 1.5, *words))
    assert rounded(found) == [(0, 0), (21, 0.1), (11, 0.2), (21, 0.3), (0, 0.5), (15, 0.8), (0, 1.0)]


def test_two_visemes_of_a_phoneme_share_its_time():
    assert rounded(track(chunk(0, 1.0, word(0.0, 1.0, "tʃ")))) == [(19, 0.0), (16, 0.5), (0, 1.0)]


def test_a_track_is_the_same_wherever_its_chunks_end():
    words = word(0.1, 0.3, "m", "a"), word(0.3, 0.5, "b"), word(0.8, 1.0, "s"), word(1.6, 1.9, "eɪ")
    whole = track(chunk(0, 2, *words))
    assert track(chunk(0, 0.3, words[0]), chunk(0.3, 0.7, words[1]), chunk(0.7, 2, *words[2:])) == whole
    assert (
        track(chunk(0, 0.05), chunk(0.05, 0.2, *words[:2]), chunk(0.2, 1.2, words[2]), chunk(1.2, 2, words[3])) == whole
    )


def test_a_mouth_closes_with_the_chunk_whose_audio_goes_on_behind_its_words():
    made = VisemeTrack()
    assert rounded(made.add(chunk(0, 0.6, word(0, 0.2, "b")))) == [(21, 0), (0, 0.2)]
    assert made.add(chunk(0.6, 0.9)) == []
    assert made.finish() == []


def test_offsets_are_azures_ticks_and_never_go_back():
    assert Viseme(21, 0.05).audio_offset == 500_000
    late = track(chunk(0, 0.5, word(0, 0.5, "b")), chunk(0.5, 1, word(0.4, 0.9, "m")))
    assert [viseme.start for viseme in late] == sorted(viseme.start for viseme in late)


def test_a_session_without_phonemes_has_no_visemes_but_the_closed_mouth():
    assert track(chunk(0, 1, WordTiming("w", 0, 1, Span(0, 1)))) == [Viseme(0, 0.0)]
    assert track() == []
