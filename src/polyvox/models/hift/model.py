"""CosyVoice 2's vocoder: mel to samples, at once or in pieces that are faded into each other."""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.hift import filter as hift_filter
from polyvox.models.hift.filter import FilterConfig, HiftFilter
from polyvox.models.hift.source import Pitch, Source, SourceConfig
from polyvox.models.loading import StateDict, WeightsError, fold_weight_norm, load, renamed, under, without_prefix
from polyvox.models.memory import Memory
from polyvox.models.spectrum import analysed, frames_of, mirrored, overlapped, weights_of, without_last

KEPT_FRAMES = 8
"""Mel frames that a piece repeats from the one before it, and over whose samples the two are faded."""


@dataclass(frozen=True, slots=True)
class HiftConfig:
    """All sizes of the vocoder."""

    source: SourceConfig = field(default_factory=SourceConfig)
    filter: FilterConfig = field(default_factory=FilterConfig)
    limit: float = 0.99


class HiftParts(NamedTuple):
    """What a vocoder is made of."""

    pitch: Pitch
    source: Source
    filter: HiftFilter


@dataclass(frozen=True, slots=True)
class HiftState:
    """The end of the piece before: mel frames, source and samples."""

    mel: Tensor
    source: Tensor
    samples: Tensor


class Hift(nn.Module):
    """Looks both ways in time, so that pieces agree only nearly where they meet."""

    def __init__(self, config: HiftConfig, parts: HiftParts) -> None:
        super().__init__()
        self.config = config
        self.pitch, self.source, self.filter = parts

    def excitation(self, mel: Tensor, noise: Tensor, surplus: Tensor | None = None) -> Tensor:
        """The source [batch, 480 frames] of mel [batch, bins, frames]; `noise` [batch, 480 frames, harmonics]."""
        pitch = self.pitch(mel, _memory(mel, surplus))
        turns = self.source.turns(pitch)
        if surplus is not None:
            # Phases between two frames lead from one to the other, and behind the last nowhere.
            places = torch.arange(turns.shape[1], device=turns.device)
            turns = turns[:, places.minimum(turns.shape[1] - 1 - surplus)]
        excitation: Tensor = self.source(pitch, turns, noise)
        return excitation

    def forward(self, mel: Tensor, source: Tensor, surplus: Tensor | None = None) -> Tensor:
        """The samples [batch, 480 frames]."""
        size, hop = self.config.filter.fft, self.config.filter.hop
        ends = (size // 2, 0 if surplus is not None else size // 2)
        source = functional.pad(source[:, None], ends, mode="reflect")[:, 0]
        if surplus is not None:
            source = mirrored(source, surplus * self.config.source.samples_per_frame, size // 2)
        magnitude, phase = self.filter(mel, analysed(source, size, hop), _memory(mel, surplus), first=True)
        frames = frames_of(magnitude, phase, size)
        weights = weights_of(frames)
        if surplus is not None:
            beyond = surplus * self.config.filter.spectra_per_frame
            frames, weights = without_last(frames, beyond), without_last(weights, beyond)
        samples = overlapped(frames, hop) / overlapped(weights, hop).clamp(min=1e-11)
        return samples[:, size // 2 : -(size // 2)].clamp(-self.config.limit, self.config.limit)

    def step(
        self,
        mel: Tensor,
        noise: Tensor,
        state: HiftState | None = None,
        *,
        final: bool = False,
        surplus: Tensor | None = None,
    ) -> tuple[Tensor, HiftState | None]:
        """More mel frames; the samples up to the last 8 frames, which the next piece renders once more.

        `noise` covers the frames of this call behind those kept from the last. Where the call is `final`, so many of
        its frames as `surplus` says may be zeros that only fill it up; their samples mean nothing, and those before
        them are as they would be without.
        """
        if state is not None:
            mel = torch.cat((state.mel, mel), dim=2)
        source = self.excitation(mel, noise, surplus)
        if state is not None:
            source = torch.cat((state.source, source[:, state.source.shape[1] :]), dim=1)
        samples: Tensor = self(mel, source, surplus)
        if state is not None:
            samples = faded(state.samples, samples)
        if final:
            return samples, None
        kept = KEPT_FRAMES * self.config.source.samples_per_frame
        after = HiftState(mel[:, :, -KEPT_FRAMES:], source[:, -kept:], samples[:, -kept:])
        return samples[:, :-kept], after


class _EndedMemory(Memory):
    """Knows where mel frames end that were filled up, at whatever rate they are looked at."""

    def __init__(self, frames: int, surplus: Tensor) -> None:
        super().__init__(remember=False)
        self._frames, self._surplus = frames, surplus

    def within(self, new: Tensor) -> Tensor:
        length = new.shape[-1]
        end = length - self._surplus * (length // self._frames)
        return new * (torch.arange(length, device=new.device) < end)


def _memory(mel: Tensor, surplus: Tensor | None) -> Memory:
    return Memory(remember=False) if surplus is None else _EndedMemory(mel.shape[2], surplus)


def faded(before: Tensor, after: Tensor) -> Tensor:
    """`after`, which begins as `before` ends, with the two faded over the length of `before`."""
    length = before.shape[1]
    shape = torch.hamming_window(2 * length, periodic=False, dtype=torch.float64, device=after.device)
    seam = after[:, :length] * shape[:length] + before * shape[length:]
    return torch.cat((seam.to(after.dtype), after[:, length:]), dim=1)


def at_speed(mel: Tensor, speed: float) -> Tensor:
    """Mel frames of a whole utterance, as many as last for 1 / `speed` of its time."""
    return functional.interpolate(mel, size=int(mel.shape[2] / speed), mode="linear")


def load_hift(config: HiftConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> Hift:
    """The model of a published `hift` state dict of version 2."""
    return Hift(config, load_parts(config, state, dtype, causal=False))


def load_parts(config: HiftConfig, state: StateDict, dtype: torch.dtype, *, causal: bool) -> HiftParts:
    """The parts of a published `hift` state dict; `dtype` is the filter's.

    The pitch is computed in double precision, for a phase is the sum of thousands of pitches.
    """
    precise = {name: tensor.double() for name, tensor in without_prefix("generator.", state).items()}
    ours = renamed(hift_filter.RENAMED, fold_weight_norm(precise))
    if unknown := [name for name in ours if not name.startswith(("pitch.", "source.", "filter."))]:
        raise WeightsError(f"The weights of Hift hold {unknown[0]} that the model does not have.")
    return HiftParts(
        load(lambda: Pitch(config.source, causal=causal), under("pitch.", ours), torch.float64),
        load(lambda: Source(config.source, smooth=not causal), under("source.", ours)),
        load(lambda: HiftFilter(config.filter, causal=causal), under("filter.", ours), dtype),
    )
