"""Wren in PyTorch: the samples of its graphs, whole chunks in batches, and captured shapes. The weights are waves."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.fixed_shapes import Fixed  # noqa: E402
from helpers.tiny_kokoro import TINY, tiny_kokoro, tiny_voices  # noqa: E402
from helpers.tiny_wren import CONFIG, tiny_input, tiny_wren, waves, write_tiny_wren  # noqa: E402
from polyvox.engines.kokoro.engine import KokoroEngine  # noqa: E402
from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis  # noqa: E402
from polyvox.engines.kokoro.native.network import GraphShapes  # noqa: E402
from polyvox.engines.kokoro.native.wren import NativeWren, _heard_frames  # noqa: E402
from polyvox.engines.kokoro.wren.decoder import WrenDecoder  # noqa: E402
from polyvox.engines.kokoro.wren.heard import heard_frames  # noqa: E402
from polyvox.engines.kokoro.wren.plan import UtterancePlan  # noqa: E402
from polyvox.installation import load_settings  # noqa: E402
from polyvox.models.kokoro.ragged import FrameSpans, StaticRagged  # noqa: E402
from polyvox.models.kokoro.wren import Wren  # noqa: E402
from polyvox.models.kokoro.wren_batch import wren_samples  # noqa: E402
from polyvox.types import Span, Utterance  # noqa: E402

ROUNDING = 3e-5
"""Of the peak. Sums of other shapes, added in another order, differ by 5e-6; where a mask or an end in `wren_samples`
is wrong, padding changes a row by 2.3e-4 or more."""
TEXTS = ("Yes.", "No, no.", "Good morning.", "It is far too warm in here.", "Why?", "Come in, please.")
SETTINGS = {"first_chunk_phonemes": 10, "max_chunk_phonemes": 20}


def plans(lengths):
    for frames in lengths:
        given = {name: tensor[0].numpy() for name, tensor in tiny_input(frames).items()}
        yield UtterancePlan(given["text"], given["pitch"], given["energy"], given["style"], np.zeros(0, np.int64))


def decoded(given, heard, padded):
    """The samples of plans in one batch, with other numbers than zeros in the padding."""
    ends = torch.tensor([len(plan.pitch) // 2 for plan in given])

    def rows(name, length):
        batch = torch.full((len(given), *np.shape(getattr(given[0], name))[:-1], length), 3.0)
        for row, plan in zip(batch, given, strict=True):
            row[..., : getattr(plan, name).shape[-1]] = torch.from_numpy(getattr(plan, name))
        return batch

    spans = FrameSpans(
        torch.tensor([span.start for span in heard]), torch.tensor([span.end for span in heard]), 2 * padded
    )
    style = torch.stack([torch.from_numpy(plan.style) for plan in given])
    noise = 1.4 * waves((600 * padded,), 2.3)
    curves = rows("text", padded), rows("pitch", 2 * padded), rows("energy", 2 * padded)
    with torch.inference_mode():
        samples = wren_samples(tiny_wren(), *curves, style, noise, StaticRagged(ends, padded), lambda energy: spans)
    return [row[: 600 * end].numpy() for row, end in zip(samples, ends.tolist(), strict=True)]


@pytest.mark.long
@pytest.mark.parametrize("lengths", [(48,), (48, 20, 34)], ids=["alone", "in a batch"])
def test_rows_of_a_batch_are_what_the_graphs_decode(tmp_path, lengths):
    write_tiny_wren(tmp_path)
    graphs, given = WrenDecoder(tmp_path, 1), list(plans(lengths))
    noise = 1.4 * waves((600 * 40,), 2.3).numpy()
    for cut in (0, 3):
        heard = [Span(cut, len(plan.pitch) - cut) for plan in given]
        together = decoded(given, heard, padded=31)
        for plan, span, samples in zip(given, heard, together, strict=True):
            utterance = graphs.start(plan, noise[: len(samples)], within=span)
            wanted = utterance.advance(len(plan.pitch))
            assert np.abs(samples - wanted).max() < 2e-4 * np.abs(wanted).max()


def test_a_row_depends_neither_on_its_batch_nor_on_its_padding():
    given = list(plans((48, 20, 34)))
    heard = [Span(2, len(plan.pitch) - 1) for plan in given]
    together = decoded(given, heard, padded=40)
    for plan, span, samples in zip(given, heard, together, strict=True):
        (alone,) = decoded([plan], [span], padded=len(plan.pitch) // 2)
        assert np.abs(samples - alone).max() <= ROUNDING * np.abs(alone).max()


def test_the_frames_that_are_heard_are_chosen_as_on_the_cpu():
    chance = np.random.default_rng(3)
    for share in (0.0, 0.05, 0.6):
        for _ in range(20):
            durations = chance.integers(1, 9, 6)
            count = 2 * int(durations.sum())
            energy = np.where(chance.random(count) < share, 1.0, -4.0).astype(np.float32)
            empty = np.zeros(0, np.float32)
            span = heard_frames(UtterancePlan(empty, empty, energy, empty, durations))
            padded = torch.full((1, count + 30), 2.0)
            padded[0, :count] = torch.from_numpy(energy)
            found = _heard_frames(padded, torch.tensor([durations[0]]), torch.tensor([count]))
            inside = np.flatnonzero(found.mask[0, :, 0].numpy())
            assert (inside[0], inside[-1] + 1) == (span.start, span.end)


def native(batch, shapes=None):
    front = tiny_kokoro(torch.float32)
    del front.decoder
    wren = Wren(replace(CONFIG, text_dim=TINY.width, style_dim=TINY.style)).eval().requires_grad_(False)
    for number, parameter in enumerate(wren.parameters()):
        parameter.copy_(0.3 * waves(parameter.shape, 0.7 + 0.01 * number))
    return NativeWren(front, wren, batch, shapes)


async def spoken(folder, network):
    engine = KokoroEngine(load_settings(**SETTINGS), "wren")
    await engine.start_with(BatchedSynthesis(network, None), tiny_voices(folder))

    async def speak(index, text):
        utterance = Utterance(text, "am_adam" if index % 2 else "af_heart", speed=0.8 + index / 10)
        return np.concatenate([chunk.pcm async for chunk in engine.speak(utterance)])

    try:
        return await asyncio.gather(*(speak(index, text) for index, text in enumerate(TEXTS)))
    finally:
        await engine.close()


@pytest.mark.long
@pytest.mark.anyio
async def test_streams_that_share_batches_and_captured_shapes_sound_as_alone(tmp_path):
    replay = Fixed()
    alone = await spoken(tmp_path, native(1))
    captured = native(4, GraphShapes((replay,), replay, replay, (8, 32), (12, 24)))
    captured.capture()
    for network in (native(4), captured):
        together = await spoken(tmp_path, network)
        for ours, wanted in zip(together, alone, strict=True):
            assert ours.shape == wanted.shape
            assert np.abs(ours - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert any(rows > 1 for _, rows, _ in replay.shapes)
