"""Kokoro's network in PyTorch on one device: batches of any lengths, in which no row depends on the others."""

import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polyvox.engines.kokoro.native.lanes import Lane, Lanes
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, EncodedTokens, Kokoro, StyledTokens
from polyvox.models.kokoro.ragged import StaticRagged
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, finer_buckets
from polyvox.runtime.pinned_output import Event, upload
from polyvox.types import Pcm

GAIN = 1.5
"""Gain of the quantised ONNX graph over this network; both executors must be equally loud."""
FRAMES_PER_CALL = 1_920
"""Most frames that one call decodes, padding included; it bounds memory, and how long others wait."""
GPU_BATCH, CPU_BATCH = 32, 1
"""Default batch sizes. A CPU is no faster for a larger one."""
EXPRESS_FRAMES = 120
"""Chunks no longer than this, as the first of a text is, are decoded beside longer ones and not behind them."""
_SHORT_TOKENS = 64
"""More than a first chunk usually has, with the padding at both ends."""
_SHORTEST = 32


@dataclass(frozen=True, slots=True)
class GraphShapes:
    """The padded numbers of frames and of tokens for which decoding and encoding are captured, each by its own.

    Each further `decode` is a lane: another stream of the GPU, with graphs of its own. While the recurrent layers of
    one batch, which are small and many, take their turns, convolutions of another fill the GPU. The lanes of `express`
    are for chunks of up to `EXPRESS_FRAMES`, and go before all others; likewise `express_encode`.
    """

    decode: tuple[Replay, ...]
    encode: Replay
    express_encode: Replay
    frames: tuple[int, ...]
    tokens: tuple[int, ...] = (32, 48, 64, 96, 128, 192, 256)
    express: tuple[Replay, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TimedInput:
    """An input and its encoded tokens, and their durations also on the host."""

    item: ModelInput
    tokens: EncodedTokens
    durations: npt.NDArray[np.int64]


class LaunchedBatch:
    """A decoded batch that the device may still be working on. Any thread may use it."""

    def __init__(self, samples: Tensor, timed: Sequence[TimedInput], arrived: Event | None = None) -> None:
        """`samples` [rows, n] are in host memory once `arrived` has passed."""
        self._samples = samples
        # Until then the device reads what they hold; they were made on another of its streams.
        self._timed = timed
        self.arrived = arrived

    def rows(self) -> list[Pcm]:
        """Wait for the samples; each row has its own length."""
        if self.arrived is not None:
            self.arrived.synchronize()
        samples: npt.NDArray[np.float32] = self._samples.numpy()
        return [row[: each.tokens.frames * FRAME] for row, each in zip(samples, self._timed, strict=False)]


class NativeKokoro:
    """The network as an engine calls it: one thread may predict durations while another one decodes.

    On a GPU both have streams of their own. Inputs longer than any captured shape, and all inputs where nothing is
    captured, run eagerly.
    """

    prefix = ""
    """Of `runs_on`."""

    def __init__(self, network: Kokoro, batch: int, shapes: GraphShapes | None = None) -> None:
        self.network = network
        self.device = network.device
        self.dtype = self._decoder_dtype()
        self.batch = batch
        self._shapes = shapes
        encoders = (None, None) if shapes is None else (shapes.encode, shapes.express_encode)
        self._encoder, self._express_encoder = (Lane.on(self.device, replay, urgent=True) for replay in encoders)
        decode, express = ((None,), ()) if shapes is None else (shapes.decode, shapes.express)
        self._lanes = Lanes([Lane.on(self.device, replay) for replay in decode])
        self._express_lanes = Lanes([Lane.on(self.device, replay, urgent=True) for replay in express])

    @property
    def runs_on(self) -> str:
        """The device that it runs on, in words."""
        return f"{self.prefix}PyTorch on {self.device.type} in {str(self.dtype).removeprefix('torch.')}"

    def lanes(self, *, express: bool) -> int:
        """Batches that a GPU decodes side by side: of express chunks, or of all others."""
        return len(self._express_lanes if express else self._lanes)

    def is_express(self, timed: TimedInput) -> bool:
        """True for an input that has lanes of its own, because it is short."""
        return len(self._express_lanes) > 0 and timed.tokens.frames <= EXPRESS_FRAMES

    def with_shapes(self, shapes: GraphShapes) -> "NativeKokoro":
        """The same network, with shapes to capture."""
        return NativeKokoro(self.network, self.batch, shapes)

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
        """Encode the inputs and predict how long each will be.

        One thread may do so for short inputs while another one does for others.
        """
        lane = self._express_encoder if all(map(is_short, items)) else self._encoder
        with self._on(lane.stream):
            encoded = self._encode(items, lane)
        return [TimedInput(item, *each) for item, each in zip(items, encoded, strict=True)]

    def decode(self, timed: Sequence[TimedInput]) -> list[Pcm]:
        """The samples of each input; all are of one bucket, and no more than it has room for."""
        return self.launch(timed).rows()

    def launch(self, timed: Sequence[TimedInput]) -> LaunchedBatch:
        """`decode`, without waiting for a GPU: the lanes take turns.

        One thread may launch express inputs while another one launches others.
        """
        lane = (self._express_lanes if all(map(self.is_express, timed)) else self._lanes).next()
        with self._on(lane.stream):
            samples = self._samples(timed, lane)
            if self.device.type != "cuda":
                return LaunchedBatch(samples.clone(), timed)  # the next replay will overwrite it
            host = torch.empty(samples.shape, dtype=torch.float32, pin_memory=True)
            host.copy_(samples, non_blocking=True)
            arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            arrived.record()
        return LaunchedBatch(host, timed, arrived)

    def capture(self) -> None:
        """Capture every shape."""
        if self._shapes is None:
            return
        for lane, most in ((self._encoder, self._shapes.tokens[-1]), (self._express_encoder, _SHORT_TOKENS)):
            with self._on(lane.stream):
                for count in (count for count in self._shapes.tokens if count <= most):
                    for rows in finer_buckets(self.batch):
                        self._replay_encoder(lane, self._token_batch(rows, count))
        for lanes, longest in ((self._lanes, self._shapes.frames[-1]), (self._express_lanes, EXPRESS_FRAMES)):
            lengths = [length for length in self._shapes.frames if length <= longest]
            for lane in lanes:
                self._capture_decoder(lane, lengths)
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _capture_decoder(self, lane: Lane, lengths: Sequence[int]) -> None:
        with self._on(lane.stream):
            for length in lengths:
                for rows in finer_buckets(self.room(length)):
                    self._replay_decoder(lane, self._frame_batch(lane, rows, length))

    def _decoder_dtype(self) -> torch.dtype:
        return self.network.decoder.text_residual.weight.dtype

    def _encode(self, items: Sequence[ModelInput], lane: Lane) -> list[tuple[EncodedTokens, npt.NDArray[np.int64]]]:
        longest = max(len(item.ids) for item in items) + 2  # the padding at both ends
        if self._shapes is None or longest > self._shapes.tokens[-1]:
            eager = self.network.predict_durations([styled_tokens(item) for item in items])
            return [(encoded, encoded.encoding[:, -1].long().cpu().numpy()) for encoded in eager]
        rows, padded = bucket_for(len(items), finer_buckets(self.batch)), bucket_for(longest, self._shapes.tokens)
        batch = self._token_batch(rows, padded, items)
        # The next replay will overwrite it.
        encoding = self._replay_encoder(lane, batch)[: len(items)].clone()
        # All rows in one copy: each waits for the device.
        frames = encoding[:, :, -1].long().cpu().numpy()
        durations = [row[: len(item.ids) + 2] for row, item in zip(frames, items, strict=True)]
        return [
            (EncodedTokens(encoding[row, : len(own)], batch.style[row], int(own.sum())), own)
            for row, own in enumerate(durations)
        ]

    def _samples(self, timed: Sequence[TimedInput], lane: Lane) -> Tensor:
        """[rows, n], with rows and samples beyond what was asked for."""
        longest = max(each.tokens.frames for each in timed)
        if self._shapes is None or longest > self._shapes.frames[-1]:
            return self._decode_eagerly(timed, lane)
        length = bucket_for(longest, self._shapes.frames)
        batch = self._frame_batch(lane, bucket_for(len(timed), finer_buckets(self.room(length))), length, timed)
        return self._replay_decoder(lane, batch)[: len(timed)]

    def _decode_eagerly(self, timed: Sequence[TimedInput], lane: Lane) -> Tensor:
        noise = [torch.empty(each.tokens.noise_shape, device=self.device) for each in timed]
        for rows, each in zip(noise, timed, strict=True):
            lane.fill_noise(rows, each.item)
        prosody = self.network.predict_contours([each.tokens for each in timed])
        return pad_sequence([row.float() * GAIN for row in self.network.decode(prosody, noise)], batch_first=True)

    def _replay_encoder(self, lane: Lane, batch: "_TokenBatch") -> Tensor:
        assert lane.replay is not None
        return lane.replay(("encode", *batch.ids.shape), partial(self._encode_batch, lane.side), batch.tensors)

    def _replay_decoder(self, lane: Lane, batch: "_FrameBatch") -> Tensor:
        assert lane.replay is not None
        return lane.replay(("decode", *batch.encoding.shape[:2]), self._decode_batch, batch.tensors)

    def _encode_batch(
        self, side: "torch.cuda.Stream | None", ends: Tensor, ids: Tensor, style: Tensor, speeds: Tensor
    ) -> Tensor:
        """The first captured graph: ids to encoded tokens."""
        return self.network.encode(ids, style, speeds, StaticRagged(ends, ids.shape[1]), side)

    def _decode_batch(self, ends: Tensor, encoding: Tensor, style: Tensor, noise: Tensor) -> Tensor:
        """The second captured graph: encoded tokens to samples."""
        frames = StaticRagged(ends, encoding.shape[1])
        acoustic = style.chunk(2, dim=1)[0]
        features = self.network.frame_features(encoding, style, frames)
        return self.network.waveform(*features, acoustic, noise, frames).float() * GAIN

    def _token_batch(self, rows: int, count: int, items: Sequence[ModelInput] = ()) -> "_TokenBatch":
        """Pad to `count` tokens, and with dummy rows of one token."""
        # Packed in NumPy: PyTorch hands the interpreter's lock over at each operation, and other threads want it.
        ids, ends, speeds = np.full((rows, count), PADDING), np.ones(rows, np.int64), np.ones(rows, np.float32)
        style = np.zeros((rows, 2 * self.network.config.style), np.float32)
        for row, item in enumerate(items):
            ids[row, 1 : len(item.ids) + 1] = item.ids
            ends[row], speeds[row], style[row] = len(item.ids) + 2, item.speed, item.style.reshape(-1)
        exact = self._sent(style).to(self.network.prosody_dtype)
        return _TokenBatch(self._sent(ends), self._sent(ids), exact, self._sent(speeds))

    def _frame_batch(self, lane: Lane, rows: int, length: int, timed: Sequence[TimedInput] = ()) -> "_FrameBatch":
        """Pad to `length` frames, and with dummy rows of one silent frame; no input has more tokens than frames."""
        config, exact = self.network.config, self.network.prosody_dtype
        ends = np.array([each.tokens.frames for each in timed] + [1] * (rows - len(timed)))
        encoding = torch.zeros(rows, length, config.encoding, dtype=exact, device=self.device)
        style = torch.zeros(rows, 2 * config.style, dtype=exact, device=self.device)
        if timed:
            padded = pad_sequence([each.tokens.encoding for each in timed], batch_first=True)
            encoding[: len(timed), : padded.shape[1]] = padded
            style[: len(timed)] = torch.stack([each.tokens.style for each in timed])
        return _FrameBatch(self._sent(ends), encoding, style, self._noise(lane, rows, length, timed))

    def _noise(self, lane: Lane, rows: int, length: int, timed: Sequence[TimedInput]) -> Tensor:
        noise = torch.zeros(rows, length * FRAME, HARMONICS, device=self.device)
        for row, each in zip(noise.unbind(), timed, strict=False):
            lane.fill_noise(row[: each.tokens.frames * FRAME], each.item)
        return noise

    def _sent(self, values: npt.NDArray[Any]) -> Tensor:
        return upload(torch.from_numpy(values), self.device)

    @contextmanager
    def _on(self, stream: "torch.cuda.Stream | None") -> Iterator[None]:
        """On a stream of a GPU, with deterministic algorithms there, and without TF32 in place of single precision."""
        flags = nullcontext() if stream is None else _DETERMINISTIC.held()
        with torch.inference_mode(), flags, nullcontext() if stream is None else torch.cuda.stream(stream):
            yield


class _Deterministic:
    """The process's setting of cuDNN while any thread needs it: PyTorch's defaults are neither deterministic nor exact.

    Two threads that each set it back when they end would do so in the middle of the other one's work.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._flags = ExitStack()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._flags.enter_context(
                    torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
                )
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._flags.close()


_DETERMINISTIC = _Deterministic()


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


def is_short(item: ModelInput) -> bool:
    """True for an input that is encoded apart, as the first of a text is: durations of longer ones take longer."""
    return len(item.ids) + 2 <= _SHORT_TOKENS


def styled_tokens(item: ModelInput) -> StyledTokens:
    """An input as the network takes it."""
    return StyledTokens((PADDING, *item.ids, PADDING), torch.tensor(item.style).flatten(), item.speed)
