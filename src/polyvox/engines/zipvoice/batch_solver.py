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
FRAME_TIERS = (256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1536, 1792, 2048, 2304, 2560)
FRAME_GROUPS = (512, 768, 1024, 1536, 2560, 4096)
"""Rows whose numbers of frames lie between two of these share batches."""
TOKEN_TIERS = (64, 128, 192, 256, 384, 512)
VOCODER_TIERS = (192, 256, 320, 384, 448, 544, 640, 768, 896, 1280, 1792, 2560)
_FEW_ROWS = (1, 2, 4, 8, 12, 16, 24, 32)


@dataclass(frozen=True, slots=True)
class BatchShape:
    """The padded shape of a call: `part` of the model, rows, and frames or tokens of each."""

    part: str
    rows: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRow:
    """One chunk on the host: tokens [n + 1], the token of each frame, the scaled prompt and the noise of all frames.

    Arrays, not tensors: each operation of PyTorch hands the interpreter lock over, and a thread that packs a batch
    would wait for it hundreds of times while other threads process text.
    """

    tokens: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    prompt: npt.NDArray[np.float32]
    noise: npt.NDArray[np.float32]
    solver: SolverOptions

    @classmethod
    def of(cls, given: ZipVoiceInput, seed: int, solver: SolverOptions) -> "ChunkRow":
        """Draw the noise of a chunk; on the CPU, so that a seed gives the same noise on every device."""
        tokens = [*given.prompt_tokens, *given.tokens, PAD]
        noise = torch.randn(given.frames, given.prompt.shape[1], generator=torch.Generator().manual_seed(seed))
        indices = np.array(token_indices(len(tokens) - 1, given.frames), np.int64)
        return cls(np.array(tokens, np.int64), indices, given.prompt.numpy(), noise.numpy(), solver)

    @property
    def frames(self) -> int:
        return len(self.noise)

    @property
    def generated(self) -> int:
        return len(self.noise) - len(self.prompt)


class LaunchedBatch:
    """A batch that the device has been given. Any thread may use it."""

    def __init__(
        self,
        samples: Tensor,
        lengths: Sequence[int],
        last_step: torch.cuda.Event | None,
        arrived: torch.cuda.Event | None,
    ) -> None:
        """`samples` [rows, channels, n] are in host memory once `arrived` has passed."""
        self._samples, self._lengths = samples, lengths
        self._last_step, self._arrived = last_step, arrived

    def wait_nearly_done(self) -> None:
        """Wait until the solver's last step begins: it is time to prepare the next batch."""
        if self._last_step is not None:
            self._last_step.synchronize()

    def samples(self, row: int) -> Pcm:
        """Wait for a row's samples, [n] or [n, channels]; they may lie in the batch's memory."""
        if self._arrived is not None:
            self._arrived.synchronize()
        array: Pcm = self._samples[row, :, : self._lengths[row]].numpy()
        return array[0] if len(array) == 1 else np.ascontiguousarray(array.T)


class BatchSolver:
    """Text encoder, flow and vocoder of one model. Several threads may call it; the device does one batch at a time.

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

    def launch(self, rows: Sequence[ChunkRow]) -> LaunchedBatch:
        """Give the device a batch; all rows have the same number of steps."""
        with torch.inference_mode(), self._exclusively():
            encoded = self._encode(rows)
            mel, last_step = self._integrate(rows, encoded)
            samples, arrived = self._downloaded(self._vocode(rows, mel)[: len(rows) * self._model.config.channels])
        lengths = [(row.generated - 1) * self._vocos.config.hop for row in rows]
        return LaunchedBatch(samples.view(len(rows), self._model.config.channels, -1), lengths, last_step, arrived)

    def _downloaded(self, samples: Tensor) -> tuple[Tensor, torch.cuda.Event | None]:
        """Samples in host memory, there once the event has passed."""
        if self._device.type != "cuda":
            return samples.float().clone(), None
        host = torch.empty(samples.shape, dtype=torch.float32, pin_memory=True)
        host.copy_(samples, non_blocking=True)
        return host, self._mark()

    def _mark(self) -> torch.cuda.Event | None:
        """The point that the stream has reached."""
        if self._device.type != "cuda":
            return None
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        return event

    def _encode(self, rows: Sequence[ChunkRow]) -> Tensor:
        """Encoded tokens, [batch, tokens, bins]."""
        longest = max(len(row.tokens) for row in rows)
        shape = self._shape("encode", len(rows), longest, _FEW_ROWS, TOKEN_TIERS)
        tokens, lengths = self._host(torch.int64, shape.rows, shape.length), self._host(torch.int64, shape.rows)
        packed, counts = tokens.numpy(), lengths.numpy()
        packed.fill(PAD)
        counts.fill(1)
        for index, row in enumerate(rows):
            packed[index, : len(row.tokens)] = row.tokens
            counts[index] = len(row.tokens) - 1
        return self._run(shape, [self._sent(tokens), self._sent(lengths)])

    def _integrate(self, rows: Sequence[ChunkRow], encoded: Tensor) -> tuple[Tensor, torch.cuda.Event | None]:
        """The mels after all steps, [batch, frames, features], and the point where the last step begins."""
        shape = self._shape("step", len(rows), max(row.frames for row in rows), ROW_TIERS, FRAME_TIERS)
        mel, speech, indices, lengths = self._packed(rows, shape)
        batch = encoded[: len(rows)].gather(1, indices[: len(rows), :, None].expand(-1, -1, encoded.shape[2]))
        text = batch.new_zeros(shape.rows, *batch.shape[1:])
        text[: len(rows)] = batch
        schedule, guidance = self._schedule(rows, shape.rows)
        last_step = None
        for step, (time, delta) in enumerate(zip(schedule[0], schedule[1], strict=True), start=1):
            if step == schedule.shape[1]:
                last_step = self._mark()
            mel = self._run(shape, [*PaddedState(mel, text, speech, lengths, time, delta, guidance)])
        return mel, last_step

    def _packed(self, rows: Sequence[ChunkRow], shape: BatchShape) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Noise, prompts, tokens of frames and lengths, padded."""
        features = self._model.config.features
        mel, speech = (self._host(torch.float32, shape.rows, shape.length, features) for _ in range(2))
        indices, lengths = self._host(torch.int64, shape.rows, shape.length), self._host(torch.int64, shape.rows)
        noises, prompts, tokens, counts = (tensor.numpy() for tensor in (mel, speech, indices, lengths))
        counts.fill(1)
        for index, row in enumerate(rows):
            counts[index] = row.frames
            for array, given in ((noises, row.noise), (prompts, row.prompt), (tokens, row.indices)):
                array[index, : len(given)] = given
                array[index, len(given) :] = 0
        for array in (noises, prompts, tokens):
            array[len(rows) :] = 0
        return self._sent(mel), self._sent(speech), self._sent(indices), self._sent(lengths)

    def _schedule(self, rows: Sequence[ChunkRow], padded: int) -> tuple[Tensor, Tensor]:
        """Times and differences of all steps, [2, steps, batch], and guidance, [batch]."""
        steps = rows[0].solver.steps
        schedule, guidance = self._host(torch.float32, 2, steps, padded), self._host(torch.float32, padded)
        times, scales = schedule.numpy(), guidance.numpy()
        times.fill(0)
        scales.fill(0)
        shifts = {row.solver.shift for row in rows}
        schedules = {shift: np.array(time_schedule(steps, shift)) for shift in shifts}
        for index, row in enumerate(rows):
            own = schedules[row.solver.shift]
            times[0, :, index], times[1, :, index] = own[:-1], np.diff(own)
            scales[index] = row.solver.guidance
        return self._sent(schedule), self._sent(guidance)

    def _vocode(self, rows: Sequence[ChunkRow], mel: Tensor) -> Tensor:
        """Samples, [batch * channels, n]."""
        channels = self._model.config.channels
        longest = max(row.generated for row in rows)
        tiers = tuple(count * channels for count in _FEW_ROWS)
        shape = self._shape("vocode", len(rows) * channels, longest, tiers, VOCODER_TIERS)
        batch = shape.rows // channels
        starts, lengths = self._host(torch.int64, batch), self._host(torch.int64, batch)
        begins, ends = starts.numpy(), lengths.numpy()
        begins.fill(0)
        ends.fill(1)
        for index, row in enumerate(rows):
            begins[index], ends[index] = len(row.prompt), row.generated
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
