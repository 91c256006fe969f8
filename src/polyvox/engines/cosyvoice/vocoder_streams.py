"""Streams of the vocoder on one device: their states in shared memory, and the calls that many of them share."""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.cache import CachedTensors
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import Hift, HiftState
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for

CALL_ROWS = (1, 2, 4, 8, 16, 32)
"""Streams of one captured call. More are computed in several calls."""
_SPARE_SLOT = 0
"""What rows that pad a call read and write."""
_RESERVED_SLOTS = 1


@dataclass(frozen=True, slots=True)
class VocoderFrames:
    """Mel frames of captured calls: the first of a stream, later ones, and the last; others are padded to them."""

    first: Collection[int]
    later: Collection[int]
    last: Collection[int]


@dataclass(frozen=True, slots=True)
class VocoderStreamState:
    """State of one stream. It is never written to."""

    slot: BlockLease
    frames: int
    """Mel frames so far."""


@dataclass(frozen=True, slots=True)
class VocoderHop:
    """New mel frames [bins, n] of a stream, and the state that they continue; None is the start."""

    mel: Tensor
    state: VocoderStreamState | None
    final: bool
    noise_start: int
    """The sample of the noise that version 2 begins this hop with."""


@dataclass(frozen=True, slots=True)
class _Call:
    """What the hops of one call have in common; `frames` is their number of mel frames, padding included."""

    first: bool
    final: bool
    frames: int


class _VocoderSteps(Protocol):
    """A vocoder over rows: mel and noise in, samples and the tensors of the next state out."""

    def noise_start(self, hop: VocoderHop) -> int:
        """The sample of the noise that a hop begins with."""

    def noise_frames(self, call: _Call) -> int:
        """Mel frames that the noise of a call covers."""

    def run(
        self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor, *, final: bool
    ) -> tuple[Tensor, CachedTensors]:
        """One step of each row; `cached` is None at the start of a stream."""


class VocoderStreams:
    """Turns mel frames of many streams into samples together. One thread may use it.

    With `replay`, calls of some numbers of frames and streams are captured; longer ones run eagerly.
    """

    def __init__(
        self,
        vocoder: Hift | CausalHift,
        noise: Tensor,
        slots: int,
        frames: VocoderFrames,
        replay: Replay | None = None,
        rows: Sequence[int] = CALL_ROWS,
    ) -> None:
        """`noise` [1, samples, harmonics] is what all streams draw from; `slots` bounds the states at one time."""
        self._vocoder, self._noise, self._replay = vocoder, noise[0], replay
        self._rate = vocoder.config.source.samples_per_frame
        self._frames, self._rows = frames, rows
        self._steps: _VocoderSteps = _CausalSteps(vocoder) if isinstance(vocoder, CausalHift) else _HiftSteps(vocoder)
        self._allocator = BlockAllocator(_RESERVED_SLOTS, _RESERVED_SLOTS + slots)
        probe = _Call(first=True, final=False, frames=min(frames.first))
        samples = self._noise.new_zeros(1, self._rate * self._steps.noise_frames(probe), self._noise.shape[1])
        padding = torch.zeros(1, dtype=torch.long, device=noise.device)
        _, cached = self._steps.run(self._silence(1, probe.frames), samples, None, padding, final=False)
        self._packing = _RowPacking(cached)
        self.memory = self._noise.new_zeros(_RESERVED_SLOTS + slots, self._packing.size)
        """The states of all streams."""

    def capture(self) -> None:
        """Capture every shape."""
        for final, first, lengths in (
            (False, True, self._frames.first),
            (False, False, self._frames.later),
            (True, True, self._frames.last),
            (True, False, self._frames.last),
        ):
            for frames in sorted(lengths):
                for rows in self._rows:
                    self._run(_Call(first, final, frames), [], rows)

    def step(self, hops: Sequence[VocoderHop]) -> list[tuple[Tensor, VocoderStreamState | None]]:
        """The samples [m] that each hop completes, and the state after it; None behind the last."""
        results: dict[int, tuple[Tensor, VocoderStreamState | None]] = {}
        calls: dict[_Call, list[int]] = defaultdict(list)
        for index, hop in enumerate(hops):
            if hop.mel.shape[1] == 0 and hop.state is None:
                results[index] = hop.mel.new_zeros(0), None
            else:
                calls[self._call(hop)].append(index)
        for call, indices in calls.items():
            for begin in range(0, len(indices), self._rows[-1]):
                part = indices[begin : begin + self._rows[-1]]
                results |= zip(part, self._called(call, [hops[index] for index in part]), strict=True)
        return [results[index] for index in range(len(hops))]

    def _call(self, hop: VocoderHop) -> _Call:
        frames, first = hop.mel.shape[1], hop.state is None
        lengths = self._frames.last if hop.final else self._frames.first if first else self._frames.later
        padded = bucket_for(frames, sorted(lengths)) if frames <= max(lengths) else frames
        return _Call(first, hop.final, padded)

    def _called(self, call: _Call, hops: list[VocoderHop]) -> list[tuple[Tensor, VocoderStreamState | None]]:
        leases = self._allocator.take(0 if call.final else len(hops))
        if leases is None:
            raise RuntimeError("There are more streams than the vocoder has room for.")
        captured = self._replay is not None and call.frames in self._captured_frames(call)
        count = bucket_for(len(hops), self._rows) if captured else len(hops)
        samples = self._run(call, hops, count, leases)
        results: list[tuple[Tensor, VocoderStreamState | None]] = []
        for index, hop in enumerate(hops):
            padding = call.frames - hop.mel.shape[1]
            own = samples[index, : samples.shape[1] - padding * self._rate]
            frames = hop.mel.shape[1] + (0 if hop.state is None else hop.state.frames)
            results.append((own, None if call.final else VocoderStreamState(leases[index], frames)))
        return results

    def _captured_frames(self, call: _Call) -> Collection[int]:
        return self._frames.last if call.final else self._frames.first if call.first else self._frames.later

    def _run(
        self, call: _Call, hops: Sequence[VocoderHop], count: int, leases: Sequence[BlockLease] = ()
    ) -> Tensor:
        """The samples of hops, padded to so many rows."""
        mel = self._silence(count, call.frames)
        numbers = []
        for index, hop in enumerate(hops):
            mel[index, :, : hop.mel.shape[1]] = hop.mel
            numbers.append(
                (
                    _SPARE_SLOT if call.final else leases[index].index,
                    _SPARE_SLOT if hop.state is None else hop.state.slot.index,
                    call.frames - hop.mel.shape[1],
                    self._steps.noise_start(hop),
                )
            )
        numbers += [(_SPARE_SLOT, _SPARE_SLOT, 0, 0)] * (count - len(hops))
        table = torch.tensor(numbers, pin_memory=mel.is_cuda).to(mel.device, non_blocking=True)
        work = partial(self._work, call)
        captured = self._replay is not None and call.frames in self._captured_frames(call)
        if self._replay is None or not captured:
            return work(table, mel)
        return self._replay(("vocoder", call, count), work, (table, mel)).clone()

    def _work(self, call: _Call, table: Tensor, mel: Tensor) -> Tensor:
        slots, previous, padding, starts = table.T.contiguous()
        cached = None if call.first else self._packing.unpack(self.memory[previous])
        positions = torch.arange(self._rate * self._steps.noise_frames(call), device=mel.device)
        # Noise behind the end of the longest stream belongs to padding.
        noise = self._noise[(starts[:, None] + positions).clamp(max=len(self._noise) - 1)]
        samples, after = self._steps.run(mel, noise, cached, padding, final=call.final)
        if not call.final:
            self.memory[slots] = self._packing.pack(after)
        return samples

    def _silence(self, rows: int, frames: int) -> Tensor:
        return self._noise.new_zeros(rows, self._vocoder.config.filter.bins, frames)


class _CausalSteps:
    """Version 3's vocoder, whose streams equal one call over all of them."""

    def __init__(self, vocoder: CausalHift) -> None:
        self._vocoder = vocoder
        self._rate = vocoder.config.source.samples_per_frame

    def noise_start(self, hop: VocoderHop) -> int:
        return 0 if hop.state is None else self._rate * (hop.state.frames - self._vocoder.pitch.ahead)

    def noise_frames(self, call: _Call) -> int:
        ahead = self._vocoder.pitch.ahead
        return call.frames + (0 if call.first else ahead) - (0 if call.final else ahead)

    def run(
        self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor, *, final: bool
    ) -> tuple[Tensor, CachedTensors]:
        samples, after = self._vocoder.step(mel, self._state(mel, noise, cached), final=final, padding=padding)
        return samples, () if final else _tensors(after)

    def _state(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> CausalHiftState:
        """Streams at their start or at an arbitrary later position, which does not change the computation."""
        state = CausalHiftState(noise, mel[:, :, :0])
        if cached is None:
            return state
        voiced = 1 + self._vocoder.config.filter.ahead
        return _with_tensors(replace(state, rendered=1, voiced=voiced, noise_start=self._rate * voiced), cached)


def _tensors(state: CausalHiftState) -> CachedTensors:
    """The tensors that change from step to step."""
    assert state.cycles is not None
    assert state.source is not None
    assert state.sums is not None
    assert state.weights is not None
    return (*state.pitch_cache, state.cycles, state.mel, state.source, state.sums, state.weights, *state.filter_cache)


def _with_tensors(state: CausalHiftState, tensors: Sequence[Tensor]) -> CausalHiftState:
    pitch = sum(tensor.dtype == torch.float64 for tensor in tensors) - 1
    cycles, mel, source, sums, weights, *rest = tensors[pitch:]
    return replace(
        state,
        pitch_cache=tuple(tensors[:pitch]),
        cycles=cycles,
        mel=mel,
        source=source,
        sums=sums,
        weights=weights,
        filter_cache=tuple(rest),
    )


class _HiftSteps:
    """Version 2's vocoder, whose chunks are crossfaded."""

    def __init__(self, vocoder: Hift) -> None:
        self._vocoder = vocoder

    def noise_start(self, hop: VocoderHop) -> int:
        return hop.noise_start

    def noise_frames(self, call: _Call) -> int:
        return call.frames + (0 if call.first else self._vocoder.config.overlap)

    def run(
        self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor, *, final: bool
    ) -> tuple[Tensor, CachedTensors]:
        state = None if cached is None else HiftState(*cached)
        samples, after = self._vocoder.step(mel, noise, state, final=final, padding=padding)
        return samples, () if after is None else (after.mel, after.source, after.samples)


class _RowPacking:
    """Packs tensors of these shapes into rows of single precision, where a double takes two elements.

    The doubles come first and the rows have even lengths, so that doubles are aligned.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._shapes = [tensor.shape[1:] for tensor in tensors]
        self._dtypes = [tensor.dtype for tensor in tensors]
        widths = [tensor.dtype.itemsize // torch.float32.itemsize for tensor in tensors]
        assert widths == sorted(widths, reverse=True)
        self._sizes = [width * math.prod(shape) for width, shape in zip(widths, self._shapes, strict=True)]
        self._unused = sum(self._sizes) % 2
        self.size = sum(self._sizes) + self._unused

    def pack(self, tensors: Sequence[Tensor]) -> Tensor:
        flat = [tensor.contiguous().view(torch.float32).flatten(1) for tensor in tensors]
        return functional.pad(torch.cat(flat, dim=1), (0, self._unused))

    def unpack(self, packed: Tensor) -> CachedTensors:
        parts = zip(torch.split(packed, [*self._sizes, self._unused], dim=1), self._dtypes, self._shapes, strict=False)
        return tuple(part.view(dtype).unflatten(1, shape) for part, dtype, shape in parts)
