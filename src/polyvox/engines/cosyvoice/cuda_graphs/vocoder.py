"""The vocoders' steps as CUDA graphs."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.cache import CachedTensors
from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import OVERLAP_FRAMES, Hift, HiftState
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for


class CausalHiftGraphs:
    """Version 3's vocoder with steps of captured lengths replayed, and others run eagerly.

    The last step of a stream may have any length: it is padded to a captured one. One thread may use it.
    """

    def __init__(
        self,
        vocoder: CausalHift,
        replay: Replay,
        first: Collection[int],
        later: Collection[int],
        last: Collection[int],
    ) -> None:
        """Lengths to capture, in mel frames: of the first step of a stream, of later ones, and of the last."""
        self._vocoder = vocoder
        self._samples_per_frame = vocoder.config.source.samples_per_frame
        self._captured = _CapturedSteps(replay, self, vocoder.config.source.samples_per_frame, first, later, last)

    def capture(self) -> None:
        """Capture every shape."""
        self._captured.capture()

    def step(self, mel: Tensor, state: CausalHiftState, *, final: bool = False) -> tuple[Tensor, CausalHiftState]:
        """Same as the vocoder's `step`."""
        if not state.rendered and state.mel.shape[2]:
            return self._vocoder.step(mel, state, final=final)
        cached = _tensors(state) if state.rendered else None
        start = self._samples_per_frame * state.voiced - state.noise_start
        known = state.rendered + state.mel.shape[2] + mel.shape[2]
        voiced = known if final else known - self._vocoder.pitch.ahead
        noise = state.noise[:, start : start + self._samples_per_frame * (voiced - state.voiced)]
        enough = noise.shape[1] == self._samples_per_frame * (voiced - state.voiced)
        if not enough or not self._captured.takes(mel, cached, final=final):
            return self._vocoder.step(mel, state, final=final)
        if final:
            return self._captured.end(mel, noise, cached), state
        samples, after = self._captured.step(mel, noise, cached)
        rendered = voiced - self._vocoder.config.filter.ahead
        return samples, _with_tensors(replace(state, rendered=rendered, voiced=voiced), after)

    def run(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> tuple[Tensor, CachedTensors]:
        """The work of a step, for capture."""
        samples, after = self._vocoder.step(mel, self._state(mel, noise, cached))
        return samples, _tensors(after)

    def run_last(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor) -> Tensor:
        """The work of a last step, for capture."""
        return self._vocoder.step(mel, self._state(mel, noise, cached), final=True, padding=padding)[0]

    def zeros(self, frames: int, *, first: bool, final: bool) -> tuple[Tensor, Tensor]:
        """Mel and noise of zeros for a step."""
        ahead = self._vocoder.pitch.ahead
        return _zeros(self._vocoder, frames, frames + (0 if first else ahead) - (0 if final else ahead))

    def _state(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> CausalHiftState:
        """A stream at its start or at an arbitrary later position, which does not change the computation."""
        state = CausalHiftState(noise, mel[:, :, :0])
        if cached is None:
            return state
        voiced = 1 + self._vocoder.config.filter.ahead
        return _with_tensors(
            replace(state, rendered=1, voiced=voiced, noise_start=self._samples_per_frame * voiced), cached
        )


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


class HiftGraphs:
    """Version 2's vocoder with steps of captured lengths replayed, and others run eagerly.

    The last step of a stream may have any length: it is padded to a captured one. One thread may use it.
    """

    def __init__(
        self, vocoder: Hift, replay: Replay, first: Collection[int], later: Collection[int], last: Collection[int]
    ) -> None:
        """Lengths to capture, in mel frames: of the first step of a stream, of later ones, and of the last."""
        self._vocoder = vocoder
        self._captured = _CapturedSteps(replay, self, vocoder.config.source.samples_per_frame, first, later, last)

    def capture(self) -> None:
        """Capture every shape."""
        self._captured.capture()

    def step(
        self, mel: Tensor, noise: Tensor, state: HiftState | None = None, *, final: bool = False
    ) -> tuple[Tensor, HiftState | None]:
        """Same as the vocoder's `step`."""
        cached: CachedTensors | None = None if state is None else (state.mel, state.source, state.samples)
        if not self._captured.takes(mel, cached, final=final):
            return self._vocoder.step(mel, noise, state, final=final)
        if final:
            return self._captured.end(mel, noise, cached), None
        samples, after = self._captured.step(mel, noise, cached)
        return samples, HiftState(*after)

    def run(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> tuple[Tensor, CachedTensors]:
        """The work of a step, for capture."""
        samples, after = self._vocoder.step(mel, noise, None if cached is None else HiftState(*cached))
        assert after is not None
        return samples, (after.mel, after.source, after.samples)

    def run_last(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None, padding: Tensor) -> Tensor:
        """The work of a last step, for capture."""
        state = None if cached is None else HiftState(*cached)
        return self._vocoder.step(mel, noise, state, final=True, padding=padding)[0]

    def zeros(self, frames: int, *, first: bool, final: bool) -> tuple[Tensor, Tensor]:
        """Mel and noise of zeros for a step."""
        return _zeros(self._vocoder, frames, frames if first else frames + OVERLAP_FRAMES)


def _zeros(vocoder: Hift | CausalHift, frames: int, noise_frames: int) -> tuple[Tensor, Tensor]:
    """Mel and noise of zeros."""
    source = vocoder.config.source
    noise = vocoder.source.mix.weight.new_zeros(1, noise_frames * source.samples_per_frame, source.harmonics)
    return noise.new_zeros(1, vocoder.config.filter.bins, frames), noise


class _CapturedSteps:
    """Captured steps from mel, noise and the cached tensors (None at the start) to samples and the next cached tensors.

    A replay takes few tensors and returns one, so the cached ones are packed into one.
    """

    def __init__(
        self,
        replay: Replay,
        steps: CausalHiftGraphs | HiftGraphs,
        samples_per_frame: int,
        first: Collection[int],
        later: Collection[int],
        last: Collection[int],
    ) -> None:
        self._replay = replay
        self._steps, self._samples_per_frame = steps, samples_per_frame
        self._first, self._later, self._last = sorted(first), sorted(later), sorted(last)
        cached = steps.run(*steps.zeros(self._first[0], first=True, final=False), None)[1]
        self._packing = _TensorPacking(cached)

    def capture(self) -> None:
        """Capture every shape."""
        zeros = self._steps.zeros
        for frames in self._first:
            _, cached = self.step(*zeros(frames, first=True, final=False), None)
        for frames in self._later:
            self.step(*zeros(frames, first=False, final=False), cached)
        for frames in self._last:
            self.end(*zeros(frames, first=True, final=True), None)
            self.end(*zeros(frames, first=False, final=True), cached)

    def takes(self, mel: Tensor, cached: CachedTensors | None, *, final: bool) -> bool:
        """Whether such a step was captured."""
        batch, _, frames = mel.shape
        if batch != 1 or (cached is not None and not self._packing.fits(cached)):
            return False
        if final:
            return 0 < frames <= self._last[-1]
        return frames in (self._first if cached is None else self._later)

    def step(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> tuple[Tensor, CachedTensors]:
        given = [mel, noise, *self._pack(cached)]
        size = self._packing.size
        packed = self._replay(
            ("vocoder start" if cached is None else "vocoder", mel.shape[2]), self._step, given
        ).clone()
        return packed[None, size:], self._packing.unpack(packed[:size])

    def end(self, mel: Tensor, noise: Tensor, cached: CachedTensors | None) -> Tensor:
        """The samples of a last step, padded to a captured length."""
        frames = bucket_for(mel.shape[2], self._last)
        padding = frames - mel.shape[2]
        samples_padding = padding * self._samples_per_frame
        padded = functional.pad(mel, (0, padding)), functional.pad(noise, (0, 0, 0, samples_padding))
        given = [*padded, torch.tensor(padding, device=mel.device), *self._pack(cached)]
        samples = self._replay(("vocoder end", cached is None, frames), self._end, given)
        return samples[:, : samples.shape[1] - samples_padding].clone()

    def _pack(self, cached: CachedTensors | None) -> list[Tensor]:
        return [] if cached is None else [self._packing.pack(cached)]

    def _step(self, mel: Tensor, noise: Tensor, packed: Tensor | None = None) -> Tensor:
        cached = None if packed is None else self._packing.unpack(packed)
        samples, after = self._steps.run(mel, noise, cached)
        return torch.cat((self._packing.pack(after), samples[0]))

    def _end(self, mel: Tensor, noise: Tensor, padding: Tensor, packed: Tensor | None = None) -> Tensor:
        cached = None if packed is None else self._packing.unpack(packed)
        return self._steps.run_last(mel, noise, cached, padding)


class _TensorPacking:
    """Packs tensors of these shapes into one of single precision, where those of double precision take two elements.

    The double ones come first, so that they are aligned.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._shapes = [tensor.shape for tensor in tensors]
        self._dtypes = [tensor.dtype for tensor in tensors]
        widths = [tensor.dtype.itemsize // torch.float32.itemsize for tensor in tensors]
        assert widths == sorted(widths, reverse=True)
        self._sizes = [width * math.prod(shape) for width, shape in zip(widths, self._shapes, strict=True)]
        self.size = sum(self._sizes)

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the tensors have these shapes."""
        return [tensor.shape for tensor in tensors] == self._shapes

    def pack(self, tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([tensor.contiguous().view(torch.float32).flatten() for tensor in tensors])

    def unpack(self, packed: Tensor) -> CachedTensors:
        parts = zip(torch.split(packed, self._sizes), self._dtypes, self._shapes, strict=True)
        return tuple(part.view(dtype).view(shape) for part, dtype, shape in parts)
