"""Times of characters from those of words."""

import numpy as np
import pytest

from polyvox.api.dialects.elevenlabs.alignment import CAMEL_CASE, SNAKE_CASE, Alignment, CharacterAligner
from polyvox.types import AudioChunk, Span, WordTiming

RATE = 1_000


def chunk(start: float, end: float, words=(), span=None) -> AudioChunk:
    """A chunk from second to second; words as (start, end, first character, last)."""
    timings = tuple(WordTiming("", begin, stop, Span(first, last)) for begin, stop, first, last in words)
    samples = np.zeros(round((end - start) * RATE), np.float32)
    return AudioChunk(samples, RATE, 0, round(start * RATE), span=span, words=timings)


def text_of(alignment: Alignment) -> str:
    return "".join(alignment.characters)


def test_characters_share_the_time_of_their_word_and_gaps_lie_between_words():
    found = CharacterAligner(spaced=False).chunk("Hi you.", chunk(0, 2, [(0.2, 0.6, 0, 2), (1.0, 1.6, 3, 6)]))
    assert text_of(found) == "Hi you."
    assert found.starts == pytest.approx([0.2, 0.4, 0.6, 1.0, 1.2, 1.4, 1.6])
    assert found.ends[1:3] == pytest.approx((0.6, 1.0))


def test_a_message_ends_with_a_space_that_lasts_until_its_audio_ends():
    aligner = CharacterAligner(spaced=True)
    first = aligner.chunk("Hi you", chunk(0, 1, [(0.2, 0.6, 0, 2)]))
    last = aligner.chunk("Hi you", chunk(1, 2, [(1.0, 1.6, 3, 6)]))
    assert (text_of(first), text_of(last)) == ("Hi ", "you ")
    assert (first.ends[-1], last.ends[-1]) == (1.0, 2.0)
    assert last.starts[-1] == pytest.approx(1.6)


def test_messages_without_a_space_between_them_still_part_their_words():
    aligner = CharacterAligner(spaced=True)
    assert text_of(aligner.chunk("One.Two.", chunk(0, 1, [(0, 1, 0, 3)]))) == "One. "
    assert text_of(aligner.chunk("One.Two.", chunk(1, 2, [(1, 2, 4, 7)]))) == "Two. "


def test_a_word_that_goes_on_in_the_next_chunk_is_not_parted():
    aligner = CharacterAligner(spaced=True)
    assert text_of(aligner.chunk("无法分开", chunk(0, 1, span=Span(0, 2)))) == "无法"
    assert text_of(aligner.chunk("无法分开", chunk(1, 2, span=Span(2, 4)))) == "分开 "


def test_silence_is_a_space_so_that_clients_count_its_time():
    aligner = CharacterAligner(spaced=True)
    aligner.chunk("Hi", chunk(0, 1, [(0, 1, 0, 2)]))
    silence = aligner.chunk("Hi", chunk(1, 1.5))
    assert (silence.characters, silence.starts, silence.ends) == ((" ",), (1.0,), (1.5,))
    assert not CharacterAligner(spaced=False).chunk("", chunk(0, 1))


def test_silence_before_the_first_word_is_no_part_of_it():
    aligner = CharacterAligner(spaced=True)
    assert not aligner.chunk("Hi", chunk(0, 1))
    assert aligner.chunk("Hi", chunk(1, 2, [(1.2, 2, 0, 2)])).starts[0] == pytest.approx(1.2)


def test_without_word_timings_characters_are_spread_over_the_chunk():
    found = CharacterAligner(spaced=False).chunk("abcd", chunk(1, 3, span=Span(0, 4)))
    assert found.starts == pytest.approx((1.0, 1.5, 2.0, 2.5))
    assert found.ends[-1] == 3.0


def test_words_that_are_timed_later_keep_their_times():
    aligner = CharacterAligner(spaced=True, late=True)
    text = "one two three"
    parts = [
        aligner.chunk(text, chunk(0, 1, span=Span(0, 13))),
        aligner.chunk(text, chunk(1, 2, [(0.1, 0.4, 0, 3)], span=Span(0, 13))),
        aligner.chunk(text, chunk(2, 2, [(0.9, 1.2, 4, 7), (1.4, 1.9, 8, 13)])),
    ]
    assert [text_of(part) for part in parts] == ["", "one ", "two three "]
    assert (parts[1].starts[0], parts[1].ends[-1]) == pytest.approx((0.1, 0.4))
    assert (parts[2].starts[0], parts[2].starts[4], parts[2].ends[-1]) == pytest.approx((0.9, 1.4, 1.9))
    assert parts[2].starts[-1] == aligner.time == pytest.approx(1.9)


def test_what_is_not_spoken_is_added_at_the_end():
    aligner = CharacterAligner(spaced=False)
    found = aligner.chunk("Hi {}", chunk(0, 1, [(0, 0.5, 0, 2)]))
    rest = aligner.rest("Hi {} x")
    assert text_of(found) + text_of(rest) == "Hi {} x"
    assert rest.starts[0] == found.ends[-1]


def test_times_never_decrease_whatever_an_engine_says():
    aligner = CharacterAligner(spaced=True)
    text = "one two three"
    parts = [
        aligner.chunk(text, chunk(0, 1, [(0.5, 1.4, 0, 3)])),
        aligner.chunk(text, chunk(1, 2, [(0.7, 0.9, 4, 7), (3.0, 2.0, 8, 13)])),
        aligner.chunk(text, chunk(2, 3, [(0.0, 0.1, 0, 3)])),
    ]
    times = [time for part in parts for pair in zip(part.starts, part.ends, strict=True) for time in pair]
    assert times == sorted(times)
    assert [part.ends[-1] for part in parts] == [1.0, 2.0, 3.0]


def test_white_space_is_plain_and_keeps_its_length():
    found = CharacterAligner(spaced=False).chunk("a\n\tb", chunk(0, 1, [(0, 0.4, 0, 1), (0.6, 1, 3, 4)]))
    assert text_of(found) == "a  b"


def test_milliseconds_are_whole_and_counted_from_an_origin():
    alignment = Alignment(("a", "b"), (1.0004, 1.2), (1.2, 1.5))
    assert alignment.milliseconds(CAMEL_CASE, 1.0) == {
        "chars": ["a", "b"],
        "charStartTimesMs": [0, 200],
        "charDurationsMs": [200, 300],
    }
    assert set(alignment.milliseconds(SNAKE_CASE)) == {"chars", "char_start_times_ms", "char_durations_ms"}
