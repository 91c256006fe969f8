"""Whole chunks in padded batches, as a GPU likes them: encoded, solved and vocoded without a word to the host between.

Shapes are few, so that CUDA graphs can replay them. A row's result depends on its batch-mates and on its padding by
rounding only.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput, time_schedule, token_indices
from polyvox.models.zipvoice.model import PAD, PaddedState, ZipVoice
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for
from polyvox.types import Pcm

FEATURE_SCALE = 0.1
"""The network works on mels of a tenth of their size."""
FRAMES_PER_CALL = 12_288
"""Frames of a batch, padding included, at four passes through the network: what keeps a large GPU busy, and no more, so
that the next batch does not wait for long."""
LEAST_FRAMES_PER_CALL = 4_096
_PASSES = 4
MAX_ROWS = 32
ROW_TIERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
FRAME_TIERS = (256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2304, 2560)
FRAME_GROUPS = (512, 768, 1024, 1536, 2560, 4096)
"""Rows whose numbers of frames lie between two of these share batches."""
TOKEN_TIERS = (64, 128, 192, 256, 384, 512)
VOCODER_TIERS = (192, 320, 448, 640, 896, 1280, 1792, 2560)
_FEW_ROWS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class BatchShape:
    """The padded shape of a call: `part` of the model, rows, and frames or tokens of each."""

    part: str
    rows: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRow:
    """One chunk on the host: tokens [n + 1], the token of each frame, the scaled prompt and the noise of all frames."""

    tokens: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    prompt: Tensor
    noise: Tensor
    solver: SolverOptions

    @classmethod
    def of(cls, given: ZipVoiceInput, seed: int, solver: SolverOptions) -> "ChunkRow":
        """Draw the noise of a chunk; on the CPU, so that a seed gives the same noise on every device."""
        tokens = [*given.prompt_tokens, *given.tokens, PAD]
        noise = torch.randn(given.frames, given.prompt.shape[1], generator=torch.Generator().manual_seed(seed))
        indices = np.array(token_indices(len(tokens) - 1, given.frames), np.int64)
        return cls(np.array(tokens, np.int64), indices, given.prompt, noise, solver)

    @property
    def frames(self) -> int:
        return len(self.noise)

    @property
    def generated(self) -> int:
        return len(self.noise) - len(self.prompt)


class BatchSolver:
    """Text encoder, flow and vocoder of one model. Several threads may call `solve`; the device does one at a time.

    A shape that was captured is replayed; any other runs eagerly.
    """

    def __init__(self, networks: ZipVoiceNetworks, device: torch.device, replay: Replay | None = None) -> None:
        assert isinstance(networks.acoustic_model, ZipVoice)
        self._model = networks.acoustic_model
        self._vocos = networks.vocos
        self._device = device
        self._replay = replay
        self._captured: set[BatchShape] = set()
        self._positions: dict[BatchShape, Mapping[int, Tensor]] = {}
        self._lock = threading.Lock()
        self._stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            torch.cuda.synchronize(device)  # weights may still be on their way
            self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def group(self, row: ChunkRow) -> tuple[int, int]:
        """Rows with the same steps and of similar length share a batch."""
        longest = FRAME_GROUPS[-1]
        rounded = -(-row.frames // longest) * longest
        return row.solver.steps, bucket_for(row.frames, FRAME_GROUPS) if row.frames <= longest else rounded

    def room(self, steps: int, frames: int) -> int:
        """The most rows of a batch: fewer where a row takes more passes, so that others do not wait for long."""
        passes = steps * (1 if self._model.config.distilled else 2)
        budget = max(LEAST_FRAMES_PER_CALL, FRAMES_PER_CALL * _PASSES // max(_PASSES, passes))
        return max(1, min(MAX_ROWS, budget // frames))

    def shapes(self, max_frames: int) -> Iterator[BatchShape]:
        """All shapes to capture for chunks up to so many frames, prompt included; those of single chunks first."""
        config = self._model.config
        steps = 4 if config.distilled else 8
        for rows in ROW_TIERS:
            if rows in _FEW_ROWS:
                yield from (BatchShape("encode", rows, length) for length in TOKEN_TIERS)
            for length in FRAME_TIERS:
                if rows <= self.room(steps, length) and length <= max_frames:
                    yield BatchShape("step", rows, length)
            if rows in _FEW_ROWS:
                for length in VOCODER_TIERS:
                    if rows * length <= FRAMES_PER_CALL and length <= max_frames:
                        yield BatchShape("vocode", rows * config.channels, length)

    def capture(self, shape: BatchShape) -> None:
        """Capture the call of one shape; `RuntimeError` where that cannot be done."""
        if self._replay is None:
            return
        with self._exclusively(), torch.inference_mode():
            self._captured.add(shape)
            self._run(shape, self._idle(shape))

    def discard(self) -> None:
        """Forget what was captured: everything runs eagerly from now on."""
        with self._lock:
            self._captured.clear()
            self._positions.clear()
            self._replay = None

    def solve(self, rows: Sequence[ChunkRow]) -> list[Pcm]:
        """The samples of each row, [n] or [n, channels]; all rows have the same number of steps."""
        with torch.inference_mode():
            with self._exclusively():
                samples, arrived = self._enqueue(rows)
            if arrived is not None:
                arrived.synchronize()
        hop, channels = self._vocos.config.hop, self._model.config.channels
        lengths = [(row.generated - 1) * hop for row in rows]
        arrays = samples.view(len(rows), channels, -1).numpy()
        if channels == 1:
            return [array[0, :length].copy() for array, length in zip(arrays, lengths, strict=True)]
        return [np.ascontiguousarray(array[:, :length].T) for array, length in zip(arrays, lengths, strict=True)]

    def _enqueue(self, rows: Sequence[ChunkRow]) -> tuple[Tensor, torch.cuda.Event | None]:
        """Put all work of a batch on the device: its samples on the host, there once the event has passed."""
        mel = self._integrate(rows, self._encode(rows))
        samples = self._vocode(rows, mel)[: len(rows) * self._model.config.channels]
        if self._device.type != "cuda":
            return samples.float(), None
        host = torch.empty(samples.shape, dtype=torch.float32, pin_memory=True)
        host.copy_(samples, non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        return host, arrived

    def _encode(self, rows: Sequence[ChunkRow]) -> Tensor:
        """Encoded tokens, [batch, tokens, bins]."""
        longest = max(len(row.tokens) for row in rows)
        shape = self._shape("encode", len(rows), longest, _FEW_ROWS, TOKEN_TIERS)
        tokens, lengths = self._host(torch.int64, shape.rows, shape.length), self._host(torch.int64, shape.rows)
        tokens.fill_(PAD)
        lengths.fill_(1)
        for index, row in enumerate(rows):
            tokens[index, : len(row.tokens)] = torch.from_numpy(row.tokens)
            lengths[index] = len(row.tokens) - 1
        return self._run(shape, [self._sent(tokens), self._sent(lengths)])

    def _integrate(self, rows: Sequence[ChunkRow], encoded: Tensor) -> Tensor:
        """The mels after all steps, [batch, frames, features]."""
        shape = self._shape("step", len(rows), max(row.frames for row in rows), ROW_TIERS, FRAME_TIERS)
        mel, speech, indices, lengths = self._packed(rows, shape)
        batch = encoded[: len(rows)].gather(1, indices[: len(rows), :, None].expand(-1, -1, encoded.shape[2]))
        text = batch.new_zeros(shape.rows, *batch.shape[1:])
        text[: len(rows)] = batch
        schedule, guidance = self._schedule(rows, shape.rows)
        for time, delta in zip(schedule[0], schedule[1], strict=True):
            mel = self._run(shape, [*PaddedState(mel, text, speech, lengths, time, delta, guidance)])
        return mel

    def _packed(self, rows: Sequence[ChunkRow], shape: BatchShape) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Noise, prompts, tokens of frames and lengths, padded."""
        features = self._model.config.features
        mel, speech = (self._host(torch.float32, shape.rows, shape.length, features) for _ in range(2))
        indices, lengths = self._host(torch.int64, shape.rows, shape.length), self._host(torch.int64, shape.rows)
        for tensor in (mel, speech, indices):
            tensor.zero_()
        lengths.fill_(1)
        for index, row in enumerate(rows):
            mel[index, : row.frames] = row.noise
            speech[index, : len(row.prompt)] = row.prompt
            indices[index, : row.frames] = torch.from_numpy(row.indices)
            lengths[index] = row.frames
        return self._sent(mel), self._sent(speech), self._sent(indices), self._sent(lengths)

    def _schedule(self, rows: Sequence[ChunkRow], padded: int) -> tuple[Tensor, Tensor]:
        """Times and differences of all steps, [2, steps, batch], and guidance, [batch]."""
        steps = rows[0].solver.steps
        schedule, guidance = self._host(torch.float32, 2, steps, padded), self._host(torch.float32, padded)
        schedule.zero_()
        guidance.zero_()
        for index, row in enumerate(rows):
            times = torch.tensor(time_schedule(steps, row.solver.shift), dtype=torch.float64)
            schedule[0, :, index] = times[:-1]
            schedule[1, :, index] = times.diff()
            guidance[index] = row.solver.guidance
        return self._sent(schedule), self._sent(guidance)

    def _vocode(self, rows: Sequence[ChunkRow], mel: Tensor) -> Tensor:
        """Samples, [batch * channels, n]."""
        channels = self._model.config.channels
        longest = max(row.generated for row in rows)
        tiers = tuple(count * channels for count in _FEW_ROWS)
        shape = self._shape("vocode", len(rows) * channels, longest, tiers, VOCODER_TIERS)
        batch = shape.rows // channels
        starts, lengths = self._host(torch.int64, batch), self._host(torch.int64, batch)
        starts.zero_()
        lengths.fill_(1)
        for index, row in enumerate(rows):
            starts[index], lengths[index] = len(row.prompt), row.generated
        first, counts = self._sent(starts), self._sent(lengths)
        frames = (first[:, None] + torch.arange(shape.length, device=self._device)).clamp(max=mel.shape[1] - 1)
        sources = torch.arange(batch, device=self._device).clamp(max=len(mel) - 1)
        speech = mel[sources[:, None], frames].view(batch, shape.length, channels, BINS)
        mels = (speech / FEATURE_SCALE).transpose(1, 2).reshape(batch * channels, shape.length, BINS)
        return self._run(shape, [mels, counts.repeat_interleave(channels)])

    def _shape(
        self, part: str, rows: int, length: int, row_tiers: Sequence[int], length_tiers: Sequence[int]
    ) -> BatchShape:
        """The captured shape that fits, or the exact one."""
        if rows <= row_tiers[-1] and length <= length_tiers[-1]:
            shape = BatchShape(part, bucket_for(rows, row_tiers), bucket_for(length, length_tiers))
            if shape in self._captured:
                return shape
        return BatchShape(part, rows, length)

    def _run(self, shape: BatchShape, given: Sequence[Tensor]) -> Tensor:
        works: dict[str, Callable[..., Tensor]] = {
            "encode": partial(self._encode_padded, shape),
            "step": partial(self._step_padded, shape),
            "vocode": self._vocos.vocode_padded,
        }
        if self._replay is None or shape not in self._captured:
            return works[shape.part](*given)
        return self._replay(shape, works[shape.part], given)

    def _encode_padded(self, shape: BatchShape, tokens: Tensor, lengths: Tensor) -> Tensor:
        return self._model.encode_padded(tokens, lengths, self._table(shape))

    def _step_padded(self, shape: BatchShape, *given: Tensor) -> Tensor:
        return self._model.step_padded(PaddedState(*given), self._table(shape))

    def _table(self, shape: BatchShape) -> Mapping[int, Tensor]:
        """The relative positions of a captured shape, which its graph goes on reading; others compute their own."""
        if shape not in self._captured:
            return {}
        key = BatchShape(shape.part, 0, shape.length)
        if key not in self._positions:
            network = self._model.text_encoder if shape.part == "encode" else self._model.decoder
            self._positions[key] = network.position_table(shape.length)
        return self._positions[key]

    def _idle(self, shape: BatchShape) -> list[Tensor]:
        """Inputs of the right shape, to capture with."""
        config, rows, length = self._model.config, shape.rows, shape.length

        def zeros(*sizes: int) -> Tensor:
            return torch.zeros(*sizes, device=self._device)

        lengths = torch.full((rows,), length, device=self._device)
        if shape.part == "encode":
            return [torch.ones(rows, length, dtype=torch.int64, device=self._device), lengths - 1]
        if shape.part == "vocode":
            return [zeros(rows, length, BINS), lengths]
        mel, text = zeros(rows, length, config.features), zeros(rows, length, config.bins)
        return [*PaddedState(mel, text, mel.clone(), lengths, zeros(rows), zeros(rows), zeros(rows))]

    def _host(self, dtype: torch.dtype, *sizes: int) -> Tensor:
        """Memory that the GPU copies from by itself."""
        return torch.empty(sizes, dtype=dtype, pin_memory=self._device.type == "cuda")

    def _sent(self, tensor: Tensor) -> Tensor:
        return tensor.to(self._device, non_blocking=True)

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """The device for one thread, on the stream of all."""
        with self._lock, nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
            yield
