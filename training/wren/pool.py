"""A pool of training speech in device memory: features and the teacher's samples of utterances, end to end."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.kokoro.wren_source import SAMPLE_RATE, phase_cycles
from polyvox.models.kokoro.wren_utterance import spread_indices, utterance_frames
from training.wren.features import GRAPH_GAIN, TEXT_FRAME, Features


@dataclass(frozen=True, slots=True)
class Batch:
    """Random segments of utterances, [batch, ...].

    Features extend `context` frames beyond the samples on either side, and are zero where `mask` [batch, frames, 1] is.
    `utterance` is of the whole utterances, as `utterance_frames` gives it.
    """

    text: Tensor
    pitch: Tensor
    energy: Tensor
    style: Tensor
    utterance: Tensor
    phase: Tensor
    mask: Tensor
    samples: Tensor


class SpeechPool:
    """Preallocated tensors that are filled once and never reallocated, as a CUDA graph requires."""

    def __init__(self, hours: float, device: torch.device, *, text_dim: int = 512, style_dim: int = 128) -> None:
        frames = int(hours * 3600 * SAMPLE_RATE / TEXT_FRAME)
        dtype = torch.float16 if device.type == "cuda" else torch.float32
        self.device = device
        self.capacity = frames
        self.frames = 0
        self.utterances = 0
        self.text = torch.zeros(frames, text_dim, dtype=dtype, device=device)
        self.pitch = torch.zeros(frames, 2, device=device)
        self.energy = torch.zeros(frames, 2, device=device)
        self.phase = torch.zeros(frames, 2, device=device)
        self.samples = torch.zeros(frames, TEXT_FRAME, dtype=dtype, device=device)
        self.utterance = torch.zeros(frames, dtype=torch.int64, device=device)
        self.first: Tensor = torch.zeros(0, dtype=torch.int64, device=device)
        self.count: Tensor = torch.zeros(0, dtype=torch.int64, device=device)
        self.style: Tensor = torch.zeros(0, style_dim, device=device)

    @property
    def seconds(self) -> float:
        return self.frames * TEXT_FRAME / SAMPLE_RATE

    def add(self, features: Sequence[Features], samples: Sequence[Tensor]) -> bool:
        """Append utterances with the network's samples of each; False, and nothing added, where they do not fit."""
        counts = [row.text.shape[1] for row in features]
        start, end = self.frames, self.frames + sum(counts)
        if end > self.capacity:
            return False
        if not counts:
            return True
        count = torch.tensor(counts, device=self.device)
        first = start + count.cumsum(0) - count
        self.text[start:end] = torch.cat([row.text.T for row in features]).to(self.text.dtype)
        self.pitch[start:end] = torch.cat([row.pitch for row in features]).float().view(-1, 2)
        self.energy[start:end] = torch.cat([row.energy for row in features]).float().view(-1, 2)
        self.phase[start:end] = torch.cat([phase_cycles(row.pitch[None])[0] for row in features]).view(-1, 2)
        joined = torch.cat(list(samples)).float() * GRAPH_GAIN
        self.samples[start:end] = joined.view(-1, TEXT_FRAME).to(self.samples.dtype)
        indices = torch.arange(self.utterances, self.utterances + len(counts), device=self.device)
        self.utterance[start:end] = indices.repeat_interleave(count)
        self.first = torch.cat((self.first, first))
        self.count = torch.cat((self.count, count))
        self.style = torch.cat((self.style, torch.stack([row.style for row in features]).float()))
        self.frames, self.utterances = end, self.utterances + len(counts)
        return True

    def sample(self, batch: int, frames: int, context: int) -> Batch:
        """Draw segments of `frames` frames with `context` frames around them; both are even numbers.

        Only tensor operations of fixed shape, so that a CUDA graph can capture it.
        """
        length, around = frames // 2, context // 2
        # Uniform reals scaled to an index: `rand` is known to draw anew at every replay of a captured graph.
        drawn = (torch.rand(batch, device=self.device, dtype=torch.float64) * self.frames).long()
        utterance = self.utterance[drawn]
        first, count = self.first[utterance], self.count[utterance]
        spare = (count - length).clamp(min=0)
        start = first + ((torch.rand(batch, device=self.device) * (spare + 1)).long()).clamp(max=spare)
        indices = start[:, None] + torch.arange(-around, length + around, device=self.device)
        inside = (indices >= first[:, None]) & (indices < (first + count)[:, None])
        indices = indices.clamp(0, self.frames - 1)
        mask = inside.float()[:, :, None]
        doubled = mask.expand(-1, -1, 2).flatten(1)
        spread = first[:, None] + spread_indices(count)
        centre = slice(around, around + length)
        return Batch(
            text=(self.text[indices] * mask.to(self.text.dtype)).float().transpose(1, 2),
            pitch=self.pitch[indices].flatten(1) * doubled,
            energy=self.energy[indices].flatten(1) * doubled,
            style=self.style[utterance],
            utterance=utterance_frames(self.text[spread], self.pitch[spread], self.energy[spread], count),
            phase=self.phase[indices].flatten(1),
            mask=doubled[:, :, None],
            samples=(self.samples[indices[:, centre]].float() * mask[:, centre]).flatten(1),
        )


def random_pool(device: torch.device, utterances: int = 64, frames: int = 200) -> SpeechPool:
    """A pool of random features and noise, for benchmarks and tests."""
    pool = SpeechPool(utterances * frames * TEXT_FRAME / SAMPLE_RATE / 3600 + 0.001, device)
    generator = torch.Generator(device).manual_seed(1)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device=device)

    features, samples = [], []
    for _ in range(utterances):
        pitch = 150 + 20 * normal(2 * frames)
        pitch[: frames // 2] = 0
        features.append(Features(0.3 * normal(512, frames), pitch, normal(2 * frames), 0.2 * normal(128)))
        samples.append(0.05 * normal(frames * TEXT_FRAME))
    pool.add(features, samples)
    return pool
