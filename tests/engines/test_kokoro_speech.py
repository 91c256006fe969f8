"""Kokoro with its real weights: what it says, when, and how its chunks join."""

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise

import numpy as np
import pytest

from helpers.speech import align_words
from polyvox.audio.edges import speech_span
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.errors import TextError
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import load_settings
from polyvox.types import Utterance

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

BOY = "The boy was there when the sun rose."
PARAGRAPH = "The keeper climbed the stairs, carrying a lamp. The fog came in; nobody answered."


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@asynccontextmanager
async def started(**settings):
    engine = KokoroEngine(load_settings(**settings))
    await engine.start()
    yield engine
    await engine.close()


@pytest.fixture(scope="module")
async def engine(models_dir, anyio_backend):
    async with started(models_dir=models_dir) as engine:
        yield engine


@pytest.fixture(scope="module")
async def small(models_dir, anyio_backend):
    """With the small decoder, which does a tenth of the work: for what is decided before any decoder is asked."""
    async with started(models_dir=models_dir, kokoro_decoder="wren") as engine:
        yield engine


async def speak(engine, text, voice="af_heart", **options):
    return [chunk async for chunk in engine.speak(Utterance(text, voice, **options))]


def joined(chunks):
    return np.concatenate([chunk.pcm for chunk in chunks])


@pytest.fixture(scope="module")
async def boy(engine):
    return await speak(engine, BOY)


async def test_word_timings_are_right_to_60_ms_by_forced_alignment(engine, boy):
    assert_timed_as_heard(boy, BOY)
    text = "The breeze came from the sea."
    assert_timed_as_heard(await speak(engine, text, "am_michael"), text)


def assert_timed_as_heard(chunks, text):
    timings = [timing for chunk in chunks for timing in chunk.words]
    aligned = align_words(joined(chunks), 24_000, text)
    assert [timing.word.lower() for timing in timings] == [word.word for word in aligned]
    errors = [abs(timing.start - word.start) for timing, word in zip(timings, aligned, strict=True)]
    errors += [abs(timing.end - word.end) for timing, word in zip(timings, aligned, strict=True)]
    assert np.mean(errors) <= 0.040
    assert max(errors) <= 0.060, [f"{error * 1000:.0f}" for error in errors]


async def test_timings_point_at_what_the_caller_wrote_and_never_run_backwards(small):
    text = "I paid $5 at 3:05 pm, *twice*, to Dr. [Nguyen](/wˈɪn/)."
    timings = [timing for chunk in await speak(small, text) for timing in chunk.words]
    assert [text[timing.span.start : timing.span.end] for timing in timings] == [timing.word for timing in timings]
    assert "$5" in [timing.word for timing in timings]
    assert all(before.start <= after.start for before, after in pairwise(timings))
    assert all(timing.start < timing.end for timing in timings)


async def test_the_phonemes_of_a_word_fill_its_time(small):
    chunks = await speak(small, "I paid $5, twice, to [Nguyen](/wˈɪn/). Bonjour!")
    words = {timing.word: timing for chunk in chunks for timing in chunk.words}
    assert [each.phoneme for each in words["Nguyen"].phonemes] == ["w", "ˈɪ", "n"]
    assert [each.phoneme for each in words["paid"].phonemes] == ["p", "ˈeɪ", "d"]
    for timing in words.values():
        phonemes = timing.phonemes
        assert (phonemes[0].start, phonemes[-1].end) == pytest.approx((timing.start, timing.end))
        assert all(before.end == pytest.approx(after.start) for before, after in pairwise(phonemes)), timing
        assert all(each.start <= each.end for each in phonemes)
    assert max(timing.end for timing in words.values()) <= chunks[-1].end / 24_000


@pytest.fixture(scope="module")
async def paragraph(engine):
    return await speak(engine, PARAGRAPH)


async def test_chunks_follow_each_other_without_gap_in_the_count(paragraph):
    chunks = paragraph
    assert len(chunks) >= 3
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert chunks[0].start == 0
    assert all(before.end == after.start for before, after in pairwise(chunks))
    assert chunks[0].duration < 2, "seconds, however long the paragraph is"


async def test_seams_have_no_click_no_gap_and_no_doubled_silence(paragraph):
    chunks = paragraph
    whole = joined(chunks)
    steps = np.abs(np.diff(whole))
    ordinary = np.percentile(steps[steps > 0], 99)
    for before, after in pairwise(chunks):
        around = steps[after.start - 240 : after.start + 240]
        assert around.max() <= ordinary, "a click"
        quiet_end = len(before.pcm) - speech_span(before.pcm, 24_000).end
        quiet_start = speech_span(after.pcm, 24_000).start
        silence = (quiet_end + quiet_start) / 24_000
        expected = {",": (0.06, 0.25), ";": (0.1, 0.35), ".": (0.3, 0.6)}.get(before.text.rstrip()[-1], (0.0, 0.15))
        assert expected[0] <= silence <= expected[1], (before.text, silence)


async def test_its_pace_is_known_before_anybody_is_heard(engine, boy):
    measured = sum(chunk.duration for chunk in boy) / sum(chunk.device_seconds for chunk in boy)
    assert 0.25 * measured < engine.pace < 4 * measured


async def test_the_same_request_gives_the_same_audio_alone_and_beside_others(engine, paragraph):
    alone = paragraph
    beside, *_ = await asyncio.gather(
        speak(engine, PARAGRAPH), *(speak(engine, f"Number {n}.", "am_adam") for n in range(2))
    )
    assert [(chunk.start, chunk.end, chunk.text) for chunk in beside] == [
        (chunk.start, chunk.end, chunk.text) for chunk in alone
    ]
    np.testing.assert_allclose(joined(beside), joined(alone), atol=1e-5)
    assert [chunk.words for chunk in beside] == [chunk.words for chunk in alone], "words and their phonemes"


async def test_speed_changes_the_length_and_not_the_words(engine, moonshine, boy):
    normal, fast = joined(boy), joined(await speak(engine, BOY, speed=1.25))
    assert len(normal) / len(fast) == pytest.approx(1.25, rel=0.15)
    assert word_error_rate(BOY, moonshine.transcribe(fast, 24_000)).errors <= 1


async def test_a_mixed_voice_is_neither_of_its_parts(engine, moonshine, boy):
    mixed = joined(await speak(engine, BOY, "af_heart(2)+bf_emma(1)", language="en-us"))
    assert word_error_rate(BOY, moonshine.transcribe(mixed, 24_000)).rate == 0
    heart = joined(boy)
    assert len(mixed) != len(heart) or not np.allclose(mixed, heart, atol=1e-3)


async def test_inline_phonemes_are_spoken(engine, moonshine):
    pcm = joined(await speak(engine, "The word is [xyzzy](/bənˈænə/)."))
    assert "banana" in moonshine.transcribe(pcm, 24_000).lower()


async def test_a_pause_lasts_as_long_as_it_says(small):
    chunks = await speak(small, "One. [pause:2s] Two.")
    whole = joined(chunks)
    quiet = np.abs(whole) < 1e-3
    edges = np.flatnonzero(np.diff(np.concatenate(([0], quiet.astype(int), [0]))))
    longest = max(end - start for start, end in edges.reshape(-1, 2)) / 24_000
    assert longest == pytest.approx(2.0, abs=0.12)


@pytest.mark.parametrize("voice", ["zf_xiaobei", "zm_yunxi"])
async def test_chinese_voices_speak_chinese(small, voice):
    chunks = await speak(small, "今天天气很好，我们一起去公园散步吧。", voice)
    whole = joined(chunks)
    assert 2.0 < len(whole) / 24_000 < 8.0
    assert float(np.sqrt(np.mean(whole**2))) > 0.01
    timings = [timing for chunk in chunks for timing in chunk.words]
    assert "".join(timing.word for timing in timings) == "今天天气很好我们一起去公园散步吧"


@pytest.mark.parametrize("text", ["🙂🙂", "...!?", "   \n ", "— — —"])
async def test_a_text_with_nothing_to_say_is_refused(small, text):
    with pytest.raises(TextError) as caught:
        await speak(small, text)
    assert caught.value.field == "input"


async def test_closing_the_generator_early_leaves_the_engine_ready(engine):
    generator = engine.speak(Utterance(PARAGRAPH, "af_heart"))
    await anext(generator)
    await generator.aclose()
    assert await speak(engine, "Still here.")


async def test_sentences_within_a_chunk_end_in_a_pause(engine, moonshine):
    text = "Well... maybe. Nobody came! Why?"
    chunks = await speak(engine, text)
    whole = joined(chunks)
    loud = np.flatnonzero(np.abs(whole) > np.abs(whole).max() * 10 ** (-36 / 20))
    gaps = np.diff(loud)
    pauses = [(loud[at], loud[at + 1]) for at in np.flatnonzero(gaps > 0.35 * 24_000)]
    timings = [timing for chunk in chunks for timing in chunk.words]
    assert len(pauses) == 3
    for (start, end), before, after in zip(
        pauses, (timings[0], timings[1], timings[3]), (timings[1], timings[2], timings[4]), strict=True
    ):
        assert 0.38 <= (end - start) / 24_000 <= 0.55
        assert before.end == pytest.approx(start / 24_000, abs=0.1)
        assert after.start == pytest.approx(end / 24_000, abs=0.1)
    assert word_error_rate(text, moonshine.transcribe(whole, 24_000)).errors == 0
