"""Streams of the tokenizer's decoder on one device: their states in slots, and the calls that many of them share."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.qwen3tts.voice import ClonedVoice
from polyvox.errors import EngineError
from polyvox.models.qwen3tts.codec_decoder import CodecDecoder, CodecState
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.runtime.executors.fused_lm import has_triton
from polyvox.runtime.pinned_output import upload
from polyvox.types import Pcm

_SPARE = 0
"""The slot that padding rows of a call read and write."""
_RESERVED = 1
Codes = npt.NDArray[np.int64]
FRAMES = (1, 2, 4, 8)
"""Frames of one captured call; more are decoded in several calls."""


@dataclass(frozen=True, slots=True)
class CodecHop:
    """New frames of a stream that has this slot, as many as a call has; only the first `count` of them are real.

    Those behind are padding, which only the last hop of a stream may have. `first` begins the stream, behind the frames
    of a recording where there is a `reference`.
    """

    slot: BlockLease
    codes: Codes
    count: int
    first: bool
    reference: ClonedVoice | None = None

    @classmethod
    def of(
        cls, slot: BlockLease, codes: Sequence[int], groups: int, reference: ClonedVoice | None, *, first: bool
    ) -> "CodecHop":
        """A hop of the codes of whole frames."""
        frames = np.asarray(codes, np.int64).reshape(-1, groups)
        size = next((each for each in FRAMES if each >= len(frames)), len(frames))
        padded = np.zeros((size, groups), np.int64)
        padded[: len(frames)] = frames
        return cls(slot, padded, len(frames), first, reference)


@dataclass(frozen=True, slots=True)
class DecodedHop:
    """A hop's samples, and its share of the device's time."""

    pcm: Pcm
    seconds: float


class CodecStreams:
    """Decodes frames of many streams together. One thread may use it; a slot's calls come in their order.

    All hops of a call have the same number of frames. Calls are one launch each once they were captured.
    """

    def __init__(
        self, decoder: CodecDecoder, slots: int, max_batch: int, replay: Replay | None = None, *, kept_voices: int = 1
    ) -> None:
        """`kept_voices` recordings' states are kept, so that their voices begin at once."""
        self._decoder, self._replay = decoder, replay
        self._voices: OrderedDict[str, CodecState] = OrderedDict()
        self._kept_voices = kept_voices
        if has_triton(decoder.codebooks.device):
            # Triton is only installed on machines with a GPU.
            from polyvox.models.qwen3tts.snake_kernels import activated

            decoder.use_kernel(activated)
        self._rows = buckets(max_batch)
        self._state = decoder.begin(_RESERVED + slots)
        self._allocator = BlockAllocator(_RESERVED, _RESERVED + slots)
        self._device = self._state.frames.device

    @property
    def hop(self) -> int:
        """Samples of a frame."""
        return self._decoder.config.hop

    def open(self) -> BlockLease:
        """A slot for a stream, for as long as the lease lives."""
        leases = self._allocator.take(1)
        if leases is None:
            raise EngineError("There are more streams than the decoder has room for; try again later.")
        return leases[0]

    def key(self, hop: CodecHop) -> int:
        """Hops of one key may be decoded together."""
        return len(hop.codes)

    def warm(self) -> None:
        """Capture all calls, where calls are captured."""
        if self._replay is not None:
            for frames in FRAMES:
                for rows in self._rows:
                    self._call(self._table((), rows, frames), rows, frames)

    @torch.inference_mode()
    def decode(self, hops: Sequence[CodecHop]) -> list[DecodedHop]:
        """The samples of hops of one key."""
        started, frames = time.perf_counter(), len(hops[0].codes)
        for hop in hops:
            if hop.reference is not None:
                self._continue(hop.slot, hop.reference)
        rows = bucket_for(len(hops), self._rows) if self._replay is not None else len(hops)
        samples = self._call(self._table(hops, rows, frames), rows, frames)[: len(hops)].cpu().numpy()
        seconds = (time.perf_counter() - started) / len(hops)
        return [
            DecodedHop(np.array(row[: hop.count * self.hop]), seconds) for hop, row in zip(hops, samples, strict=True)
        ]

    def _continue(self, slot: BlockLease, voice: ClonedVoice) -> None:
        """Put a stream behind the frames of a recording."""
        if voice.digest not in self._voices:
            codes = torch.from_numpy(voice.frames.astype(np.int64))[None].to(self._device)
            _, self._voices[voice.digest] = self._decoder(codes, self._decoder.begin(1))
            while len(self._voices) > self._kept_voices:
                self._voices.popitem(last=False)
        self._voices.move_to_end(voice.digest)
        state, place = self._voices[voice.digest], slot.index
        self._state.frames[place : place + 1] = state.frames
        for kept, known in zip(self._state.kept, state.kept, strict=True):
            kept[place : place + 1] = known

    def _table(self, hops: Sequence[CodecHop], rows: int, frames: int) -> Tensor:
        """Slot, whether the stream begins, and the codes of each row, [rows, 2 + frames * groups]."""
        groups = self._decoder.config.groups
        table = np.zeros((rows, 2 + frames * groups), np.int64)
        table[:, 0], table[:, 1] = _SPARE, 1
        for row, hop in zip(table, hops, strict=False):
            row[0], row[1] = hop.slot.index, hop.first and hop.reference is None
            row[2:] = hop.codes.ravel()
        return upload(torch.from_numpy(table), self._device)

    def _call(self, table: Tensor, rows: int, frames: int) -> Tensor:
        if self._replay is None or frames not in FRAMES:
            return self._work(table)
        return self._replay(("codec", rows, frames), self._work, (table,), (self._table((), rows, frames),))

    def _work(self, table: Tensor) -> Tensor:
        slots, first = table[:, 0], table[:, 1].bool()
        codes = table[:, 2:].view(len(table), -1, self._decoder.config.groups)
        before = CodecState(
            self._state.frames[slots].masked_fill(first, 0),
            tuple(_begun(each[slots], first) for each in self._state.kept),
        )
        samples, after = self._decoder(codes, before)
        self._state.frames[slots] = after.frames
        for kept, new in zip(self._state.kept, after.kept, strict=True):
            kept[slots] = new
        out: Tensor = samples
        return out


def _begun(kept: Tensor, first: Tensor) -> Tensor:
    """Zeros for the rows that begin a stream."""
    return kept.masked_fill(first.view(-1, *[1] * (kept.dim() - 1)), 0.0)
