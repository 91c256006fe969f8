"""Windows of tokens to samples, those of many sessions in one call."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from polyvox.models.neucodec import NeuCodec
from polyvox.types import Pcm

Codes = npt.NDArray[np.int64]
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class Decoded:
    """A window's samples, and the seconds that the device spent on it and its neighbours."""

    pcm: Pcm
    seconds: float


def bucket(codes: Codes) -> int:
    """Windows that share a call: up to 32 tokens, then up to each power of two. Less than half of it is padding."""
    return max(_SHORTEST, 1 << (len(codes) - 1).bit_length())


class WindowDecoder:
    """The codec on its device. Rows of a batch come out as if they were alone."""

    def __init__(self, codec: NeuCodec, device: torch.device) -> None:
        self._codec = codec
        self._device = device

    @torch.inference_mode()
    def decode(self, windows: Sequence[Codes]) -> list[Decoded]:
        """The samples of each window."""
        started = time.perf_counter()
        rows = self._codec.decode([torch.from_numpy(codes).to(self._device) for codes in windows])
        samples = [row.float().cpu().numpy() for row in rows]
        seconds = time.perf_counter() - started
        return [Decoded(pcm, seconds) for pcm in samples]
