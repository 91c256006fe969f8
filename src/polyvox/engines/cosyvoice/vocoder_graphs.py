"""The vocoders' steps in work of few shapes, each recorded once and then one launch."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.hift.causal import CausalHift, CausalHiftState
from polyvox.models.hift.model import KEPT_FRAMES, Hift, HiftState
from polyvox.models.memory import Kept
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for


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
        last: Collection[int],
    ) -> None:
        """The lengths, in mel frames, of streams' first steps, of those that follow, and of last steps."""
        self._vocoder = vocoder
        self._spread = vocoder.config.source.samples_per_frame
        self._recorded = _Recorded(replay, self, vocoder.config.source.samples_per_frame, first, later, last)

    def warm(self) -> None:
        """Record every shape."""
        self._recorded.warm()

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
        if not enough or not self._recorded.takes(mel, kept, final=final):
            return self._vocoder.step(mel, state, final=final)
        if final:
            return self._recorded.ended(mel, noise, kept), state
        samples, after = self._recorded.stepped(mel, noise, kept)
        rendered = voiced - self._vocoder.config.filter.ahead
        return samples, _with_tensors(replace(state, rendered=rendered, voiced=voiced), after)

    def run(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        """A step that is to be recorded."""
        samples, after = self._vocoder.step(mel, self._anywhere(mel, noise, kept))
        return samples, _tensors(after)

    def run_last(self, mel: Tensor, noise: Tensor, kept: Kept | None, surplus: Tensor) -> Tensor:
        """A last step that is to be recorded."""
        return self._vocoder.step(mel, self._anywhere(mel, noise, kept), final=True, surplus=surplus)[0]

    def nothing(self, frames: int, *, first: bool, final: bool) -> tuple[Tensor, Tensor]:
        """Mel and noise to try out a step."""
        ahead = self._vocoder.pitch.ahead
        return _nothing(self._vocoder, frames, frames + (0 if first else ahead) - (0 if final else ahead))

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
    """Steps as version 2's vocoder does, by replay where a step's length is a recorded one.

    A stream's last step may have any length: it is filled up to the next recorded one. One thread may use it.
    """

    def __init__(
        self, vocoder: Hift, replay: Replay, first: Collection[int], later: Collection[int], last: Collection[int]
    ) -> None:
        """The lengths, in mel frames, of streams' first steps, of those that follow, and of last steps."""
        self._vocoder = vocoder
        self._recorded = _Recorded(replay, self, vocoder.config.source.samples_per_frame, first, later, last)

    def warm(self) -> None:
        """Record every shape."""
        self._recorded.warm()

    def step(
        self, mel: Tensor, noise: Tensor, state: HiftState | None = None, *, final: bool = False
    ) -> tuple[Tensor, HiftState | None]:
        """As the vocoder's own."""
        kept: Kept | None = None if state is None else (state.mel, state.source, state.samples)
        if not self._recorded.takes(mel, kept, final=final):
            return self._vocoder.step(mel, noise, state, final=final)
        if final:
            return self._recorded.ended(mel, noise, kept), None
        samples, after = self._recorded.stepped(mel, noise, kept)
        return samples, HiftState(*after)

    def run(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        """A step that is to be recorded."""
        samples, after = self._vocoder.step(mel, noise, None if kept is None else HiftState(*kept))
        assert after is not None
        return samples, (after.mel, after.source, after.samples)

    def run_last(self, mel: Tensor, noise: Tensor, kept: Kept | None, surplus: Tensor) -> Tensor:
        """A last step that is to be recorded."""
        state = None if kept is None else HiftState(*kept)
        return self._vocoder.step(mel, noise, state, final=True, surplus=surplus)[0]

    def nothing(self, frames: int, *, first: bool, final: bool) -> tuple[Tensor, Tensor]:
        """Mel and noise to try out a step."""
        return _nothing(self._vocoder, frames, frames if first else frames + KEPT_FRAMES)


def _nothing(vocoder: Hift | CausalHift, frames: int, noise_frames: int) -> tuple[Tensor, Tensor]:
    """Mel and noise of nothing."""
    source = vocoder.config.source
    noise = vocoder.source.mix.weight.new_zeros(1, noise_frames * source.samples_per_frame, source.harmonics)
    return noise.new_zeros(1, vocoder.config.filter.bins, frames), noise


class _Recorded:
    """Steps of mel, noise and what was kept to samples and what is kept now; at the start nothing was kept.

    A replay takes few tensors and gives one, so what is kept travels as one.
    """

    def __init__(
        self,
        replay: Replay,
        steps: CausalHiftGraphs | HiftGraphs,
        spread: int,
        first: Collection[int],
        later: Collection[int],
        last: Collection[int],
    ) -> None:
        self._replay = replay
        self._steps, self._spread = steps, spread
        self._first, self._later, self._last = sorted(first), sorted(later), sorted(last)
        kept = steps.run(*steps.nothing(self._first[0], first=True, final=False), None)[1]
        self._packing = _Packing(kept)

    def warm(self) -> None:
        """Record every shape."""
        nothing = self._steps.nothing
        for frames in self._first:
            _, kept = self.stepped(*nothing(frames, first=True, final=False), None)
        for frames in self._later:
            self.stepped(*nothing(frames, first=False, final=False), kept)
        for frames in self._last:
            self.ended(*nothing(frames, first=True, final=True), None)
            self.ended(*nothing(frames, first=False, final=True), kept)

    def takes(self, mel: Tensor, kept: Kept | None, *, final: bool) -> bool:
        """Whether such a step is recorded."""
        batch, _, frames = mel.shape
        if batch != 1 or (kept is not None and not self._packing.fits(kept)):
            return False
        if final:
            return 0 < frames <= self._last[-1]
        return frames in (self._first if kept is None else self._later)

    def stepped(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> tuple[Tensor, Kept]:
        given = [mel, noise, *self._packed(kept)]
        size = self._packing.size
        made = self._replay(("vocoder starts" if kept is None else "vocoder", mel.shape[2]), self._step, given).clone()
        return made[None, size:], self._packing.unpacked(made[:size])

    def ended(self, mel: Tensor, noise: Tensor, kept: Kept | None) -> Tensor:
        """The samples of a last step, filled up to a recorded length."""
        frames = bucket_for(mel.shape[2], self._last)
        surplus = frames - mel.shape[2]
        beyond = surplus * self._spread
        filled = functional.pad(mel, (0, surplus)), functional.pad(noise, (0, 0, 0, beyond))
        given = [*filled, torch.tensor(surplus, device=mel.device), *self._packed(kept)]
        samples = self._replay(("vocoder ends", kept is None, frames), self._end, given)
        return samples[:, : samples.shape[1] - beyond].clone()

    def _packed(self, kept: Kept | None) -> list[Tensor]:
        return [] if kept is None else [self._packing.packed(kept)]

    def _step(self, mel: Tensor, noise: Tensor, packed: Tensor | None = None) -> Tensor:
        kept = None if packed is None else self._packing.unpacked(packed)
        samples, after = self._steps.run(mel, noise, kept)
        return torch.cat((self._packing.packed(after), samples[0]))

    def _end(self, mel: Tensor, noise: Tensor, surplus: Tensor, packed: Tensor | None = None) -> Tensor:
        kept = None if packed is None else self._packing.unpacked(packed)
        return self._steps.run_last(mel, noise, kept, surplus)


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
