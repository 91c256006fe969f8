"""Both CosyVoices saying what a recording says, on tiny weights."""

import asyncio
import json
import wave
from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.tiny_cosyvoice import FRONTEND, GOLDEN, prompt, tiny_model
from polyvox.engines.base import SupportsConversion
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.loading import load_model
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.errors import PromptError, UnknownVoiceError
from polyvox.installation import load_settings
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.noise import flow_noise, source_noise
from polyvox.types import PreparedVoice, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
VERSIONS = pytest.mark.parametrize("version", [2, 3])
RUNS = json.loads((FRONTEND / "cosyvoice_text.json").read_text())["e2e"]


@asynccontextmanager
async def running(tmp_path, version, **settings):
    folder = tiny_model(tmp_path / "model", version)
    engine = CosyVoiceEngine(load_settings(**{f"cosyvoice{version}_dir": folder}, **settings), version)
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


@pytest.mark.long
@VERSIONS
async def test_speech_tokens_of_the_recording_are_decoded_in_the_voice(tmp_path, version, monkeypatch):
    heard = []
    step_batch = Token2Wav.step_batch

    def recording_step(self, hops):
        for hop in hops:
            heard.extend(hop.tokens)
        return step_batch(self, hops)

    monkeypatch.setattr(Token2Wav, "step_batch", recording_step)
    async with running(tmp_path, version) as engine:
        assert isinstance(engine, SupportsConversion)
        assert engine.capabilities.conversion
        voice = await engine.prepare(prompt())
        own = engine._running.model.features.speech_tokens(prompt("", 2.0))
        heard.clear()
        chunks = await converted(engine, prompt("", 2.0), Utterance("", "", seed=1, prepared=voice))
    assert heard == own
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) == 2
    assert chunks[-1].end == 960 * len(own)
    assert np.isfinite(joined(chunks)).all()


def recorded_source():
    """1.21 s at 16 kHz: what the original converted."""
    with wave.open(str(FRONTEND / "source_16k.wav")) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        return VoicePrompt(pcm, file.getframerate(), "", "")


@pytest.mark.long
@VERSIONS
async def test_the_originals_recording_becomes_as_many_chunks_of_as_many_samples(tmp_path, version):
    """Thirty tokens and the 25 + 7 + 3 of a first chunk: to the original, too, the first is the last."""
    async with running(tmp_path, version) as engine:
        voice = await engine.prepare(prompt())
        chunks = await converted(engine, recorded_source(), Utterance("", "", seed=1, prepared=voice))
    for run in ("offline", "stream"):
        assert [len(chunk.pcm) for chunk in chunks] == RUNS[f"{version}.vc.{run}"]["chunks"] == [28_800]
    assert [(len(chunk.tokens), len(chunk.frames)) for chunk in chunks] == [(30, 60)]


@pytest.mark.long
@VERSIONS
async def test_the_originals_recorded_stream_is_cut_alike(tmp_path, monkeypatch, version):
    """It was recorded with given tokens in place of a recording's, in a voice that was given, too."""
    recorded = load_file(GOLDEN / f"cosyvoice{version}" / "flow.safetensors")
    tokens = load_file(GOLDEN / f"cosyvoice{version}" / "loop_stream.safetensors")["token"][0].tolist()
    calls = json.loads((GOLDEN / f"cosyvoice{version}" / "manifest.json").read_text())["loop"]["stream"]["schedule"]
    voice = PreparedVoice(
        f"cosyvoice{version}",
        "",
        {
            "tokens": recorded["in.prompt_token"][0].numpy(),
            "mel": recorded["in.prompt_feat"][0].T.numpy(),
            "embedding": recorded["in.embedding"][0].numpy(),
        },
    )
    monkeypatch.setattr(PromptFeatureExtractor, "speech_tokens", lambda self, recording: tokens)
    async with running(tmp_path, version) as engine:
        chunks = await converted(engine, recorded_source(), Utterance("", "", seed=1, prepared=voice))
    assert [len(chunk.pcm) for chunk in chunks] == [call["pcm_samples"] for call in calls]
    assert [chunk.frames.end for chunk in chunks] == [call["flow_frames"] for call in calls]


@torch.no_grad()
def in_one_pass(folder, voice, tokens):
    """What version 3's flow and vocoder make of all tokens at once."""
    token2wav = load_model(folder, 3, CosyVoiceSettings()).networks.token2wav
    flow, vocoder = token2wav.flow, token2wav.vocoder
    arrays = {name: torch.from_numpy(np.array(array))[None] for name, array in voice.arrays.items()}
    flow_prompt = FlowPrompt(arrays["tokens"].long(), arrays["mel"], arrays["embedding"])
    mel = flow.render(flow_prompt, torch.tensor([tokens]), flow_noise(), streaming=True, final=True)
    noise = source_noise(480 * mel.shape[2], tokens=300, channels=vocoder.config.source.channels)
    return vocoder.step(mel, vocoder.start(noise), final=True)[0][0].numpy()


@pytest.mark.long
async def test_the_samples_are_those_of_the_flow_and_the_vocoder_on_the_recordings_tokens(tmp_path):
    """In version 3, whose noise is no draw; single precision moves the phases by some thousandths."""
    async with running(tmp_path, 3) as engine:
        voice = await engine.prepare(prompt())
        tokens = engine._running.model.features.speech_tokens(recorded_source())
        samples = joined(await converted(engine, recorded_source(), Utterance("", "", prepared=voice)))
    expected = in_one_pass(tmp_path / "model", voice, tokens)
    assert samples.shape == expected.shape
    assert np.square(samples - expected).mean() < 1e-3 * np.square(expected).mean()


@pytest.mark.long
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


@pytest.mark.long
async def test_leaving_frees_the_stream(tmp_path):
    async with running(tmp_path, 3, cosyvoice_streams=1) as engine:
        async with aclosing(engine.convert(prompt("", 5.0), Utterance("", "spk_a"))) as chunks:
            await anext(chunks)
        assert await asyncio.wait_for(converted(engine, prompt("", 1.0), Utterance("", "spk_a")), 60)


@pytest.mark.long
async def test_recordings_that_will_not_do_are_refused(tmp_path):
    bad = {
        "lasts 0.4 s": prompt("", 0.4),
        "lasts 30.1 s": prompt("", 30.1),
        "8000 samples a second": VoicePrompt(np.zeros(8000, np.float32), 8000, "", ""),
        "finite": VoicePrompt(np.full(24_000, np.nan, np.float32), 24_000, "", ""),
        "mono": VoicePrompt(np.zeros((24_000, 2), np.float32), 24_000, "", ""),
    }
    async with running(tmp_path, 3) as engine:
        for reason, source in bad.items():
            with pytest.raises(PromptError, match=reason) as refused:
                await converted(engine, source, Utterance("", "spk_a"))
            assert refused.value.field == "file"


@pytest.mark.long
async def test_an_unknown_voice_is_refused(tmp_path):
    async with running(tmp_path, 3) as engine:
        with pytest.raises(UnknownVoiceError):
            engine.check(Utterance("", "nobody"))
