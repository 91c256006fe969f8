"""The vocoders' steps in work of few shapes, each recorded once and then one launch."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.hift import KEPT_FRAMES, Hift, HiftState
from polyvox.models.hift_causal import CausalHift, CausalHiftState
from polyvox.models.memory import Kept
from polyvox.runtime.executors.graphs import Replay, bucket_for

_Step = Callable[[Tensor, Tensor, Kept | None], tuple[Tensor, Kept]]
_Nothing = Callable[[int, bool], tuple[Tensor, Tensor]]


class CausalHiftGraphs:
    """Steps as version 3's vocoder does, by replay where a step's length is a recorded one.

    A stream's last step may have any length: it is filled up to the next recorded one. One thread may use it.
    """

    def __init__(
        self,
        vocoder: CausalHift,
        replay: Replay,
        first: Collection[int],
        later: Collection[int],
        last: Collection[int] = (),
    ) -> None:
        """The lengths, in mel frames, of streams' first steps, of those that follow, and of last steps."""
        self._vocoder = vocoder
        self._replay = replay
        self._recorded = _RecordedStep(replay, self._step, self._nothing, first, later)
        self._last = sorted(last)
        self._spread = vocoder.config.source.samples_per_frame

    def warm(self) -> None:
        """Record every shape."""
        kept = self._recorded.warm()
        for frames in self._last:
            for before, unvoiced in ((None, 0), (kept, self._vocoder.pitch.ahead)):
                self._ended(*_nothing(self._vocoder, frames, frames + unvoiced), before, 0)

    def step(self, mel: Tensor, state: CausalHiftState, *, final: bool = False) -> tuple[Tensor, CausalHiftState]:
        """As the vocoder's own."""
        if not state.rendered and state.mel.shape[2]:
            return self._vocoder.step(mel, state, final=final)
        kept = _tensors(state) if state.rendered else None
        start = self._spread * state.voiced - state.noise_start
        known = state.rendered + state.mel.shape[2] + mel.shape[2]
        voiced = known if final else known - self._vocoder.pitch.ahead
        noise = state.noise[:, start : start + self._spread * (voiced - state.voiced)]
        enough = noise.shape[1] == self._spread * (voiced - state.voiced)
        if final and enough and self._ends(mel, kept):
            return self._filled_up(mel, noise, kept), state
        if final or not enough or not self._recorded.takes(mel, kept):
            return self._vocoder.step(mel, state, final=final)
        samples, after = self._recorded(mel, noise, kept)
        rendered = voiced - self._vocoder.config.filter.ahead
        return samples, _with_tensors(replace(state, rendered=rendered, voiced=voiced), after)

    def _ends(self, mel: Tensor, kept: Kept | None) -> bool:
        """Whether such a last step can be filled up to a recorded one."""
        fits = kept is None or self._recorded.packing.fits(kept)
        return fits and mel.shape[0] == 1 and 0 < mel.shape[2] <= max(self._last, default=0)

    def _filled_up(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> Tensor:
        surplus = bucket_for(mel.shape[2], self._last) - mel.shape[2]
        mel = functional.pad(mel, (0, surplus))
        noise = functional.pad(noise, (0, 0, 0, self._spread * surplus))
        samples = self._ended(mel, noise, kept, surplus)
        return samples[:, : samples.shape[1] - self._spread * surplus].clone()

    def _ended(self, mel: Tensor, noise: Tensor, kept: Kept | None, surplus: int) -> Tensor:
        given = [mel, noise, torch.tensor(surplus, device=mel.device)]
        if kept is not None:
            given.append(self._recorded.packing.packed(kept))
        return self._replay(("vocoder ends", kept is None, mel.shape[2]), self._end, given)

    def _end(self, mel: Tensor, noise: Tensor, surplus: Tensor, packed: Tensor | None = None) -> Tensor:
        kept = None if packed is None else self._recorded.packing.unpacked(packed)
        return self._vocoder.step(mel, self._anywhere(mel, noise, kept), final=True, surplus=surplus)[0]

    def _nothing(self, frames: int, first: bool) -> tuple[Tensor, Tensor]:
        return _nothing(self._vocoder, frames, frames - self._vocoder.pitch.ahead if first else frames)

    def _step(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        samples, after = self._vocoder.step(mel, self._anywhere(mel, noise, kept))
        return samples, _tensors(after)

    def _anywhere(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> CausalHiftState:
        """A stream at its start or at some later place: at which does not change what is computed."""
        state = CausalHiftState(noise, mel[:, :, :0])
        if kept is None:
            return state
        voiced = 1 + self._vocoder.config.filter.ahead
        return _with_tensors(replace(state, rendered=1, voiced=voiced, noise_start=self._spread * voiced), kept)


def _tensors(state: CausalHiftState) -> Kept:
    """Those that change from step to step."""
    assert state.turns is not None
    assert state.source is not None
    assert state.sums is not None
    assert state.weights is not None
    return (*state.pitch, state.turns, state.mel, state.source, state.sums, state.weights, *state.filter)


def _with_tensors(state: CausalHiftState, tensors: Sequence[Tensor]) -> CausalHiftState:
    pitch = sum(tensor.dtype == torch.float64 for tensor in tensors) - 1
    turns, mel, source, sums, weights, *rest = tensors[pitch:]
    return replace(
        state,
        pitch=tuple(tensors[:pitch]),
        turns=turns,
        mel=mel,
        source=source,
        sums=sums,
        weights=weights,
        filter=tuple(rest),
    )


class HiftGraphs:
    """Steps as version 2's vocoder does, by replay where a step is not the last and its length is a recorded one.

    One thread may use it.
    """

    def __init__(self, vocoder: Hift, replay: Replay, first: Collection[int], later: Collection[int]) -> None:
        """The lengths, in mel frames, of streams' first steps and of those that follow."""
        self._vocoder = vocoder
        self._recorded = _RecordedStep(replay, self._step, self._nothing, first, later)

    def warm(self) -> None:
        """Record every shape."""
        self._recorded.warm()

    def step(
        self, mel: Tensor, noise: Tensor, state: HiftState | None = None, *, final: bool = False
    ) -> tuple[Tensor, HiftState | None]:
        """As the vocoder's own."""
        kept: Kept | None = None if state is None else (state.mel, state.source, state.samples)
        if final or not self._recorded.takes(mel, kept):
            return self._vocoder.step(mel, noise, state, final=final)
        samples, after = self._recorded(mel, noise, kept)
        return samples, HiftState(*after)

    def _nothing(self, frames: int, first: bool) -> tuple[Tensor, Tensor]:
        return _nothing(self._vocoder, frames, frames if first else frames + KEPT_FRAMES)

    def _step(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        samples, after = self._vocoder.step(mel, noise, None if kept is None else HiftState(*kept))
        assert after is not None
        return samples, (after.mel, after.source, after.samples)


def _nothing(vocoder: Hift | CausalHift, frames: int, noise_frames: int) -> tuple[Tensor, Tensor]:
    """Mel and noise of nothing."""
    source = vocoder.config.source
    noise = vocoder.source.mix.weight.new_zeros(1, noise_frames * source.samples_per_frame, source.harmonics)
    return noise.new_zeros(1, vocoder.config.filter.bins, frames), noise


class _RecordedStep:
    """A step of mel, noise and what was kept to samples and what is kept now; at the start nothing was kept.

    A replay takes few tensors and gives one, so what is kept travels as one. `nothing` gives mel and noise to try out
    a step of so many frames, a first one or not.
    """

    def __init__(
        self, replay: Replay, step: _Step, nothing: _Nothing, first: Collection[int], later: Collection[int]
    ) -> None:
        self._replay = replay
        self._step = step
        self._nothing = nothing
        self._first, self._later = sorted(first), sorted(later)
        self.packing = _Packing(step(*nothing(self._first[0], True), None)[1])

    def warm(self) -> Kept:
        """Record every shape; what a step keeps."""
        for frames in self._first:
            _, kept = self(*self._nothing(frames, True), None)
        for frames in self._later:
            self(*self._nothing(frames, False), kept)
        return kept

    def takes(self, mel: Tensor, kept: Kept | None) -> bool:
        """Whether such a step is recorded."""
        if kept is None:
            return mel.shape[0] == 1 and mel.shape[2] in self._first
        return mel.shape[0] == 1 and mel.shape[2] in self._later and self.packing.fits(kept)

    def __call__(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        frames, size = mel.shape[2], self.packing.size
        if kept is None:
            made = self._replay(("vocoder starts", frames), self._begun, (mel, noise)).clone()
        else:
            packed = self.packing.packed(kept)
            made = self._replay(("vocoder", frames), self._continued, (mel, noise, packed)).clone()
        return made[None, size:], self.packing.unpacked(made[:size])

    def _begun(self, mel: Tensor, noise: Tensor) -> Tensor:
        samples, kept = self._step(mel, noise, None)
        return torch.cat((self.packing.packed(kept), samples[0]))

    def _continued(self, mel: Tensor, noise: Tensor, packed: Tensor) -> Tensor:
        samples, kept = self._step(mel, noise, self.packing.unpacked(packed))
        return torch.cat((self.packing.packed(kept), samples[0]))


class _Packing:
    """Tensors of these shapes as one of single precision, in which those of double precision take two places.

    The double ones come first, where memory is aligned for them.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._shapes = [tensor.shape for tensor in tensors]
        self._dtypes = [tensor.dtype for tensor in tensors]
        widths = [tensor.dtype.itemsize // torch.float32.itemsize for tensor in tensors]
        assert widths == sorted(widths, reverse=True)
        self._sizes = [width * math.prod(shape) for width, shape in zip(widths, self._shapes, strict=True)]
        self.size = sum(self._sizes)

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether they have these shapes."""
        return [tensor.shape for tensor in tensors] == self._shapes

    def packed(self, tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([tensor.contiguous().view(torch.float32).flatten() for tensor in tensors])

    def unpacked(self, packed: Tensor) -> Kept:
        parts = zip(torch.split(packed, self._sizes), self._dtypes, self._shapes, strict=True)
        return tuple(part.view(dtype).view(shape) for part, dtype, shape in parts)
