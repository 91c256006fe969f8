"""Arriving text is cut where the whole text would be, as early as that is certain, and reads as the whole does."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.text.segmentation.assembler import MAX_SEGMENT_CHARS, TextAssembler

TEXT = (
    'Dr. Smith paid $3.50 at 5 p.m. on Monday. "Why?" he asked... Then: silence! 你好。你好吗？好！\n\n'
    "1. First of all\n2. And so on, e.g. this… and that… Yes."
)


def split(*pieces, **options):
    assembler = TextAssembler(**options)
    segments = [segment for piece in pieces for segment in assembler.push(piece)]
    return segments + list(assembler.finish())


def texts(segments):
    return [segment.text for segment in segments]


def whole_characters(raw):
    """The text with the halves of surrogate pairs joined, and U+FFFD for a half alone."""
    joined = raw.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return re.sub("[\ud800-\udfff]", "\ufffd", joined)


def utf16_halves(text):
    """The characters of a text, those of the upper planes as two surrogates."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def test_sentences_are_those_of_the_whole_text():
    assert texts(split(TEXT)) == [
        "Dr. Smith paid $3.50 at 5 p.m. on Monday.",
        '"Why?" he asked...',
        "Then: silence!",
        "你好。",
        "你好吗？",
        "好！",
        "1. First of all",
        "2. And so on, e.g. this… and that…",
        "Yes.",
    ]


ATOMS = [
    "the ", "wall, ", "it's ", "5 ", "Dr. ", "end. ", "好，", "墙", "I ", "so\n", "<b>", "</b>", "<", "[", "]", "(",
    "](", "[pause:1s]", "[a b](/x. y/)", "[t. t](http://a.b/c)", "<img src='a. B'>", "EE. ", "UU. ", "No. ", "…",
    "! ", "? ", '"', "'", "\ud83d", "\ude00", "👍🏽", "é", "e\u0301", "क्", "ि", "। ", "रु. ", "３．", "１", "$1,200.50 ",
    "p.m.", "https://a.b/c?d. ", "e.g. ", "— ", "—", "and of the old town ", "etc. ", "vol. ", "III ", "<|x|>", "x<y ",
    '<br time="1. 2"/>', "<!-- a. b -->", "。", "」", "\n\n", "1. ", "x" * 70, "<i x=" + "y" * 90 + ">",
    "a. C. ", "we went there, and then we came home ",
]  # fmt: skip
WILD = st.text(st.sampled_from(" \n.,!?…。，\"'”)aB5é你Dr<>[]"), max_size=900)
ANYTHING = WILD | st.lists(st.sampled_from(ATOMS), max_size=60).map("".join)
OPTIONS = st.sampled_from([{}, {"max_chars": 80}, {"max_chars": 80, "phrases": True}])


@pytest.mark.long
@given(ANYTHING, st.lists(st.integers(0, 900), max_size=12), OPTIONS)
@examples(120)
def test_segments_do_not_depend_on_how_the_text_was_sent(raw, places, options):
    cuts = [0, *sorted(min(place, len(raw)) for place in places), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    segments = split(*pieces, **options)
    assert segments == split(raw, **options) == split(*utf16_halves(raw), **options)
    whole = whole_characters(raw)
    assert all(whole[segment.start : segment.end] == segment.text for segment in segments)
    assert "".join("".join(texts(segments)).split()) == "".join(whole.split())


def stopped(whole, stops, **options):
    """The segments of a text that is flushed or released at some of its places."""
    assembler, segments, done = TextAssembler(**options), [], 0
    for place, kind in sorted(stops):
        if done <= place <= len(whole):
            segments += assembler.push(whole[done:place])
            segments += assembler.flush() if kind == "flush" else assembler.release()
            done = place
    return [*segments, *assembler.push(whole[done:]), *assembler.finish()]


STOPS = st.lists(st.tuples(st.integers(0, 900), st.sampled_from(["flush", "release"])), max_size=6)
PROSE = [
    "the ",
    "wall, ",
    "it's ",
    "5 ",
    "Dr. ",
    "end. ",
    "and ",
    "$1,200.50 ",
    "https://a.b/c?d. ",
    "slowly ",
    "U.S. ",
]


@given(ANYTHING, STOPS, OPTIONS)
@examples(60)
def test_nothing_is_lost_or_moved_by_flushes_and_releases(raw, stops, options):
    whole = whole_characters(raw)
    segments = stopped(whole, stops, **options)
    assert all(whole[segment.start : segment.end] == segment.text for segment in segments)
    assert "".join("".join(texts(segments)).split()) == "".join(whole.split())


@given(st.lists(st.sampled_from(PROSE), max_size=90).map("".join), STOPS, OPTIONS)
@examples(60)
def test_flushes_between_words_and_releases_anywhere_leave_the_words_whole(whole, stops, options):
    between = [(whole.find(" ", place), kind) if kind == "flush" else (place, kind) for place, kind in stops]
    segments = stopped(whole, between, **options)
    assert [word for segment in segments for word in segment.text.split()] == whole.split()


@each_row(
    ("sent", "known"),
    [
        ("It rained.", []),
        ("It rained. ", ["It rained."]),
        ("It rained at 5 p.m. ", []),
        ("It rained at 5 p.m. The", []),
        ("It rained at 5 p.m. The ", ["It rained at 5 p.m."]),
        ("It rained! ", ["It rained!"]),
        ("It rained\n", ["It rained"]),
        ("It rained.\n", ["It rained."]),
        ("See Dr. Who ", []),
        ("Vive en EE. ", []),
        ("It costs $1. ", []),
        ("下雨了。", []),
        ("下雨了。他", ["下雨了。"]),
        ("यह अच्छा है। ", ["यह अच्छा है।"]),
        ("Lihat <b title='It rained. ", []),
        ("See [the page. It is ", []),
        ("I think x <y or so. ", ["I think x <y or so."]),
    ],
)
def test_a_sentence_is_yielded_once_nothing_can_change_its_end(sent, known):
    assert texts(TextAssembler().push(sent)) == known


@each_row(
    ("raw", "segments"),
    [
        (
            "When the old man came home, he sat down by the fire. When he had eaten, he went to bed at once.",
            ["When the old man came home,", "he sat down by the fire.", "When he had eaten, he went to bed at once."],
        ),
        ("Then she told us all; and we believed every word.", ["Then she told us all;", "and we believed every word."]),
        ("There was only one way — he had to leave soon.", ["There was only one way —", "he had to leave soon."]),
        ("今天下午一直在下雨，我们都在家里看书和喝茶。", ["今天下午一直在下雨，", "我们都在家里看书和喝茶。"]),
        ("今日はとても寒いので、家で本を読みましょう。", ["今日はとても寒いので、", "家で本を読みましょう。"]),
        ("जब वह घर आया तो थका था, और फिर वह जल्दी सो गया।", ["जब वह घर आया तो थका था,", "और फिर वह जल्दी सो गया।"]),
        ("Walaupun hujan lebat, kami tetap pergi ke pasar.", ["Walaupun hujan lebat,", "kami tetap pergi ke pasar."]),
        ("Cuando llegó a su casa, ella ya estaba durmiendo.", ["Cuando llegó a su casa,", "ella ya estaba durmiendo."]),
    ],
)  # fmt: skip
def test_the_first_segment_may_be_a_clause(raw, segments):
    assert texts(split(raw)) == texts(split(*raw)) == segments


@each_row(
    "raw",
    [
        "Hello there, my dear old friend of many years.",
        "We had a lot of rain here, and then none.",
        "We will meet again on May 5, 2024 in the old town.",
        "The rooms cost us about 5 each, and the meals were dear.",
        "We went all the way to Paris, Texas for the wedding.",
        "It was (as we all knew by then, and said so often) late.",
        "¿Quieres venir a mi casa, amigo mío de toda la vida?",
        "一共来了三十五、四十二个人和他们的孩子。",
        "我们一共付了很多钱是3，000元人民币左右。",
    ],
)
def test_a_clause_that_needs_the_rest_waits_for_it(raw):
    assert texts(split(raw)) == [raw]


def test_a_sentence_without_end_is_split_at_a_clause_or_a_word_or_anywhere():
    clause, word, none = "one two three, " * 60, "word " * 200, "x" * 900
    _, second, *_ = split(clause)
    assert second.text.endswith("three,")
    assert 300 < len(second.text) <= MAX_SEGMENT_CHARS
    assert {segment.text[-4:] for segment in split(word)} == {"word"}
    assert [len(segment.text) for segment in split(none)] == [400, 400, 100]
    assert {len(segment.text) % 2 for segment in split("e\u0301" * 900)} == {0}, "an accent stays with its letter"


@each_row(
    ("raw", "segments"),
    [
        ("we saw the old man there.", ["we saw the", "old man there."]),
        ("On May 5, 2024 we saw the old man there.", ["On May 5, 2024 we saw the", "old man there."]),
        ("he paid about 5 km later on", ["he paid about 5 km later on"]),
        ("we asked for old Dr. Smith again.", ["we asked for old Dr. Smith again."]),
        ("今天下雨，我们在家。", ["今天下雨，", "我们在家。"]),
        ("一共3，000元。", ["一共3，000元。"]),
        ("वह बहुत थका हुआ घर आया।", ["वह बहुत थका", "हुआ घर आया।"]),
    ],
)
def test_phrases_are_split_off_only_where_what_follows_does_not_matter(raw, segments):
    assert texts(split(raw, phrases=True)) == segments
    assert [segment.ends_sentence for segment in split(raw, phrases=True)] == [False] * (len(segments) - 1) + [True]


class TestMarkup:
    @each_row(
        ("raw", "segments"),
        [
            ("Wait <break time='1. 5s'/> here. Go.", ["Wait <break time='1. 5s'/> here.", "Go."]),
            ("<b>It rained.</b> We left.", ["<b>It rained.</b>", "We left."]),
            ("See [Dr. Who. A film](http://a.b/c) now. Go.", ["See [Dr. Who. A film](http://a.b/c) now.", "Go."]),
            ("Say [it. Now](/ɪt. naʊ/) twice. Go.", ["Say [it. Now](/ɪt. naʊ/) twice.", "Go."]),
            ("Is x < y? Or y <x. Yes.", ["Is x < y?", "Or y <x.", "Yes."]),
        ],
    )
    def test_a_tag_is_never_cut_and_ends_no_sentence(self, raw, segments):
        assert texts(split(raw)) == texts(split(*raw)) == segments

    def test_a_cut_falls_before_an_opening_tag_and_behind_a_closing_one(self):
        raw = "and all the <b>old town was</b> asleep when we came home"
        assert texts(split(raw, phrases=True)) == [
            "and all the",
            "<b>old town was</b>",
            "asleep when we came home",
        ]
        assert texts(split(*raw, phrases=True)) == texts(split(raw, phrases=True))

    def test_a_tag_longer_than_a_segment_stays_whole(self):
        tag = f"<img alt='{'a. B ' * 120}'/>"
        assert tag in [segment.text for segment in split(f"{tag} It rained. Go.", max_chars=80)]


class TestFlush:
    def test_everything_is_spoken_even_within_a_word(self):
        assembler = TextAssembler()
        assert texts(assembler.push("One two. Three fo")) == ["One two."]
        assert texts(assembler.flush()) == ["Three fo"]
        assert texts(assembler.flush()) == []
        assert [(segment.text, segment.start) for segment in assembler.push("ur. Five ")] == [("ur.", 17)]
        assert texts(assembler.finish()) == ["Five"]

    def test_half_a_character_waits_for_the_other_half(self):
        assembler = TextAssembler()
        assert texts(assembler.push("Hi \ud83d")) == []
        assert texts(assembler.flush()) == ["Hi"]
        assert texts([*assembler.push("\ude00 ok"), *assembler.flush()]) == ["😀 ok"]
        assert texts([*assembler.push("\ud83d"), *assembler.finish()]) == ["\ufffd"]

    def test_the_next_segment_may_be_a_clause_again(self):
        assembler = TextAssembler()
        assert texts([*assembler.push("It rained. Then it "), *assembler.flush()]) == ["It rained.", "Then it"]
        raw = "when the old man came home, he sat down by the fire."
        assert texts(assembler.push(raw)) == ["when the old man came home,"]


class TestRelease:
    """After a pause in the text, only that is spoken which no further text can change."""

    @each_row(
        ("there", "released"),
        [
            ("Let me check that for you.", ["Let me check that for you."]),
            ("Let me check that for you. ", ["Let me check that for you."]),
            ("Are you sure?", ["Are you sure?"]),
            ("Well then, let m", ["Well then,"]),
            ("The old man walked slowly and t", ["The old man walked slowly"]),
            ("下雨了，我们都", ["下雨了，"]),
            ("下雨了。", ["下雨了。"]),
            ("यह अच्छा है।", ["यह अच्छा है।"]),
            ("We all paid them, about $1,200.5", ["We all paid them,"]),
            ("Hello wor", []),
            ("It costs $1,200", []),
            ("It costs $1,200 ", []),
            ("It costs $1,200. ", []),
            ("Call me on 555 123 ", []),
            ("We meet on 5 March ", []),
            ("We met old Dr. ", []),
            ("Le relevé de sept.", []),
            ("I like fruit, e.g. ", ["I like fruit,"]),
            ("He lives in the U.S. ", []),
            ("Please go and visit example.", []),
            ("Please look at https://example.com/a?", []),
            ("Please write to me@example.", []),
            ("Now open the file called notes.", []),
            ("We <b title='and of ", []),
            ("Great work 👍\u200d", []),
            ("The cafe", []),
            ("Kod anda: ", []),
            ("在github.", []),
            ("", []),
            (" \n", []),
        ],
    )
    def test_what_is_released(self, there, released):
        assembler = TextAssembler()
        pushed = texts(assembler.push(there))
        assert pushed + texts(assembler.release()) == released
        assert texts(assembler.release()) == []
        assembled = "".join(released) + "".join(texts(assembler.finish()))
        assert "".join(assembled.split()) == "".join(there.split())

    def test_the_rest_goes_on_from_there(self):
        assembler = TextAssembler()
        whole = "The old man walked slowly and then he sat down. Go."
        segments = [*assembler.push(whole[:31]), *assembler.release(), *assembler.push(whole[31:]), *assembler.finish()]
        assert texts(segments) == ["The old man walked slowly", "and then he sat down.", "Go."]
        assert all(whole[segment.start : segment.end] == segment.text for segment in segments)
        assert [segment.ends_sentence for segment in segments] == [False, True, True]


def seconds(text, size):
    start = time.thread_time()
    assembler = TextAssembler()
    for at in range(0, len(text), size):
        for _ in assembler.push(text[at : at + size]):
            pass
    for _ in assembler.finish():
        pass
    return time.thread_time() - start


HOSTILE = ["The old man paid 3 apples for $2.50, at 5 p.m. on Monday. ", "1", ".", ". ", "x", "[", "<", "<b>", "[x](y)",
           "(", "a, ", "\n", "，", "e\u0301", "Dr. ", "<b c='d' ", "<a" + " " * 500]  # fmt: skip


@pytest.mark.long
@each_row("piece", HOSTILE)
def test_time_grows_with_the_length_alone(piece):
    size = 500 if piece[0] in "<[" else 1_000
    short, long = (piece * size)[:size], (piece * 4 * size)[: 4 * size]
    assert grows_linearly(lambda text: seconds(text, 1), short, long, at_most=8, slack=0.02)


@pytest.mark.long
@each_row("text", ["1" * 10_000, "." * 50_000, "x" * 1_000_000, "([{<" * 5_000, "😀" * 20_000])
def test_a_hostile_text_at_once_is_cut_in_no_time(text):
    assert seconds(text, len(text)) < 3
    assert max(len(segment.text) for segment in split(text)) < MAX_SEGMENT_CHARS + 64
