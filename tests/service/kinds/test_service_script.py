"""Texts with markup as sessions: several voices and paces in one stream, and spans of what the caller wrote."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from helpers.cloning import CloneEngine, Studio, opened, sample
from helpers.fakes import PlainToneEngine, ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.errors import MarkupError, SilentTextError, UnknownVoiceError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.kinds.dialogue import resolve_dialogue
from polyvox.service.kinds.dialogue_segments import DialogueTurn
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.kinds.voice_aliases import VoiceAlias, VoiceAliases
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import AudioChunk, Utterance
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import InlineVoice

pytestmark = pytest.mark.anyio

ON = MarkupRequest(voice_tags=True)


def request(text, markup=ON, **options):
    return SpeechRequest(Utterance(text, "low", **options), door="test", markup=markup)


async def spoken(engine, asked, **settings):
    service = tone_service(engine, **settings)
    async with running(service), await service.open(asked, LOCAL_CALL) as session:
        chunks = [chunk async for chunk in session]
        return chunks, session.warnings


def heard(engine):
    return [(one.text.strip(), one.voice, one.speed) for one in engine.heard]


async def test_each_passage_is_spoken_in_its_voice_and_at_its_pace():
    engine = ToneEngine()
    text = "One. [voice:high] Two. [rate:2]Three. [voice:low] Four."
    chunks, warnings = await spoken(engine, request(text, speed=1.5))
    assert heard(engine) == [
        ("One.", "low", 1.5), ("Two.", "high", 1.5), ("Three.", "high", 3.0), ("Four.", "low", 1.5)
    ]  # fmt: skip
    assert warnings == ()
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(one.end == other.start for one, other in pairwise(chunks))
    words = [word for chunk in chunks for word in chunk.words]
    assert [text[word.span.start : word.span.end] for word in words] == ["One.", "Two.", "Three.", "Four."]
    assert all(one.end <= other.start + 1e-9 for one, other in pairwise(words))
    assert {chunk.voice for chunk in chunks if chunk.words} == {"low", "high"}


class DeafEngine(ToneEngine):
    """Finds nothing to speak in a text of the letter x alone, as an engine does in letters that it cannot read."""

    async def speak(self, utterance):
        if set(utterance.text.strip()) == {"x"}:
            raise SilentTextError("Nothing in the text can be spoken.", field="input")
        async for chunk in super().speak(utterance):
            yield chunk


async def test_a_passage_in_which_the_engine_finds_nothing_to_speak_is_left_out_with_a_warning():
    whole, _ = await spoken(ToneEngine(), request("One. [voice:high] Two."))
    length = sum(len(chunk.pcm) for chunk in whole)
    for text in ("One. [voice:high] xx [voice:low] Two.", "xx [voice:low] One. [voice:high] Two. [rate:2] xx"):
        chunks, warnings = await spoken(DeafEngine(), request(text))
        assert warnings == ("nothing-to-speak: xx" + " x2" * (text.count("xx") - 1),)
        assert [word.word.strip(".") for chunk in chunks for word in chunk.words] == ["One", "Two"]
        assert sum(len(chunk.pcm) for chunk in chunks) == length
        assert all(one.end == other.start for one, other in pairwise(chunks))
    with pytest.raises(SilentTextError):
        await spoken(DeafEngine(), request("xx [voice:high] xx"))


async def test_tags_are_dropped_unless_the_request_or_the_server_allows_them():
    text = "One. [voice:high] Two."
    for markup, allowed, voices in (
        (MarkupRequest(), False, ["low"]),
        (MarkupRequest(), True, ["low", "high"]),
        (MarkupRequest(voice_tags=False), True, ["low"]),
        (ON, False, ["low", "high"]),
    ):
        engine = ToneEngine()
        _, warnings = await spoken(engine, request(text, markup), allow_voice_tags=allowed)
        assert [one.voice for one in engine.heard] == voices
        assert warnings == (() if len(voices) == 2 else ("dropped-markup: [voice:high]",))
        assert "[" not in "".join(one.text for one in engine.heard)


async def test_an_unknown_voice_is_ignored_with_a_warning_and_aliases_bring_their_pace():
    engine = ToneEngine()
    markup = MarkupRequest(voice_tags=True, aliases=VoiceAliases({"anna": VoiceAlias("high", 0.5)}))
    _, warnings = await spoken(engine, request("One. [voice:nobody] Two. [voice:Anna] Three. [rate:3] Four.", markup))
    assert heard(engine) == [
        ("One.", "low", 1.0),
        ("Two.", "low", 1.0),
        ("Three.", "high", 0.5),
        ("Four.", "high", 1.5),
    ]
    assert warnings == ("ignored-markup: [voice:nobody]",)


async def test_an_unknown_voice_is_refused_where_the_caller_asks_for_tags():
    markup = MarkupRequest(voice_tags=True, all_voices=True, aliases=VoiceAliases({"bert": VoiceAlias("nowhere")}))
    for text in ("One. [voice:nobody] Two.", "One. [voice:bert] Two."):
        with pytest.raises(UnknownVoiceError, match="which the text names") as refused:
            await spoken(ToneEngine(), request(text, markup))
        assert refused.value.field == "input"


def test_an_alias_that_is_spelled_alike_goes_before_one_in_another_case():
    aliases = VoiceAliases({"Bob": VoiceAlias("low"), "bob": VoiceAlias("high")})
    found = {name: getattr(aliases.find(name), "voice", None) for name in ("bob", "Bob", " BOB ", "bo")}
    assert found == {"bob": "high", "Bob": "low", " BOB ": "low", "bo": None}


async def test_an_engine_without_its_own_pace_is_stretched_by_passages():
    engine = PlainToneEngine(native_speed=False, chunk_seconds=0.5)
    chunks, _ = await spoken(engine, request("One two three. [rate:2] Four five six."))
    assert sum(len(chunk.pcm) for chunk in chunks) / 24_000 == pytest.approx(1.5 + 0.75, abs=0.06)
    last = [word for chunk in chunks for word in chunk.words][-1]
    assert last.word == "six."
    assert last.end == pytest.approx(2.25, abs=0.06)


async def test_pauses_are_silence_between_the_words_and_bounded():
    engine = PlainToneEngine()
    chunks, _ = await spoken(engine, request("One two. [pause:5s] Three."))
    pcm = np.concatenate([chunk.pcm for chunk in chunks])
    assert len(pcm) / 24_000 == pytest.approx(0.3 + 5 + 0.3)
    assert not pcm[round(0.31 * 24_000) : round(5.29 * 24_000)].any()
    assert max(len(chunk.pcm) for chunk in chunks) <= 2 * 24_000, "no chunk is large"
    service = tone_service(PlainToneEngine(), max_pause_seconds=10)
    async with running(service):
        with pytest.raises(MarkupError, match="pauses last 15 s"):
            await service.open(request("One [pause:5s] [pause:5s] [pause:5s] two."), LOCAL_CALL)


class TrailingEngine(PlainToneEngine):
    """A tone engine that ends every utterance with half a second of silence."""

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            yield chunk
        end = chunk.end
        yield AudioChunk(np.zeros(12_000, np.float32), 24_000, chunk.index + 1, end)


@each_row(("mark", "gap"), [("", 0.04), (",", 0.18), (".", 0.5), ('."', 0.5)])
async def test_a_change_within_a_sentence_leaves_no_gap_in_it(mark, gap):
    text = f"This is{mark} [rate:0.5]very [rate:1]good."
    chunks, _ = await spoken(TrailingEngine(), request(text))
    seconds = sum(len(chunk.pcm) for chunk in chunks) / 24_000
    assert seconds == pytest.approx(0.3 + gap + 0.6 + 0.04 + 0.3 + 0.5, abs=0.01)
    words = [word for chunk in chunks for word in chunk.words]
    assert words[2].start == pytest.approx(0.3 + gap + 0.4, abs=0.01)


class PaddedEngine(TrailingEngine):
    """A tone engine that begins every utterance with a time that is almost silent, and ends with half a second."""

    def __init__(self, lead, **options):
        super().__init__(**options)
        self._lead = round(lead * 24_000)

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            quiet = np.full(self._lead if chunk.index == 0 else 0, 1e-4, np.float32)
            shift = self._lead / 24_000
            words = tuple(replace(word, start=word.start + shift, end=word.end + shift) for word in chunk.words)
            start = chunk.start + (self._lead if chunk.index else 0)
            yield replace(chunk, pcm=np.concatenate((quiet, chunk.pcm)), start=start, words=words)


@each_row("lead", [0.0, 0.03, 0.25])
@each_row("mark", ["", ",", "."])
@each_row("seconds", [0.05, 0.1, 0.7, 2.5])
async def test_a_break_is_as_long_as_it_says(lead, mark, seconds):
    text = f"<speak>One two{mark}<break time='{seconds}s'/><mark name='m'/>three four.</speak>"
    chunks, _ = await spoken(PaddedEngine(lead), request(text, MarkupRequest(ssml=True)))
    pcm = np.concatenate([chunk.pcm for chunk in chunks])
    loud = np.flatnonzero(np.abs(pcm) > 2e-3)
    assert np.diff(loud).max() / 24_000 == pytest.approx(seconds, abs=0.002)
    assert all(one.end == other.start for one, other in pairwise(chunks))
    words = [word for chunk in chunks for word in chunk.words]
    # A passage of this engine has its first word 0.1 s behind its beginning.
    assert words[2].start == pytest.approx(lead + 0.3 + seconds + 0.1, abs=0.002)
    assert [found.time for chunk in chunks for found in chunk.marks] == [words[2].start]


async def test_a_break_behind_the_last_word_is_as_long_as_it_says():
    chunks, _ = await spoken(TrailingEngine(), request("<speak>One.<break time='0.7s'/></speak>", MarkupRequest()))
    assert sum(len(chunk.pcm) for chunk in chunks) / 24_000 == pytest.approx(0.3 + 0.7, abs=0.005)


async def test_a_seed_makes_the_same_text_twice_sound_different_but_the_whole_repeatable():
    engine = ToneEngine()
    await spoken(engine, request("One. [voice:high] One. [voice:low] One.", seed=3))
    first = [one.seed for one in engine.heard]
    assert first[0] == 3
    assert len(set(first)) == 3
    again = ToneEngine()
    await spoken(again, request("One. [voice:high] One. [voice:low] One.", seed=3))
    assert [one.seed for one in again.heard] == first


async def test_a_text_without_markup_is_handed_on_untouched():
    engine = ToneEngine()
    await spoken(engine, request("Plain [1] text."))
    assert engine.heard[0].text == "Plain [1] text."


async def test_more_voices_than_a_dialogue_may_have_are_ignored():
    engine = ToneEngine()
    _, warnings = await spoken(engine, request("[voice:high] a [voice:low] b."), dialogue_max_voices=1)
    assert [one.voice for one in engine.heard] == ["high", "low"]
    assert "those named later are ignored" in warnings[0]


async def test_a_registered_voice_may_be_named_by_a_tag(tmp_path):
    studio = Studio(tmp_path, CloneEngine())
    async with opened(studio):
        await studio.voices.register(
            InlineVoice(sample(1)), VoiceDetails.checked(name="anna", transcript="Hello.", consent=True), SHARED_OWNER
        )
        by_name = studio.voices.resolver.by_name(SHARED_OWNER, None)
        asked = request("One. [voice:anna] Two.", MarkupRequest(voice_tags=True, resolve_voice=by_name))
        async with await studio.speech.open(asked, LOCAL_CALL) as session:
            _ = [chunk async for chunk in session]
        assert session.warnings == ()
        assert [one.prepared is None for one in studio.engine.heard] == [True, False]


async def test_the_turns_of_a_dialogue_are_cleaned_and_keep_their_spans(tmp_path):
    studio = Studio(tmp_path, ToneEngine())
    turns = [DialogueTurn("low", "<b>One</b> two."), DialogueTurn("high", "[voice:low] Three <|x|> four.")]
    resolve_kind = partial(
        resolve_dialogue,
        turns,
        0.1,
        studio.voices.resolver,
        studio.speech.settings,
        owner=SHARED_OWNER,
        model=None,
        speed=1.0,
    )
    async with running(studio.speech):
        asked = SpeechRequest(Utterance("", "dialogue"), door="test", resolve_kind=resolve_kind)
        async with await studio.speech.open(asked, LOCAL_CALL) as session:
            chunks = [chunk async for chunk in session]
    assert [one.text for one in studio.engine.heard] == ["One two.", "Three four."]
    assert session.warnings == ("dropped-markup: <b>, </b>, [voice:low], <|x|>",)
    whole = "\n".join(turn.text for turn in turns)
    spans = [word.span for chunk in chunks for word in chunk.words]
    assert [whole[span.start : span.end] for span in spans] == ["One", "two.", "Three", "four."]


async def test_markup_in_a_text_that_is_still_arriving_is_dropped_and_reported_at_the_end():
    async def pieces():
        for piece in ("One <", "b>two</b>. Th", "ree <|x|> four."):
            yield piece

    engine = ToneEngine()
    service = tone_service(engine)
    asked = SpeechRequest(Utterance("", "low"), door="test", kind=SpeakStream(pieces(), 100))
    async with running(service), await service.open(asked, LOCAL_CALL) as session:
        assert session.warnings == ()
        chunks = [chunk async for chunk in session]
        assert session.warnings == ("dropped-markup: <b>, </b>, <|x|>",)
    assert [one.text for one in engine.heard] == ["One two.", "Three four."]
    whole = "One <b>two</b>. Three <|x|> four."
    spans = [word.span for chunk in chunks for word in chunk.words]
    assert [whole[span.start : span.end] for span in spans] == ["One", "two</b>.", "Three", "four."]


class TestSsml:
    async def said(self, text, engine=None, ssml=True, **settings):
        engine = engine or ToneEngine()
        chunks, warnings = await spoken(engine, request(text, MarkupRequest(ssml=ssml)), **settings)
        return engine, chunks, warnings

    async def test_elements_change_voice_pace_volume_and_time(self):
        engine, chunks, warnings = await self.said(
            "<speak>One two.<break time='3s'/><voice name='high'>Three.</voice>"
            "<prosody rate='200%' volume='-6dB'>Four.</prosody></speak>"
        )
        assert heard(engine) == [("One two.", "low", 1.0), ("Three.", "high", 1.0), ("Four.", "low", 2.0)]
        assert warnings == ()
        pcm = np.concatenate([chunk.pcm for chunk in chunks])
        assert len(pcm) / 24_000 == pytest.approx(0.3 + 3 + 0.3 + 0.15)
        loud, soft = np.abs(pcm[:7_200]).max(), np.abs(pcm[-3_000:]).max()
        assert soft == pytest.approx(loud / 2, rel=0.02)

    async def test_a_pitch_is_raised_without_a_change_of_pace(self):
        _, chunks, _ = await self.said(
            "<prosody pitch='+12st'>One two three.</prosody>", ToneEngine(chunks=2, chunk_seconds=1.0)
        )
        pcm = np.concatenate([chunk.pcm for chunk in chunks])
        assert len(pcm) / 24_000 == pytest.approx(2.0, abs=0.1)
        middle = pcm[12_000:36_000]
        hertz = np.argmax(np.abs(np.fft.rfft(middle * np.hanning(len(middle))))) * 24_000 / len(middle)
        assert hertz == pytest.approx(440, abs=8)
        words = [word for chunk in chunks for word in chunk.words]
        assert words[-1].end == pytest.approx(2.0, abs=0.1)

    @each_row("timed", [True, False])
    async def test_marks_have_their_times(self, timed):
        engine = ToneEngine()
        if not timed:
            engine._capabilities = replace(engine.capabilities, word_timings=False)
        _, chunks, _ = await self.said(
            "<speak><mark name='a'/>One two <mark name='b'/>three.<break time='1s'/><mark name='c'/></speak>", engine
        )
        marks = [(mark.name, round(mark.time, 3)) for chunk in chunks for mark in chunk.marks]
        assert marks == ([("a", 0.0), ("b", 0.2), ("c", 1.3)] if timed else [("a", 0.0), ("b", 0.3), ("c", 1.6)])

    async def test_a_document_is_known_by_its_first_element_unless_it_is_denied(self):
        text = "<speak>One <break time='1s'/> two.</speak>"
        for ssml, allowed, parts in ((None, True, 2), (True, True, 2), (False, True, 1), (None, False, 1)):
            engine, _, warnings = await self.said(text, ssml=ssml, allow_ssml=allowed)
            assert len(engine.heard) == parts
            assert bool(warnings) is (parts == 1)

    async def test_what_only_looks_like_ssml_is_spoken_without_its_tags(self):
        engine, _, warnings = await self.said("<speak>One & two <p>three.", ssml=None)
        assert [one.text.split() for one in engine.heard] == [["One", "&", "two", "three."]]
        assert "begins like SSML" in warnings[0]
        assert warnings[1] == "dropped-markup: <speak>, <p>"

    async def test_bad_ssml_and_too_much_silence_are_refused(self):
        with pytest.raises(MarkupError, match="line 1, column"):
            await self.said("<speak>One <p>two.</speak>")
        with pytest.raises(MarkupError, match="pauses last 360 s"):
            await self.said("<speak>One" + "<break time='60s'/>" * 6 + "</speak>")

    async def test_silence_alone_is_an_answer(self):
        _, chunks, _ = await self.said("<speak><break time='1s'/></speak>")
        assert sum(len(chunk.pcm) for chunk in chunks) == 24_000
