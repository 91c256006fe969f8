"""CosyVoice 1 as an engine: it speaks in its four modes, streams by its own policy, and repeats itself by seed."""

import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from helpers.tiny_cosyvoice import let_speech_end, prompt, tiny_model
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.errors import BundleError, InvalidRequestError, PromptError
from polyvox.installation import load_settings
from polyvox.text.tracked import TrackedText
from polyvox.types import ChunkPolicy, Utterance

pytestmark = pytest.mark.anyio

SPEAKER = "english_m"


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return let_speech_end(tiny_model(tmp_path_factory.mktemp("model"), 1))


@pytest.fixture(scope="module")
def long_winded(tmp_path_factory):
    """A model that speaks on to its greatest length."""
    return tiny_model(tmp_path_factory.mktemp("long winded"), 1)


@pytest.fixture(scope="module")
async def engine(folder):
    made = CosyVoiceEngine(load_settings(cosyvoice1_dir=folder, cosyvoice_device="cpu"), 1)
    await made.start()
    yield made
    await made.close()


@pytest.fixture(scope="module")
async def cloned(engine):
    return await engine.prepare(prompt("a word"))


async def chunks_of(speech):
    async with aclosing(speech) as chunks:
        return [chunk async for chunk in chunks]


async def chunks_by(folder, **settings):
    """What a new engine makes of a text."""
    engine = CosyVoiceEngine(load_settings(cosyvoice1_dir=folder, cosyvoice_device="cpu", **settings), 1)
    await engine.start()
    try:
        return await chunks_of(engine.speak(Utterance("hello there", SPEAKER, seed=1)))
    finally:
        await engine.close()


def samples(chunks):
    return np.concatenate([chunk.pcm for chunk in chunks])


@pytest.mark.long
async def test_its_speakers_are_voices_and_its_rate_is_its_own(engine):
    assert [voice.id for voice in engine.voices] == ["中文女", "english_m"]
    assert engine.capabilities.sample_rate == 22_050
    assert engine.capabilities.languages >= {"zh", "en", "ja", "ko", "yue"}


@pytest.mark.long
async def test_each_mode_says_something_else_with_the_same_seed(engine, cloned):
    wordless = await engine.prepare(prompt(""))
    said = {
        "sft": Utterance("wall", SPEAKER, seed=1),
        "instruct": Utterance("wall", SPEAKER, seed=1, instructions="sadly"),
        "zero_shot": Utterance("wall", "", seed=1, prepared=cloned),
        "cross_lingual": Utterance("wall", "", seed=1, prepared=wordless),
    }
    heard = {mode: await chunks_of(engine.speak(utterance)) for mode, utterance in said.items()}
    for chunks in heard.values():
        assert {chunk.sample_rate for chunk in chunks} == {22_050}
        assert np.isfinite(samples(chunks)).all()
        assert samples(chunks).std() > 0.01
        assert len(samples(chunks)) % 256 == 0
    assert len({samples(chunks).tobytes() for chunks in heard.values()}) == 4


@pytest.mark.long
async def test_a_mark_at_the_end_of_an_instruction_is_the_callers_or_ours(engine):
    async def spoken(instructions):
        return samples(await chunks_of(engine.speak(Utterance("er", SPEAKER, seed=2, instructions=instructions))))

    plain = await spoken("sadly")
    assert np.array_equal(plain, await spoken("sadly<|endofprompt|>"))
    assert np.array_equal(plain, await spoken("sadly<endofprompt>"))
    assert not np.array_equal(plain, await spoken("gladly"))


@pytest.mark.long
async def test_a_long_segment_is_streamed_in_chunks_of_the_original(long_winded):
    chunks = await chunks_by(long_winded)
    assert len(chunks) > 2
    assert [len(chunk.pcm) for chunk in chunks[:-1]] == [38_912, *[44_032] * (len(chunks) - 2)]
    assert [chunk.tokens.end - chunk.tokens.start for chunk in chunks[:-1]] == [100] * (len(chunks) - 1)
    assert chunks[0].policy == ChunkPolicy(100, 1.0, 100)


@pytest.mark.long
async def test_a_seed_gives_the_same_samples_alone_and_beside_others(engine, cloned):
    said = [
        Utterance("the", SPEAKER, seed=3),
        Utterance("word", "", seed=4, prepared=cloned),
        Utterance("er", SPEAKER, seed=5, instructions="sadly"),
    ]
    alone = [samples(await chunks_of(engine.speak(utterance))) for utterance in said]
    together = await asyncio.gather(*(chunks_of(engine.speak(utterance)) for utterance in said))
    for before, after in zip(alone, together, strict=True):
        assert len(before) == len(samples(after))
        assert np.abs(before - samples(after)).max() < 1e-3
    assert not np.array_equal(alone[0], samples(await chunks_of(engine.speak(Utterance("the", SPEAKER, seed=9)))))


@pytest.mark.long
async def test_a_language_tag_leads_every_segment(engine, monkeypatch):
    seen, model = [], engine._running.model
    encode = model.tokenizer.encode
    monkeypatch.setattr(model.tokenizer, "encode", lambda text: seen.append(text) or encode(text))
    parts = [TrackedText.of("<|ja|>er"), TrackedText.of("wall")]
    monkeypatch.setattr(
        model.frontend, "segments", lambda text, options, language: iter(parts) if language == "ja" else 0
    )
    await chunks_of(engine.speak(Utterance("<|ja|>er wall", SPEAKER, seed=1)))
    assert [each for each in seen if each.startswith("<")] == ["<|ja|>er", "<|ja|>wall"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("transcript", "language", "tagged"), [("", "ja", "<|ja|>er."), ("", None, "er."), ("a word", "en", "er.")]
)
async def test_a_language_asked_for_is_a_tag_where_the_recording_is_of_another(
    engine, monkeypatch, transcript, language, tagged
):
    voice = await engine.prepare(prompt(transcript))
    seen, tokenizer = [], engine._running.model.tokenizer
    encode = tokenizer.encode
    monkeypatch.setattr(tokenizer, "encode", lambda text: seen.append(text) or encode(text))
    await chunks_of(engine.speak(Utterance("er.", "", seed=1, prepared=voice, language=language)))
    assert seen[-1] == tagged


@pytest.mark.long
async def test_a_text_that_arrives_is_spoken_passage_by_passage(engine):
    async def pieces():
        for piece in ("a wa", "ll", "."):
            yield piece

    chunks = await chunks_of(engine.speak_stream(Utterance("", SPEAKER, seed=1), pieces()))
    assert "".join(chunk.text for chunk in chunks) == "a wall."
    whole = await chunks_of(engine.speak(Utterance("a wall.", SPEAKER, seed=1)))
    assert np.array_equal(samples(chunks), samples(whole))


@pytest.mark.long
async def test_a_recording_is_converted(engine, cloned):
    chunks = await chunks_of(engine.convert(prompt(), Utterance("", "", seed=1, prepared=cloned)))
    # 86 tokens of 1.73 s are 148 frames.
    assert len(samples(chunks)) == 148 * 256


@pytest.mark.parametrize(
    ("utterance", "error", "message"),
    [
        (Utterance("bonjour", SPEAKER, language="fr"), InvalidRequestError, "CosyVoice 1 does not speak 'fr'"),
        (Utterance("one", SPEAKER, tuning={"zero_shot": 1.0}), PromptError, "no transcript"),
        (Utterance("one", SPEAKER, instructions="a" * 501), InvalidRequestError, "longer than 500"),
    ],
    ids=["language", "transcript", "instructions"],
)
async def test_what_it_cannot_do_is_refused_before_any_work(engine, utterance, error, message):
    with pytest.raises(error, match=message):
        engine.check(utterance)


@pytest.mark.long
async def test_a_hop_of_zero_makes_one_chunk_of_a_segment(long_winded):
    chunks = await chunks_by(long_winded, cosyvoice1_hop=0)
    assert len(chunks) == 1
    assert len(chunks[0].pcm) > 100_000


def test_the_policy_of_each_version_follows_from_its_settings():
    assert CosyVoiceSettings().policy(1) == ChunkPolicy(100, 1.0, 100)
    assert CosyVoiceSettings(version1_hop=25).policy(1) == ChunkPolicy(25, 1.0, 25)
    assert CosyVoiceSettings().policy(3) == ChunkPolicy(25, 2.0, 100)
    with pytest.raises(ValueError, match="0 or at least 25"):
        CosyVoiceSettings(version1_hop=24)


@pytest.mark.long
async def test_of_its_three_models_the_one_that_is_installed_is_loaded(tmp_path):
    settings = load_settings(models_dir=tmp_path)
    missing = CosyVoiceEngine(settings, 1)
    with pytest.raises(BundleError, match=r"no folder .*cosyvoice1; run `polyvox pull`"):
        await missing.start()
    tiny_model(tmp_path / "cosyvoice1-sft", 1)
    engine = CosyVoiceEngine(settings, 1)
    await engine.start()
    assert engine.voices
    await engine.close()
