"""Both CosyVoices saying what a recording says, on tiny weights."""

import asyncio
from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest
from tiny_cosyvoice import prompt, tiny_model

from polyvox.config import load
from polyvox.engines.base import Converting
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.sound import Sound
from polyvox.errors import PromptError, UnknownVoiceError
from polyvox.types import Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
VERSIONS = pytest.mark.parametrize("version", [2, 3])


@asynccontextmanager
async def running(tmp_path, version, **settings):
    folder = tiny_model(tmp_path / "model", version)
    engine = CosyVoiceEngine(load(**{f"cosyvoice{version}_dir": folder}, **settings), version)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def converted(engine, source, utterance):
    async with aclosing(engine.convert(source, utterance)) as chunks:
        return [chunk async for chunk in chunks]


def joined(chunks):
    return np.concatenate([chunk.pcm for chunk in chunks])


@VERSIONS
async def test_speech_tokens_of_the_recording_are_sounded_in_the_voice(tmp_path, version, monkeypatch):
    heard = []
    step = Sound.step

    def listening(self, tokens, state, *, final):
        heard.extend(tokens)
        return step(self, tokens, state, final=final)

    async with running(tmp_path, version) as engine:
        assert isinstance(engine, Converting)
        assert engine.capabilities.conversion
        voice = await engine.prepare(prompt())
        own = engine._running.model.listener.speech(prompt("", 2.0))
        monkeypatch.setattr(Sound, "step", listening)
        chunks = await converted(engine, prompt("", 2.0), Utterance("", "", seed=1, prepared=voice))
    assert heard == own
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) == 2
    assert chunks[-1].end == 960 * len(own)
    assert np.isfinite(joined(chunks)).all()


async def test_the_voice_is_heard_and_the_same_request_sounds_the_same(tmp_path):
    async with running(tmp_path, 3) as engine:
        asked = Utterance("", "spk_a", seed=1)
        first = joined(await converted(engine, prompt(""), asked))
        beside = asyncio.gather(*(converted(engine, prompt("", 1.0), Utterance("", "spk_a")) for _ in range(3)))
        again = joined(await converted(engine, prompt(""), asked))
        await beside
        other = joined(await converted(engine, prompt(""), Utterance("", "", prepared=await engine.prepare(prompt()))))
    assert np.array_equal(first, again)
    assert len(other) == len(first)
    assert np.abs(other - first).max() > 1e-3


async def test_leaving_frees_the_stream(tmp_path):
    async with running(tmp_path, 3, cosyvoice_streams=1) as engine:
        async with aclosing(engine.convert(prompt("", 5.0), Utterance("", "spk_a"))) as chunks:
            await anext(chunks)
        assert await asyncio.wait_for(converted(engine, prompt("", 1.0), Utterance("", "spk_a")), 60)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (prompt("", 0.4), "lasts 0.4 s"),
        (prompt("", 30.1), "lasts 30.1 s"),
        (VoicePrompt(np.zeros(8000, np.float32), 8000, "", ""), "8000 samples a second"),
        (VoicePrompt(np.full(24_000, np.nan, np.float32), 24_000, "", ""), "finite"),
        (VoicePrompt(np.zeros((24_000, 2), np.float32), 24_000, "", ""), "mono"),
    ],
)
async def test_recordings_that_will_not_do_are_refused(tmp_path, source, reason):
    async with running(tmp_path, 3) as engine:
        with pytest.raises(PromptError, match=reason) as refused:
            await converted(engine, source, Utterance("", "spk_a"))
        assert refused.value.field == "file"


async def test_an_unknown_voice_is_refused(tmp_path):
    async with running(tmp_path, 3) as engine:
        with pytest.raises(UnknownVoiceError):
            engine.check(Utterance("", "nobody"))
