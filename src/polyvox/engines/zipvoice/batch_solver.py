"""Whole chunks in padded batches, as a GPU likes them: encoded, solved and vocoded without a word to the host between.

Shapes are few, so that CUDA graphs can replay them. A row's result depends on its batch-mates and on its padding by
rounding only.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
import torch
from torch import Tensor

from polyvox.engines.zipvoice.batch_packing import BatchPacking, BatchShape, PackedBatch
from polyvox.engines.zipvoice.chunk_row import ChunkRow
from polyvox.engines.zipvoice.mel import BINS
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.models.zipvoice.model import PaddedState, ZipVoice
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for
from polyvox.runtime.executors.staging import StagingRing
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
_SAME_IN_ALL_STEPS = frozenset(
    PaddedState._fields.index(name) for name in ("text_condition", "speech_condition", "lengths", "guidance")
)


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
        self._staging = StagingRing(device, self._mark)
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
            packing = self._packing(rows)
            packed = packing.read(self._staging.sent(packing.size, packing.write))
            mel, last_step = self._integrate(packing.step, packed, self._encode(packing.encode, packed))
            samples = self._vocode(packing.vocode, packed, mel)
            downloaded, arrived = self._downloaded(samples[: len(rows) * self._model.config.channels])
        lengths = [(row.generated - 1) * self._vocos.config.hop for row in rows]
        by_row = downloaded.view(len(rows), self._model.config.channels, -1)
        return LaunchedBatch(by_row, lengths, last_step, arrived)

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

    def _packing(self, rows: Sequence[ChunkRow]) -> BatchPacking:
        channels = self._model.config.channels
        tokens, frames = max(len(row.tokens) for row in rows), max(row.frames for row in rows)
        speech, tiers = max(row.generated for row in rows), tuple(count * channels for count in _FEW_ROWS)
        return BatchPacking(
            rows,
            self._shape("encode", len(rows), tokens, _FEW_ROWS, TOKEN_TIERS),
            self._shape("step", len(rows), frames, ROW_TIERS, FRAME_TIERS),
            self._shape("vocode", len(rows) * channels, speech, tiers, VOCODER_TIERS),
            channels,
        )

    def _encode(self, shape: BatchShape, packed: PackedBatch) -> Tensor:
        """Encoded tokens, [batch * tokens, bins]."""
        return self._run(shape, [packed.tokens, packed.token_counts]).flatten(0, 1)

    def _integrate(
        self, shape: BatchShape, packed: PackedBatch, encoded: Tensor
    ) -> tuple[Tensor, torch.cuda.Event | None]:
        """The mels after all steps, [batch, frames, features], and the point where the last step begins."""
        text = encoded.index_select(0, packed.text_places).view(shape.rows, shape.length, -1)
        mel, speech = packed.table.index_select(0, packed.table_places).view(2, shape.rows, shape.length, -1).unbind()
        schedule = packed.schedule.unbind()
        steps = len(schedule) // 2
        last_step = None
        for step, (time, delta) in enumerate(zip(schedule[:steps], schedule[steps:], strict=True), start=1):
            if step == steps:
                last_step = self._mark()
            state = PaddedState(mel, text, speech, packed.lengths, time, delta, packed.guidance)
            mel = self._run(shape, state, same=_SAME_IN_ALL_STEPS if step > 1 else ())
        return mel, last_step

    def _vocode(self, shape: BatchShape, packed: PackedBatch, mel: Tensor) -> Tensor:
        """Samples, [batch * channels, n]."""
        channels = self._model.config.channels
        speech = mel.flatten(0, 1).index_select(0, packed.speech_places).view(-1, shape.length, channels, BINS)
        mels = (speech / FEATURE_SCALE).transpose(1, 2).reshape(shape.rows, shape.length, BINS)
        return self._run(shape, [mels, packed.speech_lengths])

    def _shape(
        self, part: str, rows: int, length: int, row_tiers: Sequence[int], length_tiers: Sequence[int]
    ) -> BatchShape:
        """The captured shape that fits, or the exact one."""
        if rows <= row_tiers[-1] and length <= length_tiers[-1]:
            shape = BatchShape(part, bucket_for(rows, row_tiers), bucket_for(length, length_tiers))
            if shape in self._captured:
                return shape
        return BatchShape(part, rows, length)

    def _run(self, shape: BatchShape, given: Sequence[Tensor], same: Collection[int] = ()) -> Tensor:
        works: dict[str, Callable[..., Tensor]] = {
            "encode": partial(self._encode_padded, shape),
            "step": partial(self._step_padded, shape),
            "vocode": self._vocos.vocode_padded,
        }
        if self._replay is None or shape not in self._captured:
            return works[shape.part](*given)
        return self._replay(shape, works[shape.part], given, same=same)

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

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """The device for one thread, on the stream of all."""
        with self._lock, nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
            yield
