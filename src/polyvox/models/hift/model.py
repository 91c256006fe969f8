"""CosyVoice 1's and 2's vocoder, and Chatterbox's: mel to samples, in one call or in chunks that are crossfaded."""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.cache import LayerCache
from polyvox.models.hift import filter as hift_filter
from polyvox.models.hift.filter import FilterConfig, HiftFilter
from polyvox.models.hift.source import F0Predictor, HarmonicSource, SampledHarmonicSource, SourceConfig
from polyvox.models.loading import StateDict, WeightsError, fold_weight_norm, load, renamed, under, without_prefix
from polyvox.models.spectrum import istft_frames, last_before, overlap_add, reflect_end, squared_window, stft, zero_last

OVERLAP_FRAMES = 8
"""Mel frames that a chunk of version 2 repeats from the one before it, over whose samples the two are crossfaded."""


@dataclass(frozen=True, slots=True)
class HiftConfig:
    """Sizes of the vocoder."""

    source: SourceConfig = field(default_factory=SourceConfig)
    filter: FilterConfig = field(default_factory=FilterConfig)
    limit: float = 0.99
    overlap: int = OVERLAP_FRAMES
    """Mel frames that a chunk repeats from the one before it."""


class HiftParts(NamedTuple):
    """Modules of the vocoder."""

    pitch: F0Predictor
    source: HarmonicSource
    filter: HiftFilter


@dataclass(frozen=True, slots=True)
class HiftState:
    """The end of the chunk before: mel frames, source and samples."""

    mel: Tensor
    source: Tensor
    samples: Tensor
    phase: Tensor | None = None
    """Of each harmonic at the end of the source, in cycles [batch, 1, harmonics], where they are summed per sample."""


class Hift(nn.Module):
    """A vocoder that is not causal, so that adjacent chunks agree only approximately where they meet."""

    def __init__(self, config: HiftConfig, parts: HiftParts) -> None:
        super().__init__()
        self.config = config
        self.pitch, self.source, self.filter = parts

    def excitation(
        self, mel: Tensor, noise: Tensor, padding: Tensor | None = None, start: Tensor | None = None
    ) -> Tensor:
        """The source [batch, 480 frames] of mel [batch, bins, frames]; `noise` [batch, 480 frames, harmonics].

        `start` [batch, 1, harmonics] is the phase, in cycles, that harmonics begin with which are summed per sample.
        """
        return self._excited(mel, noise, padding, start, None)[0]

    def _excited(
        self, mel: Tensor, noise: Tensor, padding: Tensor | None, start: Tensor | None, state: HiftState | None
    ) -> tuple[Tensor, Tensor | None]:
        """The source, and its phases at the end where the next chunk goes on with them."""
        pitch = self.pitch(mel, _cache(mel, padding))
        cycles = self.source.cycles(pitch, start)
        if start is None and state is not None and state.phase is not None:
            behind = state.source.shape[1]
            cycles = cycles - cycles[:, behind - 1 : behind] + state.phase
        if padding is not None and self.source.interpolate:
            # Phases are interpolated between frames, and hold behind the last one.
            frames = torch.arange(cycles.shape[1], device=cycles.device)
            held = frames.minimum(cycles.shape[1] - 1 - padding[:, None])
            cycles = cycles.gather(1, held[..., None].expand_as(cycles))
        excitation: Tensor = self.source(pitch, cycles, noise)
        if not self.config.source.per_sample:
            return excitation, None
        samples = None if padding is None else padding * self.config.source.samples_per_frame
        return excitation, last_before(cycles.transpose(1, 2), 1, samples).transpose(1, 2).float() % 1

    def forward(self, mel: Tensor, source: Tensor, padding: Tensor | None = None) -> Tensor:
        """The samples [batch, 480 frames]."""
        size, hop = self.config.filter.fft, self.config.filter.hop
        ends = (size // 2, 0 if padding is not None else size // 2)
        source = functional.pad(source[:, None], ends, mode="reflect")[:, 0]
        if padding is not None:
            source = reflect_end(source, padding * self.config.source.samples_per_frame, size // 2)
        magnitude, phase = self.filter(mel, stft(source, size, hop), _cache(mel, padding), first=True)
        frames = istft_frames(magnitude, phase, size)
        weights = squared_window(frames)
        if padding is not None:
            spectra = padding * self.config.filter.spectra_per_frame
            frames, weights = zero_last(frames, spectra), zero_last(weights, spectra)
        samples = overlap_add(frames, hop) / overlap_add(weights, hop).clamp(min=1e-11)
        return samples[:, size // 2 : -(size // 2)].clamp(-self.config.limit, self.config.limit)

    def step(
        self,
        mel: Tensor,
        noise: Tensor,
        state: HiftState | None = None,
        *,
        final: bool = False,
        padding: Tensor | None = None,
        start: Tensor | None = None,
    ) -> tuple[Tensor, HiftState | None]:
        """Add mel frames; returns the samples up to the last `overlap` frames, which the next chunk renders again.

        `noise` covers the frames of this call and those repeated from the last. The last `padding` [batch] frames of
        each row may be zeros; their samples are undefined, and all else is as it would be without padding.

        Harmonics that are summed per sample go on from chunk to chunk, unless `start` says where they begin in this
        one; in the first, that follows from the noise.
        """
        if state is not None:
            mel = torch.cat((state.mel, mel), dim=2)
        elif start is None and self.config.source.per_sample:
            start = _start_of(noise)
        source, phase = self._excited(mel, noise, padding, start, state)
        if state is not None:
            source = torch.cat((state.source, source[:, state.source.shape[1] :]), dim=1)
        samples: Tensor = self(mel, source, padding)
        if state is not None:
            samples = crossfade(state.samples, samples)
        if final:
            return samples, None
        rate = self.config.source.samples_per_frame
        overlap, samples_padding = self.config.overlap * rate, None if padding is None else padding * rate
        after = HiftState(
            last_before(mel, self.config.overlap, padding),
            last_before(source, overlap, samples_padding),
            last_before(samples, overlap, samples_padding),
            phase,
        )
        return samples[:, :-overlap], after


class _PaddedCache(LayerCache):
    """Masks the padding behind mel frames, at whatever rate they were upsampled to."""

    def __init__(self, frames: int, padding: Tensor) -> None:
        super().__init__(update=False)
        self._frames, self._padding = frames, padding

    def padding_of(self, length: int) -> tuple[Tensor, int]:
        return self._padding, length // self._frames

    def mask_padding(self, new: Tensor) -> Tensor:
        length = new.shape[-1]
        end = length - self._padding * (length // self._frames)
        return new * (torch.arange(length, device=new.device) < end[:, None])[:, None]


def _cache(mel: Tensor, padding: Tensor | None) -> LayerCache:
    return LayerCache(update=False) if padding is None else _PaddedCache(mel.shape[2], padding)


def _start_of(noise: Tensor) -> Tensor:
    """Random phases in cycles, [batch, 1, harmonics], but zero for the fundamental: the noise's first sample.

    Modulo a cycle, Gaussian numbers of unit deviation are as good as uniform ones: they differ by some 1e-8.
    """
    first = noise[:, :1].clone()
    first[:, :, 0] = 0.0
    return first


def crossfade(before: Tensor, after: Tensor) -> Tensor:
    """`after`, which begins where `before` begins, crossfaded with it over its length along the last dimension."""
    length = before.shape[-1]
    window = torch.hamming_window(2 * length, periodic=False, dtype=torch.float64, device=after.device)
    seam = after[..., :length] * window[:length] + before * window[length:]
    return torch.cat((seam.to(after.dtype), after[..., length:]), dim=-1)


def load_hift(config: HiftConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> Hift:
    """Load a published `hift` state dict of version 1 or 2."""
    return Hift(config, load_parts(config, state, dtype, causal=False))


def load_parts(config: HiftConfig, state: StateDict, dtype: torch.dtype, *, causal: bool) -> HiftParts:
    """Load the modules of a published `hift` state dict; `dtype` is the filter's.

    F0 is computed in double precision, for a phase is the sum of thousands of its values.
    """
    precise = {name: tensor.double() for name, tensor in without_prefix("generator.", state).items()}
    ours = renamed(hift_filter.RENAMED, fold_weight_norm(precise))
    if unknown := [name for name in ours if not name.startswith(("pitch.", "source.", "filter."))]:
        raise WeightsError(f"The weights of Hift hold {unknown[0]} that the model does not have.")
    return HiftParts(
        load(lambda: F0Predictor(config.source, causal=causal), under("pitch.", ours), torch.float64),
        load(lambda: _source(config.source, causal=causal), under("source.", ours)),
        load(lambda: HiftFilter(config.filter, causal=causal), under("filter.", ours), dtype),
    )


def _source(config: SourceConfig, *, causal: bool) -> HarmonicSource:
    return SampledHarmonicSource(config) if config.per_sample else HarmonicSource(config, interpolate=not causal)
