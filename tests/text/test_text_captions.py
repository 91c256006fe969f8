"""Captions: what professional subtitlers ask of cues, and files that parsers read back."""

import html
import json
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.text.captions import CaptionFormat, CaptionWord, Cue, CueRules, caption_words, captions, cues, cues_of
from polyvox.text.captions.words import Boundary
from polyvox.types import Span, WordTiming

_RULES = CueRules()
_TIMES = re.compile(r"(\d\d+):(\d\d):(\d\d)[,.](\d\d\d) --> (\d\d+):(\d\d):(\d\d)[,.](\d\d\d)")


def spoken(text: str, pattern: str = r"[\w'’-]*\w", hidden: str = r"(?!)") -> list[WordTiming]:
    """The words of a text at 80 ms a letter, with a pause behind each mark."""
    words, now = [], 0.0
    skipped = [match.span() for match in re.finditer(hidden, text)]
    for match in re.finditer(pattern, text):
        if not any(start <= match.start() < end for start, end in skipped):
            end = now + 0.08 * len(match[0])
            words.append(WordTiming(match[0], now, end, Span(*match.span())))
            now = end + (0.3 if text[match.end() : match.end() + 1] in ".,!?" else 0.0)
    return words


def lines_of(text: str, **options: str) -> list[tuple[str, ...]]:
    return [cue.lines for cue in cues(spoken(text, **options), text=text)]


# --- What cues say ---


def test_cues_keep_the_punctuation_and_the_spelling_of_the_caller() -> None:
    text = '"No!" he said -- Q&A (really)… €5, and/or <three>. It’s 3.14!'
    words = spoken(text, pattern=r"€?\d+(?:\.\d+)?|[\w’]+", hidden=r"<\w+>")

    assert " ".join(line for cue in cues(words, text=text) for line in cue.lines) == (
        '"No!" he said -- Q&A (really)… €5, and/or . It’s 3.14!'
    )


@each_row(
    ("text", "hidden", "shown"),
    [
        ("One. [pause:1s] Two.", r"\[pause[^]]*\]", "One. Two."),
        ("A [tomato](/təˈmɑː/) here.", r"\(/.*/\)", "A tomato here."),
        ("See [the docs](https://a.org/b).", r"\(http.*?\)", "See the docs."),
        ("<speak>Tea &amp; milk<break time='1s'/> now.</speak>", r"<[^>]*>|&amp;", "Tea & milk now."),
        ("[voice:am_adam] Never! [rate:0.8] Ne-ver.", r"\[[^]]*\]", "Never! Ne-ver."),
        ("# **Bold** _move_\n\n- item", r"(?!)", "Bold move item"),
        ("a\u200bb\u202e c", r"(?!)", "ab c"),
    ],
)
def test_cues_are_without_markup(text: str, hidden: str, shown: str) -> None:
    said = " ".join(line for lines in lines_of(text, hidden=hidden) for line in lines)

    assert said.replace("a b", "ab") == shown


def test_words_without_their_text_are_spaced_by_their_spans() -> None:
    chinese = [WordTiming(char, at, at + 0.5, Span(at, at + 1)) for at, char in enumerate("你好")]
    english = [WordTiming("Hello", 0, 0.5, Span(0, 5)), WordTiming("you", 0.5, 1, Span(7, 10))]

    assert cues(chinese)[0].lines == ("你好",)
    assert cues(english)[0].lines == ("Hello you",)


def test_a_sentence_that_fits_is_a_cue_of_its_own() -> None:
    assert lines_of("The tide is out this morning. The boats lie on the sand. Nobody is here.") == [
        ("The tide is out this morning.",),
        ("The boats lie on the sand.",),
        ("Nobody is here.",),
    ]


def test_sentences_too_short_to_be_read_alone_share_a_cue() -> None:
    assert lines_of("Yes. No. So it is, then.")[0][0].startswith("Yes. No.")


def test_abbreviations_end_no_cue() -> None:
    assert lines_of("I saw Dr. Who and Mr. Smith near the old mill there.")[0][0].startswith("I saw Dr. Who and")


def test_lines_end_before_conjunctions_and_never_behind_an_article() -> None:
    text = "He opened the very old wooden door and walked quietly into the dark garden behind the house"
    found = lines_of(text)

    assert [line for lines in found for line in lines] == [
        "He opened the very old wooden door",
        "and walked quietly",
        "into the dark garden behind the house",
    ]


def test_chinese_lines_hold_eighteen_characters_and_never_begin_with_a_mark() -> None:
    text = "今天天气很好，我们一起去公园散步吧。公园里有很多花，红的、黄的、白的，非常漂亮！他说：「明天再来。」" * 3
    found = [line for lines in lines_of(text, pattern=r"\w") for line in lines]

    assert max(map(len, found)) <= 18
    assert not any(line[0] in "，。、！」：" for line in found)
    assert "".join(found) == text


def test_another_speaker_begins_another_cue() -> None:
    first = caption_words([WordTiming("Hello", 0, 0.4, Span(0, 5))], "Hello!", "Ann & Co")
    second = caption_words([WordTiming("Hi", 0.5, 0.7, Span(0, 2))], "Hi.", "Bob")
    found = cues_of([*first, *second])

    assert [(cue.speaker, cue.lines) for cue in found] == [("Ann & Co", ("Hello!",)), ("Bob", ("Hi.",))]
    assert "<v Ann &amp; Co>Hello!\n" in captions(found, CaptionFormat.VTT)
    assert "Ann & Co: Hello!\n" in captions(found, CaptionFormat.SRT)
    assert json.loads(captions(found, CaptionFormat.JSON))["cues"][1]["speaker"] == "Bob"


# --- When they are shown ---


def test_a_cue_stays_until_it_can_be_read_but_not_into_the_next() -> None:
    words = [WordTiming("Extraordinarily", 0, 0.2, Span(0, 15)), WordTiming("soon", 5.0, 5.2, Span(16, 20))]
    first, second = cues(words)

    assert (first.start, first.end) == (0.0, 1.0)
    assert second.end == 6.0


def test_cues_with_little_between_them_are_drawn_together() -> None:
    text = "The tide is out this morning. The boats lie on the sand."
    first, second = cues(spoken(text), text=text)

    assert second.start - first.end == pytest.approx(_RULES.gap_seconds, abs=0.001)


# --- Files ---


def test_markup_in_the_text_is_neither_obeyed_by_players_nor_lost() -> None:
    cue = Cue(0, 1, ("1 --> 2 <b>x</b> &", "{\\an8}"), (), "<v>")
    vtt, srt = captions([cue], CaptionFormat.VTT), captions([cue], CaptionFormat.SRT)

    assert vtt.count("-->") == 1
    assert vtt.count("<") == 1
    assert "<v &lt;v&gt;>1 --&gt; 2 &lt;b&gt;x&lt;/b&gt; &amp;\n{\\an8}\n" in vtt
    assert srt.count("-->") == 1
    assert not re.search(r"<[/a-z]|\{\\", srt)
    assert srt.replace("\u2060", "").endswith("<v>: 1 --> 2 <b>x</b> &\n{\\an8}\n")


def test_word_times_lie_inside_their_cue() -> None:
    text = "One two three."
    found = captions(cues(spoken(text), text=text), CaptionFormat.WORD_VTT)

    assert found.splitlines()[3] == "One <00:00:00.240>two <00:00:00.480>three."


def test_no_words_are_an_empty_file() -> None:
    assert [captions([], kind) for kind in CaptionFormat] == ["", "WEBVTT\n", "WEBVTT\n", '{"cues": []}']


# --- Whatever the words are ---

_letters = st.sampled_from([*"abcdeé'-&<>.,!?…", "日", "本", "。", "e\u0301", "-->", "{\\"])
_texts = st.lists(_letters, min_size=1, max_size=12).map("".join)
_word = st.tuples(
    _texts, st.booleans(), st.sampled_from(list(Boundary)), st.sampled_from(["", "", "Ann", "Bob & <Co>"]),
    st.one_of(st.floats(0, 3), st.just(0.0)), st.one_of(st.floats(0, 2), st.just(0.0)),
)  # fmt: skip


@st.composite
def _words(draw: st.DrawFn) -> list[CaptionWord]:
    words: list[CaptionWord] = []
    now, place = 0.0, 0
    for text, spaced, boundary, speaker, silence, length in draw(st.lists(_word, max_size=24)):
        text = text * draw(st.sampled_from([1, 1, 1, 9, 20]))
        start = now + silence * draw(st.sampled_from([0, 0, 1]))
        now = start + length
        timing = WordTiming(text, start, now, Span(place, place + len(text)))
        place += len(text) + 1
        words.append(CaptionWord(timing, text, spaced and bool(words), boundary, speaker))
    return words


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def _times(line: str) -> tuple[float, float]:
    found = _TIMES.fullmatch(line)
    assert found is not None, line
    numbers = [int(number) for number in found.groups()]
    return tuple(((h * 60 + m) * 60_000 + s * 1000 + ms) / 1000 for h, m, s, ms in (numbers[:4], numbers[4:]))  # type: ignore[return-value]


def _srt_cues(srt: str) -> list[tuple[float, float, str]]:
    """What a plain parser of SRT makes of a file: blocks between blank lines."""
    found = []
    for number, block in enumerate(filter(None, srt.split("\n\n")), 1):
        index, times, *lines = block.rstrip("\n").split("\n")
        assert int(index) == number
        found.append((*_times(times), "\n".join(lines).replace("\u2060", "")))
    return found


def _vtt_cues(vtt: str) -> list[tuple[float, float, str, str]]:
    head, *blocks = vtt.split("\n\n")
    assert head.rstrip("\n") == "WEBVTT"
    found = []
    for block in blocks:
        times, *lines = block.rstrip("\n").split("\n")
        voice = re.match(r"<v ([^>]*)>", lines[0])
        text = "\n".join(lines).removeprefix(voice[0] if voice else "")
        plain = re.sub(r"<\d\d:\d\d:\d\d\.\d\d\d>", "", text)
        assert "<" not in plain
        assert ">" not in plain
        found.append((*_times(times), html.unescape(voice[1]) if voice else "", html.unescape(plain)))
    return found


def _check_times(found: Sequence[Cue]) -> None:
    assert all(cue.start < cue.end for cue in found)
    assert all(before.end <= behind.start for before, behind in pairwise(found))
    spoken = [word for cue in found for word in cue.words]
    assert all(before.start <= behind.start for before, behind in pairwise(spoken))


@given(_words())
@examples(80)
def test_every_word_comes_once_in_order_and_fits(words: list[CaptionWord]) -> None:
    found = cues_of(words)

    assert _squeezed("".join(cue.text for cue in found)) == _squeezed("".join(word.text for word in words))
    for cue in found:
        assert 1 <= len(cue.lines) <= _RULES.max_lines
        assert all(0 < _RULES.width(line) <= _RULES.line_width for line in cue.lines)
        assert len(cue.offsets) == len(cue.words)
        spoken_for = cue.words[-1].end - cue.words[0].start
        assert len(cue.words) == 1 or spoken_for <= _RULES.max_seconds + 1e-9
    _check_times(found)


@examples(30)
@given(_words())
def test_parsers_read_back_what_was_written(words: list[CaptionWord]) -> None:
    found = cues_of(words)
    texts = [cue.text for cue in found]
    srt = _srt_cues(captions(found, CaptionFormat.SRT))
    named = [(cue.start, cue.end, cue.speaker, cue.text) for cue in found]

    assert [(start, end) for start, end, _ in srt] == [(cue.start, cue.end) for cue in found]
    assert all(text.endswith(cue) for (_, _, text), cue in zip(srt, texts, strict=True))
    assert _vtt_cues(captions(found, CaptionFormat.VTT)) == named
    assert _vtt_cues(captions(found, CaptionFormat.WORD_VTT)) == named
    assert [cue["text"] for cue in json.loads(captions(found, CaptionFormat.JSON))["cues"]] == texts


@given(st.text(st.sampled_from(list("ab .,\n[]()<>/&*_-!:日「」")), max_size=120))
@examples(80)
def test_whatever_the_text_no_timed_word_is_lost(text: str) -> None:
    words = spoken(text, pattern=r"[ab]+|日")
    said = _squeezed("".join(word.text for word in caption_words(words, text)))

    assert re.sub(r"[^ab日]", "", said) == "".join(word.word for word in words)
