"""The codec's decoder on its device: windows of tokens to samples, those of many sessions in one batch."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from polyvox.models.speechlm.neucodec import NeuCodec
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

Codes = npt.NDArray[np.int64]
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class DecodedWindow:
    """A window's samples, and its share of the device's time."""

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

    Windows longer than the longest captured length are decoded eagerly, in their own shape.
    """

    def __init__(
        self, codec: NeuCodec, device: torch.device, shapes: CodecShapes | None = None, *, compiled: bool = False
    ) -> None:
        self._codec = codec
        self._device = device
        self._shapes = shapes
        self._compiled = torch.compile(codec.forward, dynamic=True) if compiled else None

    def bucket(self, codes: Codes) -> int:
        """Key of windows of about the same length, which are decoded together."""
        if self._shapes is not None and len(codes) <= self._shapes.lengths[-1]:
            return bucket_for(len(codes), self._shapes.lengths)
        return max(_SHORTEST, 1 << (len(codes) - 1).bit_length())

    def warm(self) -> None:
        """Capture every shape, or compile; RuntimeError where the machine cannot."""
        if self._compiled is not None:
            from torch._dynamo.exc import BackendCompilerFailed  # seconds that only a decoder to be compiled needs

            try:
                self.decode([np.zeros(_SHORTEST, np.int64)])
            except BackendCompilerFailed as error:
                # The first line only names the compiler.
                raise RuntimeError(" ".join(str(error).splitlines()[:2])) from error
        if self._shapes is not None:
            for rows in buckets(self._shapes.max_batch):
                for length in self._shapes.lengths:
                    self.decode([np.zeros(length, np.int64)] * rows)

    @torch.inference_mode()
    def decode(self, windows: Sequence[Codes]) -> list[DecodedWindow]:
        """The samples of each window."""
        started = time.perf_counter()
        samples = self._samples(windows, max(map(len, windows)))[: len(windows)].float().cpu().numpy()
        hop, seconds = self._codec.config.hop, (time.perf_counter() - started) / len(windows)
        return [
            DecodedWindow(row[: len(codes) * hop].copy(), seconds) for row, codes in zip(samples, windows, strict=True)
        ]

    def _samples(self, windows: Sequence[Codes], longest: int) -> torch.Tensor:
        if self._compiled is not None:
            # With two rows and a mask in any case, one compilation serves for all shapes.
            samples: torch.Tensor = self._compiled(*self._padded(windows, max(2, len(windows)), max(2, longest)))
            return samples
        if self._shapes is not None and longest <= self._shapes.lengths[-1]:
            rows = bucket_for(len(windows), buckets(self._shapes.max_batch))
            length = bucket_for(longest, self._shapes.lengths)
            given = self._padded(windows, rows, length)
            return self._shapes.replay(("codec", rows, length), self._codec.forward, given)
        codes, present = self._padded(windows, len(windows), longest)
        return self._codec.forward(codes, None if min(map(len, windows)) == longest else present)

    def _padded(self, windows: Sequence[Codes], rows: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens and their mask, [rows, length]; a padding row has one token."""
        codes, lengths = np.zeros((rows, length), np.int64), np.ones(rows, np.int64)
        for row, window in enumerate(windows):
            codes[row, : len(window)] = window
            lengths[row] = len(window)
        present = np.arange(length) < lengths[:, None]
        return torch.from_numpy(codes).to(self._device), torch.from_numpy(present).to(self._device)
