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

from polyvox.engines.cosyvoice.decoder.decoder_stages import VocoderHop, VocoderResult
from polyvox.errors import EngineError
from polyvox.models.cache import CachedTensors
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import Hift, HiftState
from polyvox.runtime.block_allocator import BlockAllocator, BlockLease
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for

CALL_ROWS = (1, 2, 4, 8, 12, 16, 24, 32)
"""Streams of one captured call. More are computed in several calls."""
_SPARE_SLOT = 0
"""The slot that padding rows of a call read and write."""
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
class VocoderCall:
    """A call of the vocoder for several hops; `frames` is their number of mel frames, padding included."""

    first: bool
    final: bool
    frames: int


class _VocoderSteps(Protocol):
    """A vocoder over rows: mel and noise in, samples and the tensors of the next state out."""

    def noise_start(self, hop: VocoderHop) -> int:
        """The sample of the noise that a hop begins with."""

    def noise_frames(self, call: VocoderCall) -> int:
        """Mel frames that the noise of a call covers."""

    def run(
        self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor, *, final: bool
    ) -> tuple[Tensor, CachedTensors]:
        """One step of each row; `cached` is None at the start of a stream."""


class VocoderStreams:
    """Turns mel frames of many streams into samples together. One thread may use it.

    Calls of some numbers of frames and streams are one launch each, once they were captured; others run eagerly.
    """

    def __init__(
        self,
        vocoder: Hift | CausalHift,
        noise: Tensor,
        slots: int,
        frames: VocoderFrames,
        rows: Sequence[int] = CALL_ROWS,
    ) -> None:
        """`noise` [1, samples, harmonics] is what all streams draw from; `slots` bounds the states at one time."""
        self._vocoder, self._noise = vocoder, noise[0]
        self._rate = vocoder.config.source.samples_per_frame
        self._frames, self._rows = frames, rows
        self._replay: Replay | None = None
        self._captured: set[tuple[VocoderCall, int]] = set()
        self._steps: _VocoderSteps = _CausalSteps(vocoder) if isinstance(vocoder, CausalHift) else _HiftSteps(vocoder)
        self._allocator = BlockAllocator(_RESERVED_SLOTS, _RESERVED_SLOTS + slots)
        probe = VocoderCall(first=True, final=False, frames=min(frames.first))
        samples = self._noise.new_zeros(1, self._rate * self._steps.noise_frames(probe), self._noise.shape[1])
        padding = torch.zeros(1, dtype=torch.long, device=noise.device)
        _, cached = self._steps.run(self._silence(1, probe.frames), samples, None, padding, final=False)
        self._packing = _RowPacking(cached)
        self.memory = self._noise.new_zeros(_RESERVED_SLOTS + slots, self._packing.size)
        """The states of all streams."""

    @property
    def shapes(self) -> list[tuple[VocoderCall, int]]:
        """Calls to capture, and the numbers of their rows; those that a first chunk needs come first."""
        calls = [VocoderCall(True, False, frames) for frames in sorted(self._frames.first)]
        calls += [VocoderCall(False, False, frames) for frames in sorted(self._frames.later)]
        calls += [VocoderCall(first, True, frames) for first in (False, True) for frames in sorted(self._frames.last)]
        return [(call, rows) for call in calls for rows in self._rows]

    def capture(self, call: VocoderCall, rows: int, replay: Replay) -> None:
        """Capture such a call, and replay it from now on."""
        self._replay = replay
        self._run(call, [], rows, (), replay)
        self._captured.add((call, rows))

    def step(self, hops: Sequence[VocoderHop]) -> list[VocoderResult]:
        results: dict[int, VocoderResult] = {}
        calls: dict[VocoderCall, list[int]] = defaultdict(list)
        for index, hop in enumerate(hops):
            if hop.mel.shape[1] == 0 and hop.state is None:
                results[index] = VocoderResult(self._noise.new_zeros(0), None)
            else:
                calls[self._call(hop)].append(index)
        for call, indices in calls.items():
            for begin in range(0, len(indices), self._rows[-1]):
                part = indices[begin : begin + self._rows[-1]]
                results |= zip(part, self._called(call, [hops[index] for index in part]), strict=True)
        return [results[index] for index in range(len(hops))]

    def _call(self, hop: VocoderHop) -> VocoderCall:
        frames, first = hop.mel.shape[1], hop.state is None
        lengths = self._frames.last if hop.final else self._frames.first if first else self._frames.later
        padded = bucket_for(frames, sorted(lengths)) if frames <= max(lengths) else frames
        return VocoderCall(first, hop.final, padded)

    def _called(self, call: VocoderCall, hops: list[VocoderHop]) -> list[VocoderResult]:
        leases = self._allocator.take(0 if call.final else len(hops))
        if leases is None:
            raise EngineError("There are more streams than the vocoder has room for; try again later.")
        rows = bucket_for(len(hops), self._rows)
        if (call, rows) in self._captured:
            samples = self._run(call, hops, rows, leases, self._replay)
        else:
            samples = self._run(call, hops, len(hops), leases, None)
        results = []
        for index, hop in enumerate(hops):
            own = samples[index, : samples.shape[1] - (call.frames - hop.mel.shape[1]) * self._rate]
            after = None if call.final else VocoderStreamState(leases[index], hop.mel.shape[1] + _frames_before(hop))
            results.append(VocoderResult(own, after))
        return results

    def _run(
        self,
        call: VocoderCall,
        hops: Sequence[VocoderHop],
        rows: int,
        leases: Sequence[BlockLease],
        replay: Replay | None,
    ) -> Tensor:
        """The samples of hops, padded to so many rows."""
        mel = self._silence(rows, call.frames)
        numbers = []
        for index, hop in enumerate(hops):
            mel[index, :, : hop.mel.shape[1]] = hop.mel
            slot = _SPARE_SLOT if call.final else leases[index].index
            padding = call.frames - hop.mel.shape[1]
            numbers.append((slot, _slot_before(hop), padding, self._steps.noise_start(hop)))
        numbers += [(_SPARE_SLOT, _SPARE_SLOT, 0, 0)] * (rows - len(hops))
        table = torch.tensor(numbers, pin_memory=mel.is_cuda).to(mel.device, non_blocking=True)
        work = partial(self._work, call)
        return work(table, mel) if replay is None else replay(("vocoder", call, rows), work, (table, mel)).clone()

    def _work(self, call: VocoderCall, table: Tensor, mel: Tensor) -> Tensor:
        slots, previous, padding, starts = table.T.contiguous()
        cached = None if call.first else self._packing.unpack(self.memory[previous])
        positions = torch.arange(self._rate * self._steps.noise_frames(call), device=mel.device)
        noise = self._noise[(starts[:, None] + positions) % len(self._noise)]
        samples, after = self._steps.run(mel, noise, cached, padding, final=call.final)
        if not call.final:
            self.memory[slots] = self._packing.pack(after)
        return samples

    def _silence(self, rows: int, frames: int) -> Tensor:
        return self._noise.new_zeros(rows, self._vocoder.config.filter.bins, frames)


def _frames_before(hop: VocoderHop) -> int:
    return hop.state.frames if isinstance(hop.state, VocoderStreamState) else 0


def _slot_before(hop: VocoderHop) -> int:
    return hop.state.slot.index if isinstance(hop.state, VocoderStreamState) else _SPARE_SLOT


class _CausalSteps:
    """Version 3's vocoder, whose streams equal one call over all of them."""

    def __init__(self, vocoder: CausalHift) -> None:
        self._vocoder = vocoder
        self._rate = vocoder.config.source.samples_per_frame

    def noise_start(self, hop: VocoderHop) -> int:
        return max(0, self._rate * (_frames_before(hop) - self._vocoder.pitch.ahead))

    def noise_frames(self, call: VocoderCall) -> int:
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
    """The vocoder of version 2 and of Chatterbox, whose chunks are crossfaded."""

    def __init__(self, vocoder: Hift) -> None:
        self._vocoder = vocoder

    def noise_start(self, hop: VocoderHop) -> int:
        return hop.noise_start

    def noise_frames(self, call: VocoderCall) -> int:
        return call.frames + (0 if call.first else self._vocoder.config.overlap)

    def run(
        self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor, *, final: bool
    ) -> tuple[Tensor, CachedTensors]:
        state = None if cached is None else HiftState(*cached)
        samples, after = self._vocoder.step(mel, noise, state, final=final, padding=padding)
        if after is None:
            return samples, ()
        phase = () if after.phase is None else (after.phase,)
        return samples, (after.mel, after.source, after.samples, *phase)


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
        return tuple(part.view(dtype).view(-1, *shape) for part, dtype, shape in parts)
