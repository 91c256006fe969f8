"""The original's tensors, and our model with the weights that they were computed with.

Most of Kokoro's widths are fixed, so its weights are too large for a file: each is drawn from its name, as it was for
the original. What needs no original, such as exact batches, is tested on a tiny model.
"""

import json
import math
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from polyvox.models.kokoro.albert import AlbertConfig
from polyvox.models.kokoro.decoder import DecoderConfig
from polyvox.models.kokoro.istftnet import IstftNetConfig
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, StyledTokens, load_kokoro
from polyvox.models.loading import load

FOLDER = Path(__file__).parents[1] / "golden" / "kokoro"
SEED = 21
_STRIDE = 1_000_003

TINY = KokoroConfig(
    bert=AlbertConfig(tokens=20, embedding=8, hidden=16, feed_forward=32, heads=2, layers=2, positions=40),
    width=16,
    style=8,
    layers=2,
    max_frames=12,
    decoder=DecoderConfig(width=24, text_residual=4, blocks=2, generator=IstftNetConfig(channels=16)),
)


@cache
def golden(part: str) -> dict[str, Tensor]:
    return load_file(FOLDER / f"{part}.safetensors")


def released_shapes() -> dict[str, list[int]]:
    return json.loads((FOLDER / "released_shapes.json").read_text())


@cache
def kokoro() -> Kokoro:
    state = {name: drawn(name, tuple(shape)) for name, shape in released_shapes().items()}
    state["decoder.generator.conv_post.parametrizations.weight.original0"] *= 0.3
    state["predictor.duration_proj.linear_layer.weight"] *= 5
    state["predictor.duration_proj.linear_layer.bias"].fill_(-2.6)
    state["predictor.F0_proj.weight"] *= 60
    state["predictor.F0_proj.bias"].fill_(120.0)
    return load_kokoro(KokoroConfig(), state, prosody_dtype=torch.float32)


@cache
def tiny() -> Kokoro:
    with torch.device("meta"):
        shapes = {name: tuple(tensor.shape) for name, tensor in Kokoro(TINY).state_dict().items()}
    state = {name: drawn(name, shape) for name, shape in shapes.items()}
    state["predictor.F0_proj.weight"] *= 60
    state["predictor.F0_proj.bias"].fill_(120.0)
    return load(lambda: Kokoro(TINY), state, torch.float64)


def drawn(name: str, shape: tuple[int, ...]) -> Tensor:
    """Matrices and kernels have the variance 1 / fan-in; what stands for a gain lies around the value it stands for."""
    random = np.random.RandomState((zlib.crc32(name.encode()) + SEED * _STRIDE) % 2**32)
    last = name.rsplit(".", 1)[-1]
    gains = {"original0": (0.5, 1.0), "gamma": (0.1, 0.5)} | dict.fromkeys("0123456789", (0.5, 1.5))
    if last in gains:
        values = random.uniform(*gains[last], shape)
    elif len(shape) == 1:
        biased = "bias" in last or last == "beta"
        values = 0.1 * random.standard_normal(shape) if biased else random.uniform(0.7, 1.3, shape)
    else:
        values = random.standard_normal(shape) * (0.5 if "embed" in name else 1 / math.sqrt(math.prod(shape[1:])))
    return torch.from_numpy(values.astype(np.float32))


def golden_noise(frames: int) -> Tensor:
    """What the original was given as the noise of its source."""
    return torch.from_numpy(np.random.RandomState(1000).standard_normal((frames * 600, 9)).astype(np.float32))


def golden_tokens(speed: float = 1.0) -> StyledTokens:
    whole = golden("whole")
    return StyledTokens(whole["input_ids"][0].tolist(), whole["ref_s"][0], speed)


def far(ours: Tensor, theirs: Tensor) -> float:
    assert ours.shape == theirs.shape
    assert ours.isfinite().all()
    return (ours - theirs).abs().max().item()


def spectral_distance(ours: Tensor, theirs: Tensor) -> float:
    """Decibels, the root of the mean square over frequencies, then the mean over time; -60 dB is the floor."""
    assert ours.shape == theirs.shape
    window = torch.hann_window(1024)
    levels = [
        10 * torch.log10(torch.stft(samples.float(), 1024, 256, window=window, return_complex=True).abs() ** 2 + 1e-4)
        for samples in (ours, theirs)
    ]
    return (levels[0] - levels[1]).square().mean(dim=0).sqrt().mean().item()
