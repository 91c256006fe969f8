"""Engines of tiny Chatterbox models: what they speak, with whom, and what they refuse."""

import asyncio
import shutil
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.chatterbox_s3gen import RATE, prompt, reference, s3gen
from helpers.tiny_chatterbox import (
    ENGLISH,
    MODELS,
    MULTILINGUAL,
    TURBO,
    install,
    settings,
    sizes,
    speak_briefly,
    tiny_engine,
)
from polyvox.engines.catalog import Catalog
from polyvox.engines.chatterbox.bundle import find_files, load_networks, read_state
from polyvox.engines.chatterbox.engine import ChatterboxEngine
from polyvox.engines.chatterbox.running_model import _token2wav
from polyvox.engines.chatterbox.settings import ChatterboxSettings
from polyvox.engines.chatterbox.speech_tokens import SILENT_TAIL
from polyvox.engines.chatterbox.synthesis import TOKEN_SAMPLES, fade_in
from polyvox.engines.chatterbox.variants import VARIANTS
from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop
from polyvox.errors import BundleError, InvalidRequestError, PromptError, SilentTextError, UnknownVoiceError
from polyvox.types import AudioChunk, Pcm, Utterance, VoicePrompt

pytestmark = [pytest.mark.anyio, pytest.mark.long]

TEXT = "Good morning to you all."
ROUNDING = 1e-3
"""Of samples: phases are long sums, and magnitudes exponentials."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chatterbox")
    for model in MODELS:
        install(model, folder)
    return folder


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    speak_briefly(monkeypatch, 30)


def recording(seconds: float = 5.5) -> VoicePrompt:
    return VoicePrompt(reference()[: round(seconds * RATE)], RATE, "", f"digest {seconds}")


async def spoken(engine: ChatterboxEngine, text: str = TEXT, **fields: object) -> list[AudioChunk]:
    given: dict[str, object] = {"voice": "default", "seed": 1, **fields}
    return [chunk async for chunk in engine.speak(Utterance(text, **given))]


def joined(chunks: list[AudioChunk]) -> Pcm:
    return np.concatenate([chunk.pcm for chunk in chunks])


async def test_each_model_speaks_with_its_makers_voice(models: Path):
    for model in MODELS:
        async with tiny_engine(model, models, chatterbox_first_hop=5) as engine:
            assert [voice.id for voice in engine.voices] == ["default"]
            chunks = await spoken(engine, language="en")
            assert len(chunks) > 1
            pcm, tokens = joined(chunks), chunks[-1].tokens.end
            assert len(pcm) == TOKEN_SAMPLES * (tokens - (model == MULTILINGUAL))
            assert not pcm[:480].any()
            assert np.abs(pcm).max() > 0.01
            assert [chunk.start for chunk in chunks] == [0, *np.cumsum([len(chunk.pcm) for chunk in chunks])[:-1]]
            assert [chunk.text for chunk in chunks] == [TEXT] + [""] * (len(chunks) - 1)
            assert np.array_equal(pcm, joined(await spoken(engine, language="en")))
            assert not np.array_equal(
                pcm[: TOKEN_SAMPLES * 5], joined(await spoken(engine, seed=2))[: TOKEN_SAMPLES * 5]
            )


async def test_what_is_spoken_beside_an_utterance_does_not_change_it(models: Path):
    for model in (ENGLISH, TURBO):
        async with tiny_engine(model, models, chatterbox_first_hop=5) as engine:
            alone = await spoken(engine)
            assert len(alone) > 1
            texts = ("One two three.", TEXT, "You all. Good morning, good morning to you.")
            beside = (await asyncio.gather(*(spoken(engine, text, seed=index) for index, text in enumerate(texts))))[1]
            assert [len(chunk.pcm) for chunk in beside] == [len(chunk.pcm) for chunk in alone]
            np.testing.assert_allclose(joined(beside), joined(alone), rtol=0, atol=ROUNDING)


async def test_hops_of_any_length_carry_all_tokens_and_samples(models: Path):
    """That their mel is the same is for the tests of streams; the vocoder's noise is each hop's own."""
    async with tiny_engine(TURBO, models, chatterbox_first_hop=5, chatterbox_hop_growth=1) as engine:
        short = await spoken(engine)
    async with tiny_engine(TURBO, models, chatterbox_first_hop=100) as engine:
        long = await spoken(engine)
    assert len(short) > len(long) == 1
    ends = [(each[-1].tokens.end, each[-1].frames, each[-1].end) for each in (short, long)]
    assert [(tokens, frames.end, samples) for tokens, frames, samples in ends if frames is not None] == [
        (long[-1].tokens.end, 2 * long[-1].tokens.end, TOKEN_SAMPLES * long[-1].tokens.end)
    ] * 2


async def test_a_whole_segment_is_decoded_with_full_attention_as_the_original_does(models: Path):
    async with tiny_engine(ENGLISH, models, chatterbox_decoding="whole") as engine:
        running, source = engine._started(), recording(2.0)
        tokens = running.features.speech_tokens(source)
        (chunk,) = [each async for each in engine.convert(source, Utterance("", "default", seed=3))]
        token2wav = _token2wav(running.networks, engine._settings)
    assert engine._default is not None
    prompted = token2wav.step((), token2wav.start(engine._default), final=False).state
    state = replace(prompted, seed=3)
    wanted = token2wav.step(tokens, state, final=True).pcm
    assert len(chunk.pcm) == TOKEN_SAMPLES * len(tokens)
    np.testing.assert_allclose(chunk.pcm[TOKEN_SAMPLES:], wanted[TOKEN_SAMPLES:], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(chunk.pcm[:TOKEN_SAMPLES], wanted[:TOKEN_SAMPLES] * fade_in(), rtol=0, atol=ROUNDING)
    with torch.inference_mode():
        hop = FlowHop(tokens, token2wav.flow_stage.start(prompt()), final=True)
        given = torch.tensor([tokens]), token2wav.flow_noise
        mel = s3gen().flow.render(prompt(), *given, streaming=False, final=True)[0]
        masked = s3gen().flow.render(prompt(), *given, streaming=True, final=True)[0]
        made = token2wav.flow_stage.step([hop])[0].mel
    assert made is not None
    torch.testing.assert_close(made, mel, rtol=0, atol=1e-5)
    assert (made - masked).abs().max() > 1e-3


async def test_a_recording_is_cloned_and_converted(models: Path):
    async with tiny_engine(TURBO, models) as engine:
        with pytest.raises(PromptError, match="more than 5"):
            await engine.prepare(recording(4.0))
        voice = await engine.prepare(recording())
        cloned = joined(await spoken(engine, voice="", prepared=voice))
        assert not np.array_equal(cloned[:9600], joined(await spoken(engine))[:9600])
        given = Utterance("", "", seed=1, prepared=voice)
        converted = [chunk async for chunk in engine.convert(recording(2.0), given)]
        assert len(joined(converted)) == 50 * TOKEN_SAMPLES
    async with tiny_engine(ENGLISH, models) as engine:
        with pytest.raises(InvalidRequestError, match="chatterbox-turbo"):
            engine.check(Utterance(TEXT, "", prepared=voice))


async def test_turbo_ends_in_silent_tokens_and_says_its_tags(models: Path):
    async with tiny_engine(TURBO, models) as engine:
        seen: list[tuple[int, ...]] = []
        generate = engine._started().tokens.speak_tokens
        parts = engine._started().parts

        class Noting:
            def speak_tokens(self, ids, *given):
                seen.append(tuple(ids))
                return generate(ids, *given)

        object.__setattr__(parts, "tokens", Noting())
        assert parts.tail == SILENT_TAIL
        await spoken(engine, "Well [laugh] that is good")
        encoder = engine._encoder
        assert encoder is not None
        assert seen == [encoder.encode("Well [laugh] that is good.", "en")]
        assert seen != [encoder.encode("Well (laugh) that is good.", "en")]


async def test_what_cannot_be_spoken_is_refused_with_the_reason(models: Path):
    async with tiny_engine(ENGLISH, models) as engine:
        for fields, error, field in (
            ({"language": "fr"}, InvalidRequestError, "language"),
            ({"voice": "nobody"}, UnknownVoiceError, "voice"),
            ({"tuning": {"exaggeration": 9.0}}, InvalidRequestError, "exaggeration"),
            ({"tuning": {"cfg_weight": -1.0}}, InvalidRequestError, "cfg_weight"),
        ):
            with pytest.raises(error) as caught:
                engine.check(Utterance(TEXT, **{"voice": "default", **fields}))
            assert caught.value.field == field
        with pytest.raises(SilentTextError):
            await spoken(engine, "…")


async def test_leaving_an_utterance_frees_its_place(models: Path):
    async with tiny_engine(ENGLISH, models, chatterbox_streams=1, chatterbox_first_hop=5) as engine:
        async with aclosing(engine.speak(Utterance(TEXT, "default", seed=1))) as chunks:
            await anext(chunks)
        assert await asyncio.wait_for(spoken(engine), 60)


def test_a_folder_is_known_by_its_files_and_says_what_it_lacks(models: Path, tmp_path: Path):
    catalog, chosen = Catalog.installed(), settings(models)
    for model in MODELS:
        found = catalog.recognize(models / model)
        assert found is not None
        assert found.model == model
        assert found.settings == {"chatterbox_dirs": {model: models / model}}
    folder = tmp_path / ENGLISH
    shutil.copytree(models / ENGLISH, folder)
    with pytest.raises(BundleError, match=r"t3_cfg.safetensors.*does not fit"):
        catalog.spec(ENGLISH).tools.check(folder, chosen)
    (folder / "s3gen.safetensors").rename(folder / "s3gen_v3.safetensors")
    own = ChatterboxSettings.model_validate({})
    with pytest.raises(BundleError, match=r"lacks s3gen.safetensors"):
        find_files(folder, VARIANTS[ENGLISH], own)
    named = ChatterboxSettings.model_validate({"s3gen_files": {ENGLISH: "s3gen_v3.safetensors"}})
    assert find_files(folder, VARIANTS[ENGLISH], named).s3gen.name == "s3gen_v3.safetensors"
    for name in ("../s3gen.pt", "s3gen.bin"):
        with pytest.raises(ValueError, match="not the name"):
            ChatterboxSettings.model_validate({"s3gen_files": {ENGLISH: name}})


def test_weights_that_are_no_tensors_are_refused(models: Path, tmp_path: Path):
    assert read_state(models / MULTILINGUAL / "t3_23lang.pt").keys() > {"text_emb.weight"}
    for content in ({"model": [[1]]}, {"model": []}, [torch.zeros(1)]):
        path = tmp_path / "t3.pt"
        torch.save(content, path)
        with pytest.raises(BundleError, match="not a state dict"):
            read_state(path)
    folder = tmp_path / TURBO
    shutil.copytree(models / TURBO, folder)
    shutil.copy(models / ENGLISH / "s3gen.safetensors", folder / "s3gen_meanflow.safetensors")
    files = find_files(folder, VARIANTS[TURBO], ChatterboxSettings.model_validate({}))
    with pytest.raises(BundleError, match=r"s3gen_meanflow\.safetensors"):
        load_networks(files, sizes(TURBO), torch.device("cpu"), torch.float32)
