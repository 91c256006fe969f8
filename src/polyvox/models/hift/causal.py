"""CosyVoice 3's vocoder: causal but for a lookahead of a few frames, so that a stream equals one call over it all."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import CachedTensors, LayerCache
from polyvox.models.hift.model import HiftConfig, HiftParts, load_parts
from polyvox.models.loading import StateDict
from polyvox.models.spectrum import istft_frames, last_before, overlap_add, reflect_end, squared_window, stft, zero_last


@dataclass(frozen=True, slots=True)
class CausalHiftState:
    """State of a stream. It is never written to, so that it may be continued more than once."""

    noise: Tensor
    """[batch or 1, samples, harmonics], from sample `noise_start` of the stream on."""
    mel: Tensor
    """Frames not rendered yet."""
    rendered: int = 0
    voiced: int = 0
    """Frames whose source is known; some of them wait to be rendered."""
    cycles: Tensor | None = None
    """Accumulated phase of each harmonic, in cycles."""
    source: Tensor | None = None
    """Source samples from the first one that the next spectrum covers."""
    sums: Tensor | None = None
    """Overlap-add of windowed frames not emitted yet; the next spectra add to its end."""
    weights: Tensor | None = None
    """Overlap-add of the squared windows in `sums`."""
    pitch_cache: CachedTensors = ()
    filter_cache: CachedTensors = ()
    noise_start: int = 0


class CausalHift(nn.Module):
    """Mel in, samples out; the cost of a step depends on its own frames only."""

    def __init__(self, config: HiftConfig, parts: HiftParts) -> None:
        super().__init__()
        self.config = config
        self.pitch, self.source, self.filter = parts

    def start(self, noise: Tensor, batch: int = 1) -> CausalHiftState:
        """The state of a stream before its first frame."""
        return CausalHiftState(noise, noise.new_zeros(batch, self.config.filter.bins, 0))

    def step(
        self, mel: Tensor, state: CausalHiftState, *, final: bool = False, padding: Tensor | None = None
    ) -> tuple[Tensor, CausalHiftState]:
        """Add mel frames [batch, bins, n]; returns the samples [batch, m] of all frames but the last eight.

        The last call of a stream is `final`: frames after it are zero. The last `padding` [batch] frames of each row
        may be zeros, too; their samples are undefined, and all else is as it would be without padding.
        """
        state = self._with_source(replace(state, mel=torch.cat((state.mel, mel), dim=2)), final=final, padding=padding)
        ahead = self.config.filter.ahead
        ready = state.voiced - state.rendered - (0 if final else ahead)
        if ready <= 0:
            return state.noise.new_zeros(mel.shape[0], 0), state
        cache = _layer_cache(state.filter_cache, ready, final=final, padding=padding)
        magnitude, phase = self.filter(
            _padded(state.mel, ready + ahead),
            self._source_spectra(state, ready, final=final, padding=padding),
            cache,
            first=not state.rendered,
        )
        state = self._overlap_added(state, istft_frames(magnitude, phase, self.config.filter.fft), padding)
        rest = last_before(state.mel, state.mel.shape[2] - ready, padding)
        state = replace(state, mel=rest, rendered=state.rendered + ready, filter_cache=cache.tensors())
        return self._emit(state, final=final, padding=padding)

    def _with_source(self, state: CausalHiftState, *, final: bool, padding: Tensor | None) -> CausalHiftState:
        """Extend the source to all frames whose lookahead is known."""
        known = state.rendered + state.mel.shape[2] - (0 if final else self.pitch.ahead)
        new = known - state.voiced
        if new <= 0:
            return state
        cache = _layer_cache(state.pitch_cache, new, final=final, padding=padding)
        frames = state.mel[:, :, state.voiced - state.rendered :]
        pitch = self.pitch(_padded(frames, new + self.pitch.ahead), cache).float()
        cycles = self.source.cycles(pitch, state.cycles)
        samples_per_frame = self.config.source.samples_per_frame
        start = samples_per_frame * state.voiced - state.noise_start
        noise = state.noise[:, start : start + samples_per_frame * new]
        if noise.shape[1] < samples_per_frame * new:
            raise ValueError(
                f"The noise given covers {state.noise.shape[1]} samples; {samples_per_frame * known} are needed."
            )
        source = self.source(pitch, cycles, noise)
        if state.source is None:
            joined = functional.pad(source[:, None], (self.config.filter.fft // 2, 0), mode="reflect")[:, 0]
        else:
            joined = torch.cat((state.source, source), dim=1)
        last = last_before(cycles.transpose(1, 2), 1, padding).transpose(1, 2)
        return replace(state, voiced=known, cycles=last, source=joined, pitch_cache=cache.tensors())

    def _source_spectra(self, state: CausalHiftState, frames: int, *, final: bool, padding: Tensor | None) -> Tensor:
        """Spectra of the source for the next frames; the first call of a stream has one more."""
        assert state.source is not None
        size, hop = self.config.filter.fft, self.config.filter.hop
        source = state.source
        if final and padding is None:
            source = functional.pad(source[:, None], (0, size // 2), mode="reflect")[:, 0]
        elif padding is not None:
            source = reflect_end(source, padding * self.config.source.samples_per_frame, size // 2)
        count = self._spectrum_count(state, frames)
        return stft(source[:, : (count - 1) * hop + size], size, hop)

    def _spectrum_count(self, state: CausalHiftState, frames: int) -> int:
        return frames * self.config.filter.spectra_per_frame + (0 if state.rendered else 1)

    def _overlap_added(self, state: CausalHiftState, frames: Tensor, padding: Tensor | None) -> CausalHiftState:
        """Overlap-add the new frames to the sums, and drop the source behind them."""
        assert state.source is not None
        size, hop = self.config.filter.fft, self.config.filter.hop
        windows = squared_window(frames)
        if padding is not None:
            spectra = padding * self.config.filter.spectra_per_frame
            frames, windows = zero_last(frames, spectra), zero_last(windows, spectra)
        sums, weights = overlap_add(frames, hop), overlap_add(windows, hop)
        if state.sums is None or state.weights is None:
            sums, weights = sums[:, size // 2 :], weights[:, size // 2 :]
        else:
            sums, weights = (
                _overlapping_sum(state.sums, sums, size - hop),
                _overlapping_sum(state.weights, weights, size - hop),
            )
        left = state.source.shape[1] - frames.shape[1] * hop
        rest = last_before(state.source, left, self._samples(padding)) if left >= 0 else state.source[:, :0]
        return replace(state, sums=sums, weights=weights, source=rest)

    def _samples(self, padding: Tensor | None) -> Tensor | None:
        return None if padding is None else padding * self.config.source.samples_per_frame

    def _emit(self, state: CausalHiftState, *, final: bool, padding: Tensor | None) -> tuple[Tensor, CausalHiftState]:
        """Emit the samples that no later spectrum reaches, less one frame; at the end all."""
        assert state.sums is not None
        assert state.weights is not None
        half = self.config.filter.fft // 2
        held_back = half if final else half + self.config.source.samples_per_frame
        count = state.sums.shape[1] - held_back
        samples = state.sums[:, :count] / state.weights[:, :count].clamp(min=1e-11)
        sums, weights = (last_before(each, held_back, self._samples(padding)) for each in (state.sums, state.weights))
        after = replace(state, sums=sums, weights=weights)
        return samples.clamp(-self.config.limit, self.config.limit), after


class _PaddedRowsCache(LayerCache):
    """Keeps contexts that end where the padding of each row begins, at whatever rate frames were upsampled to."""

    def __init__(self, past: CachedTensors, frames: int, padding: Tensor) -> None:
        super().__init__(past)
        self._frames, self._padding = frames, padding

    def padding_of(self, length: int) -> tuple[Tensor, int]:
        return self._padding, length // self._frames

    def left_context(self, new: Tensor, length: int, first: int | None = None) -> Tensor:
        joined = super().left_context(new, length, first)
        self._new[-1] = last_before(joined, length, self._padding * (new.shape[-1] // self._frames))
        return joined


def _layer_cache(past: CachedTensors, frames: int, *, final: bool, padding: Tensor | None) -> LayerCache:
    if final or padding is None:
        return LayerCache(past, update=not final)
    return _PaddedRowsCache(past, frames, padding)


def _padded(frames: Tensor, length: int) -> Tensor:
    """The first `length` frames, zero-padded."""
    return functional.pad(frames[:, :, :length], (0, max(0, length - frames.shape[2])))


def _overlapping_sum(before: Tensor, after: Tensor, overlap: int) -> Tensor:
    """Sum of `before` and `after`, where the latter begins `overlap` before the end of the former."""
    return functional.pad(before, (0, after.shape[1] - overlap)) + functional.pad(after, (before.shape[1] - overlap, 0))


def load_causal_hift(config: HiftConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CausalHift:
    """Load a published `hift` state dict of version 3."""
    return CausalHift(config, load_parts(config, state, dtype, causal=True))
