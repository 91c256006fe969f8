"""Windows of tokens to samples, those of many sessions in one call."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import structlog
import torch
from torch._dynamo.exc import BackendCompilerFailed

from polyvox.models.speechlm.neucodec import NeuCodec
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

Codes = npt.NDArray[np.int64]
_SHORTEST = 32
log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A window's samples, and the seconds that the device spent on it and its neighbours."""

    pcm: Pcm
    seconds: float


@dataclass(frozen=True, slots=True)
class Shapes:
    """The windows' lengths, and their most in one call, for which work is recorded by `replay`."""

    replay: Replay
    lengths: tuple[int, ...]
    most: int


class WindowDecoder:
    """The codec on its device. Rows of a batch come out as if they were alone, whatever they are padded to.

    Windows longer than any that was recorded are decoded as they come.
    """

    def __init__(
        self, codec: NeuCodec, device: torch.device, shapes: Shapes | None = None, *, compiled: bool = False
    ) -> None:
        self._codec = codec
        self._device = device
        self._shapes = shapes
        self._compiled = torch.compile(codec.forward, dynamic=True) if compiled else None

    def bucket(self, codes: Codes) -> int:
        """Windows with the same are decoded together: they have about the same length."""
        if self._shapes is not None and len(codes) <= self._shapes.lengths[-1]:
            return bucket_for(len(codes), self._shapes.lengths)
        return max(_SHORTEST, 1 << (len(codes) - 1).bit_length())

    def warm(self) -> None:
        """Record every shape, or compile; a machine that cannot compile decodes as it is, and says so."""
        if self._compiled is not None:
            try:
                self.decode([np.zeros(_SHORTEST, np.int64)])
            except BackendCompilerFailed as error:
                self._compiled = None
                log.warning("codec_not_compiled", reason=" ".join(str(error).splitlines()[:2]))
        if self._shapes is not None:
            for rows in buckets(self._shapes.most):
                for length in self._shapes.lengths:
                    self.decode([np.zeros(length, np.int64)] * rows)

    @torch.inference_mode()
    def decode(self, windows: Sequence[Codes]) -> list[Decoded]:
        """The samples of each window."""
        started = time.perf_counter()
        heard = self._samples(windows, max(map(len, windows)))[: len(windows)].float().cpu().numpy()
        hop, seconds = self._codec.config.hop, time.perf_counter() - started
        return [Decoded(row[: len(codes) * hop].copy(), seconds) for row, codes in zip(heard, windows, strict=True)]

    def _samples(self, windows: Sequence[Codes], longest: int) -> torch.Tensor:
        if self._compiled is not None:
            # With two rows and a mask in any case, one compilation serves for all shapes.
            samples: torch.Tensor = self._compiled(*self._padded(windows, max(2, len(windows)), max(2, longest)))
            return samples
        if self._shapes is not None and longest <= self._shapes.lengths[-1]:
            rows = bucket_for(len(windows), buckets(self._shapes.most))
            length = bucket_for(longest, self._shapes.lengths)
            given = self._padded(windows, rows, length)
            return self._shapes.replay(("codec", rows, length), self._codec.forward, given)
        codes, present = self._padded(windows, len(windows), longest)
        return self._codec.forward(codes, None if min(map(len, windows)) == longest else present)

    def _padded(self, windows: Sequence[Codes], rows: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens and which of them are there, [rows, length]; a row that is nobody's has one token."""
        codes, lengths = np.zeros((rows, length), np.int64), np.ones(rows, np.int64)
        for place, window in enumerate(windows):
            codes[place, : len(window)] = window
            lengths[place] = len(window)
        present = np.arange(length) < lengths[:, None]
        return torch.from_numpy(codes).to(self._device), torch.from_numpy(present).to(self._device)
