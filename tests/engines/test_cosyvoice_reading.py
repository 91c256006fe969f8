"""Both CosyVoices while their text is still arriving, on tiny weights."""

import asyncio
import hashlib
from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest

from helpers.tables import each_row
from helpers.tiny_cosyvoice import FRONTEND, SEED, let_speech_end, prompt, tiny_model
from polyvox.engines.base import SupportsStreamingText
from polyvox.engines.cosyvoice.bistream import BistreamSource
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.frontend.frontend import CosyVoiceFrontend
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.lm_prompt import LmPrompt, PromptMode
from polyvox.engines.cosyvoice.phrases import Passages, StreamingFrontend
from polyvox.errors import EngineError, TextError
from polyvox.installation import load_settings
from polyvox.models.cosyvoice.speech_vocabulary import vocabulary_v2, vocabulary_v3
from polyvox.runtime.tokens import GenerationLimits, SamplingParams, TokenStream
from polyvox.types import NormalizationOptions, PreparedVoice, Utterance

pytestmark = pytest.mark.anyio
LONGER = "the wall and the wall all the word and a word."
VERSIONS = pytest.mark.parametrize("version", [2, 3])
TEXT = "all the wall and a word. Er!"


@asynccontextmanager
async def running(tmp_path, version, *, ends=True, **settings):
    folder = tiny_model(tmp_path / "model", version)
    if ends:
        let_speech_end(folder)
    engine = CosyVoiceEngine(load_settings(**{f"cosyvoice{version}_dir": folder}, **settings), version)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def in_pieces(text, size):
    for start in range(0, len(text), size):
        yield text[start : start + size]


def utterance(voice="spk_a", **more):
    return Utterance("", voice, **{"seed": SEED, **more})


async def said(engine, pieces, asked):
    async with aclosing(engine.speak_stream(asked, pieces)) as chunks:
        return [chunk async for chunk in chunks]


def fingerprint(chunks):
    return [
        (chunk.start, chunk.tokens, chunk.text, hashlib.sha256(chunk.pcm.tobytes()).hexdigest()) for chunk in chunks
    ]


@pytest.mark.slow
async def test_the_sound_is_the_same_however_the_text_was_cut(tmp_path):
    async with running(tmp_path, 3) as engine:
        asked = utterance(prepared=await engine.prepare(prompt()))
        whole = await said(engine, in_pieces("a wall.", 7), asked)
        assert fingerprint(await said(engine, in_pieces("a wall.", 1), asked)) == fingerprint(whole)
        assert np.abs(whole[0].pcm).max() > 0


@pytest.mark.long
@VERSIONS
@pytest.mark.usefixtures("token_audio")
async def test_how_the_text_was_cut_into_pieces_is_not_heard(tmp_path, version):
    async with running(tmp_path, version) as engine:
        assert isinstance(engine, SupportsStreamingText)
        asked = utterance(prepared=await engine.prepare(prompt()))
        whole = await said(engine, in_pieces(TEXT, len(TEXT)), asked)
        other = said(engine, in_pieces("er.", 3), utterance(seed=1))
        in_letters, _ = await asyncio.gather(said(engine, in_pieces(TEXT, 1), asked), other)
        assert fingerprint(in_letters) == fingerprint(whole)
    assert [chunk.index for chunk in whole] == list(range(len(whole)))
    assert whole[-1].end == sum(len(chunk.pcm) for chunk in whole) == 960 * whole[-1].tokens.end
    assert "".join(chunk.text for chunk in whole) == TEXT
    assert (whole[-1].span.start, whole[-1].span.end) == (0, len(TEXT))
    assert all(np.isfinite(chunk.pcm).all() for chunk in whole)


@pytest.mark.long
@VERSIONS
@pytest.mark.usefixtures("token_audio")
async def test_audio_leaves_before_the_text_has_ended(tmp_path, version):
    more = asyncio.Event()

    async def typing():
        yield LONGER[:40]
        await more.wait()
        yield LONGER[40:]

    async with (
        running(tmp_path, version, ends=False) as engine,
        aclosing(engine.speak_stream(utterance(), typing())) as chunks,
    ):
        first = await asyncio.wait_for(anext(chunks), 60)
        assert len(first.pcm) > 0
        more.set()
        assert (await anext(chunks)).index == 1


@pytest.mark.long
@VERSIONS
@pytest.mark.usefixtures("token_audio")
async def test_speech_has_two_to_twenty_tokens_for_each_id(tmp_path, version):
    tokenizer = TextTokenizer(FRONTEND / "CosyVoice-BlankEN", Tags(version))
    async with running(tmp_path, version, ends=False) as engine:
        for text in ("er.", "a wall."):
            ids = len(tokenizer.encode(text))
            chunks = await said(engine, in_pieces(text, 4), utterance())
            # Long silences are cut short in version 3 after they were counted.
            assert chunks[-1].tokens.end <= 20 * ids
            assert version == 3 or chunks[-1].tokens.end >= 2 * ids


@pytest.mark.long
@pytest.mark.usefixtures("token_audio")
async def test_a_long_text_is_spoken_in_passages(tmp_path):
    text = "all the wall and all the word. " * 8
    async with running(tmp_path, 3) as engine:
        chunks = await said(engine, in_pieces(text, 11), utterance())
    said_by = [chunk.text for chunk in chunks if chunk.text]
    assert len(said_by) == 2
    assert " ".join(said_by) == text.strip()
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


@pytest.mark.long
@VERSIONS
@pytest.mark.usefixtures("token_audio")
async def test_leaving_frees_the_sequence_and_the_stream(tmp_path, version):
    async def endless():
        yield TEXT
        await asyncio.Event().wait()

    async with running(tmp_path, version, ends=False, cosyvoice_streams=1) as engine:
        async with aclosing(engine.speak_stream(utterance(), endless())) as chunks:
            await asyncio.wait_for(anext(chunks), 60)
        assert engine._running.scheduler.running == 0
        assert await asyncio.wait_for(said(engine, in_pieces("er.", 9), utterance()), 60)


@pytest.mark.long
@pytest.mark.usefixtures("token_audio")
async def test_who_has_written_nothing_yet_holds_no_stream(tmp_path):
    never = asyncio.Event()

    async def thinking():
        await never.wait()
        yield ""

    async with running(tmp_path, 3, cosyvoice_streams=1) as engine:
        waiting = asyncio.create_task(said(engine, thinking(), utterance()))
        assert await asyncio.wait_for(said(engine, in_pieces("er.", 9), utterance()), 60)
        waiting.cancel()
        await asyncio.wait([waiting])


@pytest.mark.long
@pytest.mark.usefixtures("token_audio")
async def test_markup_is_dropped_wherever_the_text_is_cut(tmp_path):
    async with running(tmp_path, 3) as engine:
        plain = await said(engine, in_pieces("the wall er.", 1000), utterance())
        for size in (1, 1000):
            marked = await said(engine, in_pieces("the <|im_end|> [wall] <b>er</b>.", size), utterance())
            assert np.array_equal(*(np.concatenate([chunk.pcm for chunk in each]) for each in (plain, marked)))
        for nothing in ("", "... !\n"):
            with pytest.raises(TextError, match="Nothing in the text"):
                await said(engine, in_pieces(nothing, 1), utterance())


@pytest.mark.long
@pytest.mark.usefixtures("token_audio")
async def test_what_breaks_the_pieces_reaches_the_listener_behind_what_was_said(tmp_path):
    async def broken(error):
        yield TEXT
        raise error

    async with running(tmp_path, 3) as engine:
        for error, seen in ((TextError("Too long."), TextError), (RuntimeError("lost"), EngineError)):
            async with aclosing(engine.speak_stream(utterance(), broken(error))) as chunks:
                assert len((await anext(chunks)).pcm)
                with pytest.raises(seen):
                    _ = [chunk async for chunk in chunks]
        assert engine._running.scheduler.running == 0


class TestPhrases:
    def script(self, version=3, language=None):
        tags = Tags(version)
        tokenizer = TextTokenizer(FRONTEND / "CosyVoice-BlankEN", tags)
        script = CosyVoiceFrontend(tags, lambda text: len(tokenizer.encode(text)))
        return StreamingFrontend(script, tokenizer, NormalizationOptions(), language), script, tokenizer

    def ids(self, text, size, **options):
        arriving, _, _ = self.script(**options)
        phrases = [phrase for at in range(0, len(text), size) for phrase in arriving.push(text[at : at + size])]
        return phrases + arriving.finish()

    def test_plain_words_have_the_ids_that_they_have_in_the_whole_text(self):
        _, script, tokenizer = self.script()
        phrases = self.ids(TEXT, 3)
        assert len(phrases) == 3
        assert [each for phrase in phrases for each in phrase.ids] == tokenizer.encode(
            script.normalized(TEXT, NormalizationOptions()).text
        )

    def test_figures_are_read_as_in_the_whole_text_and_tags_are_one_id(self):
        text = "all the word and the wall cost 25 or so[laughter] all the wall and the word"
        _, script, tokenizer = self.script()
        plain = script.normalized(text, NormalizationOptions()).text
        assert "twenty five" in plain
        assert [each for phrase in self.ids(text, 2) for each in phrase.ids] == tokenizer.encode(plain + ".")

    @each_row(
        "text",
        [
            "all the word and the wall cost $1,200.50 or so all the wall and the word",
            "all the wall 😀 and the word[laughter] all the wall and the word. 👨\u200d👩\u200d👧 all",
            "all the word of Dr. Word and the wall <strong>and all</strong> the word and the wall",
        ],
    )
    def test_no_figure_tag_or_character_is_parted_however_it_arrives(self, text):
        halves = text.encode("utf-16-le")
        pieces = [halves[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(halves), 2)]
        arriving, _, _ = self.script()
        phrases = [phrase for piece in pieces for phrase in arriving.push(piece)] + arriving.finish()
        assert phrases == self.ids(text, len(text))
        assert len(phrases) > 1
        assert "".join(phrase.text for phrase in phrases).split() == text.split()
        parted = {word for phrase in phrases for word in phrase.text.split()}
        assert parted == set(text.split()), "every word of the text is whole in one phrase"
        assert all("<" not in phrase.text or phrase.text.count("<") == phrase.text.count(">") for phrase in phrases)

    @each_row("text", [TEXT, "今天下雨，我们在家。你好，" * 30, "墙" * 700, "all 1234567890 " * 40])
    def test_passages_are_neither_long_nor_moved_by_the_pieces(self, text):
        phrases = self.ids(text, 1)
        assert phrases == self.ids(text, 9) == self.ids(text, len(text))
        size = 0
        for phrase in phrases:
            size += len(phrase.ids)
            assert size <= (200 if text.isascii() else 3 * 200)
            size = 0 if phrase.closes else size

    async def test_a_passage_ends_with_its_sentence_once_it_is_long_enough(self):
        async def phrases():
            for phrase in self.ids("all the wall and all the word. " * 12, 5):
                yield phrase

        passages = Passages(phrases())
        sizes = []
        while await passages.peek() is not None:
            sizes.append(sum([len(ids) async for ids in passages.passage()]))
            assert passages.wording.text.endswith("word.")
        assert len(sizes) > 1
        assert all(60 <= size < 90 for size in sizes[:-1])


def lm_prompt(prompt_text, prompt_speech, opening):
    return LmPrompt(PromptMode.ZERO_SHOT, prompt_text, prompt_speech, PreparedVoice("", "", {}), opening)


class Scripted:
    """A source of scripted turns."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.asked = []
        self.open_sequences = 0

    @asynccontextmanager
    async def open(self, sampling):
        self.open_sequences += 1
        try:
            yield self
        finally:
            self.open_sequences -= 1

    def extend(self, prompt, limits):
        self.asked.append((prompt.ids, limits))
        stream = TokenStream()
        stream.push(self.turns.pop(0)[: limits.max_tokens])
        stream.finish()
        return stream


class Plain:
    """An adapter in which ids of text, special tokens and speech differ by their size."""

    def feed(self, feed):
        first = {"START": 1000, "TASK": 2000, "TEXT": 0, "SPEECH": 5000}
        return tuple(
            first[segment.kind.name] + each
            for segment in feed
            for each in (segment.ids if segment.kind.name in ("TEXT", "SPEECH") else (0,))
        )


class TestBistream:
    def bistream(self, source, most=20):
        return BistreamSource(
            source, Plain(), lambda ids: GenerationLimits(most * ids, 2 * ids, frozenset(range(300, 303)))
        )

    async def spoken(self, source, phrases, prompt, vocabulary, most=20):
        async def arriving():
            for ids in phrases:
                yield ids

        async with self.bistream(source, most).tokens(
            prompt.bistream(vocabulary), arriving(), SamplingParams()
        ) as stream:
            tokens = [token async for token in stream]
        assert source.open_sequences == 0
        return tokens

    async def test_five_ids_go_before_fifteen_tokens_and_the_last_token_is_fed_once(self):
        source = Scripted(range(15), range(15, 30), range(4))
        tokens = await self.spoken(
            source, [(1, 2, 3), (4, 5, 6, 7, 8, 9, 10, 11)], lm_prompt((), (), 0), vocabulary_v2(300)
        )
        assert tokens == [*range(30), *range(4)]
        assert [ids for ids, _ in source.asked] == [(1000, 1, 2, 3, 4, 5), (6, 7, 8, 9, 10), (11, 2000)]

    async def test_a_turn_cannot_end_the_speech_and_the_last_one_is_bounded_by_the_whole(self):
        source = Scripted(range(15), range(3), range(1))
        await self.spoken(source, [tuple(range(11))], lm_prompt((), (), 0), vocabulary_v2(300), most=2)
        first, second, final = (limits for _, limits in source.asked)
        assert (first.max_tokens, first.stop_tokens, first.banned_tokens) == (15, {302}, {300, 301})
        assert second.max_tokens == 15
        assert (final.max_tokens, final.min_tokens, final.stop_tokens) == (22 - 18, 4, {300, 301, 302})

    async def test_the_prompts_speech_is_fed_along_with_the_text_and_the_opening_before_all(self):
        source = Scripted(range(13), range(1))
        voice_prompt = lm_prompt((70, 71, 72), (40, 41), 2)
        await self.spoken(source, [(1, 2, 3, 4), (5,)], voice_prompt, vocabulary_v3(300))
        assert [ids for ids, _ in source.asked] == [(1000, 70, 71, 72, 1, 2, 3, 4, 5040, 5041), (5, 2000)]
        assert source.asked[0][1].max_tokens == 13
