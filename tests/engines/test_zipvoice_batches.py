"""The engine as it runs on a GPU, with a stand-in for CUDA graphs on the CPU."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from helpers.replaying import Poisoned
from helpers.zipvoice_bundle import write_model, write_vocoder
from polyvox.engines.zipvoice import batch_solver, batch_synthesizer, loading
from polyvox.engines.zipvoice.bundle import load_networks
from polyvox.engines.zipvoice.engine import ZipVoiceEngine
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.synthesizer import ChunkRequest
from polyvox.engines.zipvoice.tuning import ZipVoiceTuning
from polyvox.engines.zipvoice.variants import VARIANTS
from polyvox.engines.zipvoice.voice import ZipVoicePrompt
from polyvox.installation import load_settings
from polyvox.models.zipvoice.model import ZipVoice
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import BatchReport
from polyvox.types import PreparedVoice, Utterance

pytestmark = pytest.mark.anyio
CPU = torch.device("cpu")
DISTILLED = VARIANTS["zipvoice_distill"]
TEXTS = ("Hello world.", "This is a test of the house, and it is long enough to be cut; I think so!", "Why?")


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> ZipVoiceNetworks:
    root = tmp_path_factory.mktemp("models")
    write_vocoder(root / "vocos")
    write_model(root / DISTILLED.name, DISTILLED.name)
    return load_networks(DISTILLED, root / DISTILLED.name, root / "vocos", CPU)


@pytest.fixture(autouse=True)
def few_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FRAME_TIERS", "VOCODER_TIERS", "TOKEN_TIERS"):
        monkeypatch.setattr(batch_solver, name, (512,))
    for name in ("ROW_TIERS", "_FEW_ROWS"):
        monkeypatch.setattr(batch_solver, name, (4,))


def voice(engine: ZipVoiceEngine) -> PreparedVoice:
    mel = np.random.Generator(np.random.Philox(1)).standard_normal((94, BINS), np.float32)
    return ZipVoicePrompt(tuple(range(1, 16)), mel, 0.1).to_prepared(engine.name, "digest")


async def said(engine: ZipVoiceEngine, text: str, seed: int) -> np.ndarray:
    asked = Utterance(text, "", seed=seed, prepared=voice(engine), tuning={"num_steps": 2.0})
    return np.concatenate([chunk.pcm async for chunk in engine.speak(asked)])


@pytest.mark.long
async def test_requests_at_once_get_what_each_gets_alone_step_by_step(
    networks: ZipVoiceNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_synthesizer, "GATHER_SECONDS", 60.0)
    plain = ZipVoiceEngine(DISTILLED, load_settings())
    await plain.start_with(networks, CPU)
    expected = [await said(plain, text, seed) for seed, text in enumerate(TEXTS)]
    await plain.close()
    replay, batches = Poisoned(), list[BatchReport]()
    engine = ZipVoiceEngine(DISTILLED, load_settings())
    engine.observe(batches.append)
    await engine.start_with(networks, CPU, recorder=lambda: replay)
    await engine.captured()
    replay.calls.clear()
    together = await asyncio.gather(*(said(engine, text, seed) for seed, text in enumerate(TEXTS)))
    assert "captured" not in engine.warning
    await engine.close()
    assert {shape.part for shape in replay.calls} == {"encode", "step", "vocode"}
    assert max(report.size for report in batches) >= len(TEXTS), "the first chunks share a batch, and a second may join"
    for ours, theirs in zip(together, expected, strict=True):
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= 1e-4


@pytest.mark.long
async def test_a_capture_that_fails_leaves_an_engine_that_warns_and_speaks(networks: ZipVoiceNetworks) -> None:
    def fail(*_: object, **__: object) -> torch.Tensor:
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    engine = ZipVoiceEngine(DISTILLED, load_settings())
    recorder: Any = lambda: fail  # noqa: E731
    await engine.start_with(networks, CPU, recorder=recorder)
    await engine.captured()
    assert "could not be captured (operation not permitted when stream is capturing), so" in engine.warning
    assert len(await said(engine, TEXTS[0], 1)) > 1000
    await engine.close()


@pytest.mark.long
async def test_the_engine_is_ready_before_its_shapes_are_captured_and_may_close_then(
    networks: ZipVoiceNetworks,
) -> None:
    replay = Poisoned()
    engine = ZipVoiceEngine(DISTILLED, load_settings())
    await engine.start_with(networks, CPU, recorder=lambda: replay)
    assert len(await said(engine, TEXTS[2], 1)) > 1000
    await engine.close()
    await engine.close()


@pytest.mark.long
def test_a_precision_that_errs_is_not_used(networks: ZipVoiceNetworks) -> None:
    half, doubt = loading.in_precision(networks, torch.bfloat16, BINS, CPU)
    assert doubt == ""
    assert isinstance(half.acoustic_model, ZipVoice)
    assert half.acoustic_model.embed.weight.dtype == torch.bfloat16
    assert isinstance(networks.acoustic_model, ZipVoice)
    assert networks.acoustic_model.embed.weight.dtype == torch.float32
    same, doubt = loading.in_precision(networks, torch.float32, BINS, CPU)
    assert (same, doubt) == (networks, "")
    large = replace(networks, acoustic_model=networks.acoustic_model)
    weight = networks.acoustic_model.decoder.out_proj.weight
    saved = weight.clone()
    with torch.no_grad():
        weight.mul_(1e6)  # beyond what float16 holds
        kept, doubt = loading.in_precision(large, torch.float16, BINS, CPU)
        weight.copy_(saved)
    assert kept is large
    assert doubt == "ZipVoice in float16 differs too much from float32, so it runs in float32."


@pytest.mark.long
async def test_the_next_chunk_is_under_way_before_its_turn_and_ends_with_the_utterance(
    networks: ZipVoiceNetworks,
) -> None:
    sizes, second = list[int](), asyncio.Event()

    def note(report: BatchReport) -> None:
        sizes.append(report.size)
        if sum(sizes) == 2:
            second.set()

    engine = ZipVoiceEngine(DISTILLED, load_settings())
    engine.observe(note)
    await engine.start_with(networks, CPU, recorder=Poisoned)
    await engine.captured()
    sizes.clear()
    second.clear()
    asked = Utterance(" ".join(TEXTS[:2] * 3), "", seed=1, prepared=voice(engine), tuning={"num_steps": 2.0})
    async with aclosing(engine.speak(asked)) as chunks:  # type: ignore[type-var]
        await anext(chunks)
        async with asyncio.timeout(10):
            await second.wait()
        await asyncio.sleep(0.05)
        assert sum(sizes) == 2, "one chunk ahead, and no more"
    assert len(await said(engine, TEXTS[2], 1)) > 1000
    await engine.close()


@pytest.mark.long
async def test_samples_are_the_same_alone_and_in_a_batch_and_finished_once_for_all_rows(
    networks: ZipVoiceNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_synthesizer, "GATHER_SECONDS", 60.0)
    batches, reads = list[BatchReport](), list[int]()
    finished = batch_synthesizer._Arrival._finished

    def counting(arrival: Any) -> Any:
        reads.append(len(arrival._requests))
        return finished(arrival)

    monkeypatch.setattr(batch_synthesizer._Arrival, "_finished", counting)
    engine = ZipVoiceEngine(DISTILLED, load_settings())
    engine.observe(batches.append)
    await engine.start_with(networks, CPU, recorder=Poisoned)
    await engine.captured()
    alone = [await said(engine, TEXTS[1], seed) for seed in (5, 5, 6, 7)]
    batches.clear()
    reads.clear()
    together = await asyncio.gather(*(said(engine, TEXTS[1], seed) for seed in (5, 6, 7)))
    await engine.close()
    assert max(report.size for report in batches) >= 3
    assert sorted(reads) == sorted(report.size for report in batches), "one call for each batch"
    np.testing.assert_array_equal(alone[0], alone[1])
    for ours, theirs in zip(together, (alone[0], *alone[2:]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.long
async def test_a_caller_that_leaves_its_batch_takes_nothing_from_the_others(networks: ZipVoiceNetworks) -> None:
    class Samples:
        def samples(self, row: int) -> np.ndarray:
            return np.full(4, row / 4, np.float32)

    requests = [request(gain=2.0), request()]
    executor = DeviceExecutor("samples", 1)
    arrival = batch_synthesizer._Arrival(Samples(), requests, 0.0)  # type: ignore[arg-type]
    first, second = (asyncio.create_task(arrival.row(row, executor)) for row in range(2))
    await asyncio.sleep(0)
    first.cancel()
    pcm, seconds = await second
    np.testing.assert_array_equal(pcm, np.full(4, 0.25, np.float32))
    assert seconds.device == pytest.approx(seconds.wall / 2)
    assert first.cancelled()
    executor.close()


def test_noise_and_gain_are_what_they_are_by_the_networks_own_arithmetic() -> None:
    mel = np.random.Generator(np.random.Philox(1)).standard_normal((500, BINS), np.float32)
    asked = request(mel=mel, gain=1.7)
    row = batch_synthesizer._chunk_row(asked)
    noise = torch.randn(row.frames, BINS, generator=torch.Generator().manual_seed(asked.seed))
    np.testing.assert_array_equal(row.noise, noise.numpy())
    np.testing.assert_array_equal(row.prompt, (torch.from_numpy(mel) * 0.1).numpy())
    loud = mel.reshape(-1)
    np.testing.assert_array_equal(asked.finished(loud), np.clip(loud / np.float32(1.7), -1.0, 1.0))
    assert loud.max() > 2, "the network's samples are left as they are"


def request(mel: np.ndarray | None = None, gain: float = 1.0) -> ChunkRequest:
    mel = np.zeros((60, BINS), np.float32) if mel is None else mel
    options = ZipVoiceTuning.of({}).resolve(DISTILLED)
    return ChunkRequest((1, 2, 3), ZipVoicePrompt((1, 2), mel, 0.1), 1.0, options, 9, gain)
