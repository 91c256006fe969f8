"""Kokoro's network in PyTorch on one device: batches of any lengths, in which no row depends on the others."""

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

from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, EncodedTokens, Kokoro, StyledTokens
from polyvox.models.kokoro.ragged import StaticRagged
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets
from polyvox.types import Pcm

GAIN = 1.5
"""Gain of the quantised ONNX graph over this network; both executors must be equally loud."""
FRAMES_PER_CALL = 1_920
"""Most frames that one call decodes, padding included; it bounds memory, and how long others wait."""
GPU_BATCH, CPU_BATCH = 32, 1
"""Default batch sizes. A CPU is no faster for a larger one."""
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class GraphShapes:
    """The padded numbers of frames and of tokens for which decoding and encoding are captured by `replay`."""

    replay: Replay
    frames: tuple[int, ...]
    tokens: tuple[int, ...] = (32, 48, 64, 96, 128, 192, 256)


@dataclass(frozen=True, slots=True, eq=False)
class TimedInput:
    """An input and its encoded tokens, and their durations also on the host."""

    item: ModelInput
    tokens: EncodedTokens
    durations: npt.NDArray[np.int64]


class NativeKokoro:
    """The network as an engine calls it, from one thread.

    Inputs longer than any captured shape, and all inputs where nothing is captured, run eagerly.
    """

    def __init__(self, network: Kokoro, batch: int, shapes: GraphShapes | None = None) -> None:
        self.network = network
        self.device = network.bert_encoder.weight.device
        self.dtype = network.decoder.text_residual.weight.dtype
        self.batch = batch
        self._shapes = shapes
        self._generator = torch.Generator(self.device)

    @property
    def runs_on(self) -> str:
        """Where it runs, in words."""
        return f"PyTorch on {self.device.type} in {str(self.dtype).removeprefix('torch.')}"

    def bucket(self, timed: TimedInput) -> int:
        """The padded length of an input in frames; inputs of one bucket are decoded together."""
        frames = timed.tokens.frames
        if self._shapes is not None and frames <= self._shapes.frames[-1]:
            return bucket_for(frames, self._shapes.frames)
        return max(_SHORTEST, 1 << (frames - 1).bit_length())

    def room(self, bucket: Hashable) -> int:
        """The largest batch of a bucket."""
        assert isinstance(bucket, int)
        return max(1, min(self.batch, FRAMES_PER_CALL // bucket))

    def predict_durations(self, items: Sequence[ModelInput]) -> list[TimedInput]:
        """Encode the inputs and predict how long each will be."""
        tokens = [styled_tokens(item) for item in items]
        with torch.inference_mode(), self._deterministic():
            encoded = self._encode(tokens)
        return [TimedInput(item, *each) for item, each in zip(items, encoded, strict=True)]

    def decode(self, timed: Sequence[TimedInput]) -> list[Pcm]:
        """The samples of each input; all are of one bucket, and no more than it has room for."""
        with torch.inference_mode(), self._deterministic():
            rows = self._samples(timed)
        return [row[: each.tokens.frames * FRAME] for row, each in zip(rows, timed, strict=True)]

    def capture(self) -> None:
        """Capture every shape."""
        if self._shapes is None:
            return
        with torch.inference_mode(), self._deterministic():
            for count in self._shapes.tokens:
                for rows in buckets(self.batch):
                    self._replay_encoder(self._shapes, self._token_batch(rows, count))
            for length in self._shapes.frames:
                for rows in buckets(self.room(length)):
                    self._replay_decoder(self._shapes, self._frame_batch(rows, length))

    def _encode(self, tokens: Sequence[StyledTokens]) -> list[tuple[EncodedTokens, npt.NDArray[np.int64]]]:
        longest = max(len(each.ids) for each in tokens)
        if self._shapes is None or longest > self._shapes.tokens[-1]:
            eager = self.network.predict_durations(tokens)
            return [(encoded, encoded.encoding[:, -1].long().cpu().numpy()) for encoded in eager]
        rows, padded = bucket_for(len(tokens), buckets(self.batch)), bucket_for(longest, self._shapes.tokens)
        batch = self._token_batch(rows, padded, tokens)
        # The next replay will overwrite it.
        encoding = self._replay_encoder(self._shapes, batch)[: len(tokens)].clone()
        # All rows in one copy: each waits for the device.
        frames = encoding[:, :, -1].long().cpu().numpy()
        durations = [row[: len(each.ids)] for row, each in zip(frames, tokens, strict=True)]
        return [
            (EncodedTokens(encoding[row, : len(own)], batch.style[row], int(own.sum())), own)
            for row, own in enumerate(durations)
        ]

    def _samples(self, timed: Sequence[TimedInput]) -> Sequence[Pcm]:
        longest = max(each.tokens.frames for each in timed)
        if self._shapes is None or longest > self._shapes.frames[-1]:
            noise = [torch.empty(each.tokens.noise_shape, device=self.device) for each in timed]
            for rows, each in zip(noise, timed, strict=True):
                self._fill_noise(rows, each.item)
            prosody = self.network.predict_contours([each.tokens for each in timed])
            return [(row.float() * GAIN).cpu().numpy() for row in self.network.decode(prosody, noise)]
        length = bucket_for(longest, self._shapes.frames)
        batch = self._frame_batch(bucket_for(len(timed), buckets(self.room(length))), length, timed)
        replayed = self._replay_decoder(self._shapes, batch)
        samples: npt.NDArray[np.float32] = (replayed[: len(timed)] * GAIN).cpu().numpy()
        return list(samples)

    def _replay_encoder(self, shapes: GraphShapes, batch: "_TokenBatch") -> Tensor:
        return shapes.replay(("encode", *batch.ids.shape), self._encode_batch, batch.tensors)

    def _replay_decoder(self, shapes: GraphShapes, batch: "_FrameBatch") -> Tensor:
        return shapes.replay(("decode", *batch.encoding.shape[:2]), self._decode_batch, batch.tensors)

    def _encode_batch(self, ends: Tensor, ids: Tensor, style: Tensor, speeds: Tensor) -> Tensor:
        """The first captured graph: ids to encoded tokens."""
        return self.network.encode(ids, style, speeds, StaticRagged(ends, ids.shape[1]))

    def _decode_batch(self, ends: Tensor, encoding: Tensor, style: Tensor, noise: Tensor) -> Tensor:
        """The second captured graph: encoded tokens to samples."""
        frames = StaticRagged(ends, encoding.shape[1])
        acoustic = style.chunk(2, dim=1)[0]
        features = self.network.frame_features(encoding, style, frames)
        return self.network.waveform(*features, acoustic, noise, frames).float()

    def _token_batch(self, rows: int, count: int, tokens: Sequence[StyledTokens] = ()) -> "_TokenBatch":
        """Pad to `count` tokens, and with dummy rows of one token."""
        ids = torch.zeros(rows, count, dtype=torch.long)
        ends, speeds = torch.ones(rows, dtype=torch.long), torch.ones(rows)
        style = torch.zeros(rows, 2 * self.network.config.style)
        for row, each in enumerate(tokens):
            ids[row, : len(each.ids)] = torch.tensor(each.ids)
            ends[row], speeds[row], style[row] = len(each.ids), each.speed, each.style
        exact = style.to(self.device, self.network.bert_encoder.weight.dtype)
        return _TokenBatch(ends.to(self.device), ids.to(self.device), exact, speeds.to(self.device))

    def _frame_batch(self, rows: int, length: int, timed: Sequence[TimedInput] = ()) -> "_FrameBatch":
        """Pad to `length` frames, and with dummy rows of one silent frame; no input has more tokens than frames."""
        config, exact = self.network.config, self.network.bert_encoder.weight.dtype
        ends = torch.tensor([each.tokens.frames for each in timed] + [1] * (rows - len(timed)))
        encoding = torch.zeros(rows, length, config.encoding, dtype=exact, device=self.device)
        style = torch.zeros(rows, 2 * config.style, dtype=exact, device=self.device)
        noise = torch.zeros(rows, length * FRAME, HARMONICS, device=self.device)
        if timed:
            padded = pad_sequence([each.tokens.encoding for each in timed], batch_first=True)
            encoding[: len(timed), : padded.shape[1]] = padded
            style[: len(timed)] = torch.stack([each.tokens.style for each in timed])
        for row, each in zip(noise.unbind(), timed, strict=False):
            self._fill_noise(row[: each.tokens.frames * FRAME], each.item)
        return _FrameBatch(ends.to(self.device), encoding, style, noise)

    def _fill_noise(self, noise: Tensor, item: ModelInput) -> None:
        """Draw the noise of an input: always the same on one kind of device."""
        noise.normal_(generator=self._generator.manual_seed(noise_seed(item)))

    def _deterministic(self) -> AbstractContextManager[None]:
        """On a GPU, deterministic algorithms, and no TF32 in place of single precision.

        PyTorch's defaults allow neither. They hold for the process, so they are set for a call only.
        """
        if self.device.type == "cpu":
            return nullcontext()
        flags: AbstractContextManager[None] = torch.backends.cudnn.flags(
            enabled=True, deterministic=True, allow_tf32=False
        )
        return flags


@dataclass(frozen=True, slots=True, eq=False)
class _TokenBatch:
    """Inputs of the encoder in tensors of a captured shape."""

    ends: Tensor
    ids: Tensor
    style: Tensor
    speeds: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.ends, self.ids, self.style, self.speeds


@dataclass(frozen=True, slots=True, eq=False)
class _FrameBatch:
    """Inputs of the decoder in tensors of a captured shape."""

    ends: Tensor
    encoding: Tensor
    style: Tensor
    noise: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.ends, self.encoding, self.style, self.noise


def styled_tokens(item: ModelInput) -> StyledTokens:
    """An input as the network takes it."""
    return StyledTokens((PADDING, *item.ids, PADDING), torch.tensor(item.style).flatten(), item.speed)


def noise_seed(item: ModelInput) -> int:
    """The seed of an input's noise: a hash of its ids, style and speed, so that its samples depend on nothing else."""
    content = hashlib.blake2b(struct.pack("<d", item.speed), digest_size=8)
    content.update(np.array(item.ids, "<i4").tobytes())
    content.update(item.style.astype("<f4").tobytes())
    return int.from_bytes(content.digest(), "little") >> 1
