"""Kokoro's network, narrow and trained by nobody, with the real alphabet and real widths of styles."""

from pathlib import Path

import numpy as np
import torch

from polyvox.engines.kokoro.voices import VoiceBook, catalogue
from polyvox.models.kokoro.albert import AlbertConfig
from polyvox.models.kokoro.decoder import DecoderConfig
from polyvox.models.kokoro.istftnet import IstftNetConfig
from polyvox.models.kokoro.model import Kokoro, KokoroConfig

TINY = KokoroConfig(
    bert=AlbertConfig(embedding=8, hidden=16, feed_forward=32, heads=2, layers=2),
    width=16,
    layers=1,
    max_frames=12,
    decoder=DecoderConfig(width=24, reminder=4, blocks=2, generator=IstftNetConfig(channels=16)),
)


def tiny_kokoro(sounding: torch.dtype = torch.float64) -> Kokoro:
    """Its lines have about one frame for each phoneme, and a pitch around 120 Hz; in double precision unless told."""
    chance = torch.Generator().manual_seed(4)
    network = Kokoro(TINY).requires_grad_(False).eval()
    for name, parameter in network.named_parameters():
        if "alpha" in name:
            parameter.uniform_(0.5, 1.5, generator=chance)
        elif parameter.dim() > 1:
            parameter.normal_(std=parameter[0].numel() ** -0.5, generator=chance)
        else:
            parameter.fill_(1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0)
    network.predictor.duration_proj.bias.fill_(-2.2)
    network.predictor.F0_proj.weight.mul_(60)
    network.predictor.F0_proj.bias.fill_(120.0)
    if sounding == torch.float64:
        return network.double()
    network.cast(torch.float64, sounding)
    return network


def tiny_voices(folder: Path) -> VoiceBook:
    """Two voices of noise."""
    chance = np.random.Generator(np.random.Philox(7))
    voices = [voice for voice in catalogue() if voice.id in ("af_heart", "am_adam")]
    for voice in voices:
        chance.standard_normal((510, 1, 256), np.float32).tofile(folder / f"{voice.id}.bin")
    return VoiceBook(folder, voices)
