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
from torch.nn.utils.rnn import pad_sequence

from polyvox.engines.kokoro.call import ModelInput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, Kokoro, Line, Tokens
from polyvox.models.kokoro.ragged import Boxed
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

LOUDER = 1.5
"""The quantised graph's samples are so much louder than the network's; all of Kokoro's speech is as loud as that."""
FRAMES_PER_CALL = 1_920
"""Frames that one call sounds at most, padding included; it bounds memory, and how long others wait."""
GPU_BATCH, CPU_BATCH = 32, 1
"""Chunks in one call where the settings leave it open. A CPU computes no faster for having more."""
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class Shapes:
    """The numbers of tokens for which understanding, and of frames for which sounding, are recorded by `replay`."""

    replay: Replay
    lengths: tuple[int, ...]
    tokens: tuple[int, ...] = (32, 48, 64, 96, 128, 192, 256)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """An input and its tokens, their durations also where the device is not asked for them."""

    item: ModelInput
    tokens: Tokens
    durations: npt.NDArray[np.int64]


class NativeKokoro:
    """The network as an engine calls it, from one thread.

    Lines longer than any that was recorded, and all lines where nothing is, are spoken as they come.
    """

    def __init__(self, network: Kokoro, batch: int, shapes: Shapes | None = None) -> None:
        self.network = network
        self.device = network.bert_encoder.weight.device
        self.dtype = network.decoder.reminder.weight.dtype
        self.batch = batch
        self._shapes = shapes
        self._chance = torch.Generator(self.device)

    @property
    def runs_on(self) -> str:
        """Where it runs, in words."""
        return f"PyTorch on {self.device.type} in {str(self.dtype).removeprefix('torch.')}"

    def bucket(self, planned: Planned) -> int:
        """Lines with the same are sounded together: they have about the same length, and at most this one."""
        frames = planned.tokens.frames
        if self._shapes is not None and frames <= self._shapes.lengths[-1]:
            return bucket_for(frames, self._shapes.lengths)
        return max(_SHORTEST, 1 << (frames - 1).bit_length())

    def room(self, bucket: Hashable) -> int:
        """How many lines of a bucket one call sounds at most."""
        assert isinstance(bucket, int)
        return max(1, min(self.batch, FRAMES_PER_CALL // bucket))

    def plan(self, items: Sequence[ModelInput]) -> list[Planned]:
        """How long each input will be."""
        lines = [line_of(item) for item in items]
        with torch.inference_mode(), self._exactly():
            tokens = self._understood(lines)
        return [Planned(item, *each) for item, each in zip(items, tokens, strict=True)]

    def sound(self, planned: Sequence[Planned]) -> list[Pcm]:
        """The samples of each line; all are of one bucket, and no more than it has room for."""
        with torch.inference_mode(), self._exactly():
            rows = self._samples(planned)
        return [row[: each.tokens.frames * FRAME] for row, each in zip(rows, planned, strict=True)]

    def warm(self) -> None:
        """Record every shape."""
        if self._shapes is None:
            return
        with torch.inference_mode(), self._exactly():
            for count in self._shapes.tokens:
                for rows in buckets(self.batch):
                    self._told(self._shapes, self._page(rows, count))
            for length in self._shapes.lengths:
                for rows in buckets(self.room(length)):
                    self._spoken(self._shapes, self._box(rows, length))

    def _understood(self, lines: Sequence[Line]) -> list[tuple[Tokens, npt.NDArray[np.int64]]]:
        longest = max(len(line.ids) for line in lines)
        if self._shapes is None or longest > self._shapes.tokens[-1]:
            return [(tokens, tokens.told[:, -1].long().cpu().numpy()) for tokens in self.network.understood(lines)]
        page = self._page(bucket_for(len(lines), buckets(self.batch)), bucket_for(longest, self._shapes.tokens), lines)
        # The next call will write over it.
        told = self._told(self._shapes, page)[: len(lines)].clone()
        # In one piece: each crossing waits for the device.
        frames = told[:, :, -1].long().cpu().numpy()
        durations = [row[: len(line.ids)] for row, line in zip(frames, lines, strict=True)]
        return [
            (Tokens(told[row, : len(own)], page.style[row], int(own.sum())), own) for row, own in enumerate(durations)
        ]

    def _samples(self, planned: Sequence[Planned]) -> Sequence[Pcm]:
        longest = max(each.tokens.frames for each in planned)
        if self._shapes is None or longest > self._shapes.lengths[-1]:
            noise = [torch.empty(each.tokens.noise_shape, device=self.device) for each in planned]
            for rows, each in zip(noise, planned, strict=True):
                self._breathe(rows, each.item)
            plan = self.network.intoned([each.tokens for each in planned])
            return [(row.float() * LOUDER).cpu().numpy() for row in self.network.sound(plan, noise)]
        length = bucket_for(longest, self._shapes.lengths)
        box = self._box(bucket_for(len(planned), buckets(self.room(length))), length, planned)
        samples: npt.NDArray[np.float32] = (self._spoken(self._shapes, box)[: len(planned)] * LOUDER).cpu().numpy()
        return list(samples)

    def _told(self, shapes: Shapes, page: "_Page") -> Tensor:
        return shapes.replay(("tokens", *page.ids.shape), self._understand, page.tensors)

    def _spoken(self, shapes: Shapes, box: "_Box") -> Tensor:
        return shapes.replay(("sound", *box.told.shape[:2]), self._speak, box.tensors)

    def _understand(self, ends: Tensor, ids: Tensor, style: Tensor, speeds: Tensor) -> Tensor:
        """What is recorded first: the tokens of a page."""
        return self.network.told(ids, style, speeds, Boxed(ends, ids.shape[1]))

    def _speak(self, ends: Tensor, told: Tensor, style: Tensor, noise: Tensor) -> Tensor:
        """What is recorded then: the samples of a box."""
        frames = Boxed(ends, told.shape[1])
        colour = style.chunk(2, dim=1)[0]
        return self.network.sounded(*self.network.contoured(told, style, frames), colour, noise, frames).float()

    def _page(self, rows: int, count: int, lines: Sequence[Line] = ()) -> "_Page":
        """Lines of one token, which nobody hears, after those that are given."""
        ids = torch.zeros(rows, count, dtype=torch.long)
        ends, speeds = torch.ones(rows, dtype=torch.long), torch.ones(rows)
        style = torch.zeros(rows, 2 * self.network.config.style)
        for row, line in enumerate(lines):
            ids[row, : len(line.ids)] = torch.tensor(line.ids)
            ends[row], speeds[row], style[row] = len(line.ids), line.speed, line.style
        exact = style.to(self.device, self.network.bert_encoder.weight.dtype)
        return _Page(ends.to(self.device), ids.to(self.device), exact, speeds.to(self.device))

    def _box(self, rows: int, length: int, planned: Sequence[Planned] = ()) -> "_Box":
        """Lines of one silent frame, which nobody hears, after those given; none has more tokens than frames."""
        config, exact = self.network.config, self.network.bert_encoder.weight.dtype
        ends = torch.tensor([each.tokens.frames for each in planned] + [1] * (rows - len(planned)))
        told = torch.zeros(rows, length, config.told, dtype=exact, device=self.device)
        style = torch.zeros(rows, 2 * config.style, dtype=exact, device=self.device)
        noise = torch.zeros(rows, length * FRAME, HARMONICS, device=self.device)
        if planned:
            lines = pad_sequence([each.tokens.told for each in planned], batch_first=True)
            told[: len(planned), : lines.shape[1]] = lines
            style[: len(planned)] = torch.stack([each.tokens.style for each in planned])
        for row, each in zip(noise.unbind(), planned, strict=False):
            self._breathe(row[: each.tokens.frames * FRAME], each.item)
        return _Box(ends.to(self.device), told, style, noise)

    def _breathe(self, noise: Tensor, item: ModelInput) -> None:
        """Fill in the noise of an input: always the same on one kind of device."""
        noise.normal_(generator=self._chance.manual_seed(noise_seed(item)))

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
class _Page:
    """Lines of tokens one below the other in tensors whose shapes do not follow from the lines."""

    ends: Tensor
    ids: Tensor
    style: Tensor
    speeds: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.ends, self.ids, self.style, self.speeds


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """What is known of lines before they are sounded, in tensors whose shapes do not follow from the lines."""

    ends: Tensor
    told: Tensor
    style: Tensor
    noise: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.ends, self.told, self.style, self.noise


def line_of(item: ModelInput) -> Line:
    """An input as the network takes it."""
    return Line((PADDING, *item.ids, PADDING), torch.tensor(item.style).flatten(), item.speed)


def noise_seed(item: ModelInput) -> int:
    """The same for the same words in the same voice at the same speed, whenever and beside whatever they are said."""
    content = hashlib.blake2b(struct.pack("<d", item.speed), digest_size=8)
    content.update(np.array(item.ids, "<i4").tobytes())
    content.update(item.style.astype("<f4").tobytes())
    return int.from_bytes(content.digest(), "little") >> 1
