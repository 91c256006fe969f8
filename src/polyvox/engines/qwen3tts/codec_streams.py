"""Streams of the tokenizer's decoder on one device: their states in slots, and the calls that many of them share."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kit.decoder_streams import SPARE, DecoderStreams, call_frames
from polyvox.engines.qwen3tts.voice import ClonedVoice
from polyvox.models.qwen3tts.codec_decoder import CodecDecoder
from polyvox.models.stream_state import StreamState
from polyvox.runtime.block_allocator import BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.executors.fused_lm import has_triton
from polyvox.runtime.pinned_output import upload

Codes = npt.NDArray[np.int64]


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
        padded = np.zeros((call_frames(len(frames)), groups), np.int64)
        padded[: len(frames)] = frames
        return cls(slot, padded, len(frames), first, reference)


class CodecStreams(DecoderStreams[CodecHop]):
    """Streams of frames of codes, which may begin behind a recording's."""

    def __init__(
        self, decoder: CodecDecoder, slots: int, max_batch: int, replay: Replay | None = None, *, kept_voices: int = 1
    ) -> None:
        """`kept_voices` recordings' states are kept, so that their voices begin at once."""
        super().__init__(decoder.begin, slots, max_batch, decoder.config.hop, replay)
        self._decoder = decoder
        self._voices: OrderedDict[str, StreamState] = OrderedDict()
        self._kept_voices = kept_voices
        if has_triton(decoder.codebooks.device):
            # Triton is only installed on machines with a GPU.
            from polyvox.models.qwen3tts.snake_kernels import activated

            decoder.use_kernel(activated)

    def key(self, hop: CodecHop) -> int:
        return len(hop.codes)

    def _frames(self, hop: CodecHop) -> int:
        return hop.count

    def _begin(self, hops: Sequence[CodecHop]) -> None:
        for hop in hops:
            if hop.reference is not None:
                self._continue(hop.slot, hop.reference)

    def _continue(self, slot: BlockLease, voice: ClonedVoice) -> None:
        """Put a stream behind the frames of a recording."""
        if voice.digest not in self._voices:
            codes = torch.from_numpy(voice.frames.astype(np.int64))[None].to(self._device)
            _, self._voices[voice.digest] = self._decoder(codes, self._decoder.begin(1))
            while len(self._voices) > self._kept_voices:
                self._voices.popitem(last=False)
        self._voices.move_to_end(voice.digest)
        self._keep(slice(slot.index, slot.index + 1), self._voices[voice.digest])

    def _table(self, hops: Sequence[CodecHop], batch: int, frames: int) -> Tensor:
        table = np.zeros((batch, 2 + frames * self._decoder.config.groups), np.int64)
        table[:, 0], table[:, 1] = SPARE, 1
        for row, hop in zip(table, hops, strict=False):
            row[0], row[1] = hop.slot.index, hop.first and hop.reference is None
            row[2:] = hop.codes.ravel()
        return upload(torch.from_numpy(table), self._device)

    def _decoded(self, frames: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        samples, after = self._decoder(frames.view(len(frames), -1, self._decoder.config.groups), state)
        return samples, after
