"""Flow and vocoder of many streams together on a GPU: how much memory they get, and what is captured for them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.flow_streams import CALL_BLOCKS, FlowStreams
from polyvox.engines.cosyvoice.decoder.hops import HopLengths
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.vocoder_streams import VocoderFrames, VocoderStreams
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowConfig
from polyvox.models.cosyvoice.fused_kernels import EstimatorKernels
from polyvox.models.cosyvoice.paged_flow import PagedFlow, flow_layout
from polyvox.models.paged_attention import PagedAttention
from polyvox.models.paged_cache import RESERVED_BLOCKS
from polyvox.runtime.block_allocator import BlockAllocator
from polyvox.runtime.executors.cuda_graphs import Replay

STREAM_BLOCKS = 10
"""Blocks of cache that a stream is expected to take, beside its voice's: a block is a second."""
_LEAST_BLOCKS = 32
"""Blocks of cache that there are, whatever they take."""
PROMPT_SHARE = 8
"""One part in so many of the caches is for the prompts of recent voices."""
MAX_STREAMS = 64
_FIRST_LENGTHS = 3
"""Lengths of first hops that are captured, beside the longest."""
_SLOTS_PER_STREAM = 3
"""States of the vocoder that a stream holds at one time: before a hop, after it, and one on its way to be dropped."""


class BatchingKernels(NamedTuple):
    """Kernels that compute a batch: attention to the paged cache, and the estimator's kernels."""

    attention: PagedAttention
    estimator: EstimatorKernels | None = None


def triton_kernels() -> BatchingKernels:
    """The kernels of a GPU."""
    from polyvox.models import paged_attention_kernels
    from polyvox.models.cosyvoice import estimator_kernels

    return BatchingKernels(paged_attention_kernels.paged_attention, estimator_kernels)


@torch.inference_mode()
def streams_for(flow: Flow, cache_bytes: int) -> int:
    """Number of streams that so many bytes of cache are enough for."""
    blocks = cache_bytes // flow_layout(flow).nbytes
    return max(1, min(MAX_STREAMS, blocks // STREAM_BLOCKS))


@torch.inference_mode()
def bytes_for(flow: Flow, streams: int) -> int:
    """Bytes of cache that so many streams and their voices are expected to take."""
    return streams * STREAM_BLOCKS * (PROMPT_SHARE + 1) // PROMPT_SHARE * flow_layout(flow).nbytes


@torch.inference_mode()
def batch_flow(flow: Flow, noise: Tensor, cache_bytes: int, kernels: BatchingKernels) -> FlowStreams:
    """The flow of many streams together, with caches of so many bytes."""
    layout = flow_layout(flow)
    blocks = max(_LEAST_BLOCKS, cache_bytes // layout.nbytes)
    paged = PagedFlow(flow, layout, RESERVED_BLOCKS + blocks, kernels.attention, kernels.estimator)
    sizes = [size for size in CALL_BLOCKS if size <= blocks]
    return FlowStreams(paged, BlockAllocator(RESERVED_BLOCKS, RESERVED_BLOCKS + blocks), noise, sizes)


@torch.inference_mode()
def batch_vocoder(token2wav: Token2Wav, streams: int, hops: HopLengths) -> VocoderStreams:
    """The vocoder of so many streams together, for hops of these lengths."""
    frames = vocoder_frames(token2wav.flow.config, hops)
    return VocoderStreams(token2wav.vocoder, token2wav.vocoder_noise, _SLOTS_PER_STREAM * streams, frames)


def vocoder_frames(flow: FlowConfig, hops: HopLengths) -> VocoderFrames:
    """Lengths that hops are padded to: first ones to the next of a few, last ones to that of any other hop."""
    first, later = sorted(hops.first), sorted(hops.later)
    # The last hop of a stream holds the rest of its tokens and the lookahead of the hop before it.
    last = {each + flow.ahead for each in (flow.block, *later)}
    return VocoderFrames(
        [FRAMES_PER_TOKEN * each for each in (*first[:: max(1, len(first) // _FIRST_LENGTHS)], first[-1])],
        [FRAMES_PER_TOKEN * each for each in later],
        [FRAMES_PER_TOKEN * each for each in sorted(last)],
    )


@dataclass(frozen=True, slots=True)
class Capture:
    """One shape to capture."""

    name: str
    run: Callable[[], None]


def captures(flow: FlowStreams | None, vocoder: VocoderStreams | None, replay: Replay) -> Iterator[Capture]:
    """All shapes, those of few streams first."""
    if flow is not None:
        for blocks in flow.shapes:
            yield Capture(f"flow of {blocks}", partial(flow.capture, blocks, replay))
    if vocoder is not None:
        for call, rows in sorted(vocoder.shapes, key=lambda shape: shape[1]):
            yield Capture(f"vocoder of {rows}", partial(vocoder.capture, call, rows, replay))
