"""Kokoro's network in PyTorch on one device: rows of different lengths in one call, each as if it were alone."""

import hashlib
import struct
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kokoro.call import ModelInput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro import FRAME, HARMONICS, Kokoro, Line, Prosody
from polyvox.models.ragged import Boxed
from polyvox.runtime.executors.graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

LOUDER = np.float32(1.5)
"""The quantised graph's samples are so much louder than the network's; all of Kokoro's speech is as loud as that."""
FRAMES_PER_CALL = 1_920
"""Frames that one call sounds at most, padding included; it bounds memory, and how long others wait."""
GPU_BATCH, CPU_BATCH = 32, 1
"""Chunks in one call where the settings leave it open. A CPU computes no faster for having more."""
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class Shapes:
    """The lengths, in frames, for which sounding is recorded by `replay`."""

    replay: Replay
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """An input and how it will be said, its durations also where the device is not asked for them."""

    item: ModelInput
    prosody: Prosody
    durations: npt.NDArray[np.int64]


class NativeKokoro:
    """The network as an engine calls it, from one thread.

    Lines longer than any that was recorded, and all lines where nothing is, are sounded as they come.
    """

    def __init__(self, network: Kokoro, batch: int, shapes: Shapes | None = None) -> None:
        self.network = network
        self.device = network.bert_encoder.weight.device
        self.dtype = network.decoder.reminder.weight.dtype
        self.batch = batch
        self._shapes = shapes

    @property
    def runs_on(self) -> str:
        """Where it runs, in words."""
        return f"PyTorch on {self.device.type} in {str(self.dtype).removeprefix('torch.')}"

    def bucket(self, planned: Planned) -> int:
        """Lines with the same are sounded together: they have about the same length, and at most this one."""
        frames = planned.prosody.frames
        if self._shapes is not None and frames <= self._shapes.lengths[-1]:
            return bucket_for(frames, self._shapes.lengths)
        return max(_SHORTEST, 1 << (frames - 1).bit_length())

    def room(self, bucket: Hashable) -> int:
        """How many lines of a bucket one call sounds at most."""
        assert isinstance(bucket, int)
        return max(1, min(self.batch, FRAMES_PER_CALL // bucket))

    def plan(self, items: Sequence[ModelInput]) -> list[Planned]:
        """How each input will be said."""
        with torch.inference_mode(), self._exactly():
            plan = self.network.plan([line_of(item) for item in items])
            return [
                Planned(item, prosody, prosody.durations.cpu().numpy())
                for item, prosody in zip(items, plan, strict=True)
            ]

    def sound(self, planned: Sequence[Planned]) -> list[Pcm]:
        """The samples of each line; all are of one bucket, and no more than it has room for."""
        with torch.inference_mode(), self._exactly():
            rows = [row.float().cpu().numpy() for row in self._samples(planned)]
        return [row[: each.prosody.frames * FRAME] * LOUDER for row, each in zip(rows, planned, strict=True)]

    def warm(self) -> None:
        """Record every shape."""
        if self._shapes is None:
            return
        for length in self._shapes.lengths:
            for rows in buckets(self.room(length)):
                with torch.inference_mode(), self._exactly():
                    self._replayed(self._shapes, self._box(rows, length))

    def _samples(self, planned: Sequence[Planned]) -> Sequence[Tensor]:
        longest = max(each.prosody.frames for each in planned)
        if self._shapes is None or longest > self._shapes.lengths[-1]:
            noise = [torch.empty(each.prosody.noise_shape, device=self.device) for each in planned]
            for rows, each in zip(noise, planned, strict=True):
                self._breathe(rows, each.item)
            return self.network.sound([each.prosody for each in planned], noise)
        length = bucket_for(longest, self._shapes.lengths)
        box = self._box(bucket_for(len(planned), buckets(self.room(length))), length)
        for row, each in enumerate(planned):
            box.put(row, each.prosody)
            self._breathe(box.noise[row, : each.prosody.frames * FRAME], each.item)
        # In one piece: each crossing waits for the device.
        return list(self._replayed(self._shapes, box)[: len(planned)].cpu())

    def _replayed(self, shapes: Shapes, box: "_Box") -> Tensor:
        return shapes.replay(("kokoro", *box.text.shape[::2]), self._boxed, box.tensors)

    def _boxed(self, ends: Tensor, *tensors: Tensor) -> Tensor:
        """What is recorded: the samples of a box's tensors."""
        text, pitch, energy, style, noise = tensors
        return self.network.sounded(text, pitch, energy, style, noise, Boxed(ends, text.shape[2]))

    def _box(self, rows: int, length: int) -> "_Box":
        """A box of lines of one silent frame each, which nobody hears."""
        config, planned = self.network.config, self.network.bert_encoder.weight.dtype
        text = self.network.text_encoder.embedding.weight.dtype

        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros(rows, *shape, dtype=dtype, device=self.device)

        return _Box(
            ends=torch.ones(rows, dtype=torch.long, device=self.device),
            text=zeros(config.width, length, dtype=text),
            pitch=zeros(2 * length, dtype=planned),
            energy=zeros(2 * length, dtype=planned),
            style=zeros(config.style, dtype=planned),
            noise=zeros(length * FRAME, HARMONICS, dtype=torch.float32),
        )

    def _breathe(self, noise: Tensor, item: ModelInput) -> None:
        """Fill in the noise of an input: always the same on one kind of device."""
        noise.normal_(generator=torch.Generator(self.device).manual_seed(noise_seed(item)))

    def _exactly(self) -> AbstractContextManager[None]:
        """On a GPU, the same sums in the same order every time, and single precision where it is asked for.

        The library's defaults allow neither. They hold for the process, so they are set for a call only.
        """
        if self.device.type == "cpu":
            return nullcontext()
        flags: AbstractContextManager[None] = torch.backends.cudnn.flags(
            enabled=True, deterministic=True, allow_tf32=False
        )
        return flags


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """Lines side by side in tensors whose shapes do not follow from the lines."""

    ends: Tensor
    text: Tensor
    pitch: Tensor
    energy: Tensor
    style: Tensor
    noise: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.ends, self.text, self.pitch, self.energy, self.style, self.noise

    def put(self, row: int, line: Prosody) -> None:
        frames = line.frames
        self.ends[row] = frames
        self.text[row, :, :frames] = line.text
        self.pitch[row, : 2 * frames] = line.pitch
        self.energy[row, : 2 * frames] = line.energy
        self.style[row] = line.style


def line_of(item: ModelInput) -> Line:
    """An input as the network takes it."""
    return Line((PADDING, *item.ids, PADDING), torch.tensor(item.style).flatten(), item.speed)


def noise_seed(item: ModelInput) -> int:
    """The same for the same words in the same voice at the same speed, whenever and beside whatever they are said."""
    content = hashlib.blake2b(struct.pack("<d", item.speed), digest_size=8)
    content.update(np.array(item.ids, "<i4").tobytes())
    content.update(item.style.astype("<f4").tobytes())
    return int.from_bytes(content.digest(), "little") >> 1
