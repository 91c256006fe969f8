"""A narrow, untrained Kokoro with the real vocabulary and the real width of styles."""

from pathlib import Path

import numpy as np
import torch

from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import VOICES
from polyvox.models.kokoro.albert import AlbertConfig
from polyvox.models.kokoro.decoder import DecoderConfig
from polyvox.models.kokoro.istftnet import IstftNetConfig
from polyvox.models.kokoro.model import Kokoro, KokoroConfig

TINY = KokoroConfig(
    bert=AlbertConfig(embedding=8, hidden=16, feed_forward=32, heads=2, layers=2),
    width=16,
    layers=1,
    max_frames=12,
    decoder=DecoderConfig(width=24, text_residual=4, blocks=2, generator=IstftNetConfig(channels=16)),
)


def tiny_kokoro(decoder_dtype: torch.dtype = torch.float64) -> Kokoro:
    """About one frame for each phoneme, and a pitch around 120 Hz; in double precision by default."""
    generator = torch.Generator().manual_seed(4)
    network = Kokoro(TINY).requires_grad_(False).eval()
    for name, parameter in network.named_parameters():
        if "alpha" in name:
            parameter.uniform_(0.5, 1.5, generator=generator)
        elif parameter.dim() > 1:
            parameter.normal_(std=parameter[0].numel() ** -0.5, generator=generator)
        else:
            parameter.fill_(1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0)
    network.predictor.duration_proj.bias.fill_(-2.2)
    network.predictor.F0_proj.weight.mul_(60)
    network.predictor.F0_proj.bias.fill_(120.0)
    if decoder_dtype == torch.float64:
        return network.double()
    network.cast(torch.float64, decoder_dtype)
    return network


def tiny_voices(folder: Path) -> VoiceTable:
    """Two voices of noise."""
    generator = np.random.Generator(np.random.Philox(7))
    voices = [voice for voice in VOICES if voice.id in ("af_heart", "am_adam")]
    for voice in voices:
        generator.standard_normal((510, 1, 256), np.float32).tofile(folder / f"{voice.id}.bin")
    return VoiceTable(folder, voices)
