"""All that a device is told of a batch, packed by numpy into one piece of memory, and found in it again as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.zipvoice.chunk_row import ChunkRow
from polyvox.models.zipvoice.flow import time_schedule
from polyvox.models.zipvoice.model import PAD
from polyvox.runtime.executors.staging import Bytes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Number = TypeVar("Number", np.int64, np.float32)


@dataclass(frozen=True, slots=True)
class BatchShape:
    """The padded shape of a call: `part` of the model, rows, and frames or tokens of each."""

    part: str
    rows: int
    length: int


class PackedBatch(NamedTuple):
    """A batch on the device. Frames are chosen by their places, so that what is sent holds no padding."""

    table: Tensor
    """A frame of zeros, then the noise and the prompt of each row, [n, features]."""
    schedule: Tensor
    """Times of all steps, then their differences, [2 * steps, rows]."""
    guidance: Tensor
    tokens: Tensor
    token_counts: Tensor
    text_places: Tensor
    """The encoded token of each frame, [rows * frames]."""
    table_places: Tensor
    """The noise of each frame, then the prompt, [2 * rows * frames]."""
    lengths: Tensor
    speech_places: Tensor
    """The frames to vocode, [rows * frames]."""
    speech_lengths: Tensor
    """For each channel of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchPacking:
    """Rows, and the shapes of the three calls that they take part in; those of the vocoder are rows of one channel."""

    rows: Sequence[ChunkRow]
    encode: BatchShape
    step: BatchShape
    vocode: BatchShape
    channels: int

    @property
    def size(self) -> int:
        """Bytes of it all."""
        return 4 * self._floats + 8 * sum(self._int_sizes)

    @property
    def _steps(self) -> int:
        return self.rows[0].solver.steps

    @property
    def _features(self) -> int:
        return int(self.rows[0].table.shape[1])

    @property
    def _float_sizes(self) -> tuple[int, int, int]:
        table = (1 + sum(len(row.table) for row in self.rows)) * self._features
        return table, 2 * self._steps * self.step.rows, self.step.rows

    @property
    def _floats(self) -> int:
        """So many that integers of 8 bytes may stand behind them."""
        return sum(self._float_sizes) + sum(self._float_sizes) % 2

    @property
    def _int_sizes(self) -> tuple[int, ...]:
        encode, step, vocode = self.encode, self.step, self.vocode
        frames, speech = step.rows * step.length, vocode.rows // self.channels * vocode.length
        return encode.rows * encode.length, encode.rows, frames, 2 * frames, step.rows, speech, vocode.rows

    def write(self, memory: Bytes) -> None:
        """Write it all."""
        floats, ints = memory[: 4 * self._floats].view(np.float32), memory[4 * self._floats :].view(np.int64)
        table, schedule, guidance = _split(floats, self._float_sizes)
        tokens, counts, text, frames, lengths, speech, speech_lengths = _split(ints, self._int_sizes)
        self._write_table(table)
        self._write_schedule(schedule.reshape(2, self._steps, -1), guidance)
        self._write_tokens(tokens, counts)
        self._write_text_places(text.reshape(self.step.rows, -1))
        self._write_table_places(frames.reshape(2 * self.step.rows, -1), lengths)
        self._write_speech(speech.reshape(-1, self.vocode.length), speech_lengths)

    def read(self, memory: Tensor) -> PackedBatch:
        """The tensors in memory that was written so."""
        floats, ints = torch.split(memory, [4 * self._floats, 8 * sum(self._int_sizes)])
        spare = self._floats - sum(self._float_sizes)
        table, schedule, guidance, _ = torch.split(floats.view(torch.float32), [*self._float_sizes, spare])
        tokens, *others = torch.split(ints.view(torch.int64), list(self._int_sizes))
        return PackedBatch(
            table.view(-1, self._features),
            schedule.view(2 * self._steps, -1),
            guidance,
            tokens.view(self.encode.rows, -1),
            *others,
        )

    def _write_table(self, table: Floats) -> None:
        table[: self._features] = 0
        # A copy by numpy gives the interpreter lock away; getting it back takes longer than the copy.
        target, at = table.data, self._features
        for row in self.rows:
            target[at : at + row.table.size] = row.table.reshape(-1).data
            at += row.table.size

    def _write_schedule(self, schedule: Floats, guidance: Floats) -> None:
        schedule.fill(0)
        guidance.fill(0)
        shifts = {row.solver.shift for row in self.rows}
        schedules = {shift: np.array(time_schedule(self._steps, shift)) for shift in shifts}
        for index, row in enumerate(self.rows):
            own = schedules[row.solver.shift]
            schedule[0, :, index], schedule[1, :, index] = own[:-1], np.diff(own)
            guidance[index] = row.solver.guidance

    def _write_tokens(self, tokens: Ints, counts: Ints) -> None:
        tokens.fill(PAD)
        counts.fill(1)
        target, length = tokens.data, self.encode.length
        for index, row in enumerate(self.rows):
            target[index * length : index * length + len(row.tokens)] = row.tokens.data
            counts[index] = len(row.tokens) - 1

    def _write_text_places(self, places: Ints) -> None:
        places.fill(0)
        target, length = places.reshape(-1).data, self.step.length
        for index, row in enumerate(self.rows):
            target[index * length : index * length + row.frames] = row.indices.data
        places[: len(self.rows)] += np.arange(len(self.rows))[:, None] * self.encode.length

    def _write_table_places(self, places: Ints, lengths: Ints) -> None:
        """The frame of zeros stands for what is neither noise nor prompt."""
        sizes = np.zeros((2, self.step.rows, 1), np.int64)
        sizes[:, : len(self.rows), 0] = [[row.frames for row in self.rows], [len(row.prompt) for row in self.rows]]
        starts = np.zeros_like(sizes)
        starts[0, : len(self.rows), 0] = [*accumulate((len(row.table) for row in self.rows[:-1]), initial=1)]
        starts[1] = starts[0] + sizes[0]
        frame = np.arange(self.step.length)
        np.add(starts.reshape(-1, 1), frame, out=places)
        places *= frame < sizes.reshape(-1, 1)
        np.maximum(sizes[0, :, 0], 1, out=lengths)

    def _write_speech(self, places: Ints, lengths: Ints) -> None:
        """The vocoder looks neither behind the length of a row nor at rows behind the last: any place will do there."""
        begins, counts = np.zeros((len(places), 1), np.int64), np.ones(len(places), np.int64)
        begins[: len(self.rows), 0] = [len(row.prompt) for row in self.rows]
        counts[: len(self.rows)] = [row.generated for row in self.rows]
        np.add(begins, np.arange(self.vocode.length), out=places)
        np.minimum(places, self.step.length - 1, out=places)
        places += np.minimum(np.arange(len(places)), self.step.rows - 1)[:, None] * self.step.length
        lengths[:] = counts.repeat(self.channels)


def _split(array: npt.NDArray[Number], sizes: Sequence[int]) -> list[npt.NDArray[Number]]:
    ends = list(accumulate(sizes))
    return [array[end - size : end] for size, end in zip(sizes, ends, strict=True)]
