"""Streams of S3Gen: cut anywhere and beside any others, each is what one pass over all of it gives."""

from collections.abc import Iterator, Sequence
from functools import cache

import pytest
import torch
from torch import Tensor

from helpers import plain_kernels
from helpers.chatterbox_s3gen import prompt, recorded, s3gen
from helpers.replaying import Poisoned
from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop, VocoderHop
from polyvox.engines.cosyvoice.decoder.flow_streams import FlowStreams
from polyvox.engines.cosyvoice.decoder.vocoder_streams import VocoderFrames, VocoderStreams
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.cosyvoice.paged_flow import PagedFlow, flow_layout
from polyvox.models.hift.model import Hift
from polyvox.models.paged_attention import paged_attention
from polyvox.models.paged_cache import RESERVED_BLOCKS
from polyvox.runtime.block_allocator import BlockAllocator

KINDS = pytest.mark.parametrize("turbo", [False, True])
TOKENS = [int(token) for _ in range(3) for token in recorded()["turbo.tokens"][:36]]
FLOW_CUTS = ([38, 25, 45], [63, 45], [108])
VOCODER_FRAMES = VocoderFrames(first=(24, 30), later=(10,), last=(16,))
VOCODER_CUTS = ([24, 10, 15, 3], [14, 10, 9, 4], [28, 8, 4], [40, 9], [12])
BLOCKS = 60
ROUNDING = 2e-4
FRAME = 480


@pytest.fixture(autouse=True)
def _inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


@cache
def one_pass(*, turbo: bool) -> Tensor:
    tokens = torch.tensor([TOKENS])
    return s3gen(turbo=turbo).flow.render(prompt(), tokens, flow_noise(), streaming=True, final=True)[0]


def flow_streams(*, turbo: bool, fused: bool) -> FlowStreams:
    """Memory that no stream has written to is NaN."""
    flow = s3gen(turbo=turbo).flow
    paged = PagedFlow(flow, flow_layout(flow), BLOCKS, paged_attention, plain_kernels if fused else None)
    for memory in paged.memory:
        memory[1:] = float("nan")
    return FlowStreams(paged, BlockAllocator(RESERVED_BLOCKS, BLOCKS), flow_noise(), (1, 3, 8))


@KINDS
def test_a_flow_that_is_cut_into_hops_is_that_of_one_pass(turbo: bool):
    flow = s3gen(turbo=turbo).flow
    state, mels, done = flow.start(prompt(), flow_noise()), [], 0
    for index, count in enumerate(FLOW_CUTS[0]):
        given = torch.tensor([TOKENS[done : done + count]])
        mel, state = flow.step(given, state, final=index == len(FLOW_CUTS[0]) - 1)
        mels.append(mel[0])
        done += count
    torch.testing.assert_close(torch.cat(mels, dim=1), one_pass(turbo=turbo), rtol=0, atol=1e-4)


@KINDS
@pytest.mark.parametrize("on_gpu", [False, True])
def test_flows_of_many_streams_in_one_call_are_those_of_each_alone(turbo: bool, on_gpu: bool):
    """As a GPU computes them: by fused kernels, here in plain PyTorch, and captured."""
    streams, replay = flow_streams(turbo=turbo, fused=on_gpu), Poisoned()
    for blocks in streams.shapes if on_gpu else ():
        streams.capture(blocks, replay)
    states, done = [streams.start(prompt())] * len(FLOW_CUTS), [0] * len(FLOW_CUTS)
    mels: list[list[Tensor]] = [[] for _ in FLOW_CUTS]
    for turn in range(max(map(len, FLOW_CUTS))):
        alive = [index for index, cut in enumerate(FLOW_CUTS) if turn < len(cut)]
        hops = []
        for index in alive:
            end = done[index] + FLOW_CUTS[index][turn]
            hops.append(FlowHop(TOKENS[done[index] : end], states[index], turn == len(FLOW_CUTS[index]) - 1))
            done[index] = end
        for index, result in zip(alive, streams.step(hops), strict=True):
            assert result.mel is not None
            mels[index].append(result.mel)
            states[index] = result.state
    for mel in mels:
        torch.testing.assert_close(torch.cat(mel, dim=1), one_pass(turbo=turbo), rtol=0, atol=1e-4)


def mel_of(cut: Sequence[int]) -> tuple[Tensor, ...]:
    return recorded()["meanflow2.mel"][:, : sum(cut)].split(list(cut), dim=1)


def vocoder_noise() -> Tensor:
    return torch.randn(1, FRAME * 300, 9, generator=torch.Generator().manual_seed(4))


def start_of(stream: int, turn: int) -> int:
    return FRAME * (7 * stream + 13 * turn)


def vocoded_alone(vocoder: Hift, stream: int, cut: Sequence[int]) -> Tensor:
    state, samples, noise = None, [], vocoder_noise()
    for turn, mel in enumerate(mel_of(cut)):
        first = start_of(stream, turn)
        given = noise[:, first : first + FRAME * (mel.shape[1] + (8 if state else 0))]
        new, state = vocoder.step(mel[None], given, state, final=turn == len(cut) - 1)
        samples.append(new[0])
    return torch.cat(samples)


@pytest.mark.parametrize("captured", [False, True])
def test_vocoders_of_many_streams_in_one_call_sound_as_each_does_alone(captured: bool):
    vocoder = s3gen().vocoder
    streams = VocoderStreams(vocoder, vocoder_noise(), 16, VOCODER_FRAMES, (1, 4))
    replay = Poisoned()
    for call, rows in streams.shapes if captured else ():
        streams.capture(call, rows, replay)
    streams.memory.fill_(float("nan"))
    states: list[object | None] = [None] * len(VOCODER_CUTS)
    samples: list[list[Tensor]] = [[] for _ in VOCODER_CUTS]
    for turn in range(max(map(len, VOCODER_CUTS))):
        alive = [index for index, cut in enumerate(VOCODER_CUTS) if turn < len(cut)]
        hops = [
            VocoderHop(
                mel_of(VOCODER_CUTS[index])[turn],
                states[index],
                turn == len(VOCODER_CUTS[index]) - 1,
                start_of(index, turn),
            )
            for index in alive
        ]
        for index, result in zip(alive, streams.step(hops), strict=True):
            samples[index].append(result.samples.clone())
            states[index] = result.state
    for index, cut in enumerate(VOCODER_CUTS):
        alone = vocoded_alone(vocoder, index, cut)
        torch.testing.assert_close(torch.cat(samples[index]), alone, rtol=0, atol=ROUNDING)


def test_harmonics_go_on_from_chunk_to_chunk(monkeypatch: pytest.MonkeyPatch):
    """With a steady pitch and no noise, the source of a cut stream is that of a whole one."""
    vocoder = s3gen().vocoder
    monkeypatch.setattr(vocoder.pitch, "forward", lambda mel, cache: torch.full((1, mel.shape[2]), 217.0))
    mel = recorded()["meanflow2.mel"][None, :, :40]
    whole = vocoder.excitation(mel, torch.zeros(1, FRAME * 40, 9))
    _, first = vocoder.step(mel[:, :, :17], torch.zeros(1, FRAME * 17, 9))
    assert first is not None
    _, second = vocoder.step(mel[:, :, 17:], torch.zeros(1, FRAME * 31, 9), first)
    assert second is not None
    for state, end in ((first, 17), (second, 40)):
        torch.testing.assert_close(state.source, whole[:, FRAME * (end - 8) : FRAME * end], rtol=0, atol=1e-5)
