"""The engine of Pocket TTS on tiny models: every way to speak, and what shares a batch changes nothing."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from helpers.pockettts_golden import (
    FOLDER,
    RATE,
    cases,
    codec_decoder,
    config,
    flow_head,
    flow_lm,
    recorded,
    voice_samples,
)
from helpers.tiny_pockettts import MODEL, SMALL, TINY, VOICE, install, settings, tiny_engine
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog
from polyvox.engines.pockettts.codec_streams import CodecHop, CodecStreams, OrtDecoder
from polyvox.engines.pockettts.engine import PocketTtsEngine
from polyvox.engines.pockettts.flow_steps import FlowSteps, OrtSteps, TorchSteps
from polyvox.engines.pockettts.frame_scheduler import FrameRequest, FrameScheduler
from polyvox.engines.pockettts.variants import VARIANTS
from polyvox.engines.pockettts.voice_state import VoiceState, read_voice
from polyvox.errors import (
    BundleError,
    EngineError,
    InvalidRequestError,
    PromptError,
    SilentTextError,
    UnknownVoiceError,
)
from polyvox.models.pockettts.config import PocketConfig
from polyvox.models.pockettts.flow_head import FlowHead
from polyvox.models.pockettts.flow_lm import FlowLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.types import AudioChunk, Pcm, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
TEXT = "The kettle was singing while the rain drew thin lines on the window."
EXACT = {"pockettts_weights": "float32"}
SHORT = {"eos_threshold": -20.0}
"""Ends at the earliest frame."""


async def chunks_of(speech: AsyncIterator[AudioChunk]) -> list[AudioChunk]:
    return [chunk async for chunk in speech]


def joined(chunks: list[AudioChunk]) -> Pcm:
    return np.concatenate([chunk.pcm for chunk in chunks])


def recording(digest: str = "digest") -> VoicePrompt:
    return VoicePrompt(voice_samples(), RATE, "", digest)


def draw_recorded_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stream draw the noise that was recorded with the original."""
    drawn = iter(recorded()["main.loop.z"].numpy())

    class Recorded:
        def __init__(self, seed: object) -> None: ...

        def standard_normal(self, width: int, dtype: object) -> np.ndarray:
            return next(drawn)

    monkeypatch.setattr("polyvox.engines.pockettts.frame_scheduler.np.random.Generator", Recorded)


@pytest.mark.parametrize("executor", ["onnx", "torch"])
async def test_a_ready_voice_says_what_the_original_says(
    executor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = cases()["main"]
    async with tiny_engine(MODEL, tmp_path, pockettts_executor=executor, **EXACT) as engine:
        draw_recorded_noise(monkeypatch)
        asked = Utterance(TEXT, VOICE, tuning={"eos_threshold": case["eos_threshold"]})
        chunks = await chunks_of(engine.speak(asked))
    assert [len(chunk.pcm) // 1920 for chunk in chunks] == [1, 2, 4, 4]
    np.testing.assert_allclose(joined(chunks), recorded()["main.loop.wave"].numpy(), atol=1e-4)
    assert chunks[0].text == TEXT


async def test_a_recording_gives_the_voice_that_its_makers_published(tmp_path: Path) -> None:
    async with tiny_engine(MODEL, tmp_path, **EXACT) as engine:
        voice = await engine.prepare(recording())
        published = read_voice(FOLDER / "voice.safetensors", config("main"))
        for name in ("keys", "values"):
            np.testing.assert_allclose(voice.arrays[name], getattr(published, name), atol=1e-4)
        named = joined(await chunks_of(engine.speak(Utterance("Stop.", VOICE, seed=3, tuning=SHORT))))
        cloned = joined(await chunks_of(engine.speak(Utterance("Stop.", "", prepared=voice, seed=3, tuning=SHORT))))
    np.testing.assert_allclose(cloned, named, atol=1e-3)


def test_older_voice_files_are_read_as_present_ones() -> None:
    present, older = (read_voice(FOLDER / f"{name}.safetensors", config("main")) for name in ("voice", "voice_legacy"))
    np.testing.assert_array_equal(present.keys, older.keys)
    assert present.positions == older.positions == 20


def test_a_voice_of_another_model_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="another model"):
        read_voice(FOLDER / "voice.safetensors", config("small"))
    tensors = load_file(FOLDER / "voice.safetensors")
    for change, named in (({"offset": 21}, "another model"), ({"cache": float("nan")}, "non-finite")):
        name, value = next(iter(change.items()))
        changed = {key: torch.full_like(each, value) if key.endswith(name) else each for key, each in tensors.items()}
        save_file(changed, tmp_path / "voice.safetensors")
        with pytest.raises(BundleError, match=named):
            read_voice(tmp_path / "voice.safetensors", config("main"))
    (tmp_path / "voice.safetensors").write_bytes(b"no tensors")
    with pytest.raises(BundleError, match="cannot be read"):
        read_voice(tmp_path / "voice.safetensors", config("main"))


async def test_chunks_grow_and_depend_on_text_and_seed_alone(tmp_path: Path) -> None:
    async with tiny_engine(MODEL, tmp_path) as engine:
        ask = Utterance(TEXT, VOICE, seed=5, tuning={"eos_threshold": 20.0})
        alone = await chunks_of(engine.speak(ask))
        others = [chunks_of(engine.speak(Utterance("One two three.", VOICE, seed=seed))) for seed in (1, 2, 3)]
        together, *rest = await asyncio.gather(chunks_of(engine.speak(ask)), *others)
    assert [len(chunk.pcm) // 1920 for chunk in alone][:4] == [1, 2, 4, 8]
    assert [len(chunk.pcm) for chunk in together] == [len(chunk.pcm) for chunk in alone]
    np.testing.assert_allclose(joined(together), joined(alone), atol=2e-4)
    assert len({joined(each).tobytes() for each in rest}) == len(rest)


async def test_a_text_of_many_sentences_is_spoken_whole(tmp_path: Path) -> None:
    async with tiny_engine(SMALL, tmp_path) as engine:
        voice = await engine.prepare(recording())
        text = f"{TEXT} Do you know? [pause:0.5s] Yes; " + "and then it went on, " * 20 + "until it was over."
        chunks = await chunks_of(engine.speak(Utterance(text, "", prepared=voice, seed=1, tuning=SHORT)))
    spoken = [chunk.text for chunk in chunks if chunk.text]
    assert len(spoken) > 2
    assert "until it was over." in spoken[-1]
    assert any(len(chunk.pcm) == RATE // 2 and not chunk.pcm.any() for chunk in chunks)


async def test_what_cannot_be_spoken_is_refused(tmp_path: Path) -> None:
    async with tiny_engine(MODEL, tmp_path) as engine:
        for utterance, error, named in (
            (Utterance("Hi.", "nobody"), UnknownVoiceError, VOICE),
            (Utterance("Hi.", "../../alba"), UnknownVoiceError, VOICE),
            (Utterance("Hi.", VOICE, language="ms"), InvalidRequestError, "'ms'"),
            (Utterance("Hi.", VOICE, tuning={"temperature": 9.0}), InvalidRequestError, "temperature"),
        ):
            with pytest.raises(error, match=named):
                engine.check(utterance)
        with pytest.raises(SilentTextError):
            await chunks_of(engine.speak(Utterance("…", VOICE)))
        for seconds, named in ((0.1, "too short"), (31, "30 are the most")):
            with pytest.raises(PromptError, match=named):
                await engine.prepare(VoicePrompt(np.zeros(int(seconds * RATE), np.float32), RATE, "", "x"))
        foreign = VoiceState(np.zeros(1, np.float32), np.zeros(1, np.float32)).pack(MODEL, "digest", "other weights")
        assert not engine.fits(foreign)
        with pytest.raises(PromptError, match="other weights"):
            engine.check(Utterance("Hi.", "", prepared=foreign))


async def test_leaving_a_stream_frees_its_places(tmp_path: Path) -> None:
    async with tiny_engine(MODEL, tmp_path, pockettts_streams=1) as engine:
        for _ in range(4):
            speech = engine.speak(Utterance(TEXT, VOICE, seed=3))
            assert len((await anext(speech)).pcm) == 1920
            await speech.aclose()
        assert await asyncio.wait_for(chunks_of(engine.speak(Utterance("One.", VOICE, tuning=SHORT))), 60)


def seeded(module: torch.nn.Module) -> torch.nn.Module:
    """Random weights of a trained network's size."""
    generator = torch.Generator().manual_seed(4)
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data.normal_(std=0.05, generator=generator)
    return module.requires_grad_(False).eval()


def test_eight_bit_rows_do_not_depend_on_each_other() -> None:
    sizes = config("main")
    wide = replace(
        sizes, transformer=replace(sizes.transformer, width=512, head_width=64, heads=8, key_heads=8, layers=1)
    )
    lm, head = seeded(FlowLm(wide)), seeded(FlowHead(wide.head, 512, 32))
    assert isinstance(lm, FlowLm)
    assert isinstance(head, FlowHead)
    exact, steps = TorchSteps(lm, head, 4, 64), OrtSteps(lm, head, 4, 64, eight_bits=True)
    loud = np.array([[1.0], [30.0], [0.01]], np.float32) * np.random.RandomState(1).standard_normal((3, 32)).astype(
        np.float32
    )
    noise = np.zeros((3, 32), np.float32)
    voice = VoiceState(np.zeros((1, 8, 1, 64), np.float32), np.zeros((1, 8, 1, 64), np.float32))
    for each in (exact, steps):
        each.begin(0, [voice] * 3, [(1,)] * 3)
    together = steps.step(loud, noise)
    steps.begin(0, [voice], [(1,)])
    alone = steps.step(loud[:1], noise[:1])
    np.testing.assert_allclose(together[0][:1], alone[0], atol=1e-5)
    wanted = exact.step(loud, noise)[0]
    assert 1e-7 < np.abs(together[0] - wanted).max() < 0.02 * np.abs(wanted).max()


def test_the_onnx_graphs_compute_what_the_networks_compute() -> None:
    latents, width = recorded()["small.voice.latents"].numpy(), 32
    results = []
    given = flow_lm("small"), flow_head("small"), 3, 64
    exact: tuple[FlowSteps, ...] = (TorchSteps(*given), OrtSteps(*given, eight_bits=False))
    for steps in exact:
        voice = steps.read_voice(2, latents)
        steps.begin(0, [voice] * 2, [(5, 6, 7), (9,)])
        first = steps.step(np.stack([steps.first_latent] * 2), np.full((2, width), 0.3, np.float32))
        steps.move(1, 0)
        second = steps.step(first[0][1:], np.zeros((1, width), np.float32))
        results.append([*first, *second])
    for torch_result, ort_result in zip(*results, strict=True):
        np.testing.assert_allclose(ort_result, torch_result, atol=1e-4)


def test_streams_of_any_age_share_a_call_of_the_decoder() -> None:
    latents = recorded()["main.codec.latents"].numpy()
    mean, deviation = (flow_lm("main").get_buffer(name).numpy() for name in ("emb_mean", "emb_std"))
    wave = recorded()["main.codec.wave"].numpy()
    for decoder in (codec_decoder("main"), OrtDecoder(codec_decoder("main"), 16, eight_bits=False)):
        streams = CodecStreams(decoder, mean, deviation, 2, 2)
        old, young = streams.open(), streams.open()
        begun = streams.decode([CodecHop(old, latents[:3], first=True)])[0].pcm
        both = streams.decode([CodecHop(old, latents[3:6], first=False), CodecHop(young, latents[:3], first=True)])
        np.testing.assert_allclose(np.concatenate((begun, both[0].pcm)), wave[: 6 * 1920], atol=2e-5)
        np.testing.assert_allclose(both[1].pcm, begun, atol=2e-5)
        with pytest.raises(EngineError, match="more streams"):
            streams.open()


class FailingSteps(TorchSteps):
    """Fails in one step."""

    fails = False

    def step(self, latents: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.fails:
            self.fails = False
            raise RuntimeError("out of memory")
        return super().step(latents, noise)


async def test_a_step_that_fails_fails_its_streams_and_no_later_one() -> None:
    steps = FailingSteps(flow_lm("small"), flow_head("small"), 3, 64)
    voice = steps.read_voice(2, recorded()["small.voice.latents"].numpy())
    request = FrameRequest(voice, (5, 6), 0.5, 99.0, 3, 4, 1)
    executor = DeviceExecutor("test", 1)
    scheduler = FrameScheduler("test", steps, executor)
    steps.fails = True
    async with scheduler.open(request) as stream:
        with pytest.raises(RuntimeError, match="out of memory"):
            await stream.read(4)
    async with scheduler.open(request) as stream:
        assert len(await stream.read(9)) == 4
        assert stream.cut
    await scheduler.close()
    executor.close()


def test_released_configurations_are_those_of_their_makers() -> None:
    sizes = {name: PocketConfig.parse(variant.config) for name, variant in VARIANTS.items()}
    assert sizes["pockettts"] == sizes["pockettts-de"]
    assert (sizes["pockettts"].transformer.width, sizes["pockettts"].transformer.feed_forward) == (1024, 4096)
    assert [sizes[f"pockettts-{size}"].transformer.key_heads for size in ("18m", "7m", "2m")] == [8, 2, 1]
    assert sizes["pockettts-2m"].head.kind == "pointwise"


def test_a_folder_is_recognised_and_checked(tmp_path: Path) -> None:
    for model in TINY:
        folder = install(model, tmp_path)
        found = Catalog.installed().recognize(folder)
        assert found is not None
        assert found.model == model
    checked = CliRunner().invoke(app, ["models", "check", str(tmp_path / MODEL)])
    assert checked.stdout.startswith(f"{MODEL}: all files are there"), checked.stderr
    weights = load_file(tmp_path / MODEL / "model.safetensors")
    del weights["flow_lm.out_eos.weight"]
    save_file(weights, tmp_path / MODEL / "model.safetensors")
    refused = CliRunner().invoke(app, ["models", "check", str(tmp_path / MODEL)])
    assert refused.exit_code == 1
    assert "does not fit its configuration" in refused.stderr


async def test_a_folder_without_a_file_or_with_a_strange_configuration_is_refused(tmp_path: Path) -> None:
    folder = install(SMALL, tmp_path)
    for content, named in (("- a\n- b", "not the configuration"), ("flow_lm: {}\nmimi: {}", "flow_lm.flow")):
        (folder / "config.yaml").write_text(content)
        with pytest.raises(BundleError, match=named):
            await PocketTtsEngine(VARIANTS[SMALL], settings(tmp_path)).start()
    shutil.copy(FOLDER / "small" / "config.yaml", folder / "config.yaml")
    (folder / "tokenizer.model").write_bytes(b"\xff" * 40)
    with pytest.raises(BundleError, match="tokenizer"):
        await PocketTtsEngine(VARIANTS[SMALL], settings(tmp_path)).start()
    (folder / "tokenizer.model").unlink()
    with pytest.raises(BundleError, match=r"tokenizer\.json"):
        await PocketTtsEngine(VARIANTS[SMALL], settings(tmp_path)).start()
