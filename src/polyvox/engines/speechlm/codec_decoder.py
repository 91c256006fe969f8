"""The codec's decoder on its device: windows of tokens to samples, those of many sessions in one batch."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import torch

from polyvox.engines.speechlm.windows import WindowCodes
from polyvox.models.speechlm.neucodec import NeuCodec
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets, own_stream
from polyvox.runtime.launched_step import StepMarks
from polyvox.runtime.pinned_output import PinnedBuffer, upload
from polyvox.types import Pcm, Span

_SHORTEST = 32
_PADDING = -1


def lanes(device: torch.device) -> int:
    """Threads that decode at once: on a GPU one launches a batch while the other waits for the batch before."""
    return 2 if device.type == "cuda" else 1


@dataclass(frozen=True, slots=True)
class DecodedWindow:
    """The samples of a window that were wanted, in memory of their own, and its share of the device's time."""

    pcm: Pcm
    seconds: float


@dataclass(frozen=True, slots=True)
class CodecShapes:
    """The window lengths and the largest batch for which work is captured and replayed."""

    replay: Replay
    lengths: tuple[int, ...]
    max_batch: int


class CodecDecoder:
    """NeuCodec on its device. A row's samples do not depend on its batch or its padding.

    Windows longer than the longest captured length are decoded eagerly, in their own shape. On a GPU, all work is in
    one stream of its own. Batches are launched one after the other; as many threads as there are `lanes` may wait for
    theirs, each with a buffer.
    """

    def __init__(
        self, codec: NeuCodec, device: torch.device, shapes: CodecShapes | None = None, *, compiled: bool = False
    ) -> None:
        self._codec = codec
        self._device = device
        self._shapes = shapes
        self._compiled = torch.compile(codec.forward, dynamic=True) if compiled else None
        self._stream = own_stream(device)
        self._launching = threading.Lock()
        self._buffers: SimpleQueue[PinnedBuffer] = SimpleQueue()
        for _ in range(lanes(device)):
            self._buffers.put(PinnedBuffer(device))

    def bucket(self, window: WindowCodes) -> int:
        """Key of windows of about the same length, which are decoded together."""
        if self._shapes is not None and len(window) <= self._shapes.lengths[-1]:
            return bucket_for(len(window), self._shapes.lengths)
        return max(_SHORTEST, 1 << (len(window) - 1).bit_length())

    def warm(self) -> None:
        """Capture every shape, or compile; RuntimeError where the machine cannot."""
        if self._compiled is not None:
            from torch._dynamo.exc import BackendCompilerFailed  # seconds that only a decoder to be compiled needs

            try:
                self.decode([self._idle(_SHORTEST)])
            except BackendCompilerFailed as error:
                # The first line only names the compiler.
                raise RuntimeError(" ".join(str(error).splitlines()[:2])) from error
        if self._shapes is not None:
            for rows in buckets(self._shapes.max_batch):
                for length in self._shapes.lengths:
                    self.decode([self._idle(length)] * rows)

    def _idle(self, length: int) -> WindowCodes:
        return WindowCodes(np.zeros(length, np.int64), Span(0, length * self._codec.config.hop))

    @torch.inference_mode()
    def decode(self, windows: Sequence[WindowCodes]) -> list[DecodedWindow]:
        """The wanted samples of each window."""
        buffer = self._buffers.get()
        try:
            with self._launching, self._on_stream():
                marks = StepMarks(self._device, 0)
                first = min(window.wanted.start for window in windows)
                end = max(window.wanted.end for window in windows)
                # Copied before the next batch is launched: its replay will overwrite them.
                host = buffer.start(self._samples(windows)[: len(windows), first:end].float())
                marks.mark()
            (seconds,) = marks.wait()
            return [
                DecodedWindow(
                    row[window.wanted.start - first : window.wanted.end - first].copy(), seconds / len(windows)
                )
                for row, window in zip(host.numpy(), windows, strict=True)
            ]
        finally:
            self._buffers.put(buffer)

    def _on_stream(self) -> AbstractContextManager[object]:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

    def _samples(self, windows: Sequence[WindowCodes]) -> torch.Tensor:
        """[rows, n], with rows and samples beyond those of the windows."""
        longest = max(map(len, windows))
        if self._compiled is not None:
            # With two rows and a mask in any case, one compilation serves for all shapes.
            padded = self._padded(windows, max(2, len(windows)), max(2, longest))
            samples: torch.Tensor = self._compiled(*_unpacked(padded))
            return samples
        if self._shapes is not None and longest <= self._shapes.lengths[-1]:
            rows = bucket_for(len(windows), buckets(self._shapes.max_batch))
            length = bucket_for(longest, self._shapes.lengths)
            return self._shapes.replay(
                ("codec", rows, length), self._decode_padded, (self._padded(windows, rows, length),)
            )
        codes, present = _unpacked(self._padded(windows, len(windows), longest))
        return self._codec.forward(codes, None if min(map(len, windows)) == longest else present)

    def _decode_padded(self, padded: torch.Tensor) -> torch.Tensor:
        """The captured work: tokens [rows, length] to samples."""
        return self._codec.forward(*_unpacked(padded))

    def _padded(self, windows: Sequence[WindowCodes], rows: int, length: int) -> torch.Tensor:
        """Tokens [rows, length] on the device, with `_PADDING` behind each window; a padding row has one token."""
        codes = np.full((rows, length), _PADDING, np.int64)
        codes[len(windows) :, 0] = 0
        for row, window in zip(codes, windows, strict=False):
            row[: len(window)] = window.codes
        return upload(torch.from_numpy(codes), self._device)


def _unpacked(padded: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens, and the mask of those that are no padding."""
    return padded.clamp(min=0), padded != _PADDING
