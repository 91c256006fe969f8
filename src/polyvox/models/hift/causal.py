"""CosyVoice 3's vocoder: causal but for a few frames, so that a stream gives the very samples of the whole."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.hift.model import HiftConfig, HiftParts, load_parts
from polyvox.models.loading import StateDict
from polyvox.models.memory import Kept, Memory
from polyvox.models.spectrum import analysed, frames_of, mirrored, overlapped, weights_of, without_last


@dataclass(frozen=True, slots=True)
class CausalHiftState:
    """Where a stream stands. It is never written to, so that it may be continued more than once."""

    noise: Tensor
    """[batch or 1, samples, harmonics], from sample `noise_start` of the stream on."""
    mel: Tensor
    """Frames not rendered yet."""
    rendered: int = 0
    voiced: int = 0
    """Frames whose source is known; some of them wait to be rendered."""
    turns: Tensor | None = None
    """How often each harmonic has turned so far."""
    source: Tensor | None = None
    """Source samples from the first one that the next spectrum covers."""
    sums: Tensor | None = None
    """Samples not given out yet, in sums of windowed frames; the next spectra add to the last of them."""
    weights: Tensor | None = None
    """The windows' share in `sums`."""
    pitch: Kept = ()
    filter: Kept = ()
    noise_start: int = 0


class CausalHift(nn.Module):
    """Mel in, samples out; the cost of a step is that of its own frames."""

    def __init__(self, config: HiftConfig, parts: HiftParts) -> None:
        super().__init__()
        self.config = config
        self.pitch, self.source, self.filter = parts

    def start(self, noise: Tensor, batch: int = 1) -> CausalHiftState:
        """A stream before its first frame."""
        return CausalHiftState(noise, noise.new_zeros(batch, self.config.filter.bins, 0))

    def step(
        self, mel: Tensor, state: CausalHiftState, *, final: bool = False, surplus: Tensor | None = None
    ) -> tuple[Tensor, CausalHiftState]:
        """More mel frames [batch, bins, n]; the samples [batch, m] that follow from all frames but the last eight.

        The last call of a stream is `final`: the frames after it are taken as zero. So many of its own as `surplus`
        says may be zero already; their samples mean nothing, and those before them are as they would be without.
        """
        state = self._voiced(replace(state, mel=torch.cat((state.mel, mel), dim=2)), final=final)
        ahead = self.config.filter.ahead
        ready = state.voiced - state.rendered - (0 if final else ahead)
        if ready <= 0:
            return state.noise.new_zeros(mel.shape[0], 0), state
        memory = Memory(state.filter, remember=not final)
        magnitude, phase = self.filter(
            _padded(state.mel, ready + ahead),
            self._spectra(state, ready, final=final, surplus=surplus),
            memory,
            first=not state.rendered,
        )
        state = self._added(state, frames_of(magnitude, phase, self.config.filter.fft), surplus)
        state = replace(state, mel=state.mel[:, :, ready:], rendered=state.rendered + ready, filter=memory.kept())
        return self._given_out(state, final=final)

    def _voiced(self, state: CausalHiftState, *, final: bool) -> CausalHiftState:
        """The source of all frames that are far enough from the end."""
        known = state.rendered + state.mel.shape[2] - (0 if final else self.pitch.ahead)
        new = known - state.voiced
        if new <= 0:
            return state
        memory = Memory(state.pitch, remember=not final)
        frames = state.mel[:, :, state.voiced - state.rendered :]
        pitch = self.pitch(_padded(frames, new + self.pitch.ahead), memory).float()
        turns = self.source.turns(pitch, state.turns)
        spread = self.config.source.samples_per_frame
        start = spread * state.voiced - state.noise_start
        noise = state.noise[:, start : start + spread * new]
        if noise.shape[1] < spread * new:
            raise ValueError(f"The noise given covers {state.noise.shape[1]} samples; {spread * known} are needed.")
        source = self.source(pitch, turns, noise)
        if state.source is None:
            joined = functional.pad(source[:, None], (self.config.filter.fft // 2, 0), mode="reflect")[:, 0]
        else:
            joined = torch.cat((state.source, source), dim=1)
        return replace(state, voiced=known, turns=turns[:, -1:], source=joined, pitch=memory.kept())

    def _spectra(self, state: CausalHiftState, frames: int, *, final: bool, surplus: Tensor | None) -> Tensor:
        """The spectra of the source that belong to the next frames, and the one at the start with the first."""
        assert state.source is not None
        size, hop = self.config.filter.fft, self.config.filter.hop
        source = state.source
        if final and surplus is None:
            source = functional.pad(source[:, None], (0, size // 2), mode="reflect")[:, 0]
        elif surplus is not None:
            source = mirrored(source, surplus * self.config.source.samples_per_frame, size // 2)
        count = self._count(state, frames)
        return analysed(source[:, : (count - 1) * hop + size], size, hop)

    def _count(self, state: CausalHiftState, frames: int) -> int:
        return frames * self.config.filter.spectra_per_frame + (0 if state.rendered else 1)

    def _added(self, state: CausalHiftState, frames: Tensor, surplus: Tensor | None) -> CausalHiftState:
        """The frames of samples laid over the end of the sums, and the source moved on to the next."""
        assert state.source is not None
        size, hop = self.config.filter.fft, self.config.filter.hop
        shares = weights_of(frames)
        if surplus is not None:
            beyond = surplus * self.config.filter.spectra_per_frame
            frames, shares = without_last(frames, beyond), without_last(shares, beyond)
        sums, weights = overlapped(frames, hop), overlapped(shares, hop)
        if state.sums is None or state.weights is None:
            sums, weights = sums[:, size // 2 :], weights[:, size // 2 :]
        else:
            sums, weights = _laid_over(state.sums, sums, size - hop), _laid_over(state.weights, weights, size - hop)
        return replace(state, sums=sums, weights=weights, source=state.source[:, frames.shape[1] * hop :])

    def _given_out(self, state: CausalHiftState, *, final: bool) -> tuple[Tensor, CausalHiftState]:
        """The samples that no later spectrum reaches, one frame less; at the end all."""
        assert state.sums is not None
        assert state.weights is not None
        over = self.config.filter.fft // 2
        kept = over if final else over + self.config.source.samples_per_frame
        count = state.sums.shape[1] - kept
        samples = state.sums[:, :count] / state.weights[:, :count].clamp(min=1e-11)
        after = replace(state, sums=state.sums[:, count:], weights=state.weights[:, count:])
        return samples.clamp(-self.config.limit, self.config.limit), after


def _padded(frames: Tensor, length: int) -> Tensor:
    """The first `length` frames, zeros where there are none."""
    return functional.pad(frames[:, :, :length], (0, max(0, length - frames.shape[2])))


def _laid_over(before: Tensor, after: Tensor, overlap: int) -> Tensor:
    """`after` added to the last `overlap` of `before` and going on from there."""
    return functional.pad(before, (0, after.shape[1] - overlap)) + functional.pad(after, (before.shape[1] - overlap, 0))


def load_causal_hift(config: HiftConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CausalHift:
    """The model of a published `hift` state dict of version 3."""
    return CausalHift(config, load_parts(config, state, dtype, causal=True))
